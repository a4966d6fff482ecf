// A workspace as people have it: a service in a git repository, a team, and real casts of scripted agents in every state.
// The pictures of the docs are taken of it, and the tests of the page work in it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { initRepository } from '../init-repository.ts';
import { asBlock, type Parts, type PlanStatus, reportOf } from '../reports.ts';

const agent = (prompt: string): JsonObject => ({ tools: 'coding', prompt });
const always = (to: string): JsonObject => ({ when: 'always', to });

/** Plan, then build and review each item, then report. An item that is rejected too often is put off or fails the cast. */
function bugfix(then: JsonObject): JsonObject {
  return {
    entry: 'Socket-1',
    sockets: {
      'Socket-1': { materia: 'plan', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'build', parse: 'json', contract: 'gaia', edges: [always('Socket-3')] },
      'Socket-3': {
        materia: 'review',
        parse: 'json',
        advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
        edges: [
          { when: 'satisfied', to: 'Socket-2' },
          { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 2, ...then },
        ],
      },
      'Socket-4': { materia: 'report', parse: 'text' },
    },
    loops: {
      items: {
        sockets: ['Socket-2', 'Socket-3'],
        consumes: { from: 'Socket-1', output: 'workItems' },
        exits: [{ id: 'done', from: 'Socket-3', condition: 'always', targetSocketId: 'Socket-4' }],
      },
    },
  };
}

export const CONFIG: JsonObject = {
  activeLoadout: 'Bugfix team',
  materia: {
    plan: { ...agent('Split the request into items that can be tested alone.'), tools: 'none', generator: true },
    build: agent('Make the change that the item asks for, with its test.'),
    review: {
      ...agent('Say whether every criterion holds. If not, say what is missing in one sentence.'),
      tools: 'none',
    },
    report: { ...agent('Sum up what was done.'), tools: 'none' },
  },
  loadouts: {
    'Bugfix team': bugfix({}),
    'Patient team': bugfix({ then: 'park' }),
    'Asking team': bugfix({ then: 'ask' }),
    Docs: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'report', parse: 'text' } } },
  },
};

const FILES: Readonly<Record<string, string>> = {
  '.gitignore': '.baton/state/\nscripts-of-agents/\n',
  'README.md': '# Harbor API\n\nSessions, uploads and exchange rates of the harbor.\n',
  'src/session/expiry.mjs': 'export const expiresAt = (session) => session.createdAt + session.ttl;\n',
  'store/sessions.db': 'sessions: 1204\n',
  'package.json': '{ "name": "harbor-api", "type": "module" }\n',
};

const MIGRATE = `import { open } from '../src/store.mjs';

const apply = process.argv.includes('--apply');
const store = open(process.argv.at(-1));
const rows = store.all('sessions');
let changed = 0;

for (const row of rows) {
  const utc = toUtc(row.expiresAt, row.zone ?? 'Europe/Lisbon');
  if (utc === row.expiresAt) continue;
  if (apply) store.update('sessions', row.id, { expiresAt: utc });
  changed += 1;
}
console.log(\`\${changed} of \${rows.length} rows\`);

export function toUtc(value, zone) {
  const local = new Date(value).toLocaleString('en-US', { timeZone: zone });
  return new Date(local).toISOString();
}
`;

/** What waits in the queue. */
export const QUESTS = ['Rename the pilot service and everything that calls it', 'Nightly dependency check'] as const;

export const COMMAND = 'node tools/migrate-expiry.mjs --apply --store store/sessions.db';

const turn = (output: Json, more: JsonObject = {}): JsonObject => ({
  $turn: { output, usage: { input: 21_400, output: 900, cost: 0.06 }, ...more },
});
const says = (status: PlanStatus, parts: Parts = {}, more: JsonObject = {}): JsonObject =>
  turn(asBlock(reportOf(status, parts)), more);
const built = (path: string, text: string): JsonObject =>
  says(
    'COMPLETE',
    { key_outputs: [`changed ${path}`] },
    { write: { [path]: text }, usage: { input: 52_000, output: 4_100, cost: 0.21 } },
  );
