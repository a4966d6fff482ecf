// The API as OpenAPI 3.1, made from the operations, and from one row for each other route.
import { roleFor } from '../access/rights.ts';
import type { OperationEntry, OperationField } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import { LOG_LISTS } from '../app/views/cast-timeline.ts';
import { CODES } from '../kernel/codes.ts';
import { schemaOf } from '../kernel/field-schema.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { callerFields } from './calls.ts';

/** A route that is no operation. */
export type Route = {
  readonly path: string;
  readonly id: string;
  readonly means: string;
  readonly says: string;
  readonly parameters: readonly Parameter[];
  /** What a good answer is, by its type. */
  readonly answer: Readonly<Record<string, JsonObject>>;
  /** Statuses besides 200 and those of refusals, with what they mean. */
  readonly also?: Readonly<Record<string, string>>;
  readonly isOpen?: true;
};
type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly means: string;
  readonly schema: JsonObject;
  readonly example: Json;
};

const COUNT = { type: 'integer', minimum: 0, maximum: 999_999_999_999_999 } as const;
const TEXT = { type: 'string' } as const;
const CAST: Parameter = {
  ...{ name: 'cast', in: 'path', schema: TEXT, example: 'latest' },
  means: 'the id of a cast, a beginning that only one has, or `latest`',
};
const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

const rangeOf = (what: string): readonly Parameter[] => [
  { name: 'from', in: 'query', means: `begin with this ${what}`, schema: COUNT, example: 1 },
  { name: 'until', in: 'query', means: `the last ones up to this ${what}`, schema: COUNT, example: 9 },
];
const AS_OF: Parameter = {
  ...{ name: 'at', in: 'query', means: 'as of this entry; without it, as it is now', schema: COUNT, example: 1 },
};

/** A list of a cast, page by page. */
function rowsOf(part: string, id: string, means: string, says: string, own: readonly Parameter[]): Route {
  const rows = { type: 'array', items: { type: 'object' } };
  return {
    ...{ path: `/api/casts/{cast}/${part}`, id, means, says },
    parameters: [
      CAST,
      ...own,
      { name: 'after', in: 'query', means: 'leave out so many rows', schema: COUNT, example: 0 },
      {
        ...{ name: 'limit', in: 'query', means: 'at most so many', example: 250 },
        schema: { type: 'integer', minimum: 1, maximum: 1_000 },
      },
    ],
    answer: {
      'application/json': { type: 'object', properties: { cast: TEXT, seq: COUNT, rows, total: COUNT, after: COUNT } },
    },
  };
}

