// The reports of all agents of a cast together: a bounded note of each, one consolidated report, a summary for the person
// who asked, and the agents that others propose.
import type { Cast, ReportNote } from '../cast/state.ts';
import type { Graph, Materia, Rules } from '../graph/config.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../json.ts';
import { truncate } from '../text.ts';
import { listedValues, sectionAt, valueAt } from './sections.ts';
import type { PlanStatus } from './status.ts';

const REPORTS_MAX = 32;

/** The last word of each agent, in the order in which they spoke first. */
export function withReport(reports: readonly ReportNote[], note: ReportNote): readonly ReportNote[] {
  const place = reports.findIndex(({ agentId }) => agentId === note.agentId);
  if (place !== -1) return reports.with(place, note);
  return [...reports, note].slice(-REPORTS_MAX);
}

export type Statement = { readonly agent: string; readonly text: string };

/** What an agent answers for itself, of each piece of work that it reported on. */
type ItemStatements = Statement & { readonly item: string | null };

/** The status of an agent by its last report; `item` is the piece of work, where the goal has several. */
type Reported = { readonly agent: string; readonly item: string | null; readonly status: PlanStatus };

/** How much of its model's window an agent says its work took. */
export type Consumption = { readonly agent: string; readonly item: string | null } & JsonObject;

export type Consolidation = {
  readonly agents: readonly string[];
  readonly reports: readonly Reported[];
  readonly ownership: readonly ItemStatements[];
  readonly confirmed: readonly Statement[];
  readonly suspected: readonly Statement[];
  readonly conflicts: readonly Statement[];
  readonly openGaps: readonly Statement[];
  readonly crossLayerImpacts: readonly Statement[];
  readonly verification: readonly ItemStatements[];
  readonly rollbacks: readonly ItemStatements[];
  readonly proposals: readonly Proposal[];
  readonly contextConsumption: readonly Consumption[];
  /** For the person who asked: one agent's own words, or the first findings of several, and how many more there are. */
  readonly summary: string;
  /** All that the summary tells the first of. */
  readonly findings: readonly string[];
  /** How many of them the summary leaves out. */
  readonly leftOut: number;
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
    ownership: statementsByAgent(reports, ({ ownership }) => ownership),
    confirmed: withoutRepeated(reports, ({ confirmed }) => confirmed),
    suspected: withoutRepeated(reports, ({ suspected }) => suspected),
    conflicts: withoutRepeated(reports, ({ conflicts }) => conflicts),
    openGaps: withoutRepeated(reports, ({ openGaps }) => openGaps),
    crossLayerImpacts: withoutRepeated(reports, ({ crossLayerImpacts }) => crossLayerImpacts),
    verification: statementsByAgent(reports, ({ verification }) => verification),
    rollbacks: statementsByAgent(reports, ({ rollback }) => rollback),
    proposals: proposalsOf(reports, rules, refusalOf),
    contextConsumption: reports.flatMap(({ agent, item, contextConsumption }) =>
      contextConsumption === null ? [] : [{ agent, item, ...contextConsumption }],
    ),
    ...summaryOf(reports),
  };
}

/** What each agent answers for itself: that another one says the same does not say it for this one. */
function statementsByAgent(
  reports: readonly ReportNote[],
  pick: (note: ReportNote) => string | null,
): ItemStatements[] {
  return reports.flatMap((note) => {
    const text = pick(note);
    return text === null ? [] : [{ agent: note.agent, item: note.item, text }];
  });
}

/** An equal finding of several agents is shown once, with the first of them. */
function withoutRepeated(reports: readonly ReportNote[], pick: (note: ReportNote) => readonly string[]): Statement[] {
  const seen = new Set<string>();
  return reports.flatMap((note) =>
    pick(note).flatMap((text) => {
      if (seen.has(text)) return [];
      seen.add(text);
      return [{ agent: note.agent, text }];
    }),
  );
}

const OUTPUTS_MAX = 5;

type Summary = Pick<Consolidation, 'summary' | 'findings' | 'leftOut'>;

function summaryOf(reports: readonly ReportNote[]): Summary {
  const { findings, shown } = statementsOf(reports);
  const leftOut = findings.length - shown.length;
  const summary = [...shown, ...(leftOut > 0 ? [`… and ${leftOut} more`] : [])].join('\n');
  return { summary, findings, leftOut };
}

type StatementText = { readonly findings: readonly string[]; readonly shown: readonly string[] };

/** One agent is quoted in its own words. Of several, the findings come in turn. */
function statementsOf(reports: readonly ReportNote[]): StatementText {
  const inOrder = reports.toSorted((a, b) => numberOf(a.item) - numberOf(b.item));
  const agents = [...new Set(reports.map(({ agent }) => agent))];
  if (agents.length === 1) {
    const words = inOrder.map(ownWords);
    const shown = [...new Set(words.flatMap((own) => own.slice(0, OUTPUTS_MAX)))];
    return { findings: [...new Set(words.flat())], shown };
  }
  const byAgent = agents.map((agent) => findingsOf(inOrder.filter((note) => note.agent === agent)));
  const rounds = Math.max(0, ...byAgent.map((lines) => lines.length));
  // The first of each agent, then the second of each, and so on, so that no agent takes all the room.
  const findings = Array.from({ length: rounds }, (_, round) =>
    agents.flatMap((agent, index) => (byAgent[index] ?? []).slice(round, round + 1).map((text) => `${agent}: ${text}`)),
  ).flat();
  return { findings, shown: findings.slice(0, Math.max(OUTPUTS_MAX, agents.length)) };
}

