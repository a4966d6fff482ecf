// Where a pinned prompt stands when it goes to its agent: as the whole system prompt where the runner takes one, else in
// front of the brief. Either way it is the text that was hashed.
import { runnerCan } from '../capabilities.ts';
import { chosenMateria, isScripted } from '../cast/rules.ts';
import type { Cast, Turn } from '../cast/state.ts';
import type { Materia } from '../graph/config.ts';

/** Whether the runner of the turn can be given a system prompt of its own. */
export function takesSystem(cast: Cast, turn: Pick<Turn, 'socket' | 'choice'>): boolean {
  const materia = chosenMateria(cast, turn);
  if (materia.type !== 'agent' || isScripted(cast, turn.socket)) return false;
  return runnerCan(cast.rules, materia.runner, 'takesSystemPrompt');
}

/** The materia as a runner gets it. */
export function withPinnedPrompt(cast: Cast, turn: Turn): Materia {
  const materia = chosenMateria(cast, turn);
  if (materia.type === 'utility' || !turn.attestation || !takesSystem(cast, turn)) return materia;
  return { ...materia, system: materia.prompt };
}
