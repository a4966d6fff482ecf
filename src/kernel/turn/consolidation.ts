// Several agents on one goal: what each of them reported last, put together into one report, and the word for the person
// who asked. Nothing is made up here: every line is an agent's own, with its name.
import type { Materia, Rules } from '../graph/config.ts';
import type { Cast, ReportNote } from '../state.ts';
import type { PlanStatus } from './plan-status.ts';

const REPORTS_MAX = 32;

/** The last word of each agent, in the order in which they spoke first. */
export function withReport(reports: readonly ReportNote[], note: ReportNote): readonly ReportNote[] {
  const place = reports.findIndex(({ agentId }) => agentId === note.agentId);
  if (place !== -1) return reports.with(place, note);
  return [...reports, note].slice(-REPORTS_MAX);
}

export type Said = { readonly agent: string; readonly text: string };

/** Where an agent stands by its last report; `item` is the piece of work it reported on, where the goal has several. */
export type Reported = { readonly agent: string; readonly item: string | null; readonly status: PlanStatus };

/** An agent that another one names as the best to go on, and whether the graph and the boundaries would let it. */
export type Proposal = {
  readonly agent: string;
  readonly by: string;
  /** Where that agent stands in the graph; null where nowhere. */
  readonly socket: string | null;
  /** What the boundaries of the registry have against that handoff; null where nothing, or where there are none. */
  readonly refusal: string | null;
  /** Whether that agent has reported in this cast itself. */
  readonly reported: boolean;
};

/** Why one registry identity may never hand to another; null where it may. */
export type BoundaryRefusal = (source: string, target: string) => string | null;

export type Consolidation = {
  readonly agents: readonly string[];
  readonly reports: readonly Reported[];
  readonly ownership: readonly Said[];
  readonly confirmed: readonly Said[];
  readonly suspected: readonly Said[];
  readonly conflicts: readonly Said[];
  readonly openGaps: readonly Said[];
  readonly crossLayerImpacts: readonly Said[];
  readonly verification: readonly Said[];
  readonly rollbacks: readonly Said[];
  readonly proposals: readonly Proposal[];
  /** For the person who asked: one agent's own words, or the findings of several. */
  readonly summary: string;
};

/** One report of all that was reported; null where no agent reported in a way that can be put together. */
export function consolidate(
  { reports, rules }: Pick<Cast, 'reports' | 'rules'>,
  refusalOf: BoundaryRefusal = () => null,
): Consolidation | null {
  if (reports.length === 0) return null;
  return {
    agents: [...new Set(reports.map(({ agent }) => agent))],
    reports: reports.map(({ agent, item, status }) => ({ agent, item, status })),
    ownership: saidByEach(reports, ({ ownership }) => ownership),
    confirmed: toldOnce(reports, ({ confirmed }) => confirmed),
    suspected: toldOnce(reports, ({ suspected }) => suspected),
    conflicts: toldOnce(reports, ({ conflicts }) => conflicts),
    openGaps: toldOnce(reports, ({ openGaps }) => openGaps),
    crossLayerImpacts: toldOnce(reports, ({ crossLayerImpacts }) => crossLayerImpacts),
    verification: saidByEach(reports, ({ verification }) => verification),
    rollbacks: saidByEach(reports, ({ rollback }) => rollback),
    proposals: proposalsOf(reports, rules, refusalOf),
    summary: summaryOf(reports),
  };
}

/** What each agent answers for itself: that another one says the same does not say it for this one. */
function saidByEach(reports: readonly ReportNote[], pick: (note: ReportNote) => string | null): Said[] {
  return reports.flatMap((note) => {
    const text = pick(note);
    return text === null ? [] : [{ agent: note.agent, text }];
  });
}

/** The same finding of several agents is told once, with the first of them. */
function toldOnce(reports: readonly ReportNote[], pick: (note: ReportNote) => readonly string[]): Said[] {
  const told = new Set<string>();
  return reports.flatMap((note) =>
    pick(note).flatMap((text) => {
      if (told.has(text)) return [];
      told.add(text);
      return [{ agent: note.agent, text }];
    }),
  );
}

function proposalsOf(reports: readonly ReportNote[], rules: Rules, refusalOf: BoundaryRefusal): Proposal[] {
  const proposals = reports.flatMap(({ nextBestAgent: agent, agent: by, socket: from }) => {
    if (agent === null) return [];
    const socket = placeOf(rules, agent);
    if (socket === from || agent === by) return [];
    const [source, target] = [identityAt(rules, from), socket === null ? agent : identityAt(rules, socket)];
    const refusal = source === null || target === null ? null : refusalOf(source, target);
    const materia = socket === null ? agent : rules.graph.sockets[socket]?.materia;
    return [{ agent, by, socket, refusal, reported: reports.some((note) => note.agent === materia) }];
  });
  return proposals.filter(
    ({ agent, by }, index) => index === proposals.findIndex((one) => one.agent === agent && one.by === by),
  );
}

/** Agents name each other as they know each other: by materia, by label, by registry id, or by the socket itself. */
function placeOf({ graph, materia }: Rules, agent: string): string | null {
  const wanted = agent.trim().toLowerCase();
  const found = Object.values(graph.sockets).find((socket) => {
    const its = materia[socket.materia];
    return [socket.materia, identityOf(its), socket.id, its?.label].some((name) => name?.toLowerCase() === wanted);
  });
  return found?.id ?? null;
}

function identityAt({ graph, materia }: Rules, socket: string): string | null {
  return identityOf(materia[graph.sockets[socket]?.materia ?? '']);
}

function identityOf(materia: Materia | undefined): string | null {
  return materia?.type === 'agent' ? materia.identity : null;
}

const OUTPUTS_MAX = 5;

/** One agent is relayed in its own words; of several, the findings are told in turn, and none of them alone. */
function summaryOf(reports: readonly ReportNote[]): string {
  const [only, ...others] = reports;
  if (only && others.length === 0 && only.summary !== null) return only.summary;
  const outputs = inTurn(reports, ({ keyOutputs }) => keyOutputs);
  const found = outputs.length > 0 ? outputs : inTurn(reports, ({ confirmed }) => confirmed);
  return found.map(({ agent, text }) => (others.length > 0 ? `${agent}: ${text}` : text)).join('\n');
}

/** The first of each agent, then the second of each, and so on, so that no agent takes all the room. */
function inTurn(reports: readonly ReportNote[], pick: (note: ReportNote) => readonly string[]): readonly Said[] {
  const rounds = Math.max(0, ...reports.map((note) => pick(note).length));
  const said = Array.from({ length: rounds }, (_, round) =>
    reports.flatMap((note) =>
      pick(note)
        .slice(round, round + 1)
        .map((text) => ({ agent: note.agent, text })),
    ),
  );
  return said.flat().slice(0, OUTPUTS_MAX);
}