const plan = (...titles: readonly string[]): JsonObject =>
  turn(
    { workItems: titles.map((title) => ({ title, context: `${title}.` })) },
    { usage: { input: 9_800, output: 700, cost: 0.12 } },
  );
const yes: JsonObject = turn({ satisfied: true });
const no = (context: string): JsonObject => turn({ satisfied: false, context });

/** Ten minutes: it runs for as long as anybody looks. */
const LONG_MS = 600_000;

const APPROVAL = {
  operation: 'Rewrites the 1,204 stored expiry values from local time to UTC',
  exact_content: COMMAND,
  scope: 'store/sessions.db',
  risk_level: 'MEDIUM',
  rollback: 'node tools/migrate-expiry.mjs --revert --store store/sessions.db',
  verification: 'count rows whose expiry is no UTC',
};

export type SceneCast = { readonly request: string; readonly loadout: string; readonly agents: JsonObject };

export const CASTS = {
  approval: {
    request: 'Sessions end too early after a token refresh',
    loadout: 'Bugfix team',
    agents: {
      plan: [
        plan(
          'Compare every expiry with one clock',
          'Reject a refresh token that was used twice',
          'Keep the session when two tabs refresh at once',
          'Store every expiry in UTC',
          'Add the expiry to the session response',
          'Describe session lifetimes in the docs',
        ),
      ],
      build: [
        built('src/session/clock.mjs', 'export const now = () => Date.now();\n'),
        built('src/session/refresh.mjs', 'export const used = new Set();\n'),
        built('src/session/refresh.mjs', 'export const used = new Map();\n'),
        built('src/session/tabs.mjs', 'export const lock = new Map();\n'),
        says(
          'APPROVAL_REQUEST',
          { more: { approval_request: APPROVAL } },
          { write: { 'tools/migrate-expiry.mjs': MIGRATE } },
        ),
        says('COMPLETE', { key_outputs: ['The stored values are in UTC.'] }),
        built('src/session/response.mjs', 'export const fields = ["expiresAt"];\n'),
        built('docs/sessions.md', '# Sessions\n'),
      ],
      review: [yes, no('The test has one tab only. Add a refresh from a second tab.'), yes, yes, yes, yes, yes],
      report: ['All expiries are stored in UTC and compared with one clock.'],
    },
  },
  question: {
    request: 'Upgrade the date parser to version 4',
    loadout: 'Bugfix team',
    agents: {
      plan: [plan('Remove the old formats', 'Replace the parser in the booking service')],
      build: [
        says('NEEDS_INPUT', {
          next_action: 'Two partners still send two-digit years. Keep the two-digit year rule, or drop it?',
        }),
        says('IN_PROGRESS', { next_action: 'go on' }),
        built('src/dates.mjs', 'export const rule = "drop";\n'),
        built('src/booking.mjs', 'export {};\n'),
      ],
      review: [yes, yes],
      report: ['The parser is version 4.'],
    },
  },
  running: {
    request: 'Upload test fails on slow disks',
    loadout: 'Bugfix team',
    agents: {
      plan: [plan('Reproduce the failure with a slow disk', 'Wait for the flush, not for a fixed time')],
      build: [
        built('test/upload.test.mjs', 'export {};\n'),
        says('COMPLETE', {}, { delayMs: LONG_MS, write: { 'src/upload.mjs': 'export {};\n' } }),
      ],
      review: [yes, yes],
      report: ['ok'],
    },
  },
  parked: {
    request: 'Cache the exchange rates for one hour',
    loadout: 'Patient team',
    agents: {
      plan: [plan('Keep rates in memory', 'Round up to the next tick')],
      build: [
        built('src/rates.mjs', 'export const rates = new Map();\n'),
        built('src/tick.mjs', '1;\n'),
        built('src/tick.mjs', '2;\n'),
        built('src/tick.mjs', '3;\n'),
        built('src/tick.mjs', '4;\n'),
      ],
      review: [
        yes,
        no('A rate at 12:59:59.7 is kept for 61 minutes.'),
        no('The half second is still rounded down.'),
        no('The test only checks whole minutes.'),
        yes,
      ],
      report: ['Rates are cached.'],
    },
  },
  spent: {
    request: 'Show the tariff in the currency of the harbour',
    loadout: 'Asking team',
    agents: {
      plan: [plan('Look the currency up by the harbour')],
      build: [1, 2, 3, 4].map((n) => built('src/currency.mjs', `${n};\n`)),
      review: [...[1, 2, 3].map(() => no('Harbours of Svalbard have no currency of their own.')), yes],
      report: ['ok'],
    },
  },
  blocked: {
    request: 'Send the port plan to the new pilot service',
    loadout: 'Bugfix team',
    agents: {
      plan: [plan('Send one plan to the test address')],
      build: [
        says('BLOCKED', { next_action: 'The test address refuses every call: the account needs a contract first.' }),
        built('src/pilot.mjs', 'export {};\n'),
      ],
      review: [yes],
      report: ['ok'],
    },
  },
  failed: {
    request: 'Return 404 for unknown harbours',
    loadout: 'Bugfix team',
    agents: {
      plan: [plan('Look the harbour up before the tariff')],
      build: ['no report at all', 'still no report'],
      review: [yes],
      report: ['ok'],
    },
  },
  completed: {
    request: 'Write release notes for 2.14',
    loadout: 'Bugfix team',
    agents: {
      plan: [plan('Collect what changed', 'Name the people who helped')],
      build: [
        built('NOTES.md', '# 2.14\n'),
        says(
          'COMPLETE',
          { more: { memory_suggestions: ['All times in the store are UTC.'] } },
          { write: { 'NOTES.md': '# 2.14\n\nThanks.\n' } },
        ),
      ],
      review: [yes, yes],
      report: ['The notes are in NOTES.md.'],
    },
  },
  docs: {
    request:
      'Explain the retry rules in the README, and name every header that a client may send to ask for another limit',
    loadout: 'Docs',
    agents: { report: ['The README explains them.'] },
  },
} as const satisfies Readonly<Record<string, SceneCast>>;
export type SceneCastName = keyof typeof CASTS;

