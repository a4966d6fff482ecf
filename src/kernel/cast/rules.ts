// What the frozen rules of a cast say of one turn: its materia, the runner that has it, its script, its tools, and what is
// asked of its output. A turn walks its list of runners from the front and never back, so it tries each once at most.
import { dialectCan, runnerCan, type WithCapabilities } from '../capabilities.ts';
import type { Code } from '../codes.ts';
import type { Contract } from '../dialect.ts';
import type { AgentMateria, Choice, Loop, Materia, Socket } from '../graph/config.ts';
import { contractOf } from '../graph/route.ts';
import type { Json } from '../json.ts';
import { mayFollow, PLAN_STATUSES } from '../report/status.ts';
import type { Cast, Session, Turn } from './state.ts';

export function socketOf(cast: Cast, id: string): Socket {
  const socket = cast.rules.graph.sockets[id];
  if (!socket) throw new Error(`the frozen loadout of ${cast.id} has no socket ${id}`);
  return socket;
}

export function materiaOf(cast: Cast, socket: string): Materia {
  const { materia } = socketOf(cast, socket);
  const found = cast.rules.materia[materia];
  if (!found) throw new Error(`the frozen loadout of ${cast.id} has no materia ${materia}`);
  return found;
}

/** Whether the turns of a socket are reported on with a status, and more than once if need be. */
export function reportsStatus({ rules }: Pick<Cast, 'rules'>, socket: string): boolean {
  return dialectCan(rules, rules.graph.sockets[socket]?.contract, 'reportsStatus');
}

/** An agent whose dialect reports on a task gets that task as a packet, unless it plans. */
export function getsPacket(cast: Cast, socket: string): boolean {
  const materia = materiaOf(cast, socket);
  const isReporter = dialectCan(cast.rules, socketOf(cast, socket).contract, 'reportsTask');
  return isReporter && materia.type === 'agent' && !materia.generator;
}

export function assignsTasks(cast: Cast, { socket }: Pick<Turn, 'socket'>): boolean {
  const isAble = dialectCan(cast.rules, socketOf(cast, socket).contract, 'assignsTasks');
  return isAble && materiaOf(cast, socket).generator;
}

export function ownerOf(cast: Cast, socket: string): string {
  return materiaOf(cast, socket).id;
}

/** Whether a turn may not simply be repeated once it may have run. */
export function runsOnce(cast: Cast, turn: Turn): boolean {
  const materia = materiaOf(cast, turn.socket);
  return materia.type === 'utility' ? materia.once : materia.onCrash === 'wait';
}

/** Whether the items of a loop go side by side: the loop says so, or they are assigned tasks, which say it themselves. */
export function hasLanes(cast: Cast, loop: Loop | null): loop is Loop {
  if (!loop?.iterator) return false;
  if (loop.isParallel || loop.consumes === null) return loop.isParallel === true;
  return dialectCan(cast.rules, cast.rules.graph.sockets[loop.consumes]?.contract, 'assignsTasks');
}

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

