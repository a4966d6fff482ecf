// The field tables of what a cast runs: materia, sockets, loops and loadouts. The checks, the published schema and the
// reference page are made from them. A field of type `json` with a `schema` is judged by a check that sees the whole graph.
import type { Field, Fields, ObjectField } from '../fields.ts';
import type { Json, JsonObject } from '../json.ts';
import { CONDITIONS, CONTRACTS, DEFAULTS, OUTPUT_BYTES_MAX, RUNNERS, TOOL_SCOPES, WIRES } from './config.ts';
import { FOLDER_BELOW } from './folder-below.ts';

/** An object of the configuration. A layer above may delete a member with `null`, and `x_` names are free. */
export function authored(fields: Fields): ObjectField {
  return { type: 'object', extensions: true, nullIsAbsent: true, fields };
}

/** A field that a check looks at together with others; `schema` describes it to editors. */
export function related(schema: JsonObject, means: string, example: Json): Field {
  return { type: 'json', schema, means, example };
}

function needed(field: Field): Field {
  return { ...field, required: true };
}

const FIRST_RUNNER = RUNNERS[0] ?? '';
export const POSITIVE = { type: 'count', min: 1, wants: 'a whole number above 0' } as const;
export const LISTED = { type: 'list', of: { type: 'text' } } as const;
const OLD = { type: 'json', ignored: true, means: 'no longer read' } as const;
const TEXTS = {
  type: 'oneOf',
  of: [{ type: 'text' }, LISTED],
  wants: 'a string, or a list of strings, none of them blank',
} as const;
export const VARIABLE = '^[A-Za-z_][A-Za-z0-9_]{0,199}$';

const SOCKET_ID = { type: 'string', pattern: '^Socket-[1-9][0-9]*$' };
const TARGET = { type: 'string', pattern: '^(end|Socket-[1-9][0-9]*)$' };
const CONDITION = { enum: [...CONDITIONS] };
const NAME = { type: 'string', minLength: 1 };
const SCHEMA = {
  type: 'oneOf',
  of: [{ type: 'map', of: { type: 'json' } }, { type: 'text' }],
  wants: 'a JSON Schema object or the name of a file with one',
} as const;
const PARSE = { type: 'choice', of: ['text', 'json'] } as const;
const CONTRACT = {
  type: 'choice',
  of: CONTRACTS,
  means: 'how its answer is asked for and read',
  example: 'materia',
} as const;
const ASSIGN = related(
  { type: 'object', additionalProperties: NAME },
  'which part of the output goes to which slot of the cast data',
  { lastCheck: '$.context' },
);
const LOCK_STATE = {
  type: 'choice',
  of: ['locked', 'unlocked'],
  means: 'whether tools may edit it',
  example: 'unlocked',
} as const;

const PLACE = {
  baseUrl: {
    type: 'text',
    form: '^https?://[^\\s]+$',
    wants: 'an address that begins with http:// or https://',
    means: 'where the model is, when that is not the place of its provider; without a user or a password',
    example: 'http://localhost:8000/v1',
  },
  wire: {
    type: 'choice',
    of: WIRES,
    means: 'for openai: which of its two interfaces is spoken there',
    example: 'chat',
  },
  keyVariable: {
    type: 'text',
    form: VARIABLE,
    wants: 'the name of the environment variable that holds the key, without its value',
    means: 'for openai and anthropic: the environment variable that holds the key',
    example: 'MY_MODEL_KEY',
  },
} as const satisfies Fields;

const ENV = {
  type: 'list',
  of: { type: 'text', form: VARIABLE },
  wants: 'a list of names of environment variables, without their values',
  means: 'the environment variables its program gets, by name',
  example: ['DATABASE_URL'],
} as const;
const IDENTITY = { type: 'text', means: 'its id in the registry', example: 'backend-engineer' } as const;

const COMMON = {
  type: {
    type: 'choice',
    of: ['agent', 'utility'],
    means: 'which kind; what it executes says so too',
    example: 'agent',
  },
  label: { type: 'text', mayBeEmpty: true, means: 'its name for people', example: 'Build' },
  description: { type: 'text', mayBeEmpty: true, means: 'what it is for', example: 'Writes the code of one work item' },
  group: { type: 'text', mayBeEmpty: true, means: 'the group it is listed under', example: 'software' },
  color: { type: 'text', mayBeEmpty: true, means: 'its color on a screen', example: 'teal' },
  parse: { ...PARSE, means: 'how its output is read where the socket does not say', default: 'text', example: 'json' },
  contract: CONTRACT,
  schema: { ...SCHEMA, means: 'what its JSON output must look like', example: 'plan.schema.json' },
  generator: { type: 'flag', means: 'its output is a list of work items', default: false, example: true },
  parallel: { type: 'flag', means: 'its work items may be done at the same time', default: false, example: true },
  parallelSafe: { type: 'flag', means: 'it may run next to others', example: true },
  timeoutMs: {
    ...POSITIVE,
    means: `how long one attempt may take; without it ${DEFAULTS.agentTimeoutMs} for an agent and ${DEFAULTS.utilityTimeoutMs} for a utility`,
    example: 600_000,
  },
  lockScope: { ...TEXTS, means: 'the paths its turns may change, as templates', example: ['src', 'test'] },
  sandbox: { type: 'choice', of: ['bwrap'], means: 'what its program runs in', example: 'bwrap' },
  cwd: {
    type: 'text',
    form: FOLDER_BELOW.source,
    wants: 'a folder below the workspace, such as "packages/api", without .. and without templates',
    means: 'the folder it works in',
    example: 'packages/api',
  },
  lockState: LOCK_STATE,
  catalogOrigin: { type: 'map', of: { type: 'json' }, means: 'where it was copied from', example: { id: 'build' } },
  assign: ASSIGN,
} as const satisfies Fields;