/** Items are called `WI-1`, `WI-2` and so on; what is about none of them comes first. */
function numberOf(item: string | null): number {
  return item === null ? 0 : Number(/\d+$/.exec(item)?.[0] ?? 0);
}

/** What an agent says to the person who asked, or else what it found. */
function ownWords({ summary, keyOutputs, confirmed }: ReportNote): readonly string[] {
  if (summary !== null) return [summary];
  return keyOutputs.length > 0 ? keyOutputs : confirmed;
}

/** What one of several agents found, on all of its items: its outputs, else what it confirmed, else its summary. */
function findingsOf(notes: readonly ReportNote[]): readonly string[] {
  const lists = [
    notes.flatMap(({ keyOutputs }) => keyOutputs),
    notes.flatMap(({ confirmed }) => confirmed),
    notes.flatMap(({ summary }) => summary ?? []),
  ];
  return [...new Set(lists.find((list) => list.length > 0))];
}

/** An agent that another one names as the best to go on, and whether the graph and the boundaries would let it. */
export type Proposal = {
  readonly agent: string;
  readonly by: string;
  /** The socket of that agent; null where it has none. A reachable one comes first. */
  readonly socket: string | null;
  /** Whether the graph and the boundaries allow it. */
  readonly allowed: boolean;
  /** Why the graph does not lead there; null where it does. */
  readonly noWay: string | null;
  /** What the boundaries of the registry have against that handoff; null where nothing, or where there are none. */
  readonly refusal: string | null;
  /** Whether that agent has reported in this cast itself. */
  readonly reported: boolean;
};

/** Why one registry identity may never hand to another; null where it may. */
export type BoundaryRefusal = (source: string, target: string) => string | null;

/** What agents propose, once from each. That an agent names itself is no proposal. */
function proposalsOf(reports: readonly ReportNote[], rules: Rules, refusalOf: BoundaryRefusal): Proposal[] {
  const proposals = reports.flatMap((note) =>
    agentsNamedIn(note).flatMap((agent) => proposalOf(agent, note, reports, rules, refusalOf) ?? []),
  );
  return proposals.filter(
    ({ agent, by }, index) => index === proposals.findIndex((one) => one.agent === agent && one.by === by),
  );
}

function agentsNamedIn({ nextBestAgent, alsoBestAgents = [] }: ReportNote): readonly string[] {
  return nextBestAgent === null ? [] : [nextBestAgent, ...alsoBestAgents];
}

function proposalOf(
  agent: string,
  { agent: by, socket: from }: ReportNote,
  reports: readonly ReportNote[],
  rules: Rules,
  refusalOf: BoundaryRefusal,
): Proposal | null {
  if (agent === by) return null;
  const places = itemNumbers(rules, agent);
  if (places.includes(from)) return null;
  const reached = agentsAfter(rules, from);
  const way = places.find((place) => reached.has(place));
  const socket = way ?? places[0] ?? null;
  const [source, target] = [identityAt(rules, from), socket === null ? agent : identityAt(rules, socket)];
  const refusal = source === null || target === null ? null : refusalOf(source, target);
  const noWay = way !== undefined ? null : socket === null ? NOWHERE : `no edge leads there from ${from}`;
  const materia = socket === null ? agent : rules.graph.sockets[socket]?.materia;
  const reported = reports.some((note) => note.agent === materia);
  return { agent, by, socket, allowed: noWay === null && refusal === null, noWay, refusal, reported };
}

const NOWHERE = 'it has no socket in this loadout';

/** Agents name each other as they know each other: by materia, by label, by registry id, or by the socket itself. */
function itemNumbers({ graph, materia }: Rules, agent: string): readonly string[] {
  const wanted = agent.trim().toLowerCase();
  const found = Object.values(graph.sockets).filter((socket) => {
    const its = materia[socket.materia];
    return [socket.materia, identityOf(its), socket.id, its?.label].some((name) => name?.toLowerCase() === wanted);
  });
  return found.map(({ id }) => id);
}

/** The sockets of the agents that come next after a socket, directly or through utilities. */
function agentsAfter({ graph, materia }: Rules, from: string): ReadonlySet<string> {
  const found = new Set<string>();
  const passed = new Set<string>();
  const ahead = [...waysFrom(graph, from)];
  for (let socket = ahead.pop(); socket !== undefined; socket = ahead.pop()) {
    const its = graph.sockets[socket];
    if (!its || passed.has(socket)) continue;
    passed.add(socket);
    if (materia[its.materia]?.type === 'utility') ahead.push(...waysFrom(graph, socket));
    else found.add(socket);
  }
  return found;
}

