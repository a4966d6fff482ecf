// What one socket asks of a materia handoff: the table of its fields, which are required, which paths `assign` reads, and
// the words for a value that does not fit.

import type { Contract } from '../../kernel/dialect.ts';
import { SEVERITIES } from '../../kernel/event.ts';
import { jsonSchemaOf } from '../../kernel/field-schema.ts';
import { type Field, type Mismatch, mismatches } from '../../kernel/fields.ts';
import { isObject, isString, isText, type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';
import type { ExpectedFields } from '../json-answer.ts';

export type Terms = {
  /** Fields that must be present, in a fixed order: control fields first. */
  readonly required: readonly string[];
  /** Payload paths that must exist, in the order of `assign`, without repetition. */
  readonly paths: readonly Path[];
  /** Fields beyond the contract that an assignment names, or that are required by name. */
  readonly named: ReadonlySet<string>;
  /** Whether extra fields are welcome: an assignment takes the whole payload, or a schema of the user's own judges it. */
  readonly takesAll: boolean;
  /** Whether work items must be exactly a title and a context. */
  readonly strictItems: boolean;
};
export type Path = { readonly source: string; readonly segments: readonly string[] };

const FIELD_ORDER = ['satisfied', 'workItems', 'context'];

export function termsOf(contract: Contract): Terms {
  const sources = [...new Set(Object.values(contract.assign))];
  const paths = sources
    .filter((source) => source.startsWith('$.'))
    .map((source) => ({ source, segments: source.slice(2).split('.') }));
  const wanted = new Set(contract.requires);
  if (contract.generator) wanted.add('workItems');
  const known = FIELD_ORDER.filter((field) => wanted.has(field));
  return {
    required: [...known, ...[...wanted].filter((field) => !FIELD_ORDER.includes(field))],
    paths,
    named: new Set([...wanted, ...paths.map((path) => path.segments[0] ?? '')]),
    takesAll: sources.includes('$') || contract.schema !== null,
    strictItems: contract.generator || !contract.utility,
  };
}

const SCHEDULE = '$.parallelSchedule';

/** Whether the socket splits its items into streams, which its loop works on side by side. */
export function takesSchedule(contract: Contract, terms: Terms): boolean {
  return contract.generator && terms.paths.some(({ source }) => source === SCHEDULE);
}

/** Adds what is wrong with a schedule: each item is in exactly one stream. Nothing of it is corrected. */
export function checkSchedule(schedule: Json, items: Json | undefined, issues: Issues): void {
  const count = Array.isArray(items) ? items.length : 0;
  if (!isObject(schedule)) return issues.add(SCHEDULE, `must be an object, not ${nameOfType(schedule)}`, 'object');
  const { version, streams, ...others } = schedule;
  for (const name of Object.keys(others))
    issues.add(at(SCHEDULE, name), 'unexpected field: a schedule has only `version` and `streams`');
  if (version !== 1) issues.add(`${SCHEDULE}.version`, '`version` must be 1', '1');
  const path = `${SCHEDULE}.streams`;
  if (!Array.isArray(streams))
    return issues.add(path, `\`streams\` must be an array, not ${nameOfType(streams ?? null)}`, 'array');
  const names = new Set<string>();
  const placed = new Set<number>();
  for (const [index, stream] of streams.entries())
    checkStream(stream, at(path, index), { count, names, placed }, issues);
  const missing = Array.from({ length: count }, (_, index) => index).filter((index) => !placed.has(index));
  if (missing.length === 0) return;
  const shown = missing.slice(0, 10).join(', ');
  issues.add(path, `every work item belongs to one stream; missing: ${shown}${missing.length > 10 ? ', …' : ''}`);
}

type Placed = { readonly count: number; readonly names: Set<string>; readonly placed: Set<number> };

function checkStream(stream: Json, path: string, { count, names, placed }: Placed, issues: Issues): void {
  if (!isObject(stream)) return issues.add(path, `a stream must be an object, not ${nameOfType(stream)}`, 'object');
  const { name, workItemIndexes, ...others } = stream;
  for (const field of Object.keys(others))
    issues.add(at(path, field), 'unexpected field: a stream has only `name` and `workItemIndexes`');
  if (!isText(name)) issues.add(`${path}.name`, '`name` must be a string that is not blank', 'non-blank string');
  else if (names.has(name.trim())) issues.add(`${path}.name`, 'another stream has this name');
  else names.add(name.trim());
  if (!Array.isArray(workItemIndexes) || workItemIndexes.length === 0)
    return issues.add(`${path}.workItemIndexes`, '`workItemIndexes` must be an array of at least one index', 'array');
  for (const [at, index] of workItemIndexes.entries()) {
    const isPlace = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < count;
    const place = `${path}.workItemIndexes.${at}`;
    if (!isPlace) issues.add(place, `must be the index of a work item, from 0 to ${count - 1}`, 'integer');
    else if (placed.has(index)) issues.add(place, `work item ${index} is in a stream already`);
    else placed.add(index);
  }
}

/** Whether a payload takes the field `text`: the socket must assign exactly that. */
export function takesText(terms: Terms): boolean {
  return terms.required.includes('text') || terms.paths.some((path) => path.source === '$.text');
}

/** The members by which an object in a longer text is known as an answer to this contract. */
export function contractFields(contract: Contract): ExpectedFields {
  const terms = termsOf(contract);
  const { properties, required } = contract.schema ?? {};
  const ofSchema = [
    ...(isObject(properties) ? Object.keys(properties) : []),
    ...(Array.isArray(required) ? required.filter(isString) : []),
  ];
  const own = ['satisfied', 'workItems', 'context', 'event', ...(contract.utility ? ['state'] : [])];
  return {
    names: new Set([...own, ...terms.named, ...ofSchema]),
    any: terms.takesAll && ofSchema.length === 0,
  };
}

const ITEM = {
  type: 'object',
  wants: 'an object with `title` and `context`',
  fields: {
    title: { type: 'text', required: true, means: 'short name of one unit of work' },
    context: { type: 'text', required: true, means: 'what has to be done, and how to see that it is done' },
  },
} as const satisfies Field;

const EVENT = {
  type: 'object',
  wants: 'an object with a `type`',
  unknown: 'free',
  fields: {
    type: { type: 'text', required: true, means: 'what kind of event it is' },
    severity: {
      type: 'choice',
      of: SEVERITIES,
      default: 'info',
      means: 'how much it matters',
    },
    message: { type: 'text', mayBeEmpty: true, means: 'the event in words' },
    payload: { type: 'map', of: { type: 'json' }, means: 'data of your own' },
    source: {
      type: 'object',
      unknown: 'free',
      means: 'where it comes from',
      fields: {
        materia: { type: 'text', mayBeEmpty: true, means: 'the materia of the socket' },
        socketId: { type: 'text', mayBeEmpty: true, means: 'the socket' },
      },
    },
  },
} as const satisfies Field;

export const HANDOFF = {
  type: 'object',
  fields: {
    workItems: { type: 'list', of: ITEM, means: 'units of work, in the order of work' },
    satisfied: { type: 'flag', means: 'what guarded edges and advancement read' },
    context: { type: 'text', mayBeEmpty: true, means: 'what the next agent needs to know' },
    event: {
      type: 'list',
      of: EVENT,
      wants: 'an array of events',
      means: 'events for people and hooks; taken out before the payload is handed on',
    },
  },
} as const satisfies Field;

/** Fields that only some sockets take, and work items in the output of a plain utility. */
export const TEXT = { type: 'text', mayBeEmpty: true } as const satisfies Field;
export const STATE = { type: 'map', of: { type: 'json' } } as const satisfies Field;
export const LOOSE_ITEMS = { type: 'list', of: { type: 'json' } } as const satisfies Field;

/** The handoff as a JSON Schema: the contract of a socket that requires nothing and assigns nothing. */
export const handoffSchema: JsonObject = jsonSchemaOf(HANDOFF, {
  $id: 'urn:baton:schema:materia-handoff',
  title: 'Materia handoff',
  description: 'The one JSON object an agent returns at the end of its turn.',
});

/** Fields that broader envelopes had, and where their content belongs now. */
const OBSOLETE: ReadonlyMap<string, string> = new Map([
  ...['tasks', 'task', 'work'].map((name) => [name, 'generated work goes in `workItems`'] as const),
  ['passed', 'the routing field is `satisfied`'],
  ...['summary', 'guidance', 'decisions', 'risks', 'architecture', 'architectureGuidance'].map(
    (name) => [name, 'write it as text in `context`'] as const,
  ),
  ...['feedback', 'missing', 'reason', 'failure', 'rework'].map(
    (name) => [name, 'set `satisfied` to false and give the reason as text in `context`'] as const,
  ),
  ['state', 'only utilities return `state`; write what others need as text in `context`'],
]);

/** Adds an issue for each place where the value of a field does not fit its table. */
export function checkField(name: string, value: Json, field: Field, issues: Issues, hint = ''): void {
  for (const mismatch of mismatches(value, field)) {
    const path = mismatch.path.reduce<string>(at, at('$', name));
    const [message, expected] = wordsFor(mismatch, name);
    issues.add(path, `${message}${hint}`, expected);
  }
}

/** What an issue says, and the type it expects. */
function wordsFor({ rule, path, field, value }: Mismatch, name: string): readonly [message: string, expected?: string] {
  const last = path.at(-1) ?? name;
  const whole = name === 'event' ? 'an event' : 'a work item';
  if (rule === 'unknown') return ['unexpected field: a work item has only `title` and `context`'];
  const subject = typeof last === 'number' ? whole : `\`${last}\`${path.length > 1 ? ` of ${whole}` : ''}`;
  if (field.type === 'choice') return [`${subject} must be one of ${field.of.join(', ')}`, field.of.join(' | ')];
  if (rule === 'blank') return [`${subject} must be a string that is not blank`, 'non-blank string'];
  const [words, expected] = typeWords(field);
  return [`${subject} must be ${field.wants ?? words}, not ${nameOfType(value)}`, expected];
}

function typeWords(field: Field): readonly [words: string, expected: string] {
  switch (field.type) {
    case 'flag':
      return ['true or false', 'boolean'];
    case 'list':
      return ['an array', 'array'];
    case 'text':
      return field.mayBeEmpty ? ['a string', 'string'] : ['a non-blank string', 'non-blank string'];
    default:
      return ['an object', 'object'];
  }
}

/** What to say about a field that this contract does not have. */
export function messageForUnexpected(field: string): string {
  const hint = OBSOLETE.get(field);
  return hint === undefined
    ? 'unexpected field: it is not part of this contract; leave it out'
    : `unexpected field: it is not part of the contract; ${hint}`;
}

/**
 * The list of everything wrong with one payload. It is bounded, because a payload can hold more mistakes than anyone reads.
 */
type Issue = { readonly path: string; readonly message: string; readonly expected?: string };

const LISTED_MAX = 200;
const KEY_SHOWN_MAX = 60;

export class Issues {
  readonly listed: Issue[] = [];
  count = 0;

  add(path: string, message: string, expected?: string): void {
    this.count += 1;
    if (this.listed.length === LISTED_MAX) return;
    this.listed.push(expected === undefined ? { path, message } : { path, message, expected });
  }

  has(path: string): boolean {
    return this.listed.some((issue) => issue.path === path);
  }

  /** The details of a refusal; `omitted` says how many issues are not listed. */
  details(): JsonObject {
    const omitted = this.count - this.listed.length;
    return omitted === 0 ? { issues: this.listed } : { issues: this.listed, omitted };
  }
}

/** A path one key deeper. Keys come from agents: they are escaped onto one line and cut. */
export function at(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}.${key}`;
  const escaped = JSON.stringify(key).slice(1, -1);
  return `${path}.${escaped.length > KEY_SHOWN_MAX ? `${escaped.slice(0, KEY_SHOWN_MAX)}…` : escaped}`;
}
