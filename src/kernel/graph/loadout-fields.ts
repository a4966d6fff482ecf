// The field tables of loadouts, sockets and loops. A field of type `json` with a `schema` is judged by a check that sees the
// whole graph.
import type { Field, ObjectField } from '../fields.ts';
import type { Json } from '../json.ts';
import { BARRIERS, CONDITIONS, DEFAULTS, EDGE_ENDS, OUTPUT_BYTES_MAX } from './config.ts';
import {
  ASSIGN,
  authored,
  CONTRACT,
  gone,
  LOCK_STATE,
  NAME_SCHEMA,
  needed,
  OLD,
  PARSE,
  POSITIVE,
  related,
  SCHEMA,
  TEXTS,
} from './materia-fields.ts';

/** A table as a part of another. */
export const part = (field: Field, means: string, example: Json): Field => ({ ...field, means, example });

const SOCKET_ID = { type: 'string', pattern: '^Socket-[1-9][0-9]*$' };

const TARGET = { type: 'string', pattern: '^(end|Socket-[1-9][0-9]*)$' };

const CONDITION = { enum: [...CONDITIONS] };

const SCALAR = { type: ['string', 'number', 'boolean'] };

/** One of the three names, or one field of the answer and its value. */
const EDGE_CONDITION = {
  oneOf: [
    CONDITION,
    {
      type: 'object',
      additionalProperties: false,
      properties: {
        field: { type: 'string', pattern: '^[^$.[\\]][^.[\\]]*$' },
        is: SCALAR,
        isNot: SCALAR,
        in: { type: 'array', minItems: 1, items: SCALAR },
      },
      oneOf: [{ required: ['field', 'is'] }, { required: ['field', 'isNot'] }, { required: ['field', 'in'] }],
    },
  ],
};

export const EDGE: ObjectField = {
  type: 'object',
  extensions: true,
  fields: {
    when: needed(
      related(
        EDGE_CONDITION,
        'when it is taken: a name reads satisfied of the answer, {"field", "is" | "isNot" | "in"} one field that the contract declares',
        'satisfied',
      ),
    ),
    to: needed(related(TARGET, 'the next socket, or end', 'Socket-2')),
    maxTraversals: {
      ...POSITIVE,
      wants: 'a whole number above 0',
      means: 'how often it may be taken for one item',
      example: 3,
    },
    then: {
      type: 'choice',
      of: EDGE_ENDS,
      means:
        'what happens when maxTraversals is used up: the cast fails, parks the item and goes on with the next one, or waits for a person',
      default: 'fail',
      example: 'ask',
    },
  },
};

const ITEMS = needed(related(NAME_SCHEMA, 'the list to walk, in the cast data', 'state.workItems'));

const AS = related(NAME_SCHEMA, 'the slot of the current item', 'item');

const CURSOR = related(NAME_SCHEMA, 'the name of the cursor that counts the items', 'workItem');

const DONE = related(TARGET, 'kept from older files; it does not route', 'end');

export const ADVANCE = authored({
  cursor: needed(related(NAME_SCHEMA, 'the cursor of the loop to move on', 'workItem')),
  items: ITEMS,
  when: related(CONDITION, 'on which outcome; without it, on every one', 'satisfied'),
  done: DONE,
});

export const WALK = authored({ items: ITEMS, as: AS, cursor: CURSOR, done: DONE });

const BELONGS_TO_MATERIA = gone('It belongs to the materia: write it there.');

export const SOCKET = authored({
  materia: needed(related(NAME_SCHEMA, 'the id of the materia that runs here', 'Build')),
  parse: { ...PARSE, means: 'how the output is read', example: 'json' },
  assign: ASSIGN,
  edges: {
    type: 'list',
    of: EDGE,
    means: 'where to go next; the first edge that fits is taken',
    example: [{ when: 'always', to: 'end' }],
  },
  advance: part(ADVANCE, 'move a cursor on when this socket is done', {
    cursor: 'workItem',
    items: 'state.workItems',
    when: 'satisfied',
  }),
  foreach: part(WALK, 'run this socket once for each item of a list', { items: 'state.files' }),
  limits: {
    ...authored({
      maxOutputBytes: {
        type: 'count',
        min: 1,
        max: OUTPUT_BYTES_MAX,
        default: DEFAULTS.maxOutputBytes,
        means: 'how long an answer may be',
        example: 65_536,
      },
      timeoutMs: { ...POSITIVE, means: 'how long one attempt may take', example: 600_000 },
      maxVisits: OLD,
      maxEdgeTraversals: OLD,
    }),
    means: 'limits of this socket',
    example: { timeoutMs: 600_000 },
  },
  contract: CONTRACT,
  schema: { ...SCHEMA, means: 'what the JSON output must look like', example: 'plan.schema.json' },
  strict: { type: 'flag', means: 'refuse text around the JSON object of the answer', default: false, example: true },
  lockScope: { ...TEXTS, means: 'the paths its turns may change, as templates', example: '{{item.path}}' },
  checkers: {
    type: 'list',
    means: 'the checkers that run after its turns that changed files, in the place of those that run after every turn',
    example: ['test'],
  },
  label: { type: 'text', mayBeEmpty: true, means: 'its name for people', example: 'Build' },
  description: { type: 'text', mayBeEmpty: true, means: 'what it does here', example: 'Builds one item' },
  socketKind: {
    type: 'choice',
    of: ['entry', 'normal'],
    means: 'for screens: whether it is the entry',
    example: 'entry',
  },
  empty: { type: 'flag', means: 'for screens: nothing is placed yet', example: false },
  layout: { type: 'map', of: { type: 'json' }, means: 'for screens: where it is', example: { x: 0, y: 0 } },
  type: gone('The materia says whether it is an agent or a utility; remove the field.'),
  role: gone('Name the behaviour in materia.'),
  prompt: gone('Put the text into the prompt of the materia.'),
  systemPrompt: gone('Put the text into the prompt of the materia.'),
  multiTurn: gone('Write multiTurn on the materia.'),
  utility: BELONGS_TO_MATERIA,
  command: BELONGS_TO_MATERIA,
  script: BELONGS_TO_MATERIA,
  params: BELONGS_TO_MATERIA,
  timeoutMs: gone('Write limits.timeoutMs here, or timeoutMs on the materia.'),
});

