// Whether an agent is offered our own tools in a turn: then it may hand its work on by a call and be told at once what is
// wrong with it. The brief says so, and the runner gives its program the server; both ask here.
import type { Cast, Turn } from '../state.ts';
import { chosenMateria } from './choice.ts';
import { isScripted } from './script.ts';

/** Runners whose programs can call tools of a server they are told of. */
const CALL_TOOLS: readonly string[] = ['claude', 'codex', 'pi'];

export function offersTools(cast: Cast, turn: Pick<Turn, 'socket' | 'choice'>): boolean {
  const materia = chosenMateria(cast, turn);
  if (materia.type === 'utility' || materia.mcp === false || isScripted(cast, turn.socket)) return false;
  // In a sandbox the folder of the attempt cannot be written, so nothing could be handed in.
  return CALL_TOOLS.includes(materia.runner) && materia.sandbox === undefined;
}

/** Said in the brief where the offer is made. */
export const OFFER =
  'You may hand this answer in with the tool `submit_handoff` of the server `baton`, which tells you at once what is wrong with it, ' +
  'or return it as your last message. What the tool has accepted counts; without such a call your last message is read.';
