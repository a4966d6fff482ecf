// The field tables of what people say about their project: checkers, surfaces, shared knowledge, the worktree, approvals and
// hooks. The other sections of the configuration are in `config-fields.ts`.
import { DEFAULT_POLICY, HOOK_MODES, TIERS } from '../approval/request.ts';
import { type Field, type Fields, mismatches, type ObjectField } from '../fields.ts';
import type { Json } from '../json.ts';
import { SURFACE_LISTS } from '../knowledge/rules.ts';
import {
  CHECKER_TIMEOUT_MS,
  CHECKER_TIMES,
  CONTRACT_NAMES,
  HOOK_RULES,
  type HookRuleSettings,
  MAIN_CHECKOUT,
  SETUP_TIMEOUT_MS,
} from './config.ts';
import { authored, LISTED, POSITIVE, related, VARIABLE } from './materia-fields.ts';

/** An entry that a layer above may delete with `null`. */
export const deletable = (field: Field): Field => ({ ...field, nullable: true });

/** A part of which older files may hold more than is read. */
export const lenient = (fields: Fields): ObjectField => ({ ...authored(fields), unknown: 'free' });

export const PATH = { type: 'string', minLength: 1 };

export const WHEN = {
  type: 'choice',
  of: CHECKER_TIMES,
  wants: '"turn" (quick, after each turn) or "merge" (the whole work)',
  means: 'when it runs',
  default: 'turn',
  example: 'merge',
} as const;

const LISTED_EVENTS = { type: 'list', of: { type: 'text', charsMax: 200 }, itemsMin: 1, itemsMax: 64 } as const;

/** When a person is notified about a cast. */
export const NOTIFY_EVENTS = ['waiting', 'failed', 'ended'] as const;

export const NOTIFY: ObjectField = authored({
  on: {
    type: 'list',
    of: { type: 'choice', of: NOTIFY_EVENTS },
    means: 'when you are notified: it waits for a person, it failed, it ended (completed or aborted)',
    default: [...NOTIFY_EVENTS],
    example: ['waiting', 'failed'],
  },
  bell: { type: 'flag', means: 'ring the bell of the terminal that runs the cast', example: true },
  desktop: { type: 'flag', means: 'a notification of the desktop, by notify-send or osascript', example: true },
  webhook: {
    type: 'text',
    form: '^https?://\\S+$',
    charsMax: 2_048,
    wants: 'an address that begins with https:// or http://',
    means: 'an address that gets the event as JSON, by POST',
    example: 'https://hooks.example.com/baton',
  },
  command: {
    type: 'list',
    of: { type: 'text', mayBeEmpty: true },
    itemsMin: 1,
    wants: 'a list: the program and its arguments, which no shell sees',
    means: 'a program that gets the event as JSON on standard input',
    example: ['./notify.sh', 'team'],
  },
});

const SINK_COMMON = {
  include: {
    ...LISTED_EVENTS,
    means: 'the types that it takes; * fits any part of a name',
    default: ['*'],
    example: ['lifecycle.cast.*'],
  },
  exclude: { ...LISTED_EVENTS, means: 'the types that it does not take; they win', example: ['lifecycle.socket.*'] },
  timeoutMs: { ...POSITIVE, max: 600_000, means: 'how long one event may take', default: 10_000, example: 30_000 },
  waitingMax: {
    ...POSITIVE,
    max: 1_000_000,
    means: 'how many events may wait for it before that is written to the log; none is lost',
    default: 1_000,
    example: 100,
  },
} as const satisfies Fields;

/** Where events go, by the member that says which kind of sink it is. */
const SINKS: Readonly<Record<'file' | 'webhook' | 'command', ObjectField>> = {
  file: authored({
    file: {
      type: 'path',
      charsMax: 1_000,
      required: true,
      means: 'a file that gets a line of JSON for each event; from the folder of the workspace',
      example: 'events.jsonl',
    },
    ...SINK_COMMON,
  }),
  webhook: authored({
    webhook: {
      type: 'text',
      form: '^https?://\\S+$',
      charsMax: 2_048,
      required: true,
      wants: 'an address that begins with https:// or http://',
      means: 'an address that gets each event as JSON, by POST',
      example: 'https://hooks.example.com/events',
    },
    secretVariable: {
      type: 'text',
      form: VARIABLE,
      wants: 'the name of the environment variable that holds the secret, without its value',
      means: 'the environment variable with the secret that signs each event',
      example: 'EVENTS_SECRET',
    },
    ...SINK_COMMON,
  }),
  command: authored({
    command: {
      type: 'list',
      of: { type: 'text', mayBeEmpty: true },
      itemsMin: 1,
      required: true,
      wants: 'a list: the program and its arguments, which no shell sees',
      means: 'a program that gets each event as JSON on standard input, and ends with 0 when it has it',
      example: ['./on-event.sh'],
    },
    ...SINK_COMMON,
  }),
};

export const EVENTS: ObjectField = authored({
  sinks: {
    type: 'map',
    names: {
      type: 'text',
      form: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
      wants: 'a name of letters, digits, dots and dashes',
    },
    of: deletable({ type: 'oneOf', of: Object.values(SINKS), wants: 'an object with file, webhook or command' }),
    entriesMax: 16,
    means: 'where events go, by name',
    example: { log: { file: 'events.jsonl' } },
  },
});

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

export const WORDS = {
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

export const SURFACE = authored({
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

export const SECTION: ObjectField = lenient({
  description: {
    type: 'text',
    mayBeEmpty: true,
    means: 'what belongs into it',
    example: 'the services and their ports',
  },
});

export const SECTION_NAME: Field = {
  type: 'text',
  form: '^(?!(?:memory|evidence)$)[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
  wants:
    'at most 64 letters, digits, dots, dashes and underscores, and neither "memory" nor "evidence", which are taken',
};

export const CONTEXT = authored({
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

export const STEP: Field = { type: 'list', of: { type: 'text', mayBeEmpty: true } };

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

export const APPROVAL_FIELDS = authored({
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
    default: DEFAULT_POLICY.writes,
    example: 'T0',
  },
  hook: {
    type: 'choice',
    of: HOOK_MODES,
    means: 'whether a hook asks for approvals; without it, within a gaia turn only',
    example: 'ask',
  },
  pendingHours: {
    ...POSITIVE,
    means: 'how long a request waits for a person',
    default: DEFAULT_POLICY.pendingHours,
    example: 24,
  },
  grantMinutes: {
    ...POSITIVE,
    means: 'how long a granted approval may be used',
    default: DEFAULT_POLICY.grantMinutes,
    example: 30,
  },
});

const RULES: Field = {
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
};

export const HOOKS = authored({
  contract: {
    type: 'choice',
    of: CONTRACT_NAMES,
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
  rules: RULES,
});

export function isHookRuleSettings(value: Json | undefined): value is HookRuleSettings & Json {
  return mismatches(value, RULES).length === 0;
}