const assignment = (task: JsonObject): JsonObject => ({
  schema_version: '1.0.0',
  run_id: '3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4',
  packet_type: 'assignment',
  global_objective: 'Keep the service in order',
  task: {
    type: 'parallelizable',
    dependencies: [],
    forbidden_scope: [],
    timeout_seconds: 1_200,
    heartbeat_interval_seconds: 120,
    worklog_path: `worklogs/${String(task.task_id)}.jsonl`,
    ...task,
  },
  active_locks: [],
  context_package: [{ kind: 'file', value: 'README.md' }],
  required_output_schema: 'subagent_result_v1',
});

/** Tasks that people added by hand, as `task.create` takes them. */
export const TASKS: readonly JsonObject[] = [
  assignment({
    task_id: 'T-11',
    title: 'Replay the March sessions against the new clock',
    lock_scope: ['test/replay'],
    acceptance_criteria: ['Every session of March ends when it ended'],
  }),
  assignment({
    task_id: 'T-12',
    title: 'Remove the local-time helper once nothing calls it any more',
    dependencies: ['T-11'],
    lock_scope: ['src/time'],
    acceptance_criteria: ['Nothing imports src/time', 'The tests pass'],
  }),
];

/** Makes the repository with its team, and the scripts of the agents. */
export function makeScene(dir: string): void {
  initRepository(dir);
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  for (const [path, text] of Object.entries(FILES)) put(path, text);
  put('.baton/config.json', JSON.stringify(CONFIG, null, 2));
  for (const [name, { agents }] of Object.entries(CASTS)) put(scriptOf(name), JSON.stringify(agents));
  const git = (...args: string[]): unknown =>
    execFileSync('git', args, {
      cwd: dir,
      env: { PATH: process.env.PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: 'pipe',
    });
  git('add', '-A');
  git('commit', '-q', '-m', 'the service');
}

export function scriptOf(name: string): string {
  return `scripts-of-agents/${name}.json`;
}

/** What `cast.start` is given. */
export function startOf(name: SceneCastName): JsonObject {
  const { request, loadout } = CASTS[name];
  return { request, loadout, agents: scriptOf(name), detach: true };
}