const THINKING = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
/** Arguments in a list of their own are left out together; the program cannot be left out. */
export const TEMPLATE: Field = {
  type: 'list',
  itemsMin: 1,
  of: { type: 'oneOf', of: [{ type: 'text' }, LISTED] },
  wants: 'a list of arguments, the program first; arguments of an optional slot are in a list of their own',
  means: 'for the runner command: the program and its arguments, with slots such as {{prompt}}',
  example: ['my-agent', ['--model', '{{model}}'], '{{prompt}}'],
};
const FALLBACKS: Field = {
  type: 'list',
  of: authored({
    runner: {
      type: 'choice',
      of: RUNNERS,
      means: 'its runner; that of the materia where it is left out',
      example: FIRST_RUNNER,
    },
    model: { type: 'text', means: 'its model', example: 'gpt-5' },
    ...PLACE,
  }),
  wants:
    'a list of {"runner"?: …, "model"?: …, "baseUrl"?: …, "wire"?: …, "keyVariable"?: …}, each with a runner or a model',
  means: 'the runners and models that are tried next when it is not available, in order',
  example: [{ runner: FIRST_RUNNER }],
};
export const TOOLS: Field = {
  type: 'oneOf',
  of: [
    { type: 'choice', of: TOOL_SCOPES },
    {
      ...authored({
        type: { type: 'const', value: 'custom', required: true, means: 'a list of tools follows', example: 'custom' },
        tools: { ...LISTED, required: true, means: 'the tools, by name', example: ['Read', 'Grep'] },
      }),
      unknown: 'free',
    },
  ],
  wants: `${TOOL_SCOPES.join(', ')} or {"type": "custom", "tools": [names]}`,
  means: 'what it may do, from nothing to everything; readAndRun has a shell and edits no files',
  example: 'coding',
};

const OBSOLETE_MATERIA = {
  systemPrompt: gone('Put the text into prompt, or name a file in promptFile; standing instructions go into system.'),
  generates: gone('Write generator: true; what a generator produces is always workItems.'),
} as const;

function gone(obsolete: string): Field {
  return { type: 'json', obsolete };
}

export const AGENT = authored({
  ...COMMON,
  prompt: { type: 'text', means: 'what it is asked to do', example: 'Write the code for {{item.title}}.' },
  promptFile: {
    type: 'text',
    means: 'the file that holds its prompt, next to the configuration',
    example: 'prompts/build.md',
  },
  tools: TOOLS,
  runner: { type: 'choice', of: RUNNERS, means: 'what carries it out', example: FIRST_RUNNER },
  model: { type: 'text', mayBeEmpty: true, means: 'its model; without it, that of the runner', example: 'opus' },
  thinking: {
    type: 'oneOf',
    of: [
      { type: 'choice', of: THINKING },
      { type: 'text', form: '^\\s*$' },
    ],
    wants: `one of ${THINKING.join(', ')}`,
    means: 'how much it thinks; without it, as the runner does',
    example: 'high',
  },
  system: { type: 'text', means: 'standing instructions next to the brief', example: 'Answer in English.' },
  env: ENV,
  args: {
    type: 'list',
    of: { type: 'text', mayBeEmpty: true },
    wants: 'a list of arguments',
    means: 'added to the arguments of its program as they are',
    example: ['--verbose'],
  },
  ...PLACE,
  command: TEMPLATE,
  fallbacks: FALLBACKS,
  mcp: { type: 'flag', means: 'whether it is offered the tools of Baton', default: true, example: false },
  multiTurn: {
    type: 'flag',
    means: 'a person talks with it until the person says that it is enough',
    default: false,
    example: true,
  },
  identity: IDENTITY,
  onCrash: {
    type: 'choice',
    of: ['rerun', 'wait'],
    means: 'what happens to a turn that was cut off',
    default: 'rerun',
    example: 'wait',
  },
  ...OBSOLETE_MATERIA,
});