export const EXIT = authored({
  id: related(
    NAME_SCHEMA,
    'its id, which no other exit of the loop has; made from the others where none is written',
    'exit:Socket-6:satisfied',
  ),
  from: needed(related(SOCKET_ID, 'the member where the loop is left', 'Socket-6')),
  condition: needed(related(CONDITION, 'on which outcome', 'satisfied')),
  targetSocketId: needed(related(SOCKET_ID, 'the socket that follows', 'Socket-7')),
});

/** The older spelling of an exit. */
export const OLD_EXIT = authored({
  from: needed(related(SOCKET_ID, 'the member where the loop is left', 'Socket-4')),
  when: needed(related(CONDITION, 'on which outcome', 'satisfied')),
  to: needed(related(TARGET, 'what follows', 'end')),
});

export const CONSUMES = authored({
  from: needed(related(SOCKET_ID, 'the generator socket whose items are walked', 'Socket-2')),
  output: related(NAME_SCHEMA, 'what is taken from it', 'workItems'),
  as: AS,
  cursor: CURSOR,
  done: DONE,
});

export const LANES = authored({
  maxConcurrency: {
    ...POSITIVE,
    means: 'how many items may be in progress at the same time',
    default: DEFAULTS.maxConcurrency,
    example: 2,
  },
  barrier: {
    type: 'choice',
    of: BARRIERS,
    means:
      'an item that fails lets the others finish; then the cast fails (all), or the loop is left with what was done (settled)',
    example: 'settled',
  },
});

export const LOOP = authored({
  sockets: needed(related({ type: 'array', minItems: 1, items: SOCKET_ID }, 'its members', ['Socket-3', 'Socket-4'])),
  consumes: part(CONSUMES, 'the generator whose items are walked', { from: 'Socket-2' }),
  iterator: part(WALK, 'the list that is walked, where no generator made it', { items: 'state.files' }),
  exit: part(OLD_EXIT, 'the older spelling of exits', { from: 'Socket-4', when: 'satisfied', to: 'end' }),
  exits: {
    type: 'list',
    of: EXIT,
    means: 'where to go when all items are done',
    example: [{ id: 'done', from: 'Socket-4', condition: 'satisfied', targetSocketId: 'Socket-5' }],
  },
  parallel: part(LANES, 'work on several items at the same time, each in a worktree of its own', { maxConcurrency: 2 }),
  label: gone('Remove it, or keep the text in x_label; the id of the loop is its name.'),
});

const INPUT_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const;

export const LOADOUT = authored({
  id: { type: 'text', mayBeEmpty: true, means: 'an id that activeLoadoutId may name', example: 'flow' },
  label: { type: 'text', mayBeEmpty: true, means: 'its name for people', example: 'Build and check' },
  description: {
    type: 'text',
    mayBeEmpty: true,
    means: 'what it is for',
    example: 'Plans, builds and checks each item',
  },
  source: {
    type: 'choice',
    of: ['default', 'central', 'user', 'project', 'explicit'],
    means: 'where it comes from',
    example: 'project',
  },
  lockState: LOCK_STATE,
  originDefaultId: { type: 'text', mayBeEmpty: true, means: 'the loadout it was copied from', example: 'flow' },
  entry: needed(related(SOCKET_ID, 'the socket where a cast starts', 'Socket-1')),
  inputs: {
    type: 'map',
    names: {
      type: 'text',
      form: '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$',
      wants: 'letters, digits, hyphens and underscores, at most 64',
    },
    of: {
      type: 'oneOf',
      of: [
        { type: 'choice', of: INPUT_TYPES },
        { type: 'map', of: { type: 'json' } },
      ],
    },
    entriesMax: 32,
    wants: `an object from names (letters, digits, - and _) to types (${INPUT_TYPES.join(', ')}) or JSON Schemas`,
    means: 'values that a cast is started with, each with a type or a JSON Schema; one with a default may be left out',
    example: { severity: { enum: ['low', 'high'], default: 'low', description: 'what to look for' } },
  },
  sockets: {
    type: 'map',
    names: { type: 'text', form: SOCKET_ID.pattern },
    of: SOCKET,
    required: true,
    means: 'the places of the graph, by id',
    example: { 'Socket-1': { materia: 'Build', edges: [{ when: 'always', to: 'end' }] } },
  },
  loops: {
    type: 'map',
    of: LOOP,
    means: 'the loops of the graph, by id',
    example: { main: { sockets: ['Socket-3', 'Socket-4'] } },
  },
  layout: { type: 'map', of: { type: 'json' }, means: 'for screens: where things are', example: { zoom: 1 } },
  prompt: gone('Prompts belong to materia.'),
  systemPrompt: gone('Prompts belong to materia.'),
});

/** A table whose parts have checks of their own: here they are any value. */
export function apart(table: ObjectField, ...names: readonly string[]): ObjectField {
  return authored({ ...table.fields, ...Object.fromEntries(names.map((name) => [name, { type: 'json' }])) });
}
