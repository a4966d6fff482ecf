// The field tables of the configuration: everything but materia and loadouts, which have tables of their own, and the whole
// as the published schema shows it. The checks, the schema, the defaults and the reference page are made from them.
import { HOOK_MODES } from '../approval/policy.ts';
import { TIERS } from '../approval/request.ts';
import { jsonSchemaOf } from '../field-schema.ts';
import type { Field, Fields, ObjectField } from '../fields.ts';
import type { Json, JsonObject } from '../json.ts';
import { SURFACE_LISTS } from '../knowledge/rules.ts';
import { CHECKER_TIMEOUT_MS, CHECKER_TIMES } from './checker.ts';
import { CONTRACTS, DEFAULTS, RUNNERS } from './config.ts';
import { authored, LISTED, MATERIA, POSITIVE, related, VARIABLE, WHOLE_LOADOUT } from './graph-fields.ts';
import { HOOK_RULES } from './hook-rules.ts';
import { MODEL_RUNNERS } from './runner-choice.ts';
import { MAIN_CHECKOUT, SETUP_TIMEOUT_MS } from './worktree.ts';

const OLD = { type: 'json', ignored: true, means: 'no longer read' } as const;
const COST = { type: 'number', min: 0 } as const;
const PERCENT = { type: 'number', min: 1, max: 100 } as const;
const deletable = (field: Field): Field => ({ ...field, nullable: true });
const NAMED = { type: 'map', of: { type: 'json' } } as const;

/** A part of the configuration as a field of it. */
const part = (field: Field, means: string, example: Json): Field => ({ ...field, means, example });
/** A part of which older files may hold more than is read. */
const lenient = (fields: Fields): ObjectField => ({ ...authored(fields), unknown: 'free' });

const RUNNER_LIMITS = authored({
  maxConcurrent: { ...POSITIVE, means: 'how many of its turns may run at the same time', example: 2 },
  perMinute: { ...POSITIVE, means: 'how many of its turns may start in a minute', example: 10 },
});

export const PRICE = authored({
  input: { ...COST, required: true, means: 'for a million tokens of input', example: 3 },
  output: { ...COST, required: true, means: 'for a million tokens of output', example: 15 },
  cached: { ...COST, means: 'for a million tokens of input read from the cache of the provider', example: 0.3 },
});

const WHEN = {
  type: 'choice',
  of: CHECKER_TIMES,
  wants: '"turn" (quick, after each turn) or "merge" (the whole work)',
  means: 'when it runs',
  default: 'turn',
  example: 'merge',
} as const;
const PATH = { type: 'string', minLength: 1 };

/** By the member that says which kind of checker it is. */
export const CHECKERS: Readonly<Record<string, ObjectField>> = {
  command: authored({
    command: {
      type: 'list',
      of: { type: 'text', mayBeEmpty: true },
      itemsMin: 1,
      required: true,
      wants: 'a list: the program and its arguments, which no shell sees',
      means: 'runs a program and looks at its exit code',
      example: ['npm', 'test'],
    },
    exitCode: {
      type: 'count',
      max: 255,
      wants: 'an exit code, from 0 to 255',
      means: 'the exit code that passes',
      default: 0,
      example: 0,
    },
    timeoutMs: { ...POSITIVE, means: 'how long it may run', default: CHECKER_TIMEOUT_MS, example: 60_000 },
    when: WHEN,
  }),
  file: authored({
    file: { ...related(PATH, 'looks at a file', 'dist/index.js'), required: true },
    exists: { type: 'flag', means: 'whether the file must be there', default: true, example: false },
    contains: { type: 'text', means: 'a text the file must contain', example: 'BUILD OK' },
    when: WHEN,
  }),
  json: authored({
    json: { ...related(PATH, 'looks at a value in a JSON file', 'package.json'), required: true },
    pointer: {
      type: 'text',
      form: '^(/|$)',
      wants: 'a JSON pointer',
      means: 'where the value is',
      example: '/scripts/test',
    },
    path: {
      type: 'text',
      form: '^(?=.*\\S)[^.]+(\\.[^.]+)*$',
      wants: 'names joined by dots, such as a.b.0.c',
      means: 'where the value is, as names joined by dots',
      example: 'scripts.test',
    },
    equals: { ...related({}, 'the value that is expected there', 'vitest run'), required: true },
    when: WHEN,
  }),
  diff: authored({
    diff: {
      ...related(
        { type: 'array', minItems: 1, items: PATH },
        'nothing is changed but these paths and what is below them',
        ['src'],
      ),
      required: true,
    },
    when: WHEN,
  }),
};

