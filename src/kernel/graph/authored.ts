// What authored values mean before anything was checked or filled in. The checks and `resolve` both ask here, so that
// they cannot disagree. Every question has an answer for any JSON: a malformed value counts as absent, and so does
// `null`, with which a configuration layer deletes a value.

import type { ContractName } from '../capabilities.ts';
import { defaultDialect, dialectCan, PRESENT, runnerCan } from '../capabilities.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { CONDITIONS, CONTRACTS, type Condition } from './config.ts';

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

export function given(object: JsonObject, key: string): Json | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return value === null ? undefined : value;
}

export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = given(object, key);
  return isObject(value) ? value : {};
}

export function withoutFields(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}

export function stringAt(object: JsonObject, key: string): string | null {
  const value = given(object, key);
  return typeof value === 'string' ? value : null;
}

export function listAt(object: JsonObject, key: string): readonly Json[] {
  const value = given(object, key);
  return Array.isArray(value) ? value : [];
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