export const UTILITY = authored({
  ...COMMON,
  utility: { type: 'text', means: 'a utility that comes with Baton, by name', example: 'vcs.detect' },
  command: {
    ...LISTED,
    itemsMin: 1,
    wants: 'a list of strings, the program first, none of them blank',
    means: 'the program to run and its arguments; no shell reads them',
    example: ['npm', 'test'],
  },
  script: {
    ...authored({
      kind: {
        type: 'const',
        value: 'shippedUtility',
        required: true,
        means: 'the kind of script',
        example: 'shippedUtility',
      },
      name: { type: 'text', required: true, means: 'its name', example: 'Detect-VCS' },
      runtime: { type: 'const', value: 'node', means: 'what runs it', example: 'node' },
    }),
    unknown: 'free',
    wants: '{"kind": "shippedUtility", "name": …}',
    means: 'a script that comes with Baton',
    example: { kind: 'shippedUtility', name: 'Detect-VCS' },
  },
  params: {
    type: 'map',
    of: { type: 'json' },
    wants: 'an object',
    means: 'what the utility is given',
    example: { output: 'done' },
  },
  env: ENV,
  once: { type: 'flag', means: 'it must not run twice: after a crash a person decides', default: false, example: true },
  writes: { ...TEXTS, means: 'files it is known to change; they take no lock', example: ['.gitignore'] },
  identity: IDENTITY,
  ...OBSOLETE_MATERIA,
});

/** A materia of either type, as the schema shows it. */
export const MATERIA: ObjectField = authored({ ...UTILITY.fields, ...AGENT.fields });

export const EDGE: ObjectField = {
  type: 'object',
  extensions: true,
  fields: {
    when: needed(related(CONDITION, 'when it is taken; a guarded edge reads satisfied of the answer', 'satisfied')),
    to: needed(related(TARGET, 'the next socket, or end', 'Socket-2')),
    maxTraversals: {
      ...POSITIVE,
      wants: 'a whole number above 0',
      means: 'how often it may be taken for one item',
      example: 3,
    },
  },
};
const ITEMS = needed(related(NAME, 'the list to walk, in the cast data', 'state.workItems'));
const AS = related(NAME, 'the slot of the current item', 'item');
const CURSOR = related(NAME, 'the name of the cursor that counts the items', 'workItem');
const DONE = related(TARGET, 'kept from older files; it does not route', 'end');

export const ADVANCE = authored({
  cursor: needed(related(NAME, 'the cursor of the loop to move on', 'workItem')),
  items: ITEMS,
  when: related(CONDITION, 'on which outcome; without it, on every one', 'satisfied'),
  done: DONE,
});
export const WALK = authored({ items: ITEMS, as: AS, cursor: CURSOR, done: DONE });
const BELONGS_TO_MATERIA = gone('It belongs to the materia: write it there.');

export const SOCKET = authored({
  materia: needed(related(NAME, 'the id of the materia that runs here', 'Build')),
  parse: { ...PARSE, means: 'how the output is read', example: 'json' },
  assign: ASSIGN,
  edges: related({}, 'where to go next', []),
  advance: related({}, 'what to move on', {}),
  foreach: related({}, 'what to walk', {}),
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
  id: needed(related(NAME, 'its id, which no other exit of the loop has', 'exit:Socket-6:satisfied')),
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
  output: related(NAME, 'what is taken from it', 'workItems'),
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
});
const part = (field: Field, means: string, example: Json): Field => ({ ...field, means, example });

/** A loop with its parts, as the schema shows it. */
const WHOLE_LOOP = authored({
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
  parallel: part(LANES, 'do several items at the same time', { maxConcurrency: 2 }),
  label: gone('Remove it, or keep the text in x_label; the id of the loop is its name.'),
});

/** A loop whose parts have checks of their own. */
export const LOOP = authored({
  ...WHOLE_LOOP.fields,
  ...Object.fromEntries(['consumes', 'iterator', 'exit', 'exits', 'parallel'].map((name) => [name, { type: 'json' }])),
});

/** A socket with its parts, as the schema shows it. */
const WHOLE_SOCKET = authored({
  ...SOCKET.fields,
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
});

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
  sockets: related({}, 'the places of the graph', {}),
  loops: related({}, 'the loops of the graph', {}),
  layout: { type: 'map', of: { type: 'json' }, means: 'for screens: where things are', example: { zoom: 1 } },
  prompt: gone('Prompts belong to materia.'),
  systemPrompt: gone('Prompts belong to materia.'),
});

/** A loadout with its sockets and loops, as the schema shows it. */
export const WHOLE_LOADOUT = authored({
  ...LOADOUT.fields,
  sockets: {
    type: 'map',
    names: { type: 'text', form: SOCKET_ID.pattern },
    of: WHOLE_SOCKET,
    required: true,
    means: 'the places of the graph, by id',
    example: { 'Socket-1': { materia: 'Build', edges: [{ when: 'always', to: 'end' }] } },
  },
  loops: {
    type: 'map',
    of: WHOLE_LOOP,
    means: 'the loops of the graph, by id',
    example: { main: { sockets: ['Socket-3', 'Socket-4'] } },
  },
});
