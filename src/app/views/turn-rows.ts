// One turn of a cast as a row: its attempts, how each ended, and when it waited for a person. A row is replaced and never changed,
// so that a page that was made stays as it was.
import type { CastFact } from '../../kernel/cast/fact.ts';
import type { Usage } from '../../kernel/cast/state.ts';
import type { Entry, Fact } from '../../kernel/fact.ts';
import { truncate } from '../../kernel/text.ts';

export type AttemptOutcome =
  | 'accepted'
  | 'not_satisfied'
  | 'refused'
  | 'failed'
  | 'lost'
  | 'interrupted'
  | 'asks'
  | 'goes_on'
  | 'blocked';

export type AttemptRow = {
  readonly attempt: number;
  /** The entry that started it, and when. */
  readonly seq: number;
  readonly at: string;
  /** Null while it runs. */
  readonly end: AttemptOutcome | null;
  readonly endSeq: number | null;
  readonly endAt: string | null;
  readonly code: string | null;
  readonly reason: string;
  /** How many issues its refusal names. */
  readonly issues: number;
  readonly usage: Usage | null;
  readonly runner: string | null;
  readonly model: string | null;
};

/** A time in which a turn waited for a person. `to` is null while it waits. */
export type WaitSpan = {
  readonly seq: number;
  readonly from: string;
  readonly to: string | null;
  readonly toSeq: number | null;
  readonly what: 'question' | 'approval' | 'turn' | 'blocked' | 'unknown' | 'spent';
};

export type TurnRow = {
  readonly turn: number;
  readonly socket: string;
  /** The place of its item from 1 on; null where it has none. */
  readonly number: number | null;
  readonly key: string | null;
  /** The list of its item: the key of the cursor. */
  readonly list: string | null;
  readonly title: string | null;
  /** The row of the timeline. */
  readonly row: number;
  readonly isRework: boolean;
  readonly seq: number;
  readonly at: string;
  readonly endSeq: number | null;
  readonly endAt: string | null;
  readonly end: 'accepted' | 'not_satisfied' | 'failed' | 'parked' | 'dropped' | null;
  /** The last entry about it. */
  readonly lastSeq: number;
  readonly attempts: readonly AttemptRow[];
  readonly waits: readonly WaitSpan[];
  /** How many attempts were refused. */
  readonly refused: number;
};

/** The row after an entry about its turn. */
export function changedRow(row: TurnRow, entry: Entry): TurnRow {
  const { seq, at, fact } = entry;
  const when = { endSeq: seq, endAt: at };
  const none = { end: null, endSeq: null, endAt: null };
  const over = (end: NonNullable<TurnRow['end']>) => ({ ...awake(row, seq, at), ...when, end });
  const ends = (attempt: number, end: AttemptOutcome, more: Partial<AttemptRow> = {}) =>
    changedAttempt(row, attempt, { ...when, end, ...more });
  switch (fact.kind) {
    case 'attempt.started':
      return { ...awake(row, seq, at), attempts: [...withoutAttempt(row, fact.attempt), attemptOf(entry, fact)] };
    case 'attempt.refused': {
      const { code, reason, details } = fact.verdict;
      const issues = Array.isArray(details.issues) ? details.issues.length : 0;
      const refused = { code, reason: begins(reason), issues, ...byWhom(fact) };
      return { ...ends(fact.attempt, 'refused', refused), refused: row.refused + 1 };
    }
    case 'attempt.failed': {
      const { attempt, cause, code, reason } = fact;
      return ends(attempt, 'failed', { code: cause ?? code, reason: begins(reason), ...byWhom(fact) });
    }
    case 'attempt.lost':
      return ends(fact.attempt, 'lost', { reason: begins(fact.reason) });
    case 'attempt.interrupted':
      return ends(fact.attempt, 'interrupted', byWhom(fact));
    case 'attempt.spent':
      return ends(fact.attempt, 'lost', byWhom(fact));
    case 'turn.unknown': {
      const lost = ends(fact.attempt, 'lost', { code: 'OUTCOME_UNKNOWN', reason: begins(fact.reason) });
      return waits(lost, seq, at, 'unknown');
    }
    case 'turn.asked':
      return waits(row, seq, at, 'turn');
    case 'turn.reported': {
      const { attempt, outcome, note } = fact;
      const more = { reason: begins(note), ...byWhom(fact) };
      if (outcome === 'continue') return ends(attempt, 'goes_on', more);
      return waits(ends(attempt, 'asks', more), seq, at, outcome === 'ask' ? 'question' : 'approval');
    }
    case 'turn.blocked': {
      const { attempt, code, reason, output } = fact;
      const more = { code, reason: begins(reason), ...(output === '' ? {} : byWhom(fact)) };
      return waits(ends(attempt, 'blocked', more), seq, at, 'blocked');
    }
    case 'edge.spent':
      return waits({ ...row, ...none }, seq, at, 'spent');
    case 'edge.extended':
    case 'turn.answered':
    case 'turn.decided':
      return awake(row, seq, at);
    case 'turn.reopened':
      return { ...awake(row, seq, at), ...none };
    case 'turn.accepted': {
      const end = fact.handoff.satisfied === false ? 'not_satisfied' : 'accepted';
      return { ...awake(ends(fact.attempt, end, { code: null, ...byWhom(fact) }), seq, at), ...when, end };
    }
    case 'item.parked':
      return over('parked');
    case 'turn.dropped':
      return row.end === null ? over('dropped') : row;
    case 'cast.failed':
      return row.end === null ? over('failed') : row;
    default:
      return row;
  }
}

function attemptOf({ seq, at }: Entry, fact: Extract<CastFact, { kind: 'attempt.started' }>): AttemptRow {
  const { runner = null, model = null } = fact.attestation ?? {};
  const open = { end: null, endSeq: null, endAt: null, code: null, reason: '', issues: 0, usage: null };
  return { attempt: fact.attempt, seq, at, ...open, runner, model };
}

/** An attempt that is made again after a crash has the number that it had. */
function withoutAttempt({ attempts }: TurnRow, number: number): readonly AttemptRow[] {
  return attempts.filter(({ attempt }) => attempt !== number);
}

function changedAttempt(row: TurnRow, number: number, change: Partial<AttemptRow>): TurnRow {
  const attempts = row.attempts.map((each) => (each.attempt === number ? { ...each, ...change } : each));
  return { ...row, attempts };
}

/** Who answered, and what that used. */
function byWhom(fact: Fact): Partial<AttemptRow> {
  const agent = 'agent' in fact && typeof fact.agent === 'object' ? fact.agent : undefined;
  return {
    ...('usage' in fact && 'attempt' in fact ? { usage: fact.usage } : {}),
    ...(agent?.runner === undefined ? {} : { runner: agent.runner }),
    ...(agent?.model === undefined ? {} : { model: agent.model }),
  };
}

function waits(row: TurnRow, seq: number, from: string, what: WaitSpan['what']): TurnRow {
  const before = awake(row, seq, from);
  return { ...before, waits: [...before.waits, { seq, from, to: null, toSeq: null, what }] };
}

function awake(row: TurnRow, toSeq: number, to: string): TurnRow {
  if (row.waits.at(-1)?.to !== null) return row;
  return { ...row, waits: row.waits.map((wait) => (wait.to === null ? { ...wait, to, toSeq } : wait)) };
}

/** A page shows reasons in a line; the whole of one is in its entry. */
const REASON_CHARS_MAX = 400;

function begins(text: string): string {
  return truncate(text, REASON_CHARS_MAX);
}
