// Scripted agents: a cast without a model. Which scripted turn an attempt plays is decided here and frozen in the log,
// so that a dispatch repeated after a crash plays the same one.
import type { Json } from '../json.ts';
import type { Cast, Turn } from '../state.ts';
import { materiaOf } from './pen.ts';

export type ScriptedTurn = { readonly key: string; readonly index: number };

const REPEAT = '$repeat';

/** The socket's own list before its materia's; null where the script says nothing of it. */
export function scriptKey(cast: Cast, socket: string): string | null {
  if (!cast.script) return null;
  if (Object.hasOwn(cast.script, socket)) return socket;
  const { id } = materiaOf(cast, socket);
  return Object.hasOwn(cast.script, id) ? id : null;
}

/** A cast with a script has no other agents: a socket it does not name fails its turn instead of calling a model. */
export function isScripted(cast: Cast, socket: string): boolean {
  return cast.script !== null && (materiaOf(cast, socket).type === 'agent' || scriptKey(cast, socket) !== null);
}

/**
 * The turn after all recorded outcomes under the key, and after those that others play at this moment. What was dispatched
 * and has no outcome yet plays the same one again.
 */
export function nextScripted(
  cast: Cast,
  { id, socket, script }: Pick<Turn, 'id' | 'socket' | 'script'>,
): ScriptedTurn | null {
  const key = scriptKey(cast, socket);
  if (key === null || script) return script;
  const playing = Object.values(cast.turns).filter((turn) => turn.id !== id && turn.script?.key === key);
  return { key, index: (cast.scripted[key] ?? 0) + playing.length };
}

/** What the script says at this place; undefined when it has run out. */
export function scriptedTurn(cast: Cast, { key, index }: ScriptedTurn): Json | undefined {
  const turns = cast.script?.[key] ?? [];
  if (turns.at(-1) !== REPEAT) return turns[index];
  return turns[Math.min(index, turns.length - 2)];
}
