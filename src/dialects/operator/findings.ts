// What the checks of one payload found, and the checks that several payloads share. Checks run in stages: the first stage that
// finds something is the last, and its first finding gives the code. Messages never repeat a value of the payload.
import type { OperatorRule } from '../../kernel/codes/operator-rules.ts';
import { isObject, isString, isText, type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { normalPath, PATH_FAULTS, pathKey } from '../../kernel/ledger/path.ts';
import { type Allowed, allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { JSON_DEPTH_MAX } from '../json-text.ts';
import { MAJOR_VERSION, type OperatorCode, type Options, RUN_ID, requiredIn, TASK_ID, type Table } from './contract.ts';

export type Issue = {
  readonly code: OperatorCode | OperatorRule;
  /** Such as `task.lock_scope[0]`; `$` is the payload itself. */
  readonly path: string;
  readonly message: string;
  readonly [detail: string]: JsonObject[string];
};

const LISTED_MAX = 100;
const WARNINGS_MAX = 20;
const KEY_SHOWN_MAX = 60;

export class Findings {
  readonly strict: boolean;
  readonly #issues: Issue[] = [];
  readonly #warnings: string[] = [];
  #count = 0;
  #details: JsonObject = {};

  constructor({ strict = false }: Options = {}) {
    this.strict = strict;
  }

  get count(): number {
    return this.#count;
  }

  /** The details of the first finding become details of the verdict; of the others only what is short is listed. */
  add(code: OperatorCode | OperatorRule, path: string, message: string, details: JsonObject = {}): void {
    this.#count += 1;
    if (this.#count === 1) this.#details = details;
    if (this.#issues.length < LISTED_MAX) this.#issues.push({ code, path, message, ...shortOnes(details) });
  }

  /** Takes over what a validator said about a part of the payload. */
  adopt(verdict: Verdict, path: string): void {
    const { warnings, issues, path: _path, omitted: _omitted, ...details } = verdict.details;
    if (Array.isArray(warnings)) for (const warning of warnings) this.warn(`${path}: ${warning}`);
    if (verdict.allow) return;
    const list = (Array.isArray(issues) ? issues : []) as readonly Issue[];
    for (const [index, { code, path: inner, message, ...rest }] of list.entries()) {
      this.add(code, inner === '$' ? path : `${path}.${inner}`, message, index === 0 ? details : rest);
    }
  }

  warn(sentence: string): void {
    if (this.#warnings.length < WARNINGS_MAX && !this.#warnings.includes(sentence)) this.#warnings.push(sentence);
  }

  /** Runs the stages until one finds something; then the refusal, or null when all passed. */
  through(stages: readonly (() => void)[]): Denied | null {
    for (const stage of stages) {
      stage();
      if (this.#count > 0) return this.refusal();
    }
    return null;
  }

  refusal(): Denied | null {
    const [first] = this.#issues;
    if (!first) return null;
    const more = this.#count - 1;
    const others = more === 0 ? '' : ` (and ${more} more ${more === 1 ? 'problem' : 'problems'})`;
    const omitted = this.#count - this.#issues.length;
    return deny(first.code, `${sentence(first)}${others}.`, {
      ...this.#details,
      path: first.path,
      issues: this.#issues,
      ...(omitted === 0 ? {} : { omitted }),
    });
  }

  allowed(reason: string, details: JsonObject = {}): Allowed {
    return allow(reason, this.#warnings.length === 0 ? details : { ...details, warnings: this.#warnings });
  }
}

function sentence({ path, message }: Issue): string {
  const plain = message.replace(/\.$/, '');
  return path === '$' || plain.startsWith(path) ? plain : `${path}: ${plain}`;
}

function shortOnes(details: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => typeof value !== 'object' || value === null));
}

/** The path of a member. Keys that are no plain names are quoted and cut. */
export function member(path: string, key: string): string {
  const name = /^[A-Za-z0-9_-]{1,60}$/.test(key) ? key : quoted(key);
  return path === '' || path === '$' ? name : `${path}.${name}`;
}

/** A stranger's word inside one of our sentences: on one line, bounded, visibly quoted. */
export function quoted(text: string): string {
  const shown = text.length > KEY_SHOWN_MAX ? `${text.slice(0, KEY_SHOWN_MAX)}…` : text;
  return JSON.stringify(shown.toWellFormed());
}

// What may stand in an object beside its own fields. Extensions start with `x_` and are never looked at; any other
// unknown field is refused in strict mode and otherwise only mentioned.
export const EXTENSION_PREFIX = 'x_';

export function checkExtensions(found: Findings, object: JsonObject, table: Table, path: string): void {
  for (const key of Object.keys(object)) {
    if (key.startsWith(EXTENSION_PREFIX) || Object.hasOwn(table.fields, key)) continue;
    const place = member(path, key);
    if (found.strict) {
      found.add('SCHEMA_INVALID', place, `unknown field; leave it out, or rename it so that it starts with x_`);
    } else found.warn(`${place} is not part of the contract; extensions start with x_`);
  }
}

// The version of the contract a payload was written for. Only the major number decides, and an unknown one is refused:
// a validator that does not know the rules must not guess them.
/** Whether the text before the first dot is exactly the supported number. */
export function isSupported(version: Json | undefined): boolean {
  return typeof version === 'string' && version.split('.', 1)[0] === MAJOR_VERSION;
}

export function checkVersion(found: Findings, version: Json | undefined): void {
  if (isSupported(version)) return;
  const message = `must name a supported version; emit "schema_version": "${MAJOR_VERSION}.x.y"`;
  found.add('UNKNOWN_SCHEMA_VERSION', 'schema_version', message, { supported: `${MAJOR_VERSION}.x.y` });
}

// Times as the contract writes them: ISO 8601 with a date and a time of day. Without an offset a time is UTC.
const FORM =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?:([Zz])|([+-])(\d{2}):?(\d{2}))?$/;

export type Instant = { readonly seconds: number; readonly isUtc: boolean };

/** The instant in whole seconds since 1970, or null when the text names none. */
export function readInstant(text: string): Instant | null {
  const match = FORM.exec(text);
  if (!match) return null;
  const part = (index: number) => Number(match[index] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  const [offsetHour, offsetMinute] = [part(9), part(10)];
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day); // Unlike Date.UTC this takes the years 0 to 99 as they are.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const offset = (match[8] === '-' ? -1 : 1) * (offsetHour * 3600 + offsetMinute * 60);
  return { seconds: date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset, isUtc: offset === 0 };
}

export function isUtcTimestamp(value: unknown): value is string {
  return typeof value === 'string' && readInstant(value)?.isUtc === true;
}

// The names by which runs, tasks and deltas are told apart.
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

export function isRunId(value: unknown): value is string {
  return typeof value === 'string' && RUN_ID.test(value);
}

export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && TASK_ID.test(value);
}

/** The form decides; that it is no UUID of version 4 is only mentioned. */
export function checkRunId(found: Findings, value: Json | undefined, path = 'run_id'): void {
  if (!isRunId(value)) {
    found.add('SCHEMA_INVALID', path, 'must be 36 characters out of hexadecimal digits and dashes, such as a UUID v4');
  } else if (!UUID_V4.test(value)) found.warn(`${path} is accepted but is no UUID v4`);
}

export function checkTaskId(found: Findings, value: Json | undefined, path: string, details: JsonObject = {}): void {
  if (isTaskId(value)) return;
  found.add('SCHEMA_INVALID', path, 'must be a task id: T- and digits, or the 36 characters of a UUID', details);
}

// Checks of single fields that several kinds of payload share. Each adds what it finds and says what to write instead.
/** One finding that names every required field that is not there, in the order of the contract. */
export function checkPresence(found: Findings, object: JsonObject, table: Table, path = ''): void {
  const missing = requiredIn(table).filter((name) => object[name] === undefined);
  if (missing.length === 0) return;
  const names = missing.map((name) => member(path, name)).join(', ');
  found.add('MISSING_REQUIRED_INPUT', path || '$', `required and missing: ${names}`, { missing });
}

export type TextRule = {
  /** Counted in characters, not in code units. */
  readonly max?: number;
  /** The code for a value that is blank. */
  readonly blank?: OperatorCode;
  /** The code for a value that is no string. */
  readonly mistyped?: OperatorCode;
};

/** A string with something in it, and not too much. */
export function checkText(
  found: Findings,
  value: Json | undefined,
  path: string,
  { max, blank = 'SCHEMA_INVALID', mistyped = 'SCHEMA_INVALID' }: TextRule = {},
  details: JsonObject = {},
): void {
  if (!isString(value)) found.add(mistyped, path, 'must be a string that is not blank', details);
  else if (!isText(value)) found.add(blank, path, 'must not be blank', details);
  else if (max !== undefined && isLongerThan(value, max)) {
    found.add('SCHEMA_INVALID', path, `must have at most ${max} characters`, { ...details, max });
  }
}

export function checkString(found: Findings, value: Json | undefined, path: string, details: JsonObject = {}): void {
  if (!isString(value)) found.add('SCHEMA_INVALID', path, 'must be a string', details);
}

export function checkOneOf(
  found: Findings,
  value: Json | undefined,
  path: string,
  allowed: readonly string[],
  details: JsonObject = {},
): void {
  if (isString(value) && allowed.includes(value)) return;
  found.add('SCHEMA_INVALID', path, `must be one of ${allowed.join(', ')}`, { ...details, allowed });
}

export function checkInteger(found: Findings, value: Json | undefined, path: string, min: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= min) return;
  found.add('SCHEMA_INVALID', path, `must be a whole number of at least ${min}`, { min });
}

export function checkUtcTimestamp(
  found: Findings,
  value: Json | undefined,
  path: string,
  details: JsonObject = {},
): void {
  if (isUtcTimestamp(value)) return;
  found.add('SCHEMA_INVALID', path, 'must be a time in UTC, such as 2026-01-31T09:30:00Z', details);
}

/** An array of strings, of which each may be anything. */
export function checkStrings(found: Findings, value: Json | undefined, path: string): void {
  if (!Array.isArray(value)) return found.add('SCHEMA_INVALID', path, 'must be an array of strings');
  for (const [index, item] of value.entries()) {
    if (!isString(item)) found.add('SCHEMA_INVALID', `${path}[${index}]`, 'must be a string', { index });
  }
}

/** Walks an array of objects: each is an object that holds its required fields and no unknown ones; then `check` sees it. */
export function checkObjects(
  found: Findings,
  value: Json | undefined,
  path: string,
  table: Table,
  check: (item: JsonObject, path: string, index: number) => void,
  absent: OperatorCode = 'SCHEMA_INVALID',
): void {
  if (!Array.isArray(value)) return found.add('SCHEMA_INVALID', path, 'must be an array of objects');
  const required = requiredIn(table);
  for (const [index, item] of value.entries()) {
    const place = `${path}[${index}]`;
    if (!isObject(item)) {
      found.add('SCHEMA_INVALID', place, 'must be an object', { index });
      continue;
    }
    const missing = required.filter((name) => item[name] === undefined);
    if (missing.length > 0) {
      found.add(absent, place, `lacks ${missing.join(', ')}`, { index, missing });
    } else check(item, place, index);
    checkExtensions(found, item, table, place);
  }
}

/** The normal form of a resource, or null after a finding. */
export function checkResource(
  found: Findings,
  value: Json | undefined,
  path: string,
  details: JsonObject = {},
): string | null {
  if (!isString(value)) {
    found.add('SCHEMA_INVALID', path, 'must be a path', details);
    return null;
  }
  const normal = normalPath(value);
  if (normal.ok) return normal.path;
  found.add('SCHEMA_INVALID', path, PATH_FAULTS[normal.fault], details);
  return null;
}

/** The normal forms of the paths of a list, as they are compared: composed and decomposed letters are the same. */
export function normalPaths(scope: Json | undefined): readonly string[] {
  return listOf(scope).flatMap((item) => {
    const normal = isString(item) ? normalPath(item) : null;
    return normal?.ok ? [pathKey(normal.path, false)] : [];
  });
}

/** The items of an array; of anything else, none. */
export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The items of an array that are objects; of anything else, none. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return listOf(value).filter(isObject);
}

function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > 2 * max) return true; // A character takes at most two code units.
  return [...text].length > max;
}

