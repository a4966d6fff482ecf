// What authored values mean before anything was checked or filled in. The checks and `resolve` both ask here, so that
// they cannot disagree. Every question has an answer for any JSON: a malformed value counts as absent, and so does
// `null`, with which a configuration layer deletes a value.
import { type ContractName, DEFAULT_RUNNER, defaultDialect, dialectCan, PRESENT, runnerCan } from '../capabilities.ts';
import { given, isObject, isString, isText, type Json, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import { nearestName } from '../nearest-name.ts';
import { CONDITIONS, CONTRACTS, type Condition, MODEL_RUNNERS, RUNNERS } from './config.ts';
import { error, type Findings, listed, shown } from './issue.ts';

/** One loadout with what it refers to, as written. */
export type Draft = {
  readonly name: string;
  /** Where issues of this loadout are reported: `loadouts.<name>`. */
  readonly path: string;
  readonly loadout: JsonObject;
  readonly sockets: JsonObject;
  readonly socketIds: readonly string[];
  readonly loops: JsonObject;
  readonly materia: JsonObject;
  /** What the whole configuration says of work at the same time. */
  readonly parallelism: JsonObject;
  /** The edges that leave generator sockets. */
  readonly generatorEdges: readonly { readonly from: string; readonly to: string }[];
};

export function draftOf(config: JsonObject, name: string): Draft {
  const loadout = objectAt(objectAt(config, 'loadouts'), name);
  const sockets = objectAt(loadout, 'sockets');
  const materia = objectAt(config, 'materia');
  const generators = Object.entries(sockets).filter((entry): entry is [string, JsonObject] => {
    return isObject(entry[1]) && isGenerator(objectAt(materia, stringAt(entry[1], 'materia') ?? ''));
  });
  return {
    name,
    path: `loadouts.${name}`,
    loadout,
    sockets,
    socketIds: Object.keys(sockets),
    loops: objectAt(loadout, 'loops'),
    materia,
    parallelism: objectAt(config, 'parallelism'),
    generatorEdges: generators.flatMap(([from, socket]) => {
      return edgesOf(socket).map((edge) => ({ from, to: stringAt(edge, 'to') ?? '' }));
    }),
  };
}

export function withoutFields(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}

/** The definition a socket refers to, or null when there is none. */
export function materiaOf(draft: Draft, socket: JsonObject): JsonObject | null {
  const id = stringAt(socket, 'materia');
  if (id === null || !Object.hasOwn(draft.materia, id)) return null;
  return objectAt(draft.materia, id);
}

export function edgesOf(socket: JsonObject): readonly JsonObject[] {
  return listAt(socket, 'edges').filter(isObject);
}

/** A materia with something to execute is a utility, unless it says otherwise: a runner makes its command an agent. */
export function typeOfMateria(materia: JsonObject): 'agent' | 'utility' {
  const type = given(materia, 'type');
  if (type === 'agent' || type === 'utility') return type;
  if (runnerCan(PRESENT, given(materia, 'runner'), 'runsCommand')) return 'agent';
  const executable = ['utility', 'command', 'script'].some((key) => given(materia, key) !== undefined);
  return executable ? 'utility' : 'agent';
}

export function isGenerator(materia: JsonObject | null): boolean {
  return materia !== null && given(materia, 'generator') === true;
}

export function isGeneratorSocket(draft: Draft, id: string): boolean {
  return isGenerator(materiaOf(draft, objectAt(draft.sockets, id)));
}

export function isCondition(value: unknown): value is Condition {
  return CONDITIONS.some((condition) => condition === value);
}

export function isGuarded(condition: Json | undefined): boolean {
  return condition === 'satisfied' || condition === 'not_satisfied';
}

/** The contract a socket or materia names itself. */
export function namedContract(object: JsonObject): ContractName | null {
  const value = given(object, 'contract');
  return CONTRACTS.find((name) => name === value) ?? null;
}

/** The parse mode a socket or materia names itself. */
export function namedParse(object: JsonObject): 'text' | 'json' | null {
  const value = given(object, 'parse');
  return value === 'text' || value === 'json' ? value : null;
}

/** Only plain text needs no JSON. */
export function parseFor(contract: ContractName): 'text' | 'json' {
  return dialectCan(PRESENT, contract, 'isJson') ? 'json' : 'text';
}

/** A contract decides how output is parsed; without one the socket's `parse` counts, then its materia's. */
export function parseOf(socket: JsonObject, materia: JsonObject): 'text' | 'json' {
  if (isGenerator(materia)) return 'json';
  const contract = namedContract(socket) ?? namedContract(materia);
  if (contract !== null) return parseFor(contract);
  return namedParse(socket) ?? namedParse(materia) ?? 'text';
}

export function contractNameOf(socket: JsonObject, materia: JsonObject): ContractName {
  const named = namedContract(socket) ?? namedContract(materia);
  return named ?? defaultDialect(parseOf(socket, materia));
}

// Which runner and model the agents of a configuration use where their own materia does not say it. The order: what the caller
// of a cast chooses, then the materia itself, then `defaults` of the configuration, then claude.
export type RunnerChoice = { readonly runner?: string | undefined; readonly model?: string | undefined };

/** Why a runner cannot be chosen, with the nearest name; null where it can. */
export function faultOfRunner(name: string): string | null {
  if (MODEL_RUNNERS.includes(name)) return null;
  const near = nearestName(name, MODEL_RUNNERS);
  const hint = near === null ? `Name one of: ${listed(MODEL_RUNNERS)}.` : `Did you mean ${near}?`;
  const isKnown = RUNNERS.some((runner) => runner === name);
  const why = isKnown ? `The runner ${name} cannot take the place of others.` : `There is no runner ${shown(name)}.`;
  return `${why} ${hint}`;
}

/** The configuration with `defaults` written into each agent that names no runner, or names the same one and no model. */
export function withDefaultRunner(config: JsonObject): JsonObject {
  const { runner, model } = objectAt(config, 'defaults');
  // A runner that cannot be chosen is an issue of `defaults`, and not one of each agent.
  if (isText(runner) ? faultOfRunner(runner) !== null : !isText(model)) return config;
  const usual = isText(runner) ? runner : DEFAULT_RUNNER;
  return withAgents(config, (agent) => {
    const own = given(agent, 'runner');
    if (own !== undefined && own !== usual) return agent;
    const isOwnModel = given(agent, 'model') !== undefined || !isText(model);
    return { ...agent, runner: usual, ...(isOwnModel ? {} : { model }) };
  });
}

/** The configuration with the runner and model of the caller in each agent that asks a model. */
export function withChosenRunner(config: JsonObject, { runner, model }: RunnerChoice): JsonObject {
  if (runner === undefined && model === undefined) return config;
  return withAgents(config, (agent) => {
    const own = given(agent, 'runner') ?? DEFAULT_RUNNER;
    if (!MODEL_RUNNERS.includes(String(own))) return agent;
    const isSame = runner === undefined || runner === own;
    return {
      ...(isSame ? agent : withoutOwn(agent)),
      ...(runner === undefined ? {} : { runner }),
      ...(model === undefined ? {} : { model }),
    };
  });
}

/** What is meant for one runner means nothing to another one. */
const OF_ONE_RUNNER = ['runner', 'model', 'baseUrl', 'wire', 'keyVariable', 'args', 'fallbacks'];

function withoutOwn(agent: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(agent).filter(([field]) => !OF_ONE_RUNNER.includes(field)));
}

function withAgents(config: JsonObject, change: (agent: JsonObject) => JsonObject): JsonObject {
  const written = given(config, 'materia');
  if (!isObject(written)) return config;
  const materia = Object.entries(written).map(([id, one]): [string, Json] => {
    return [id, isObject(one) && typeOfMateria(one) === 'agent' ? change(one) : one];
  });
  return { ...config, materia: Object.fromEntries(materia) };
}

export function* checkDefaults(defaults: Json | undefined): Findings {
  if (!isObject(defaults)) return;
  const runner = given(defaults, 'runner');
  if (runner === undefined || (isString(runner) && !isText(runner))) return;
  const other = `runner is ${shown(runner)}. Name one of: ${listed(MODEL_RUNNERS)}.`;
  const fault = isText(runner) ? faultOfRunner(runner) : other;
  if (fault !== null) yield error('INVALID_CONFIG', 'defaults.runner', fault);
}
