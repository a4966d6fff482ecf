// How a wait ends: its time comes, what was looked at is there or cannot come any more, or a person says so.
import type { Input } from '../input.ts';
import { scrub } from '../secrets.ts';
import type { Pen } from '../state.ts';
import { collapse, truncate } from '../text.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import { takeOutput } from './answer.ts';
import { socketOf } from './rules.ts';
import { type Cast, isOver, type Turn } from './state.ts';
import { failWait } from './wait.ts';

const WORDS_MAX = 300;

/** Ends the waits whose time has come: a time that was waited for is met, any other bound is not. */
export function endDueWaits(pen: Pen, cast: Cast): void {
  for (const turn of Object.values(cast.turns)) {
    const { awaits } = turn;
    if (turn.phase !== 'awaiting' || !awaits || awaits.until > pen.due || cast.status !== 'running') continue;
    if (awaits.what === 'time') endWait(pen, cast, turn, { met: true, by: 'clock', reason: awaits.words });
    else {
      const last = awaits.found === undefined ? '' : `; at last: ${awaits.found}`;
      const reason = `waited until ${new Date(awaits.until).toISOString()} in vain for this: ${awaits.words}${last}`;
      endWait(pen, cast, turn, { met: false, by: 'clock', reason });
    }
  }
}

/** What was seen of a command or of another cast. Only an end is recorded, and the first look that found something else. */
export function takeProbe(pen: Pen, cast: Cast, turn: Turn, input: Extract<Input, { kind: 'wait.probed' }>): Verdict {
  const reason = truncate(collapse(scrub(input.reason).text), WORDS_MAX);
  if (input.met !== null) return endWait(pen, cast, turn, { met: input.met, by: 'probe', reason });
  if (turn.awaits?.found === reason) return allow('nothing has changed');
  pen.write({ kind: 'wait.seen', cast: cast.id, turn: turn.id, attempt: turn.attempt, found: reason });
  return allow('it goes on waiting');
}

/** A person ends a wait: as met, as not met, or lets it begin over. */
export function decideWait(pen: Pen, cast: Cast, turn: Turn, input: Extract<Input, { kind: 'turn.decide' }>): Verdict {
  if (isOver(cast.status)) return deny('NOT_ALLOWED_NOW', `cast ${cast.id} has ${cast.status} already`);
  const { choice, reason = '' } = input;
  if (choice === 'accept' && input.output !== undefined)
    return deny('NOT_ALLOWED_NOW', `turn ${turn.id} waits, and a wait hands on only whether it was met`);
  if (cast.status !== 'running')
    pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `turn ${turn.id}: ${choice}` });
  const why = truncate(collapse(reason), WORDS_MAX);
  const words = `a person ended the wait${why === '' ? '' : `: ${why}`}`;
  if (choice !== 'rerun') return endWait(pen, cast, turn, { met: choice === 'accept', by: 'person', reason: words });
  pen.write({ kind: 'wait.ended', ...placeOf(cast, turn), met: null, by: 'person', reason: words });
  return allow(`turn ${turn.id} waits again`);
}

type WaitEnd = { readonly met: boolean; readonly by: 'clock' | 'probe' | 'person'; readonly reason: string };

function endWait(pen: Pen, cast: Cast, turn: Turn, { met, by, reason }: WaitEnd): Verdict {
  pen.write({ kind: 'wait.ended', ...placeOf(cast, turn), met, by, reason });
  if (!met && !leadsOn(cast, turn)) {
    const refusal = deny('WAIT_NOT_MET', `${turn.socket}: ${reason}`, { socket: turn.socket });
    failWait(pen, cast, turn, refusal);
    return allow(`turn ${turn.id} waited in vain`);
  }
  const output = JSON.stringify({ satisfied: met, context: reason });
  return takeOutput(pen, cast, turn, {
    ...{ kind: 'attempt.output', at: pen.at, by: 'engine', ...placeOf(cast, turn), output },
  });
}

function placeOf({ id: cast }: Cast, { id: turn, attempt }: Turn) {
  return { cast, turn, attempt };
}

/** Whether the socket says what follows when its wait is not met. */
function leadsOn(cast: Cast, turn: Turn): boolean {
  const { edges, advance } = socketOf(cast, turn.socket);
  return edges.some(({ when }) => when === 'not_satisfied') || advance?.when === 'not_satisfied';
}