const WORDS = {
  type: 'list',
  of: { type: 'text', charsMax: 200 },
  itemsMax: 64,
  wants: 'a list of at most 64 texts of at most 200 characters',
} as const;
const SURFACE_MEANS: Readonly<Record<(typeof SURFACE_LISTS)[number], readonly [string, string]>> = {
  keywords: ['words by which work on it is recognised', 'login'],
  commands: ['commands by which work on it is recognised', 'npm run web'],
  artifacts: ['files by which work on it is recognised', 'web/index.html'],
  neighbours: ['surfaces that a change here may touch', 'api'],
  checks: ['what has to be checked after a change here', 'the page loads'],
  sections: ['knowledge that matters here', 'services'],
};
const SURFACE = authored({
  agent: {
    type: 'text',
    required: true,
    means: 'who answers for it: the id or the identity of a materia',
    example: 'Build',
  },
  ...Object.fromEntries(
    SURFACE_LISTS.map((name) => [name, { ...WORDS, means: SURFACE_MEANS[name][0], example: [SURFACE_MEANS[name][1]] }]),
  ),
});
const SECTION: ObjectField = lenient({
  description: {
    type: 'text',
    mayBeEmpty: true,
    means: 'what belongs into it',
    example: 'the services and their ports',
  },
});
const SECTION_NAME: Field = {
  type: 'text',
  form: '^(?!(?:memory|evidence)$)[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
  wants:
    'at most 64 letters, digits, dots, dashes and underscores, and neither "memory" nor "evidence", which are taken',
};
const CONTEXT = authored({
  sections: {
    type: 'map',
    names: SECTION_NAME,
    of: deletable(SECTION),
    means: 'the sections of shared knowledge',
    example: { services: {} },
  },
  read: {
    type: 'map',
    of: deletable(WORDS),
    means: 'by agent, or * for all others: the sections it may read',
    example: { '*': ['*'] },
  },
  write: {
    type: 'map',
    of: deletable(WORDS),
    means: 'by agent: the sections it may write',
    example: { Build: ['services'] },
  },
});

const STEP: Field = { type: 'list', of: { type: 'text', mayBeEmpty: true } };
export const WORKTREE = authored({
  setup: {
    type: 'oneOf',
    of: [STEP, { type: 'list', of: { ...STEP, itemsMin: 1 } }],
    wants: 'a program and its arguments such as ["npm", "ci"], or a list of such lists; no shell reads them',
    means: 'the programs that make a new worktree ready',
    example: ['npm', 'ci'],
  },
  copy: {
    type: 'list',
    of: { type: 'json', schema: PATH },
    means: 'files and folders ignored by git that are copied into it',
    example: ['.env'],
  },
  link: {
    type: 'list',
    of: { type: 'json', schema: PATH },
    means: 'folders that it shares with the workspace',
    example: ['node_modules'],
  },
  timeoutMs: {
    ...POSITIVE,
    means: 'how long each program of setup may run',
    default: SETUP_TIMEOUT_MS,
    example: 600_000,
  },
  mainCheckout: {
    type: 'choice',
    of: MAIN_CHECKOUT,
    means: 'what happens to a turn when files of the main checkout change',
    default: 'refuse',
    example: 'warn',
  },
});

export const TIER = authored({
  id: { type: 'text', mayBeEmpty: true, means: 'its name', example: 'small' },
  minContextWindow: { type: 'count', means: 'the smallest window it is for', default: 0, example: 0 },
  maxContextWindow: { ...POSITIVE, means: 'the window where the next tier begins', example: 128_000 },
  thresholdPercent: {
    ...PERCENT,
    required: true,
    means: 'at how much of its window a conversation is shortened',
    example: 70,
  },
});

const APPROVALS = authored({
  tiers: {
    type: 'map',
    of: { type: 'choice', of: TIERS },
    means: 'the tier of commands, by the words they begin with',
    example: { 'terraform plan': 'T2' },
  },
  blocked: {
    ...LISTED,
    wants: 'a list of the words a command begins with, such as "terraform destroy"',
    means: 'commands that no person may approve, by the words they begin with',
    example: ['terraform destroy'],
  },
  env: {
    type: 'list',
    of: { type: 'text', form: VARIABLE },
    wants: 'a list of names of variables, such as "AWS_PROFILE"',
    means: 'environment variables that an approval is bound to',
    example: ['AWS_PROFILE'],
  },
  writes: {
    type: 'choice',
    of: TIERS,
    means: 'the tier of a write within the workspace',
    default: 'T1',
    example: 'T0',
  },
  hook: {
    type: 'choice',
    of: HOOK_MODES,
    means: 'whether a hook asks for approvals; without it, within a gaia turn only',
    example: 'ask',
  },
  pendingHours: { ...POSITIVE, means: 'how long a request waits for a person', default: 168, example: 24 },
  grantMinutes: { ...POSITIVE, means: 'how long a granted approval may be used', default: 60, example: 30 },
});

