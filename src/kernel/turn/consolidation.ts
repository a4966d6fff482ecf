// Several agents on one goal: what each of them reported last, put together into one report, and the word for the person
// who asked. Nothing is made up here: every line is an agent's own, with its name.
import type { Graph } from '../graph/config.ts';
import type { Cast, ReportNote } from '../state.ts';

const REPORTS_MAX = 32;

/** The last word of each agent, in the order in which they spoke first. */
export function withReport(reports: readonly ReportNote[], note: ReportNote): readonly ReportNote[] {
  const place = reports.findIndex(({ agentId }) => agentId === note.agentId);
  if (place !== -1) return reports.with(place, note);
  return [...reports, note].slice(-REPORTS_MAX);
}

export type Said = { readonly agent: string; readonly text: string };

/** An agent that another one names as the best to go on, and whether the graph would ever let it. */
export type Proposal = { readonly agent: string; readonly by: string; readonly socket: string | null };

export type Consolidation = {
  readonly agents: readonly string[];
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
export function consolidate({ reports, rules }: Pick<Cast, 'reports' | 'rules'>): Consolidation | null {
  if (reports.length === 0) return null;
  const each = (pick: (note: ReportNote) => readonly (string | null)[]) => saidBy(reports, pick);
  return {
    agents: [...new Set(reports.map(({ agent }) => agent))],
    ownership: each(({ ownership }) => [ownership]),
    confirmed: each(({ confirmed }) => confirmed),
    suspected: each(({ suspected }) => suspected),
    conflicts: each(({ conflicts }) => conflicts),
    openGaps: each(({ openGaps }) => openGaps),
    crossLayerImpacts: each(({ crossLayerImpacts }) => crossLayerImpacts),
    verification: each(({ verification }) => [verification]),
    rollbacks: each(({ rollback }) => [rollback]),
    proposals: proposalsOf(reports, rules.graph),
    summary: summaryOf(reports),
  };
}

/** The same finding of several agents is told once, with the first of them. */
function saidBy(reports: readonly ReportNote[], pick: (note: ReportNote) => readonly (string | null)[]): Said[] {
  const told = new Set<string>();
  return reports.flatMap((note) =>
    pick(note).flatMap((text) => {
      if (text === null || told.has(text)) return [];
      told.add(text);
      return [{ agent: note.agent, text }];
    }),
  );
}

/** Proposals are made by what the graph can do: `socket` is where that agent stands in it, null where nowhere. */
function proposalsOf(reports: readonly ReportNote[], { sockets }: Graph): Proposal[] {
  const placeOf = (agent: string) =>
    Object.values(sockets).find(({ id, materia }) => materia === agent || id === agent)?.id ?? null;
  return reports.flatMap(({ nextBestAgent, agent: by }) =>
    nextBestAgent === null || nextBestAgent === by
      ? []
      : [{ agent: nextBestAgent, by, socket: placeOf(nextBestAgent) }],
  );
}

const OUTPUTS_MAX = 5;

/** One agent is relayed in its own words; of several, the findings are told in turn, none of them alone. */
function summaryOf(reports: readonly ReportNote[]): string {
  const [only, ...others] = reports;
  if (only && others.length === 0 && only.summary !== null) return only.summary;
  const outputs: Said[] = [];
  for (let round = 0; outputs.length < OUTPUTS_MAX; round += 1) {
    const found = reports.flatMap(({ agent, keyOutputs }) => {
      const text = keyOutputs[round];
      return text === undefined ? [] : [{ agent, text }];
    });
    if (found.length === 0) break;
    outputs.push(...found.slice(0, OUTPUTS_MAX - outputs.length));
  }
  return outputs.map(({ agent, text }) => (others.length > 0 ? `${agent}: ${text}` : text)).join('\n');
}
