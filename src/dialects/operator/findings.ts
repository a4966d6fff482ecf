// What the checks of one payload found, and the checks that several payloads share. Checks run in stages: the first stage that
// finds something is the last, and its first finding gives the code. Messages never repeat a value of the payload.
import type { OperatorCode, OperatorRule } from '../../kernel/codes/operator.ts';
import { messageOf } from '../../kernel/field-schema.ts';
import { codeOf, type Field, type ListField, type Mismatch, mismatches, type TextField } from '../../kernel/fields.ts';
import { isObject, isString, type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { normalPath, pathKey } from '../../kernel/ledger/path.ts';
import { type Allowed, allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { JSON_DEPTH_MAX } from '../json-text.ts';
import { type OperatorOptions, RUN_ID, requiredIn, SUPPORTED, TASK_ID, type Table } from './contract.ts';

type OperatorIssue = {
  readonly code: OperatorCode | OperatorRule;
  /** Such as `task.lock_scope[0]`; `$` is the payload itself. */
  readonly path: string;
  readonly message: string;
  readonly [detail: string]: JsonObject[string];
};

const LISTED_MAX = 100;
const WARNINGS_MAX = 20;
const KEY_SHOWN_MAX = 60;

export class OperatorFindings {
  readonly strict: boolean;
  readonly #issues: OperatorIssue[] = [];
  readonly #warnings: string[] = [];
  #count = 0;
  #details: JsonObject = {};

  constructor({ strict = false }: OperatorOptions = {}) {
    this.strict = strict;
  }

  get count(): number {
    return this.#count;
  }

  /** The details of the first finding become details of the verdict. Of the others only short parts are listed. */
  add(code: OperatorCode | OperatorRule, path: string, message: string, details: JsonObject = {}): void {
    this.#count += 1;
    if (this.#count === 1) this.#details = details;
    if (this.#issues.length < LISTED_MAX) this.#issues.push({ code, path, message, ...shortOnes(details) });
  }

  /** Takes over the findings of a validator about a part of the payload. */
  adopt(verdict: Verdict, path: string): void {
    const { warnings, issues, path: _path, omitted: _omitted, ...details } = verdict.details;
    if (Array.isArray(warnings)) for (const warning of warnings) this.warn(`${path}: ${warning}`);
    if (verdict.allow) return;
    const list = (Array.isArray(issues) ? issues : []) as readonly OperatorIssue[];
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

function sentence({ path, message }: OperatorIssue): string {
  const plain = message.replace(/\.$/, '');
  return path === '$' || plain.startsWith(path) ? plain : `${path}: ${plain}`;
}

function shortOnes(details: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => typeof value !== 'object' || value === null));
}

/** The path of a member. Keys that are no plain names are quoted and cut. */
function member(path: string, key: string): string {
  const name = /^[A-Za-z0-9_-]{1,60}$/.test(key) ? key : inQuotes(key);
  return path === '' || path === '$' ? name : `${path}.${name}`;
}

/** A stranger's word inside one of our sentences: on one line, bounded, visibly quoted. */
export function inQuotes(text: string): string {
  const shown = text.length > KEY_SHOWN_MAX ? `${text.slice(0, KEY_SHOWN_MAX)}…` : text;
  return JSON.stringify(shown.toWellFormed());
}

/**
 * Members besides an object's own fields. Extensions start with `x_` and are not inspected. Any other unknown field is
 * refused in strict mode and otherwise only mentioned.
 */
const EXTENSION_PREFIX = 'x_';

export function checkExtensions(found: OperatorFindings, object: JsonObject, table: Table, path: string): void {
  for (const key of Object.keys(object)) {
    if (key.startsWith(EXTENSION_PREFIX) || Object.hasOwn(table.fields, key)) continue;
    noteUnknown(found, member(path, key));
  }
}

function noteUnknown(found: OperatorFindings, place: string): void {
  if (found.strict) {
    found.add('SCHEMA_INVALID', place, 'unknown field; leave it out, or rename it so that it starts with x_');
  } else found.warn(`${place} is not part of the contract; extensions start with x_`);
}

/** Times as the contract writes them: ISO 8601 with a date and a time of day. Without an offset a time is UTC. */
const FORM =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?:([Zz])|([+-])(\d{2}):?(\d{2}))?$/;

/** The instant in whole seconds since 1970, or null when the text names none. */
export function instantOf(text: string): number | null {
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
  return date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset;
}

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

export function isRunId(value: unknown): value is string {
  return typeof value === 'string' && RUN_ID.test(value);
}

export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && TASK_ID.test(value);
}

/** One finding that names every required field that is not there, in the order of the contract. */
export function checkPresence(found: OperatorFindings, object: JsonObject, table: Table, path = ''): void {
  const missing = requiredIn(table).filter((name) => object[name] === undefined);
  if (missing.length === 0) return;
  const names = missing.map((name) => member(path, name)).join(', ');
  found.add('MISSING_REQUIRED_INPUT', path || '$', `required and missing: ${names}`, { missing });
}

type FieldsAt = {
  /** The path of the object in the payload. */
  readonly at?: string;
  /** Details of every finding. */
  readonly details?: JsonObject;
  /** Which mismatches count now; others belong to a later stage. */
  readonly only?: (mismatch: Mismatch) => boolean;
};

/** Adds what differs from the table in these fields, one after the other. Optional fields may be absent. */
export function checkMembers(
  found: OperatorFindings,
  object: JsonObject,
  { fields }: Table,
  names: readonly string[],
  { at = '', details, only }: FieldsAt = {},
): void {
  for (const name of names) {
    const field = fields[name];
    if (field === undefined) throw new Error(`the contract has no field ${name}`);
    const value = object[name];
    if (value === undefined && field.required !== true) continue;
    checkValue(found, value, field, at === '' ? name : `${at}.${name}`, {
      ...(details && { details }),
      ...(only && { only }),
    });
  }
}

/** Adds what differs from the field in one value, which lies at `path`. */
export function checkValue(
  found: OperatorFindings,
  value: unknown,
  field: Field,
  path: string,
  { details, only = () => true }: Omit<FieldsAt, 'at'> = {},
): void {
  for (const each of mismatches(value, field)) {
    if (!only(each)) continue;
    const place = each.path.reduce<string>(
      (above, step) => (isString(step) ? member(above, step) : `${above}[${step}]`),
      path,
    );
    if (each.rule === 'unknown') noteUnknown(found, place);
    else found.add(codeOf<OperatorCode>(each, 'SCHEMA_INVALID'), place, messageOf(each), details ?? detailsOf(each));
  }
}

/** What a repair needs to know: which entry of the list, and what would fit. */
function detailsOf({ rule, path, field, value }: Mismatch): JsonObject {
  const index = path.find((step) => !isString(step));
  const place = index === undefined ? {} : { index };
  if (rule === 'missing' && Array.isArray(value)) return { ...place, missing: value };
  if (field.code === 'UNKNOWN_SCHEMA_VERSION') return { supported: SUPPORTED };
  if (rule === 'many') return { count: (value as Json[]).length, max: (field as ListField).itemsMax ?? null };
  if (rule === 'long') return { ...place, max: (field as TextField).charsMax ?? null };
  if (field.type === 'count') return rule === 'order' ? {} : { min: field.min ?? 0 };
  if (field.type === 'choice' && field.wants === undefined) return { ...place, allowed: field.of };
  return place;
}

/** The normal forms of the paths of a list, as they are compared: composed and decomposed letters are the same. */
export function normalPaths(scope: Json | undefined): readonly string[] {
  return elementsOf(scope).flatMap((item) => {
    const normal = isString(item) ? normalPath(item) : null;
    return normal?.ok ? [pathKey(normal.path, false)] : [];
  });
}

/** The items of an array; of anything else, none. */
export function elementsOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The items of an array that are objects; of anything else, none. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return elementsOf(value).filter(isObject);
}

/** The beginning every payload shares, and the way from any value to a payload that can be checked. */
const NODES_MAX = 2_000_000;

type OperatorPayload =
  | { readonly ok: true; readonly payload: JsonObject }
  | { readonly ok: false; readonly verdict: Denied };

/** Anything but an object of plain JSON is refused here, so that no check behind it can be surprised. */
export function payloadOf(input: unknown): OperatorPayload {
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

export const HEAD = ['run_id', 'generated_at'];

/** The form of a run decides; that it is no UUID of version 4 is only mentioned. */
export function warnOfRunId(found: OperatorFindings, { run_id }: JsonObject): void {
  if (isRunId(run_id) && !UUID_V4.test(run_id)) found.warn('run_id is accepted but is no UUID v4');
}

/** What is asked about a ledger needs no version and no run, but what it states must be right. */
export function checkOptionalHead(found: OperatorFindings, payload: JsonObject, table: Table): void {
  checkMembers(found, payload, table, ['schema_version', ...HEAD]);
  warnOfRunId(found, payload);
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