const HOOKS = authored({
  contract: {
    type: 'choice',
    of: CONTRACTS,
    means: 'the contract the last answer of a session must keep',
    example: 'materia',
  },
  contractAt: {
    type: 'list',
    of: { type: 'choice', of: ['Stop', 'SubagentStop'] },
    wants: 'a list of Stop and SubagentStop',
    means: 'at which stops the contract is checked',
    example: ['SubagentStop'],
  },
  worklog: { type: 'flag', means: 'whether a session of a task has to write its worklog', example: true },
  rules: {
    type: 'map',
    names: { type: 'choice', of: HOOK_RULES },
    of: {
      type: 'oneOf',
      of: [
        { type: 'flag' },
        {
          type: 'object',
          fields: { allow: { ...LISTED, required: true, means: 'commands that are allowed', example: ['sleep 5'] } },
        },
      ],
    },
    wants: `an object of ${HOOK_RULES.join(', ')}, each true, false or {"allow": ["command"]}`,
    means: 'switches a rule about shell commands off, or allows some commands; a rule that is not named is on',
    example: { sleep: false },
  },
});

/** The sections that are one object each; a limit under a wrong name would be no limit. */
const SECTIONS: Fields = {
  budget: part(
    authored({
      maxTokens: { type: 'count', means: 'tokens a cast may use', example: 2_000_000 },
      maxCost: { ...COST, means: 'what a cast may cost', example: 5 },
      maxDurationMs: { ...POSITIVE, means: 'how long a cast may run', example: 3_600_000 },
      warnAtPercent: {
        ...PERCENT,
        means: 'at how much of its budget a cast warns',
        default: DEFAULTS.warnAtPercent,
        example: 80,
      },
      maxTokensPerDay: { type: 'count', means: 'tokens all casts may use in a day', example: 10_000_000 },
      maxCostPerDay: { ...COST, means: 'what all casts may cost in a day', example: 20 },
      maxCostUsd: OLD,
      stopAtLimit: OLD,
    }),
    'what a cast, and a day, may use',
    { maxTokens: 2_000_000, maxCost: 5 },
  ),
  limits: part(
    authored({
      maxNoAdvanceCycles: {
        ...POSITIVE,
        means: 'rounds of a loop without progress before the cast fails',
        default: DEFAULTS.maxNoAdvanceCycles,
        example: 5,
      },
      repairTurnsMax: {
        type: 'count',
        means: 'repair turns after an answer that breaks its contract',
        default: DEFAULTS.repairTurnsMax,
        example: 2,
      },
      maxBriefBytes: {
        ...POSITIVE,
        means: 'how long a brief may be',
        default: DEFAULTS.maxBriefBytes,
        example: 32_768,
      },
      modelSilenceMs: {
        ...POSITIVE,
        means: 'how long a model may send nothing',
        default: DEFAULTS.modelSilenceMs,
        example: 300_000,
      },
      maxSocketVisits: OLD,
      maxEdgeTraversals: OLD,
    }),
    'limits of every cast',
    { repairTurnsMax: 2 },
  ),
  parallelism: part(
    lenient({
      maxConcurrency: { ...POSITIVE, means: 'lanes of a loop', default: DEFAULTS.maxConcurrency, example: 2 },
    }),
    'work at the same time',
    { maxConcurrency: 2 },
  ),
  locks: part(
    lenient({ caseInsensitive: { type: 'flag', means: 'paths that differ in case only are the same', example: true } }),
    'how paths are compared',
    { caseInsensitive: true },
  ),
  checkpointEvery: part(
    authored({
      minutes: { ...POSITIVE, means: 'at most so many minutes apart', example: 60 },
      facts: { ...POSITIVE, means: 'at most so many facts apart', example: 1_000 },
    }),
    'how often a signed checkpoint of the log is written besides the end of a cast',
    { minutes: 60 },
  ),
  compaction: part(
    lenient({
      proactiveThresholdPercent: {
        ...PERCENT,
        means: 'at how much of its window a conversation is shortened',
        example: 70,
      },
      proactiveThresholdTiers: related({ type: 'array' }, 'the same by the size of the window', [
        { minContextWindow: 0, thresholdPercent: 70 },
      ]),
    }),
    'when a conversation is shortened before it is too long',
    { proactiveThresholdPercent: 70 },
  ),
  finalization: part(
    lenient({
      agentJson: part(
        lenient({
          strategy: {
            type: 'choice',
            of: ['direct_json', 'tool_backed'],
            means: 'how an agent gives its JSON',
            example: 'direct_json',
          },
          qualifiedModels: {
            type: 'list',
            of: {
              type: 'object',
              unknown: 'free',
              fields: { model: { type: 'text', required: true, means: 'its name, or * for any', example: '*' } },
            },
            wants: 'a list of objects with a model each, or "*" for any',
            means: 'the models it is for',
            example: [{ model: '*' }],
          },
        }),
        'how an agent gives its JSON',
        { strategy: 'direct_json' },
      ),
    }),
    'how answers are made final',
    { agentJson: { strategy: 'direct_json' } },
  ),
  eventing: part(
    lenient({
      enabled: { type: 'flag', means: 'whether events are sent on', example: true },
      sinks: {
        type: 'map',
        of: { type: 'map', of: { type: 'json' } },
        means: 'where to, by name',
        example: { hook: { url: 'http://localhost:9000' } },
      },
      heartbeatIntervalMs: { ...POSITIVE, means: 'how often a heartbeat is sent', example: 30_000 },
    }),
    'events for other programs',
    { enabled: true },
  ),
  defaults: part(
    authored({
      runner: related({ enum: [...MODEL_RUNNERS] }, 'the runner of agents that name none', MODEL_RUNNERS[0] ?? ''),
      model: { type: 'text', mayBeEmpty: true, means: 'their model', example: 'opus' },
    }),
    'what agents use where their own materia does not say it',
    { model: 'opus' },
  ),
  hooks: part(HOOKS, 'what the hooks of agent programs ask for', { rules: { sleep: false } }),
  approvals: part(APPROVALS, 'permissions: tiers of commands, and how long requests and grants live', {
    blocked: ['terraform destroy'],
  }),
};