// The beginning every payload shares, and the way from any value to a payload that can be checked.
const NODES_MAX = 2_000_000;

export type Payload =
  | { readonly ok: true; readonly payload: JsonObject }
  | { readonly ok: false; readonly verdict: Denied };

/** Anything but an object of plain JSON is refused here, so that no check behind it can be surprised. */
export function payloadOf(input: unknown): Payload {
  if (!isObject(input)) {
    const message = `expected a JSON object, not ${nameOfType(input)}`;
    return { ok: false, verdict: refuse(message) };
  }
  let fault: string | null;
  try {
    fault = faultOf(input);
  } catch {
    fault = 'it holds something that cannot be read'; // A getter of a caller's own object may throw.
  }
  return fault === null ? { ok: true, payload: input } : { ok: false, verdict: refuse(fault) };
}

/** The run, and the optional time of writing. */
export function checkHead(found: Findings, payload: JsonObject): void {
  checkRunId(found, payload.run_id);
  if (payload.generated_at !== undefined) checkUtcTimestamp(found, payload.generated_at, 'generated_at');
}

/** Gate inputs need no version and no run, but what they state must be right. */
export function checkOptionalHead(found: Findings, payload: JsonObject): void {
  if (payload.schema_version !== undefined) checkVersion(found, payload.schema_version);
  if (payload.run_id !== undefined) checkRunId(found, payload.run_id);
  if (payload.generated_at !== undefined) checkUtcTimestamp(found, payload.generated_at, 'generated_at');
}

function refuse(message: string): Denied {
  const issues = [{ code: 'SCHEMA_INVALID', path: '$', message }];
  return deny('SCHEMA_INVALID', `The payload is not usable: ${message}.`, { path: '$', issues });
}

/** What keeps a value from being JSON of a sane size. Cycles end at the depth limit, shared parts at the count. */
function faultOf(input: object): string | null {
  const open: { value: unknown; depth: number }[] = [{ value: input, depth: 1 }];
  let nodes = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (++nodes > NODES_MAX) return 'it holds too many values';
    if (typeof value === 'number' && !Number.isFinite(value)) return 'it holds a number that JSON cannot write';
    if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') {
      return `it holds a ${typeof value}, which JSON cannot write`;
    }
    if (typeof value !== 'object' || value === null) continue;
    if (depth > JSON_DEPTH_MAX) return `it is nested deeper than ${JSON_DEPTH_MAX} levels`;
    for (const item of Object.values(value)) open.push({ value: item, depth: depth + 1 });
  }
  return null;
}
