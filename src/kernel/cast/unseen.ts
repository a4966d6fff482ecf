// The refusal of a turn of which nobody can tell what it changes: what is to be held to its paths does not pass unlooked at.
import type { Turn } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';

export function unseenBy({ id, socket }: Turn, why: string): Denied {
  const reason = `what ${socket} changes cannot be told, and it is held to its paths: ${why}`;
  return deny('MISSING_VALIDATOR', reason, { turn: id, socket });
}
