// The second door: what must hold before a handoff that was read is accepted.
import type { Turn } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';

/** No turn may change what governs it. */
export function refusedBeforeAccept(turn: Turn, seal: string): Denied | null {
  if (seal === turn.seal) return null;
  const reason = `${turn.socket}: files in .baton changed while it ran, and no turn may change them; if it was you, recast`;
  return deny('SCOPE_VIOLATION', reason, { socket: turn.socket, scope: '.baton' });
}