/** The configuration as `check` walks it: what has checks of its own is any value here. */
export const CONFIG = authored({
  $schema: {
    type: 'json',
    schema: { type: 'string' },
    means: 'the schema of this file, for editors',
    example: './config.schema.json',
  },
  activeLoadout: related({ type: 'string', minLength: 1 }, 'the loadout a cast runs when it names none', 'Flow'),
  activeLoadoutId: { type: 'text', mayBeEmpty: true, means: 'the same by the id of the loadout', example: 'flow' },
  artifactDir: {
    type: 'text',
    mayBeEmpty: true,
    means: 'a folder for artifacts of older versions',
    example: 'artifacts',
  },
  ...SECTIONS,
  runners: {
    type: 'map',
    names: { type: 'choice', of: RUNNERS },
    of: RUNNER_LIMITS,
    means: 'limits by runner',
    example: { [RUNNERS[0] ?? '']: { maxConcurrent: 2 } },
  },
  prices: {
    ...NAMED,
    means: 'what a million tokens cost, by the beginning of the name of a model',
    example: { opus: { input: 15, output: 75 } },
  },
  mcp: { type: 'flag', means: 'whether agents are offered the tools of Baton', default: true, example: false },
  surfaces: {
    type: 'map',
    names: { type: 'text', charsMax: 64, wants: 'a name of at most 64 characters' },
    of: deletable(SURFACE),
    entriesMax: 64,
    means: 'the parts of the project, with the agents that answer for them',
    example: { web: { agent: 'Build' } },
  },
  reconnaissanceAgent: {
    type: 'text',
    mayBeEmpty: true,
    means: 'who looks around where no surface matches',
    example: 'Scout',
  },
  context: {
    ...CONTEXT,
    means: 'shared knowledge: its sections, and who may read and write them',
    example: { sections: { services: {} } },
  },
  checkers: related({}, 'checks of claims, by name', { tests: { command: ['npm', 'test'] } }),
  worktree: related({}, 'the worktree of a cast: false for none, or how it is made ready', { setup: ['npm', 'ci'] }),
  materia: {
    ...NAMED,
    required: true,
    wants: 'an object from names to definitions',
    means: 'reusable behaviours, by id',
    example: { Build: { tools: 'coding', prompt: 'Build it.' } },
  },
  loadouts: {
    ...NAMED,
    required: true,
    wants: 'an object from names to definitions',
    means: 'graphs, by name',
    example: { Flow: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Build' } } } },
  },
  roles: { type: 'json', obsolete: 'Define each role as a materia.' },
  materiaDefinitions: { type: 'json', obsolete: 'Rename it to materia.' },
});

const holding = (name: string, of: Field): Fields => {
  return { [name]: { ...CONFIG.fields[name], type: 'map', of } as Field };
};

/** The whole, as the published schema shows it. */
export const WHOLE_CONFIG: ObjectField = authored({
  ...CONFIG.fields,
  ...holding('prices', PRICE),
  ...holding('checkers', { type: 'oneOf', of: Object.values(CHECKERS), nullable: true }),
  ...holding('materia', deletable(MATERIA)),
  ...holding('loadouts', deletable(WHOLE_LOADOUT)),
  worktree: { ...CONFIG.fields.worktree, type: 'oneOf', of: [{ type: 'flag' }, WORKTREE] } as Field,
});

export const CONFIG_SCHEMA: JsonObject = jsonSchemaOf(WHOLE_CONFIG, { title: 'Baton configuration' });
