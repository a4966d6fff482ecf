// A turn that was cut off and must not run twice: nobody knows whether it did its work, so a person decides.
import type { Cast, Turn } from '../state.ts';
import { materiaOf, type Pen } from './pen.ts';

/** Whether a turn may not simply be repeated once it may have run. */
export function runsOnce(cast: Cast, turn: Turn): boolean {
  const materia = materiaOf(cast, turn.socket);
  return materia.type === 'utility' ? materia.once : materia.onCrash === 'wait';
}

/** Marks the running turns that may not be repeated, before whatever stops them. */
export function markUnknown(pen: Pen, cast: Cast, reason: string): void {
  for (const turn of Object.values(cast.turns)) {
    if (turn.phase !== 'running' || !runsOnce(cast, turn)) continue;
    pen.write({ kind: 'turn.unknown', cast: cast.id, turn: turn.id, attempt: turn.attempt, reason });
  }
}

/** Lets the cast wait when one of its turns needs a decision; answers whether it does. */
export function waitIfUnknown(pen: Pen, cast: Cast): boolean {
  const turn = Object.values(cast.turns).find(({ phase }) => phase === 'unknown');
  if (!turn) return false;
  const { label } = materiaOf(cast, turn.socket);
  const how = `decide with: baton decide ${cast.id}:${turn.id} rerun|accept|fail`;
  const reason = `${turn.socket} (${label}) may have run before it was cut off; ${how}`;
  pen.write({ kind: 'cast.waiting', cast: cast.id, code: 'OUTCOME_UNKNOWN', reason });
  return true;
}
