// A socket that waits: for a time, for the success of a command, or for the end of another cast. What it waits for and until when is
// a fact, so a crash changes neither. While all turns of a cast wait, its running time does not grow. What is met hands on
// `satisfied: true`. What is not met in time, or cannot be met any more, hands on `satisfied: false` where the socket leads on from
// there; elsewhere it ends the cast.
import type { WaitRules } from '../graph/config.ts';
import { render } from '../graph/path.ts';
import { fail, type Pen } from '../state.ts';
import { momentIn, truncate } from '../text.ts';
import { type Denied, deny } from '../verdict.ts';
import { scopeOf } from './data.ts';
import { isScripted, materiaOf, socketOf } from './rules.ts';
import { type Cast, FREE, type Turn } from './state.ts';

const NAME_BYTES_MAX = 200;
/** A moment later than this is a slip of the pen. */
const AHEAD_MS_MAX = 10 * 366 * 86_400_000;

/** What the turn of a socket waits for; null where it does not wait, or a script speaks for it. */
export function waitOf(cast: Cast, socket: string): WaitRules | null {
  const materia = materiaOf(cast, socket);
  if (materia.type !== 'utility' || materia.wait === undefined || isScripted(cast, socket)) return null;
  return materia.wait;
}

/** The attempt of a waiting socket has started: it waits from now on. */
export function beginWait(pen: Pen, cast: Cast, turn: Turn, wait: WaitRules): void {
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  const bound = pen.at + socketOf(cast, turn.socket).limits.timeoutMs;
  const slot = (text: string) => render(text, scopeOf(cast, turn.item), { maxSlotBytes: NAME_BYTES_MAX }).trim();
  if (wait.kind === 'command') {
    const what = { what: 'command', words: `\`${wait.command.join(' ')}\` succeeds` } as const;
    return pen.write({ kind: 'wait.begun', ...common, ...what, until: bound });
  }
  if (wait.kind === 'cast') {
    const other = slot(wait.cast);
    if (!/^[\w.-]{1,200}$/.test(other) || other === cast.id)
      return refuseWait(pen, cast, turn, `"${truncate(other, 60)}" is not the id of another cast`);
    const what = { what: 'cast', words: `cast ${other} ends`, other } as const;
    return pen.write({ kind: 'wait.begun', ...common, ...what, until: bound });
  }
  const at = wait.forMs === null ? slot(wait.until ?? '') : null;
  const until = at === null ? pen.at + (wait.forMs ?? 0) : momentIn(at);
  if (until === null || until > pen.at + AHEAD_MS_MAX)
    return refuseWait(pen, cast, turn, `"${truncate(at ?? '', 60)}" is no moment such as 2026-12-01T09:00:00Z`);
  pen.write({ kind: 'wait.begun', ...common, what: 'time', words: `it is ${new Date(until).toISOString()}`, until });
}

function refuseWait(pen: Pen, cast: Cast, turn: Turn, why: string): void {
  const refusal = deny('UTILITY_FAILED', `${turn.socket}: ${why}`, { socket: turn.socket });
  failWait(pen, cast, turn, refusal);
}

/** The turn ends without an answer, and its cast with it. */
export function failWait(pen: Pen, cast: Cast, turn: Turn, refusal: Denied): void {
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt, usage: FREE };
  const { code, reason } = refusal;
  pen.write({ kind: 'attempt.failed', ...common, fault: 'utility', code, reason, again: false });
  fail(pen, cast, refusal, turn.id);
}
