// Operations as routes: `POST /api/NAME` with the input as JSON, `GET /api/NAME?field=value` for those that only look.
import { realpathSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { type Actor, whyNotPerson } from '../access/actor.ts';
import { mayDo } from '../access/rights.ts';
import type { OperationEntry, OperationField } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import { answer, type Given } from '../app/perform.ts';
import type { Workspace } from '../app/workspace.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { type Denied, deny, type Verdict } from '../kernel/verdict.ts';

/** The name of an operation, or null. */
export function operationNamed(name: string): OperationName | null {
  return Object.hasOwn(OPERATIONS, name) ? (name as OperationName) : null;
}

/**
 * The fields that a caller of this server gives. No cast is driven in the process of the server: each has a process of its
 * own, so that neither a crash nor a restart of the server stops any.
 */
export function callerFields(name: OperationName): Readonly<Record<string, OperationField>> {
  const { fields }: OperationEntry = OPERATIONS[name];
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !SET_BY_SERVER.has(field)));
}

const SET_BY_SERVER: ReadonlySet<string> = new Set(['detach']);

type Calling = { readonly workspace: Workspace; readonly actor: Actor; readonly signal: AbortSignal };

export async function callOperation(name: OperationName, given: Given, calling: Calling): Promise<Verdict> {
  const { workspace, actor, signal } = calling;
  const fields: Readonly<Record<string, OperationField>> = OPERATIONS[name].fields;
  const outside = pathOutside(workspace, fields, given);
  if (outside) return outside;
  const input = Object.hasOwn(fields, 'detach') ? { ...given, detach: true } : given;
  const notes: string[] = [];
  const onEvent = (event: { readonly kind: string; readonly text?: string }) => {
    if (event.kind === 'note' && event.text !== undefined && notes.length < NOTES_MAX) notes.push(event.text);
  };
  const verdict = await answer(workspace, name, input, { actor, signal, onEvent });
  if (notes.length === 0) return verdict;
  return { ...verdict, details: { ...verdict.details, notes } };
}

const NOTES_MAX = 100;

/** A caller names files of the workspace and no others: the files of the user who runs the server are not the caller's. */
function pathOutside(
  { dir, stateDir }: Workspace,
  fields: Readonly<Record<string, OperationField>>,
  given: Given,
): Denied | null {
  for (const [name, field] of Object.entries(fields)) {
    const value = given[name];
    if (field.type !== 'path' || typeof value !== 'string' || value === '') continue;
    if (value.includes('\0')) return deny('BAD_USAGE', `${name} must not hold a NUL character`);
    const real = realOf(resolve(dir, value));
    if (!isBelow(real, dir) || isBelow(real, stateDir))
      return deny('BAD_USAGE', `${name} must name a file or folder of the workspace`, { field: name });
  }
  return null;
}

/** Without links, as far as it exists. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : resolve(realOf(above), path.slice(above.length).replace(/^[/\\]+/, ''));
  }
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}

type Reading = { readonly given: Given } | { readonly refusal: Denied };

function wrong(reason: string): Reading {
  return { refusal: deny('BAD_USAGE', reason) };
}

/** The input in the body of a request. */
export function givenInBody(text: string): Reading {
  if (text.trim() === '') return { given: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return wrong('the body must be one JSON object');
  }
  if (!isObject(value)) return wrong('the body must be one JSON object');
  if (depthOf(value) > DEPTH_MAX) return wrong(`the body is nested deeper than ${DEPTH_MAX} levels`);
  return { given: value };
}

const DEPTH_MAX = 200;

function depthOf(value: Json): number {
  let depth = 0;
  for (let level: Json[] = [value]; level.length > 0 && depth <= DEPTH_MAX; depth++)
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  return depth;
}

/** The input in the query of an address. */
export function givenInQuery(name: OperationName, query: URLSearchParams): Reading {
  const fields = callerFields(name);
  const given: Record<string, Json> = {};
  for (const key of new Set(query.keys())) {
    const values = query.getAll(key);
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    const value = field ? valueIn(field, values) : (values[0] ?? '');
    if (value === undefined) return wrong(`${key} cannot be read from the address`);
    Object.defineProperty(given, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return { given };
}

/** Undefined for what cannot be read. The operation refuses what does not fit the field. */
function valueIn(field: OperationField, values: readonly string[]): Json | undefined {
  if (field.type === 'list') return values;
  const [text = '', ...more] = values;
  if (more.length > 0) return undefined;
  switch (field.type) {
    case 'flag':
      return text === 'true' || text === '' ? true : text === 'false' ? false : undefined;
    case 'count':
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case 'json':
      try {
        return JSON.parse(text) as Json;
      } catch {
        return text;
      }
    default:
      return text;
  }
}

/** The operations as `GET /api` lists them, with whether this caller may do each. */
export function operationRows(actor: Actor, program: string): JsonObject[] {
  return Object.values(OPERATIONS).map((entry: OperationEntry) => {
    const { name, group, act, means, example, cli } = entry;
    const words = cli === undefined ? name.replaceAll('.', ' ') : typeof cli === 'string' ? cli : null;
    return {
      ...{ name, group, act, means, example, cli: words, may: mayCall(entry, actor, program) },
      fields: JSON.parse(JSON.stringify(callerFields(name as OperationName))),
    };
  });
}

function mayCall({ name, act, peopleOnly, cli }: OperationEntry, actor: Actor, program: string): boolean {
  if (actor.role !== null && !mayDo(actor.role, act, name).allow) return false;
  const form = typeof cli === 'string' ? cli : name.replaceAll('.', ' ');
  return peopleOnly === undefined || whyNotPerson(actor, form, null, program) === null;
}