/** The conversation that the turn's next attempt continues: another runner knows nothing of it, and in a sandbox none is kept. */
export function continuedSession(cast: Cast, turn: Pick<Turn, 'socket' | 'choice' | 'session'>): Session | null {
  const materia = chosenMateria(cast, turn);
  if (materia.type !== 'agent' || materia.sandbox !== undefined) return null;
  return turn.session?.runner === materia.runner ? turn.session : null;
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

/**
 * Which scripted turn an attempt plays. It is frozen in the log, so a dispatch repeated after a crash plays the same one.
 */
type ScriptedTurn = { readonly key: string; readonly index: number };

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

/**
 * Whether an agent is offered our own tools in a turn. Then it may hand in its work by a call. The brief says so, and the
 * runner gives its program the server.
 */
export function offersTools(cast: Cast, turn: Pick<Turn, 'socket' | 'choice' | 'finalizing'>): boolean {
  const materia = chosenMateria(cast, turn);
  // In a conversation there is nothing to hand in yet.
  if (isConversing(cast, turn)) return false;
  if (materia.type === 'utility' || materia.mcp === false || isScripted(cast, turn.socket)) return false;
  // In a sandbox the folder of the attempt cannot be written, so nothing could be handed in.
  return runnerCan(cast.rules, materia.runner, 'callsTools') && materia.sandbox === undefined;
}

/** Whether the agent talks with a person, so that its words are not its answer yet. */
export function isConversing(cast: Cast, turn: Pick<Turn, 'socket' | 'choice' | 'finalizing'>): boolean {
  const materia = chosenMateria(cast, turn);
  const isTalker = materia.type === 'agent' && materia.multiTurn && !runnerCan(cast.rules, materia.runner, 'isPerson');
  return isTalker && turn.finalizing !== true;
}

type OfferedTurn = Pick<Turn, 'socket' | 'task'>;

/** Which of our tools a turn is offered: each one costs its agent words in every request. */
export const OFFERED_TOOLS: readonly {
  readonly tools: readonly string[];
  readonly isFor: (cast: Cast, turn: OfferedTurn) => boolean;
}[] = [
  { tools: ['submit_handoff', 'read_context'], isFor: () => true },
  // The turn works on a task of the ledger, or reports in the words of one.
  {
    tools: ['heartbeat', 'worklog_add', 'lock_check', 'lock_request'],
    isFor: ({ rules }, { socket, task }) =>
      task !== null || dialectCan(rules, rules.graph.sockets[socket]?.contract, 'reportsTask'),
  },
  // Only a report with a status can ask for permission.
  { tools: ['request_approval', 'run_approved'], isFor: (cast, { socket }) => reportsStatus(cast, socket) },
];

export function offeredTools(cast: Cast, turn: OfferedTurn): readonly string[] {
  return OFFERED_TOOLS.flatMap(({ tools, isFor }) => (isFor(cast, turn) ? tools : []));
}

/** The line in the brief that offers the tool. */
export const OFFER =
  'You may hand this answer in with the tool `submit_handoff` of the server `baton`, which tells you at once what is wrong with it, ' +
  'or return it as your last message. What the tool has accepted counts; without such a call your last message is read.';

export function isPersons(cast: Cast, turn: Turn): boolean {
  const materia = chosenMateria(cast, turn);
  return (
    materia.type === 'agent' && runnerCan(cast.rules, materia.runner, 'isPerson') && !isScripted(cast, turn.socket)
  );
}

export function contractFor(cast: Cast, turn: Pick<Turn, 'socket' | 'item' | 'input' | 'progress'>): Contract {
  const contract = contractOf(cast.rules, turn.socket);
  if (!dialectCan(cast.rules, contract.dialect, 'reportsStatus')) return contract;
  // A script is written before an id is issued, so it may use any id of the right form.
  const agentId = isScripted(cast, turn.socket) ? null : agentIdOfTurn(cast, turn);
  const next = mayFollow(turn.progress);
  const statuses = next.length < PLAN_STATUSES.length ? { statuses: next } : {};
  return { ...contract, turn: { agentId, input: turn.input, ...statuses } };
}

export function agentIdOfTurn(cast: Pick<Cast, 'id'>, { socket, item }: Pick<Turn, 'socket' | 'item'>): string {
  return agentIdOf(cast.id, socket, item?.key ?? null);
}

/** `a` and sixteen hex digits, from the cast, the socket and the item. Not a secret: authority never rests on knowing it. */
export function agentIdOf(cast: string, socket: string, item: string | null): string {
  const text = `${cast}\u0000${socket}\u0000${item ?? ''}`;
  return `a${hash(text, 0x811c9dc5)}${hash(text, 0x01000193)}`;
}

/** FNV-1a over the code units, from two different starts. */
function hash(text: string, start: number): string {
  let value = start;
  for (let index = 0; index < text.length; index += 1) {
    value ^= text.charCodeAt(index);
    value = Math.imul(value, 0x01000193) >>> 0;
  }
  return (value >>> 0).toString(16).padStart(8, '0');
}