export const ROUTES: readonly Route[] = [
  {
    path: '/api',
    id: 'about',
    means: 'who calls, and what may be done',
    says: 'The caller, the workspace, the head of the log, and every operation with its fields and whether the caller may do it.',
    parameters: [],
    answer: { 'application/json': { type: 'object' } },
  },
  {
    path: '/api/events',
    id: 'events',
    means: 'the stream of events',
    says:
      'Server-sent events: `entry` (with `id`, its place in the log), `live` (what an agent does right now) and `head` (all entries up to here were sent). ' +
      'Without `after` it begins at the head of the log. No entry is left out or sent twice.',
    parameters: [
      { name: 'after', in: 'query', means: 'begin behind this entry', schema: COUNT, example: 0 },
      { ...CAST, in: 'query', means: 'only what happens in this cast' },
      {
        name: 'kinds',
        in: 'query',
        means: 'how the kinds of entries begin, with commas',
        schema: TEXT,
        example: 'cast.',
      },
      { name: 'last-event-id', in: 'header', means: 'go on behind this entry', schema: COUNT, example: 0 },
    ],
    answer: { 'text/event-stream': TEXT },
  },
  {
    path: '/api/casts/{cast}/entries',
    id: 'castEntries',
    means: 'entries of a cast, page by page',
    says: 'As they are stored, with long texts by their digest.',
    parameters: [
      CAST,
      { name: 'after', in: 'query', means: 'begin behind this entry', schema: COUNT, example: 0 },
      {
        ...{ name: 'limit', in: 'query', means: 'at most so many', example: 250 },
        schema: { type: 'integer', minimum: 1, maximum: 1_000 },
      },
    ],
    answer: {
      'application/json': {
        type: 'object',
        properties: { entries: { type: 'array', items: ref('Entry') }, head: { type: 'object' } },
      },
    },
  },
  {
    path: '/api/casts/{cast}/view',
    id: 'castView',
    means: 'a cast as it was at any entry',
    says: 'Its graph, items, latest turns and timeline as of the entry `at`, or as they are now. It does not grow with the turns.',
    parameters: [CAST, { name: 'at', in: 'query', means: 'as of this entry', schema: COUNT, example: 1 }],
    answer: { 'application/json': ref('Allowed') },
  },
  {
    path: '/api/casts/{cast}/fold',
    id: 'castFold',
    means: 'what the page folds on from',
    says: 'The view of the cast up to the entry `seq`, as the page of this version folds it, and the latest lines of its log.',
    parameters: [CAST],
    answer: {
      'application/json': {
        type: 'object',
        properties: { seq: COUNT, view: { type: 'object' }, lines: { type: 'array', items: { type: 'object' } } },
      },
    },
  },
  rowsOf('state', 'castState', 'the data of a cast as of any entry', 'Each member with its name and its whole value.', [
    AS_OF,
  ]),
  rowsOf(
    'ledger',
    'castLedger',
    'the tasks of a cast as of any entry',
    'Each with its owner, its paths and its state.',
    [AS_OF],
  ),
  rowsOf(
    'turns',
    'castTurns',
    'the turns of a cast as of any entry',
    'Each with its attempts and when it waited for a person. Long texts are in its entries.',
    [AS_OF, ...rangeOf('turn')],
  ),
  rowsOf('log', 'castLog', 'the log of a cast in lines', 'The oldest first, as of now.', [
    {
      ...{ name: 'list', in: 'query', means: 'which entries', example: 'turning' },
      schema: { type: 'string', enum: [...LOG_LISTS] },
    },
    ...rangeOf('entry'),
  ]),
  {
    path: '/api/facts/{seq}/texts/{digest}',
    id: 'text',
    means: 'one long text of an entry',
    says: 'As plain text. It never changes, so it may be kept for ever.',
    parameters: [
      { name: 'seq', in: 'path', means: 'the place of the entry in the log', schema: COUNT, example: 1 },
      {
        ...{ name: 'digest', in: 'path', means: 'the digest of the text', example: `sha256:${'0'.repeat(64)}` },
        schema: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
      },
      { name: 'range', in: 'header', means: 'a part of it', schema: TEXT, example: 'bytes=0-199' },
    ],
    answer: { 'text/plain': TEXT },
    also: { '206': 'the part that was asked for', '416': 'the part lies outside of the text' },
  },
  {
    path: '/api/openapi.json',
    id: 'openapi',
    means: 'this document',
    says: 'The page at `/reference` is made from it.',
    parameters: [],
    answer: { 'application/json': { type: 'object' } },
  },
  {
    path: '/metrics',
    id: 'metricsText',
    means: 'figures for Prometheus',
    says: 'In the text format of Prometheus. 503 while a long log is counted for the first time.',
    parameters: [],
    answer: { 'text/plain': TEXT },
  },
  {
    path: '/healthz',
    id: 'health',
    means: 'whether the server answers',
    says: 'Needs no token.',
    parameters: [],
    answer: { 'application/json': { type: 'object', properties: { ok: { const: true } } } },
    isOpen: true,
  },
];

export function openApiOf(version: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of ROUTES) paths[route.path] = { get: asGet(route) };
  for (const entry of Object.values(OPERATIONS)) paths[`/api/${entry.name}`] = operationItem(entry);
  return {
    openapi: '3.1.1',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Baton',
      version,
      description:
        'Every operation of a workspace. Each answers with a verdict: `allow`, a stable `code`, a `reason` for people, and `details`. ' +
        'The status is 200 where it allows, else the one of the code.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags: [...new Set(Object.values(OPERATIONS).map(({ group }) => group)), 'server'].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'the token that `baton serve` prints, or one of `baton token create --role ROLE`',
        },
      },
      schemas: SCHEMAS,
      responses: {
        Refused: {
          description: 'Refused. The status is the one of the code.',
          headers: { 'Retry-After': { description: 'with 429: the seconds to wait', schema: { type: 'integer' } } },
          content: { 'application/json': { schema: ref('Denied') } },
        },
      },
    },
  };
}

