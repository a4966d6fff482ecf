// What agents reported in their turns, told from the facts: each report with its payload, and whether it names the commands
// that were really run.
import type { AgentNote, ReportNote } from '../../kernel/cast/state.ts';
import type { Entry } from '../../kernel/fact.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { type CommandDifferences, claimedCommands, compareCommands } from '../../kernel/report/commands.ts';

/** One report that kept its contract. */
export type ReportRecord = {
  readonly turn: number;
  readonly attempt: number;
  readonly at: string;
  readonly note: ReportNote;
  /** What of it could not be taken as it was. */
  readonly warnings: readonly string[];
  /** The whole report; null where only its text was kept. */
  readonly payload: JsonObject | null;
  readonly output: string;
  /** The commands run in its turn so far; null where its program does not tell. */
  readonly ran: readonly string[] | null;
  /** Those of them that change state and that nobody had approved. */
  readonly unapproved: readonly string[];
};

export type ReportsRecord = {
  readonly list: ReportRecord[];
  /** By turn, what its attempts ran so far: a later report may name what an earlier attempt ran. */
  readonly ran: Map<number, readonly string[]>;
  readonly unapproved: Map<number, readonly string[]>;
  last: Pick<ReportRecord, 'turn' | 'attempt' | 'payload' | 'output'> | null;
};

export function noReports(): ReportsRecord {
  return { list: [], ran: new Map(), unapproved: new Map(), last: null };
}

export function foldReport(record: ReportsRecord, { at, fact }: Entry): void {
  const { list, ran, unapproved } = record;
  const { turn, agent } = endIn(fact);
  if (agent?.commands) ran.set(turn, joined(ran.get(turn), agent.commands));
  if (agent?.unapproved) unapproved.set(turn, joined(unapproved.get(turn), agent.unapproved));
  if (fact.kind === 'turn.reported' || fact.kind === 'turn.accepted' || fact.kind === 'turn.blocked') {
    const { turn, attempt, output } = fact;
    const payload = fact.kind === 'turn.accepted' ? fact.handoff.payload : 'payload' in fact ? fact.payload : null;
    record.last = { turn, attempt, output, payload: isObject(payload) ? payload : null };
  }
  // What a report says about the goal is noted right after it.
  if (fact.kind === 'report.noted' && record.last?.turn === fact.turn) {
    const { note, warnings = [] } = fact;
    const seen = { ran: ran.get(fact.turn) ?? null, unapproved: unapproved.get(fact.turn) ?? [] };
    list.push({ ...record.last, at, note, warnings, ...seen });
  }
}

function endIn(fact: Entry['fact']): { readonly turn: number; readonly agent: AgentNote | null } {
  const ended = 'usage' in fact && 'attempt' in fact ? fact : null;
  return { turn: ended?.turn ?? 0, agent: ended?.agent ?? null };
}

function joined(before: readonly string[] | undefined, more: readonly string[]): readonly string[] {
  return [...new Set([...(before ?? []), ...more])];
}

export type TurnDifferences = CommandDifferences & {
  readonly turn: number;
  readonly agent: string;
  /** Run without the approval that they need. */
  readonly unapproved?: readonly string[];
};

/** Of the last report of each turn, where it differs from what was seen. */
export function differencesIn({ list }: ReportsRecord): readonly TurnDifferences[] {
  const last = new Map(list.map((report) => [report.turn, report]));
  return [...last.values()].flatMap(({ turn, note, payload, ran, unapproved }) => {
    const found = commandDifferences(payload, ran) ?? NONE;
    if (unapproved.length > 0) return [{ turn, agent: note.agent, ...found, unapproved }];
    return isDifferent(found) ? [{ turn, agent: note.agent, ...found }] : [];
  });
}

const NONE: CommandDifferences = { notRun: [], unnamed: [] };

/** Null where nothing can be compared. */
export function commandDifferences(
  payload: JsonObject | null,
  ran: readonly string[] | null,
): CommandDifferences | null {
  return payload === null || ran === null ? null : compareCommands(claimedCommands(payload), ran);
}

function isDifferent({ notRun, unnamed }: CommandDifferences): boolean {
  return notRun.length > 0 || unnamed.length > 0;
}
