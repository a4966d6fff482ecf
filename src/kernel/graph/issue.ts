// One finding of the static checks, the shape check behind it, and what authored values mean before defaults are filled in.
// `resolve` asks here too, so that both agree.
import { type ContractName, DEFAULT_RUNNER, defaultDialect, dialectCan, PRESENT, runnerCan } from '../capabilities.ts';
import type { Code } from '../codes.ts';
import { describeField, fieldNames } from '../field-schema.ts';
import { type Field, type Mismatch, mismatches, type ObjectField } from '../fields.ts';
import {
  given,
  isObject,
  isString,
  isText,
  type Json,
  type JsonObject,
  listAt,
  nameOfType,
  objectAt,
  stringAt,
} from '../json.ts';
import { nearestName } from '../text.ts';
import { CONDITIONS, CONTRACT_NAMES, type Condition, type Issue, MODEL_RUNNERS, RUNNERS } from './config.ts';

/** Checks yield what they find; what they return is for the check that called them. */
export type Findings<Result = void> = Generator<Issue, Result>;

export function error(code: Code, path: string, message: string): Issue {
  return { code, level: 'error', path, message };
}

export function warning(code: Code, path: string, message: string): Issue {
  return { code, level: 'warning', path, message };
}

const SHOWN_MAX = 60;
const LISTED_MAX = 12;

/** A value as a sentence quotes it: short texts and numbers as they are, everything else by its type. */
export function shown(value: Json | undefined): string {
  if (typeof value === 'string') {
    return value.length > SHOWN_MAX ? `"${value.slice(0, SHOWN_MAX)}…"` : `"${value}"`;
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : nameOfType(value);
}

/** Names as a sentence lists them; a long list ends with a count. */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const rest = names.length - LISTED_MAX;
  return names.slice(0, LISTED_MAX).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

type Place = {
  /** Where issues are reported; empty for the configuration itself. */
  readonly path: string;
  /** The code of a wrong value. An unknown field is always INVALID_CONFIG. */
  readonly code: Code;
  /** What the object is, to follow "is not a field of". */
  readonly what: string;
};

export function* checkFields(value: JsonObject, table: ObjectField, place: Place): Findings {
  const found = mismatches(value, table);
  const reported = new Set<string>();
  for (const mismatch of [...found.filter(({ rule }) => rule === 'obsolete'), ...found]) {
    // A check that sees more than this object says what is missing there.
    if (mismatch.rule === 'missing' && mismatch.field.type === 'json') continue;
    const whole = wholeOf(mismatch, value, table);
    const path = pathIn(place.path, whole.path);
    if (reported.has(path)) continue;
    reported.add(path);
    yield mismatch.rule === 'unknown' && whole.rule === 'unknown'
      ? unknownIssue(whole, path, place)
      : error(place.code, path, messageOf(whole));
  }
}

/** The mismatch of the outermost field that has words of its own. */
function wholeOf(mismatch: Mismatch, value: JsonObject, table: Field): Mismatch {
  let field: Field | undefined = table;
  for (const [depth, step] of mismatch.path.entries()) {
    field = field && childOf(field, step);
    if (field?.wants === undefined || depth === mismatch.path.length - 1) continue;
    const path = mismatch.path.slice(0, depth + 1);
    return { rule: 'type', path, field, value: path.reduce<unknown>((at, name) => (at as JsonObject)[name], value) };
  }
  return mismatch;
}

function childOf(field: Field, step: string | number): Field | undefined {
  switch (field.type) {
    case 'object':
      return field.fields[step];
    case 'map':
      return field.of;
    case 'list':
      return field.of;
    case 'oneOf':
      return field.of.map((one) => childOf(one, step)).find((child) => child !== undefined);
    default:
      return undefined;
  }
}

function pathIn(start: string, path: Mismatch['path']): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return start === '' ? steps.slice(1) || 'config' : `${start}${steps}`;
}

function messageOf({ rule, path, field, value }: Mismatch): string {
  const name = path.filter((step) => typeof step === 'string').at(-1) ?? '';
  if (rule === 'obsolete') return `${name} is no longer understood here. ${field.obsolete}`;
  if (rule === 'name' && field.type === 'map' && field.names) {
    const known = field.names.type === 'choice' ? field.names.of : [];
    return `${shown(name)} cannot be a name here. ${meant(name, known)}Write ${describeField(field.names)}.`;
  }
  const guess = field.type === 'choice' ? meant(value as Json, field.of) : '';
  const fix = `${guess}Write ${describeField(field)}${field.required === true ? '' : ', or leave the field out'}.`;
  return `${name} is ${shown(value as Json)}. ${fix}`;
}

/** People write remarks under these names. They are near to `command`, and no slip of the pen. */
const REMARKS = ['comment', 'comments'];

/** Nothing reads an unknown field. One that looks like a known field is misspelt, so it is an error. */
function unknownIssue({ path, field }: Mismatch, at: string, place: Place) {
  const name = String(path.at(-1));
  const known = field.type === 'object' ? fieldNames(field.fields) : [];
  const meant = REMARKS.includes(name) ? null : nearestName(name, known);
  const fix = `${meant === null ? '' : `Did you mean ${meant}? `}Correct its name, remove it, or let it start with x_.`;
  const what = path.length > 1 ? path.slice(0, -1).join('.') : place.what;
  const message = `${shown(name)} is not a field of ${what}, and nothing reads it. ${fix} Known: ${listed(known)}.`;
  return (meant === null ? warning : error)('INVALID_CONFIG', at, message);
}

/** The most likely name behind a misspelt one, as the beginning of a fix; empty where none is near. */
export function meant(name: Json | undefined, known: readonly string[]): string {
  const nearest = typeof name === 'string' ? nearestName(name, known) : null;
  return nearest === null ? '' : `Did you mean ${nearest}? `;
}

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
export function authoredMateria(draft: Draft, socket: JsonObject): JsonObject | null {
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
  const executable = ['utility', 'command', 'script', 'wait'].some((key) => given(materia, key) !== undefined);
  return executable ? 'utility' : 'agent';
}

export function isGenerator(materia: JsonObject | null): boolean {
  return materia !== null && given(materia, 'generator') === true;
}

export function isGeneratorSocket(draft: Draft, id: string): boolean {
  return isGenerator(authoredMateria(draft, objectAt(draft.sockets, id)));
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
  return CONTRACT_NAMES.find((name) => name === value) ?? null;
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
  // A wait hands on whether it was met.
  const otherwise = given(materia, 'wait') === undefined ? 'text' : 'json';
  return namedParse(socket) ?? namedParse(materia) ?? otherwise;
}

export function contractNameOf(socket: JsonObject, materia: JsonObject): ContractName {
  const named = namedContract(socket) ?? namedContract(materia);
  return named ?? defaultDialect(parseOf(socket, materia));
}

/**
 * Which runner and model an agent uses: what the caller of a cast chooses, then its materia, then `defaults`, then claude.
 */
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