/** Where the edges of a socket lead, and the exits of loops that leave from it. */
function waysFrom({ sockets, loops }: Graph, from: string): readonly string[] {
  const exits = loops.flatMap((loop) => loop.exits.filter((exit) => exit.from === from));
  return [...(sockets[from]?.edges ?? []).map(({ to }) => to), ...exits.map(({ targetSocketId }) => targetSocketId)];
}

function identityAt({ graph, materia }: Rules, socket: string): string | null {
  return identityOf(materia[graph.sockets[socket]?.materia ?? '']);
}

function identityOf(materia: Materia | undefined): string | null {
  return materia?.type === 'agent' ? materia.identity : null;
}

/** What is kept of a report: a bounded note for later agents and for the end of the cast. */
const ENTRIES_MAX = 8;
const ENTRY_CHARS_MAX = 300;
const SUMMARY_CHARS_MAX = 2_000;

export type Reporter = Pick<ReportNote, 'socket' | 'agent' | 'agentId' | 'item'>;

export function reportNote(report: JsonObject, status: PlanStatus, reporter: Reporter): ReportNote {
  const evidence = sectionAt(report, 'evidence_report');
  const consolidation = sectionAt(report, 'consolidation_report');
  const { user_facing_summary: summary } = report;
  const [nextBestAgent = null, ...alsoBestAgents] = entriesAt(consolidation, 'next_best_agent');
  return {
    ...reporter,
    status,
    ownership: entriesAt(consolidation, 'ownership_assessment')[0] ?? null,
    confirmed: entriesAt(consolidation, 'confirmed_findings'),
    suspected: entriesAt(consolidation, 'suspected_findings'),
    conflicts: entriesAt(consolidation, 'conflicts'),
    openGaps: [...new Set([...entriesAt(evidence, 'open_gaps'), ...entriesAt(consolidation, 'open_gaps')])],
    nextBestAgent,
    ...(alsoBestAgents.length > 0 ? { alsoBestAgents } : {}),
    keyOutputs: entriesAt(evidence, 'key_outputs'),
    crossLayerImpacts: entriesAt(evidence, 'cross_layer_impacts'),
    verification: verificationOf(evidence),
    summary: isText(summary) ? truncate(summary.trim(), SUMMARY_CHARS_MAX) : null,
    rollback: rollbackOf(report.rollback_executed),
    contextConsumption: consumptionOf(report.context_consumption),
  };
}

const WARNINGS_MAX = 20;

/** The first of the parts of a report that could not be taken, and how many more there are. */
export function boundWarnings(warnings: readonly string[]): readonly string[] {
  const shown = warnings.slice(0, WARNINGS_MAX).map((each) => truncate(collapsed(each), ENTRY_CHARS_MAX));
  const more = warnings.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

function verificationOf(evidence: JsonObject): string | null {
  const { result, method, details } = sectionAt(evidence, 'verification');
  if (!isText(result)) return null;
  const parts = [result, method, details].filter(isText).map((part) => collapsed(part));
  return truncate(parts.join(': '), ENTRY_CHARS_MAX);
}

/** A report that says nothing was rolled back has rolled nothing back. */
function rollbackOf(value: Json | undefined): string | null {
  if (value === false) return null;
  return entriesIn(value).join('; ') || null;
}

function consumptionOf(value: Json | undefined): JsonObject | null {
  if (!isObject(value)) return null;
  const numbers = ['tokens_used', 'pct_window'].flatMap((key) => {
    const number = numberIn(value[key]);
    return number === null ? [] : [[key, number] as const];
  });
  return numbers.length === 0 ? null : Object.fromEntries(numbers);
}

function numberIn(value: Json | undefined): number | null {
  if (typeof value !== 'number' && !isText(value)) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

const NOTHING =
  /^(?:none|nothing|n\/?a|not applicable|-|no(?: (?:conflicts?|gaps?|open gaps?|findings?|impacts?|rollback))?)(?: (?:found|known|identified|needed|executed))?\.?$/i;

/** Filler that says "nothing" is nothing: lists that must not be empty are often filled with it. */
export function saysNothing(text: string): boolean {
  return text === '' || NOTHING.test(text);
}

function entriesAt(section: JsonObject, key: string): readonly string[] {
  return entriesIn(valueAt(section, key));
}

function entriesIn(value: Json | undefined): readonly string[] {
  return listedValues(value)
    .map((each) => collapsed(textOf(each)))
    .filter((each) => !saysNothing(each))
    .slice(0, ENTRIES_MAX)
    .map((each) => truncate(each, ENTRY_CHARS_MAX));
}

/** A command with its result is shown as such; any other object by its JSON. */
function textOf(value: Json): string {
  if (isString(value)) return value;
  const command = isObject(value) ? (value.command ?? value.cmd) : undefined;
  if (!isObject(value) || !isText(command)) return JSON.stringify(value);
  return isText(value.result) ? `\`${command}\` -> ${value.result}` : `\`${command}\``;
}

function collapsed(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
