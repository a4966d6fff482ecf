// Who has a turn: the runner and model its materia names, or one of the fallbacks after it. A list of choices is walked
// from the front and never back, so that a turn tries each at most once.
import { runnerCan, type WithCapabilities } from '../capabilities.ts';
import type { Code } from '../codes.ts';
import type { AgentMateria, Choice, Materia } from '../graph/config.ts';
import type { Cast, Session, Turn } from '../state.ts';
import { materiaOf } from './pen.ts';

/** What says that a runner, or its model, cannot be had now, however often it is asked. */
const UNAVAILABLE: readonly Code[] = ['AGENT_UNAVAILABLE', 'MODEL_UNAVAILABLE', 'RATE_LIMITED', 'AUTH_REQUIRED'];
/** What may pass at once, and says the same as the ones above when it does not. */
const LASTING: readonly Code[] = ['PROVIDER_ERROR', 'PROVIDER_UNREACHABLE', 'MODEL_SILENT'];
/** What holds for every model of the same runner. */
const WHOLE_RUNNER: readonly Code[] = ['AGENT_UNAVAILABLE', 'AUTH_REQUIRED'];

/** In the order they are tried. A model that does not exist must not end a cast: the last choice is the program's own. */
export function choicesOf(rules: WithCapabilities, materia: AgentMateria): readonly Choice[] {
  const { runner, model, fallbacks = [] } = materia;
  const named = [{ runner, model }, ...fallbacks];
  const isCovered = named.some((choice) => choice.runner === runner && choice.model === null);
  return isCovered || !runnerCan(rules, runner, 'hasOwnModel') ? named : [...named, { runner, model: null }];
}

/** The materia as the turn uses it. */
export function chosenMateria(cast: Cast, turn: Pick<Turn, 'socket' | 'choice'>): Materia {
  const materia = materiaOf(cast, turn.socket);
  if (materia.type === 'utility' || turn.choice === 0) return materia;
  const choice = choicesOf(cast.rules, materia)[turn.choice];
  if (!choice) return materia;
  // An address and arguments belong to the runner they were written for, and a key to its address.
  const { baseUrl, wire, keyVariable, args, ...rest } = materia;
  if (choice.runner !== materia.runner) return { ...rest, ...choice };
  const own = { ...(baseUrl ? { baseUrl } : {}), ...(wire ? { wire } : {}), ...(keyVariable ? { keyVariable } : {}) };
  return { ...rest, ...(args ? { args } : {}), ...(choice.baseUrl ? {} : own), ...choice };
}

/** The variables that an agent of this materia is handed by name. */
export function variablesOf(materia: Materia): readonly string[] {
  return materia.type === 'agent' ? (materia.env ?? []) : [];
}

/** The conversation that the turn's next attempt continues: another runner knows nothing of it. */
export function continuedSession(cast: Cast, turn: Pick<Turn, 'socket' | 'choice' | 'session'>): Session | null {
  const materia = chosenMateria(cast, turn);
  return materia.type === 'agent' && turn.session?.runner === materia.runner ? turn.session : null;
}

/** The place of the next choice that may help against this, or null. `isLast`: it is not asked once more. */
export function nextChoice(
  rules: WithCapabilities,
  materia: AgentMateria,
  at: number,
  cause: Code,
  isLast: boolean,
): number | null {
  if (!UNAVAILABLE.includes(cause) && !(isLast && LASTING.includes(cause))) return null;
  const choices = choicesOf(rules, materia);
  const lastNamed = (materia.fallbacks ?? []).length;
  const index = choices.findIndex((choice, place) => {
    if (place <= at) return false;
    if (place > lastNamed && cause !== 'MODEL_UNAVAILABLE') return false;
    return !(WHOLE_RUNNER.includes(cause) && choice.runner === choices[at]?.runner);
  });
  return index === -1 ? null : index;
}

/** `claude` or `claude with some-model`, for people. */
export function choiceName({ runner, model }: Choice): string {
  return model === null ? `${runner} with its own model` : `${runner} with ${model}`;
}
