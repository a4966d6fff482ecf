// The field tables of the configuration: everything but materia and loadouts, which have tables of their own, and the whole
// as the published schema shows it. The checks, the schema, the defaults and the reference page are made from them.
import { jsonSchemaOf } from '../field-schema.ts';
import type { Field, Fields, ObjectField } from '../fields.ts';
import type { JsonObject } from '../json.ts';
import { DEFAULTS, MODEL_RUNNERS, RUNNERS } from './config.ts';
import { LOADOUT, part } from './loadout-fields.ts';
import { authored, MATERIA, POSITIVE, related } from './materia-fields.ts';
import {
  APPROVAL_FIELDS,
  CHECKERS,
  CONTEXT,
  deletable,
  EVENTS,
  HOOKS,
  lenient,
  NOTIFY,
  SURFACE,
  WORKTREE,
} from './project-fields.ts';

const OLD = { type: 'json', ignored: true, means: 'no longer read' } as const;
const COST = { type: 'number', min: 0 } as const;
const PERCENT = { type: 'number', min: 1, max: 100 } as const;
const NAMED = { type: 'map', of: { type: 'json' } } as const;

const RUNNER_LIMITS = authored({
  maxConcurrent: { ...POSITIVE, means: 'how many of its turns may run at the same time', example: 2 },
  perMinute: { ...POSITIVE, means: 'how many of its turns may start in a minute', example: 10 },
});

export const PRICE = authored({
  input: { ...COST, required: true, means: 'for a million tokens of input', example: 3 },
  output: { ...COST, required: true, means: 'for a million tokens of output', example: 15 },
  cached: { ...COST, means: 'for a million tokens of input read from the cache of the provider', example: 0.3 },
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
  quests: part(
    authored({
      loadout: {
        type: 'text',
        means: 'the loadout of quests that name none; without it the active one',
        example: 'Flow',
      },
      maxConcurrency: { ...POSITIVE, means: 'how many quests may be at work at once', default: 1, example: 2 },
    }),
    'the queue of quests',
    { maxConcurrency: 1 },
  ),
  events: part(EVENTS, 'what agents emit and what happens, for other programs', {
    sinks: { log: { file: 'events.jsonl' } },
  }),
  notify: part(NOTIFY, 'how you are notified that a cast waits, failed or ended', { bell: true, desktop: true }),
  hooks: part(HOOKS, 'what the hooks of agent programs ask for', { rules: { sleep: false } }),
  approvals: part(APPROVAL_FIELDS, 'permissions: tiers of commands, and how long requests and grants live', {
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
  locked: {
    type: 'list',
    of: { type: 'text', charsMax: 200 },
    itemsMax: 256,
    wants: 'a list of keys such as "budget.maxTokens"',
    means: 'keys that no project, file or flag may set; in the configuration of a user or an administrator only',
    example: ['budget.maxTokens'],
  },
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
  language: {
    type: 'text',
    charsMax: 64,
    means: 'the language in which people are written to; without it that of the request',
    example: 'German',
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

/** With loadouts of the short form, config.json needs neither materia nor loadouts. */
const holding = (name: string, of: Field): Fields => {
  const { required: _alone, ...field } = CONFIG.fields[name] as Field & { readonly required?: boolean };
  return { [name]: { ...field, type: 'map', of } as Field };
};

/** The whole, as the published schema shows it. */
export const WHOLE_CONFIG: ObjectField = authored({
  ...CONFIG.fields,
  ...holding('prices', PRICE),
  ...holding('checkers', { type: 'oneOf', of: Object.values(CHECKERS), nullable: true }),
  ...holding('materia', deletable(MATERIA)),
  ...holding('loadouts', deletable(LOADOUT)),
  worktree: { ...CONFIG.fields.worktree, type: 'oneOf', of: [{ type: 'flag' }, WORKTREE] } as Field,
});

export const CONFIG_SCHEMA: JsonObject = jsonSchemaOf(WHOLE_CONFIG, { title: 'Baton configuration' });