const VERDICT: JsonObject = {
  reason: { type: 'string', description: 'for people' },
  details: { type: 'object', description: 'for programs' },
};
const SCHEMAS: JsonObject = {
  Allowed: {
    type: 'object',
    properties: { allow: { const: true }, code: { const: 'OK' }, ...VERDICT },
    required: ['allow', 'code', 'reason', 'details'],
  },
  Denied: {
    type: 'object',
    properties: {
      allow: { const: false },
      code: { type: 'string', enum: Object.keys(CODES).filter((code) => code !== 'OK') },
      ...VERDICT,
    },
    required: ['allow', 'code', 'reason', 'details'],
  },
  Entry: {
    type: 'object',
    description: 'An entry of the log.',
    properties: {
      seq: { type: 'integer', minimum: 1 },
      at: { type: 'string', format: 'date-time' },
      by: { type: 'string', description: 'who did it' },
      fact: { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] },
    },
    required: ['seq', 'at', 'by', 'fact'],
  },
  TextRef: {
    type: 'object',
    description: 'A text over 256 bytes, with its first 200 characters.',
    properties: {
      digest: { type: 'string' },
      seq: { type: 'integer' },
      bytes: { type: 'integer' },
      preview: { type: 'string' },
    },
    required: ['digest', 'seq', 'bytes', 'preview'],
  },
};

function asGet({ id, means, says, parameters, answer, also = {}, isOpen }: Route): JsonObject {
  const content = Object.fromEntries(Object.entries(answer).map(([type, schema]) => [type, { schema }]));
  const others = Object.entries(also).map(([status, description]) => [status, { description }]);
  return {
    ...{ operationId: id, tags: ['server'], summary: means, description: says },
    parameters: parameters.map(({ means: description, ...one }) => ({
      ...one,
      description,
      ...(one.in === 'path' ? { required: true } : {}),
    })),
    ...(isOpen ? { security: [] } : {}),
    responses: { '200': { description: 'the answer', content }, ...Object.fromEntries(others), ...REFUSED },
  };
}

const REFUSED: JsonObject = { default: { $ref: '#/components/responses/Refused' } };
const ALLOWED: JsonObject = {
  '200': { description: 'Allowed.', content: { 'application/json': { schema: ref('Allowed') } } },
};

function operationItem(entry: OperationEntry): JsonObject {
  const { name, group, act, means, peopleOnly } = entry;
  const fields = fieldsOf(entry);
  const about = {
    tags: [group],
    summary: means,
    description: `Needs the role ${roleFor(act)}, or a higher one.${peopleOnly === undefined ? '' : ` Only a person may ${peopleOnly}.`}`,
    responses: { ...ALLOWED, ...REFUSED },
  };
  const isRequired = Object.values(fields).some(({ required }) => required === true);
  const schema = schemaOf({ type: 'object', fields });
  const post = {
    ...{ operationId: name, ...about },
    requestBody: { required: isRequired, content: { 'application/json': { schema } } },
  };
  if (act !== 'look') return { post };
  const parameters = Object.entries(fields).map(([field, row]) => parameterOf(field, row));
  return { get: { operationId: `${name}.get`, ...about, parameters }, post };
}

/** A caller by HTTP is no agent within its attempt, so nothing is known of its own. */
export function fieldsOf({ name }: OperationEntry): Readonly<Record<string, OperationField>> {
  const fields = Object.entries(callerFields(name as OperationName));
  return Object.fromEntries(
    fields.map(([field, row]) => [
      field,
      row.required === 'unless-attempt' ? ({ ...row, required: true } as OperationField) : row,
    ]),
  );
}

function parameterOf(name: string, field: OperationField): JsonObject {
  const { description = '', examples: _shown, ...schema } = schemaOf(field);
  const shape = field.type === 'json' ? { content: { 'application/json': { schema } } } : { schema };
  const required = field.required === true ? { required: true } : {};
  return { name, in: 'query', description, ...required, ...shape };
}
