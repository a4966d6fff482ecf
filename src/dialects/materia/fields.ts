// The fields of a materia handoff: the shape each must have, and what to say about fields that are not part of it.
import { isObject, isString, isText, type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';

const SEVERITIES = ['debug', 'info', 'warning', 'error', 'critical'] as const;
const ITEM_FIELDS = ['title', 'context'] as const;

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

export function checkSatisfied(value: Json, issues: Issues, hint: string): void {
  if (typeof value === 'boolean') return;
  issues.add('$.satisfied', `\`satisfied\` must be true or false, not ${nameOfType(value)}${hint}`, 'boolean');
}

export function checkString(field: string, value: Json, issues: Issues): void {
  if (isString(value)) return;
  issues.add(at('$', field), `\`${field}\` must be a string, not ${nameOfType(value)}`, 'string');
}

export function checkWorkItems(value: Json, strict: boolean, issues: Issues): void {
  if (!Array.isArray(value)) {
    issues.add('$.workItems', `\`workItems\` must be an array, not ${nameOfType(value)}`, 'array');
    return;
  }
  if (!strict) return;
  value.forEach((item: Json, index) => {
    checkWorkItem(item, at('$.workItems', index), issues);
  });
}

function checkWorkItem(item: Json, path: string, issues: Issues): void {
  if (!isObject(item)) {
    issues.add(path, `a work item must be an object with \`title\` and \`context\`, not ${nameOfType(item)}`, 'object');
    return;
  }
  for (const field of ITEM_FIELDS) {
    if (isText(item[field])) continue;
    issues.add(at(path, field), `\`${field}\` of a work item must be ${faultOfText(item[field])}`, 'non-blank string');
  }
  for (const key of Object.keys(item)) {
    if (key === 'title' || key === 'context') continue;
    issues.add(at(path, key), 'unexpected field: a work item has only `title` and `context`');
  }
}

/** The side channel: events for people and hooks, taken out of the payload before anything else looks at it. */
export function checkEvents(value: Json, issues: Issues): readonly JsonObject[] {
  if (!Array.isArray(value)) {
    issues.add('$.event', `\`event\` must be an array of events, not ${nameOfType(value)}`, 'array');
    return [];
  }
  value.forEach((event: Json, index) => {
    checkEvent(event, at('$.event', index), issues);
  });
  return value.filter(isObject);
}

function checkEvent(event: Json, path: string, issues: Issues): void {
  if (!isObject(event)) {
    issues.add(path, `an event must be an object with a \`type\`, not ${nameOfType(event)}`, 'object');
    return;
  }
  const { type, severity, message, payload, source } = event;
  if (!isText(type))
    issues.add(at(path, 'type'), `\`type\` of an event must be ${faultOfText(type)}`, 'non-blank string');
  if (severity !== undefined && !SEVERITIES.some((known) => known === severity)) {
    issues.add(at(path, 'severity'), `\`severity\` must be one of ${SEVERITIES.join(', ')}`, SEVERITIES.join(' | '));
  }
  if (message !== undefined && !isString(message)) {
    issues.add(at(path, 'message'), `\`message\` of an event must be a string, not ${nameOfType(message)}`, 'string');
  }
  if (payload !== undefined && !isObject(payload)) {
    issues.add(at(path, 'payload'), `\`payload\` of an event must be an object, not ${nameOfType(payload)}`, 'object');
  }
  if (source === undefined) return;
  if (!isObject(source)) {
    issues.add(at(path, 'source'), `\`source\` of an event must be an object, not ${nameOfType(source)}`, 'object');
    return;
  }
  for (const field of ['materia', 'socketId']) {
    const value = source[field];
    if (value === undefined || isString(value)) continue;
    issues.add(at(at(path, 'source'), field), `\`${field}\` must be a string, not ${nameOfType(value)}`, 'string');
  }
}

/** What to say about a field that this contract does not have. */
export function messageForUnexpected(field: string): string {
  const hint = OBSOLETE.get(field);
  return hint === undefined
    ? 'unexpected field: it is not part of this contract; leave it out'
    : `unexpected field: it is not part of the contract; ${hint}`;
}

function faultOfText(value: Json | undefined): string {
  return isString(value) ? 'a string that is not blank' : `a non-blank string, not ${nameOfType(value)}`;
}

// The list of everything wrong with one payload. It is bounded, because a payload can hold more mistakes than anyone reads.
export type Issue = { readonly path: string; readonly message: string; readonly expected?: string };

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

// The agent handoff as a JSON Schema, for publishing and for models that take a schema. It is the contract of a socket
// that requires nothing and assigns nothing; `read` decides, and knows more than a schema can say.
const NON_BLANK = { type: 'string', pattern: '\\S' } as const;

export const handoffSchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:baton:schema:materia-handoff',
  title: 'Materia handoff',
  description: 'The one JSON object an agent returns at the end of its turn.',
  type: 'object',
  additionalProperties: false,
  properties: {
    workItems: {
      description: 'Generated or refined units of work, in order.',
      type: 'array',
      items: { $ref: '#/$defs/workItem' },
    },
    satisfied: { description: 'What guarded edges and advancement read.', type: 'boolean' },
    context: { description: 'Text for the agents downstream.', type: 'string' },
    event: {
      description: 'Events for people and hooks; taken out before the payload is handed on.',
      type: 'array',
      items: { $ref: '#/$defs/event' },
    },
  },
  $defs: {
    workItem: {
      type: 'object',
      additionalProperties: false,
      required: [...ITEM_FIELDS],
      properties: { title: NON_BLANK, context: NON_BLANK },
    },
    event: {
      type: 'object',
      required: ['type'],
      properties: {
        type: NON_BLANK,
        severity: { enum: [...SEVERITIES], default: 'info' },
        message: { type: 'string' },
        payload: { type: 'object' },
        source: {
          type: 'object',
          properties: { materia: { type: 'string' }, socketId: { type: 'string' } },
        },
      },
    },
  },
};
