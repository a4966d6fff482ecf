// What is established about the agent of a turn before its dispatch: its identity, its pinned prompt, and who hands it the
// work.
import { runnerCan, type WithCapabilities } from '../capabilities.ts';
import { chosenMateria, isScripted } from '../cast/rules.ts';
import { type Cast, type Speaker, type Turn, walkOf } from '../cast/state.ts';
import type { AgentMateria, Materia, Tools } from '../graph/config.ts';
import type { JsonObject } from '../json.ts';
import type { Task } from '../ledger/state.ts';
import { requestFor, stateFor, surfacesOf } from './envelope-content.ts';
import type { LoadedRegistry, Trust } from './state.ts';

export type TrustWatch = {
  /** Whether a registry was ever loaded in the workspace: then there has to be one. */
  readonly isOn: boolean;
  /** The registry that the log knows, by the digests of both its files and of its lock. */
  readonly inForce?: Pick<LoadedRegistry, 'digest' | 'lock'>;
  /** The registry id of the agent; null where its materia has none. */
  readonly target: string | null;
  /** The registry id of the last agent before it; null for the first one. */
  readonly source: string | null;
  /** The registry id of the agent before the source, which handed it the work under `parent`. */
  readonly origin: string | null;
  readonly parent: string | null;
  /** The frozen text of the prompt. */
  readonly prompt: string;
  readonly materia: string;
  readonly runner: string;
  readonly model: string | null;
  readonly tools: Tools;
  readonly request: JsonObject;
  /** The words, actions and decisions before it, as an envelope carries them. */
  readonly state: JsonObject;
  /** The parts of the project that the work is about, best first. */
  readonly surfaces: readonly string[];
  readonly auditTrail: string;
  /** Digests of contexts that a person has let pass. */
  readonly cleared: readonly string[];
  /** Every agent of the cast, where no registry was loaded yet: a registry that covers some of them covers none. */
  readonly team: readonly Member[];
};

export type Member = { readonly identity: string | null; readonly prompt: string };

/**
 * Agents with a registry id are attested, and every agent once there is a registry. Utilities are people's own commands, and
 * a person speaks for himself.
 */
export function isAttested(trust: Trust, rules: WithCapabilities, materia: Materia): materia is AgentMateria {
  if (materia.type !== 'agent') return false;
  return materia.identity !== null || (trust.registry !== null && !runnerCan(rules, materia.runner, 'isPerson'));
}

export function trustWatchOf(trust: Trust, cast: Cast, turn: Turn, task: Task | null = null): TrustWatch | null {
  const materia = chosenMateria(cast, turn);
  if (!isAttested(trust, cast.rules, materia)) return null;
  const speaker = speakerBefore(cast, turn);
  return {
    isOn: trust.registry !== null,
    ...(trust.registry ? { inForce: { digest: trust.registry.digest, lock: trust.registry.lock } } : {}),
    target: materia.identity,
    source: identityAt(cast, speaker?.socket ?? null),
    origin: identityAt(cast, speaker?.after ?? null),
    parent: speaker?.handoff ?? null,
    prompt: materia.prompt,
    materia: materia.id,
    runner: materia.runner,
    model: materia.model,
    tools: materia.tools,
    request: requestFor(cast, turn, task),
    state: stateFor(cast, turn),
    surfaces: surfacesOf(cast, turn),
    auditTrail: `cast ${cast.id} turn ${turn.id}`,
    cleared: Object.keys(trust.cleared),
    team: trust.registry === null ? teamOf(cast) : [],
  };
}

/** A person belongs to it only under an id of his own. */
function teamOf({ rules }: Cast): readonly Member[] {
  const used = new Set(Object.values(rules.graph.sockets).map(({ materia }) => materia));
  return [...used].flatMap((id): Member[] => {
    const materia = rules.materia[id];
    if (materia?.type !== 'agent' || (runnerCan(rules, materia.runner, 'isPerson') && materia.identity === null))
      return [];
    return [{ identity: materia.identity, prompt: materia.prompt }];
  });
}

function identityAt({ rules }: Cast, socket: string | null): string | null {
  const materia = socket === null ? undefined : rules.materia[rules.graph.sockets[socket]?.materia ?? ''];
  return materia?.type === 'agent' ? materia.identity : null;
}

/** The last agent before a turn. Utilities are passed through, because they speak for no agent. */
export function speakerBefore(cast: Cast, turn: Pick<Turn, 'lane' | 'item'>): Speaker | null {
  if (turn.lane === null) return cast.lastAgent;
  return walkOf(cast, turn)?.agent ?? cast.lanes[turn.lane]?.from ?? null;
}

/** Notes that the agent of a turn has spoken, so the next one was handed to by it. */
export function noteSpeaker(cast: Cast, turn: Turn): void {
  const { rules } = cast;
  if (rules.materia[rules.graph.sockets[turn.socket]?.materia ?? '']?.type !== 'agent') return;
  const after = speakerBefore(cast, turn)?.socket ?? null;
  const speaker = { socket: turn.socket, after, handoff: turn.handoffId };
  const walk = walkOf(cast, turn);
  if (walk) walk.agent = speaker;
  cast.lastAgent = speaker;
}

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
