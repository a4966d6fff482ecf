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
  readonly visit: number;
  /** The place of its item from 1 on; null where it has none. */
  readonly number: number | null;
  readonly key: string | null;
  /** The list of its item: the key of the cursor. */
  readonly list: string | null;
  readonly title: string | null;
  readonly task: string | null;
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
  const over = (end: NonNullable<TurnRow['end']>) => ({ end, endSeq: seq, endAt: at });
  switch (fact.kind) {
    case 'attempt.started':
      return {
        ...awake(row, seq, at),
        attempts: [...withoutAttempt(row, fact.attempt), attemptOf(entry, fact)],
      };
    case 'attempt.refused': {
      const { issues } = fact.verdict.details;
      const end = {
        end: 'refused',
        endSeq: seq,
        endAt: at,
        code: fact.verdict.code,
        reason: begins(fact.verdict.reason),
      } as const;
      const count = Array.isArray(issues) ? issues.length : 0;
      const told = { ...end, issues: count, ...toldIn(fact) };
      return { ...ended(row, fact.attempt, told), refused: row.refused + 1 };
    }
    case 'attempt.failed': {
      const end = {
        end: 'failed',
        endSeq: seq,
        endAt: at,
        code: fact.cause ?? fact.code,
        reason: begins(fact.reason),
      } as const;
      return ended(row, fact.attempt, { ...end, ...toldIn(fact) });
    }
    case 'attempt.lost':
      return ended(row, fact.attempt, { end: 'lost', endSeq: seq, endAt: at, reason: begins(fact.reason) });
    case 'attempt.interrupted':
      return ended(row, fact.attempt, { end: 'interrupted', endSeq: seq, endAt: at, ...toldIn(fact) });
    case 'attempt.spent':
      return ended(row, fact.attempt, { end: 'lost', endSeq: seq, endAt: at, ...toldIn(fact) });
    case 'turn.unknown': {
      const lost = {
        end: 'lost',
        endSeq: seq,
        endAt: at,
        code: 'OUTCOME_UNKNOWN',
        reason: begins(fact.reason),
      } as const;
      return waits(ended(row, fact.attempt, lost), seq, at, 'unknown');
    }
    case 'turn.asked':
      return waits(row, seq, at, 'turn');
    case 'turn.reported': {
      const end = { end: fact.outcome === 'continue' ? 'goes_on' : 'asks', endSeq: seq, endAt: at } as const;
      const told = ended(row, fact.attempt, { ...end, reason: begins(fact.note), ...toldIn(fact) });
      if (fact.outcome === 'continue') return told;
      return waits(told, seq, at, fact.outcome === 'ask' ? 'question' : 'approval');
    }
    case 'turn.blocked': {
      const end = { end: 'blocked', endSeq: seq, endAt: at, code: fact.code, reason: begins(fact.reason) } as const;
      const told = fact.output === '' ? {} : toldIn(fact);
      return waits(ended(row, fact.attempt, { ...end, ...told }), seq, at, 'blocked');
    }
    case 'edge.spent':
      return waits({ ...row, end: null, endSeq: null, endAt: null }, seq, at, 'spent');
    case 'edge.extended':
    case 'turn.answered':
    case 'turn.decided':
      return awake(row, seq, at);
    case 'turn.reopened':
      return { ...awake(row, seq, at), end: null, endSeq: null, endAt: null };
    case 'turn.accepted': {
      const end = fact.handoff.satisfied === false ? 'not_satisfied' : 'accepted';
      const told = {
        end,
        endSeq: seq,
        endAt: at,
        code: null,
        ...toldIn(fact),
      } as const;
      return { ...awake(ended(row, fact.attempt, told), seq, at), ...over(end) };
    }
    case 'item.parked':
      return { ...awake(row, seq, at), ...over('parked') };
    case 'turn.dropped':
      return row.end === null ? { ...awake(row, seq, at), ...over('dropped') } : row;
    case 'cast.failed':
      return row.end === null ? { ...awake(row, seq, at), ...over('failed') } : row;
    default:
      return row;
  }
}

function attemptOf({ seq, at }: Entry, fact: Extract<CastFact, { kind: 'attempt.started' }>): AttemptRow {
  return {
    attempt: fact.attempt,
    seq,
    at,
    ...{ end: null, endSeq: null, endAt: null, code: null, reason: '', issues: 0 },
    usage: null,
    runner: fact.attestation?.runner ?? null,
    model: fact.attestation?.model ?? null,
  };
}

/** An attempt that is made again after a crash has the number that it had. */
function withoutAttempt({ attempts }: TurnRow, number: number): readonly AttemptRow[] {
  return attempts.filter(({ attempt }) => attempt !== number);
}

function ended(row: TurnRow, number: number, change: Partial<AttemptRow>): TurnRow {
  const attempts = row.attempts.map((each) => (each.attempt === number ? { ...each, ...change } : each));
  return { ...row, attempts };
}

/** Who answered, and what that used. */
function toldIn(fact: Fact): Partial<AttemptRow> {
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
