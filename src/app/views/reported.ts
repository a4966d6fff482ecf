// What agents of a cast reported, and the commands that they asked to run and that did not run, both from its facts. A cast that is
// completed without such a command says so.

import { type ApprovalFact, isApprovalFact, type SealedRequest } from '../../kernel/approval/request.ts';
import type { AgentNote, ReportNote } from '../../kernel/cast/state.ts';
import type { Entry, Fact } from '../../kernel/fact.ts';
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
  /** Those of them that change state and were not approved. */
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

export type NotRun = {
  readonly approval: string;
  readonly command: string;
  readonly outcome:
    | 'waits'
    | 'approved and not run'
    | 'refused'
    | 'expired'
    | 'not decided'
    | 'ended without an exit code';
};

type Asked = {
  readonly sealed: SealedRequest;
  outcome: NotRun['outcome'];
  readonly began: Set<number>;
};

export type CommandsRecord = {
  readonly asked: Map<string, Asked>;
  /** The digests of the commands that ran. */
  readonly ran: Set<string>;
  /** Approvals with a command that began and did not say how it ended. */
  readonly open: Set<string>;
  /** Those of them whose outcome was noted as unknown. */
  readonly unknown: Set<string>;
};

export function noCommands(): CommandsRecord {
  return { asked: new Map(), ran: new Set(), open: new Set(), unknown: new Set() };
}

export function foldCommand({ asked, ran, open, unknown }: CommandsRecord, fact: Fact): void {
  if (!isApprovalFact(fact)) return;
  if (fact.kind === 'approval.requested')
    asked.set(fact.id, { sealed: fact.sealed, outcome: 'waits', began: new Set() });
  const one = asked.get(fact.id);
  if (one) take(one, fact, ran);
  if (fact.kind === 'approval.used') open.add(fact.id);
  if (fact.kind === 'approval.unknown') for (const set of [open, unknown]) set.add(fact.id);
  const isSettled = fact.kind === 'approval.finished' || fact.kind === 'approval.rejected';
  if (isSettled || (fact.kind === 'approval.approved' && fact.again))
    for (const set of [open, unknown]) set.delete(fact.id);
}

/**
 * What was asked for under the approvals with a command of which its end is unknown, by their ids. Nothing of a cast
 * that is over runs on: what began and did not say how it ended will not say it any more.
 */
export function unknownIn({ asked, open, unknown }: CommandsRecord, isOver = false): ReadonlyMap<string, string> {
  return new Map([...(isOver ? open : unknown)].map((id) => [id, asked.get(id)?.sealed.operation ?? '']));
}

export function notRunOf({ asked, ran }: CommandsRecord): readonly NotRun[] {
  return [...asked].flatMap(([approval, { sealed, outcome, began }]) =>
    sealed.commands.flatMap(({ display, digest }, index): readonly NotRun[] => {
      if (ran.has(digest) || (began.has(index) && outcome === 'approved and not run')) return [];
      return [{ approval, command: display, outcome }];
    }),
  );
}

function take(one: Asked, fact: ApprovalFact, ran: Set<string>): void {
  const outcome = outcomeOf(fact);
  if (outcome) one.outcome = outcome;
  // A command that began and was not settled has a list of its own.
  if (fact.kind === 'approval.used') one.began.add(fact.index);
  if (fact.kind !== 'approval.finished') return;
  const digest = one.sealed.commands[fact.index]?.digest;
  if (fact.exit !== null && digest !== undefined) ran.add(digest);
  else if (fact.exit === null) one.outcome = 'ended without an exit code';
}

function outcomeOf(fact: ApprovalFact): NotRun['outcome'] | null {
  switch (fact.kind) {
    case 'approval.approved':
      return 'approved and not run';
    case 'approval.rejected':
      return 'refused';
    case 'approval.expired':
      return fact.what === 'grant' ? 'approved and not run' : 'expired';
    case 'approval.withdrawn':
      return fact.what === 'grant' ? 'approved and not run' : 'not decided';
    default:
      return null;
  }
}
