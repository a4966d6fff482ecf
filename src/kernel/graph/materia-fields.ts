// The field tables of what a cast runs: materia, sockets, loops and loadouts. The checks, the published schema and the
// reference page are made from them. A field of type `json` with a `schema` is judged by a check that sees the whole graph.
import type { Field, Fields, ObjectField } from '../fields.ts';
import type { Json, JsonObject } from '../json.ts';
import { CONTRACT_NAMES, DEFAULTS, RUNNERS, TOOL_SCOPES, WIRES } from './config.ts';

/** An object of the configuration. A layer above may delete a member with `null`, and `x_` names are free. */
export function authored(fields: Fields): ObjectField {
  return { type: 'object', extensions: true, nullIsAbsent: true, fields };
}

/** A field that a check looks at together with others; `schema` describes it to editors. */
export function related(schema: JsonObject, means: string, example: Json): Field {
  return { type: 'json', schema, means, example };
}

export function needed(field: Field): Field {
  return { ...field, required: true };
}

const FIRST_RUNNER = RUNNERS[0] ?? '';
export const POSITIVE = { type: 'count', min: 1, wants: 'a whole number above 0' } as const;
export const LISTED = { type: 'list', of: { type: 'text' } } as const;
export const OLD = { type: 'json', ignored: true, means: 'no longer read' } as const;
export const TEXTS = {
  type: 'oneOf',
  of: [{ type: 'text' }, LISTED],
  wants: 'a string, or a list of strings, none of them blank',
} as const;
export const VARIABLE = '^[A-Za-z_][A-Za-z0-9_]{0,199}$';

export const NAME_SCHEMA = { type: 'string', minLength: 1 };
export const SCHEMA = {
  type: 'oneOf',
  of: [{ type: 'map', of: { type: 'json' } }, { type: 'text' }],
  wants: 'a JSON Schema object or the name of a file with one',
} as const;
export const PARSE = { type: 'choice', of: ['text', 'json'] } as const;
export const CONTRACT = {
  type: 'choice',
  of: CONTRACT_NAMES,
  means: 'how its answer is asked for and read',
  example: 'materia',
} as const;
export const ASSIGN = related(
  { type: 'object', additionalProperties: NAME_SCHEMA },
  'which part of the output goes to which slot of the cast data',
  { lastCheck: '$.context' },
);
export const LOCK_STATE = {
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
    // Below the folder of the cast: no way up, no root and no template.
    form: '^(?!/|~|[A-Za-z]:)(?!(?:.*/)?\\.\\.(?:/|$))[^\\\\{}\\0]{1,1000}$',
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

export function gone(obsolete: string): Field {
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

const WAIT = authored({
  forMs: { ...POSITIVE, max: 316_224_000_000, means: 'how long it waits', example: 3_600_000 },
  until: {
    type: 'text',
    charsMax: 200,
    means: 'the moment until which it waits, in ISO 8601; may have slots',
    example: '2026-12-01T09:00:00Z',
  },
  command: {
    ...LISTED,
    itemsMin: 1,
    wants: 'a list of strings, the program first, none of them blank',
    means: 'it waits until this program ends with 0; no shell reads it',
    example: ['gh', 'pr', 'checks'],
  },
  everyMs: {
    type: 'count',
    min: 1_000,
    max: 86_400_000,
    means: 'how long it rests between two runs of the command',
    default: DEFAULTS.waitEveryMs,
    example: 60_000,
  },
  pending: {
    type: 'list',
    of: { type: 'count', min: 1, max: 255 },
    itemsMin: 1,
    means: 'the exit codes that mean "not yet"; any other but 0 ends the wait as not met',
    example: [8],
  },
  cast: {
    type: 'text',
    charsMax: 200,
    means: 'the cast whose end it waits for; may have slots',
    example: '{{state.deploy}}',
  },
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
  wait: {
    ...WAIT,
    means: `it runs nothing and waits, for at most timeoutMs (without it ${DEFAULTS.waitTimeoutMs})`,
    example: { forMs: 3_600_000 },
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
