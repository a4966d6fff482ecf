// What comes after an attempt of an agent that gave no answer: another runner, a shorter brief, a new conversation,
// patience, once more, or nothing. Each way is bounded, so that a turn comes to its end whatever the agents do.
import { runnerCan } from '../capabilities.ts';
import type { Code } from '../codes.ts';
import type { CastFact } from '../fact.ts';
import type { Input } from '../input.ts';
import type { Cast, Turn } from '../state.ts';
import { utf8Length } from '../utf8-length.ts';
import { bytesThatStay } from './brief.ts';
import { choiceName, choicesOf, chosenMateria, nextChoice } from './choice.ts';
import { materiaOf, type Pen } from './pen.ts';

/** A crash or a dropped connection is tried once more. */
const FAULT_RETRIES_MAX = 1;
/** How often a turn asks again in all: its programs and adapters within an attempt, and the engine with another attempt. */
const RETRIES_MAX = 4;
const WAITS_MAX = 3;
/** Providers that name no time get this long. */
const WAIT_MS = 60_000;
/** A longer wait than this is a person's to decide. */
const WAIT_MS_MAX = 3_600_000;
/** What has to stay is not cut to less than this. */
const BRIEF_BYTES_MIN = 1_024;

type Next = Pick<
  Extract<CastFact, { kind: 'attempt.failed' }>,
  'again' | 'choice' | 'briefBytesMax' | 'forgetsSession' | 'until'
>;

/** The next attempt, and what people are told of it. */
export type SecondTry = { readonly next: Next; readonly told: string };

const NONE: SecondTry = { next: { again: false }, told: '' };

/** How often the next attempt of the turn may ask its provider again by itself. */
export function retriesLeft({ faults, retries = 0 }: Pick<Turn, 'faults' | 'retries'>): number {
  return Math.max(0, RETRIES_MAX - faults - retries);
}

export function secondTry(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  {
    fault,
    code: cause,
    retryAfterMs,
    tries = 1,
  }: Pick<Extract<Input, { kind: 'attempt.failed' }>, 'fault' | 'code' | 'retryAfterMs' | 'tries'>,
): SecondTry {
  const mayRepeat = turn.faults < FAULT_RETRIES_MAX && retriesLeft(turn) >= tries;
  const found = cause === undefined ? null : byCause(pen, cast, turn, cause, retryAfterMs, mayRepeat);
  if (found) return found;
  if (fault !== 'crash' && fault !== 'transport') return NONE;
  if (mayRepeat) return { next: { again: true }, told: 'tried once more' };
  if (fault === 'crash' && tries === 1) return NONE;
  const asked = turn.faults + (turn.retries ?? 0) + tries;
  return asked > 1 ? { ...NONE, told: `asked ${asked} times in all` } : NONE;
}

function byCause(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  cause: Code,
  retryAfterMs: number | undefined,
  mayRepeat: boolean,
): SecondTry | null {
  const other = otherChoice(cast, turn, cause, mayRepeat);
  if (other) return other;
  switch (cause) {
    case 'SESSION_LOST':
      if (turn.session === null) return null;
      return { next: { again: true, forgetsSession: true }, told: 'tried again in a new conversation' };
    case 'CONTEXT_OVERFLOW':
      return shortened(pen, cast, turn);
    case 'RATE_LIMITED':
      return patience(turn, retryAfterMs ?? WAIT_MS, pen.at) ?? NONE;
    default:
      return null;
  }
}

function otherChoice(cast: Cast, turn: Turn, cause: Code, mayRepeat: boolean): SecondTry | null {
  const materia = materiaOf(cast, turn.socket);
  if (materia.type === 'utility') return null;
  const choice = nextChoice(cast.rules, materia, turn.choice, cause, !mayRepeat);
  const named = choice === null ? undefined : choicesOf(cast.rules, materia)[choice];
  if (choice === null || !named) return null;
  const told = runnerCan(cast.rules, named.runner, 'isPerson')
    ? 'a person is asked instead'
    : `${choiceName(named)} is tried instead`;
  return { next: { again: true, choice }, told };
}

/** Less than was too long, once: half of a long brief, a short one without what came before, or the same in a new conversation. */
function shortened(pen: Pen, cast: Cast, turn: Turn): SecondTry {
  const { maxBriefBytes } = cast.rules.limits;
  if (turn.briefBytesMax !== null) {
    const had = turn.briefBytesMax < maxBriefBytes ? 'it had been shortened' : 'it had a new conversation';
    return { ...NONE, told: `${had} already, and is not tried again` };
  }
  if (turn.session !== null) {
    // The brief was short and the conversation was not: a new one gets the whole brief.
    const next = { again: true, briefBytesMax: maxBriefBytes, forgetsSession: true };
    return { next, told: 'tried again in a new conversation' };
  }
  const size = Math.min(maxBriefBytes, utf8Length(turn.brief ?? ''));
  const half = Math.floor(size / 2);
  const briefBytesMax = half < BRIEF_BYTES_MIN ? Math.min(size, bytesThatStay(pen, cast, turn)) : half;
  if (briefBytesMax < size) {
    const told = `tried once more with a brief of at most ${briefBytesMax} bytes instead of ${size}`;
    return { next: { again: true, briefBytesMax }, told };
  }
  const short = `of its brief of ${size} bytes nothing can be left out`;
  const materia = chosenMateria(cast, turn);
  if (materia.type === 'utility' || !runnerCan(cast.rules, materia.runner, 'keepsSession'))
    return { ...NONE, told: `${short}, so it is not tried again` };
  const told = `${short}, so it is tried once more in a new conversation, without what it had read in this one`;
  // As much as any brief may measure: nothing of it is left out.
  return { next: { again: true, briefBytesMax: maxBriefBytes }, told };
}

function patience({ waits }: Turn, waitMs: number, at: number): SecondTry | null {
  if (waits >= WAITS_MAX || !(waitMs <= WAIT_MS_MAX)) return null;
  const until = at + Math.max(1_000, Math.ceil(waitMs));
  return { next: { again: true, until }, told: `tried again at ${new Date(until).toISOString()}` };
}
