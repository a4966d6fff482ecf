// Teams and scripts for the view of one cast: a loop with rework and a refused handoff, items side by side, a person's turn,
// parked items, a list without items, long names, many items, and a graph of a thousand sockets.
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { always, exit, notSatisfied, satisfied } from '../loadouts.ts';
import { envelope, result } from '../team.ts';

const LOOP = {
  sockets: ['Socket-3', 'Socket-4', 'Socket-5'],
  consumes: { from: 'Socket-2', output: 'workItems' },
  exits: [exit('Socket-5', 'always', 'Socket-6')],
};

/** Prepare, plan, then build, review and land each item, then report. */
function software(back: JsonObject = {}, names: Readonly<Record<string, string>> = {}): JsonObject {
  const label = (id: string, name: string) => ({ label: names[id] ?? name });
  return {
    entry: 'Socket-1',
    sockets: {
      'Socket-1': { materia: 'prepare', ...label('Socket-1', 'prepare'), edges: [always('Socket-2')] },
      'Socket-2': { materia: 'plan', ...label('Socket-2', 'plan'), edges: [always('Socket-3')] },
      'Socket-3': { materia: 'build', parse: 'text', ...label('Socket-3', 'build'), edges: [always('Socket-4')] },
      'Socket-4': {
        materia: 'review',
        parse: 'json',
        ...label('Socket-4', 'review'),
        edges: [satisfied('Socket-5'), { ...notSatisfied('Socket-3', 3), ...back }],
      },
      'Socket-5': {
        materia: 'land',
        parse: 'json',
        ...label('Socket-5', 'land'),
        advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
        edges: [always('Socket-3')],
      },
      'Socket-6': { materia: 'report', parse: 'text', ...label('Socket-6', 'report') },
    },
    loops: { work: LOOP },
  };
}

const agent = (prompt: string, tools = 'none'): JsonObject => ({ prompt, tools });

const LONG = {
  'Socket-3': 'build-the-change-that-the-current-item-asks-for-and-nothing-else',
  'Socket-4': 'Überprüfung der Änderung durch eine zweite, unabhängige Person ohne Leerzeichenbegrenzung',
};

/** A chain of so many sockets, with a loop in its middle. */
export function chain(count: number): JsonObject {
  const ids = Array.from({ length: count }, (_, at) => `Socket-${at + 1}`);
  const sockets = ids.map((id, at) => [
    id,
    {
      materia: 'report',
      parse: 'text',
      label: `step ${at + 1}`,
      edges: at + 1 < count ? [always(ids[at + 1] ?? '')] : [],
    },
  ]);
  return { entry: 'Socket-1', sockets: Object.fromEntries(sockets) };
}

export const CONFIG: JsonObject = {
  activeLoadout: 'Bugfix team',
  parallelism: { maxConcurrency: 2 },
  materia: {
    prepare: { ...agent('Look at the repository.'), tools: 'none' },
    plan: { ...agent('Split the request into items that can be tested alone.'), generator: true },
    build: agent('Make the change that the item asks for, with its test.'),
    review: agent('Say whether every criterion holds. If not, say what is missing in one sentence.'),
    land: agent('Run the tests and land the change.'),
    report: agent('Sum up what was done.'),
    lead: { ...agent('Assign the work.', 'readOnly'), generator: true },
    worker: agent('Do the task that you were assigned.', 'coding'),
    count: { type: 'utility', command: ['echo', 'Fourteen changes, none of them breaks anything.'] },
    announce: { type: 'utility', command: ['echo', '2.14 is out.'] },
    you: { ...agent('Decide whether this can be released.'), runner: 'person' },
  },
  loadouts: {
    'Bugfix team': software(),
    'Patient team': software({ then: 'park' }),
    'Team with names that are longer than anybody would choose in earnest': software({}, LONG),
    Release: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'count', parse: 'text', label: 'changes', edges: [always('Socket-2')] },
        'Socket-2': {
          materia: 'you',
          parse: 'json',
          label: 'release',
          edges: [satisfied('Socket-3'), notSatisfied('Socket-1', 2)],
        },
        'Socket-3': { materia: 'announce', parse: 'text', label: 'announce' },
      },
    },
    Lanes: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'lead', contract: 'operator', label: 'lead', edges: [always('Socket-2')] },
        'Socket-2': {
          materia: 'worker',
          contract: 'operator',
          label: 'worker',
          advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
          edges: [always('Socket-2')],
        },
        'Socket-3': { materia: 'report', parse: 'text', label: 'report' },
      },
      loops: {
        work: {
          sockets: ['Socket-2'],
          consumes: { from: 'Socket-1', output: 'workItems' },
          exits: [exit('Socket-2', 'always', 'Socket-3')],
        },
      },
    },
    Thousand: chain(1_000),
  },
};

const turn = (output: Json, more: JsonObject = {}): JsonObject => ({
  $turn: { output, usage: { input: 21_400, output: 900, cost: 0.06 }, ...more },
});
const slow = (output: Json, delayMs: number): JsonObject => turn(output, { delayMs });
const plan = (...titles: readonly string[]): JsonObject =>
  turn({
    workItems: titles.map((title) => ({ title, context: `${title}.` })),
    context: 'Small steps that can be tested alone.',
  });
const yes = turn({ satisfied: true });
const no = (context: string) => turn({ satisfied: false, context });

const TITLES = [
  'Compare every expiry with one clock',
  'Reject a refresh token that was used twice',
  'Keep the session when two tabs refresh at once',
  'Add the expiry to the session response',
  'Store every expiry in UTC',
  'Describe session lifetimes in the docs',
];

/** What a reviewer says who does not keep the contract. */
export const BROKEN = `The change does what the item asks.

{
  "satisfied": "yes",
  "context": "GET /session returns expiresAt in UTC. The new test covers a second tab.",
  "workItem": "All three criteria hold."
}`;

const STEPS = {
  prepare: [turn({ context: 'git, node' })],
  land: [yes, '$repeat'],
  report: [turn('All expiries are stored in UTC and compared with one clock.')],
};

/** Without a script of agents, a person takes a person's turn. */
export type StageCast = { readonly request: string; readonly loadout: string; readonly agents: JsonObject | null };

/** Ten minutes: it runs for as long as anybody looks. */
const LONG_MS = 600_000;

export const CASTS = {
  rework: {
    request: 'Sessions end too early after a token refresh',
    loadout: 'Bugfix team',
    agents: {
      ...STEPS,
      plan: [plan(...TITLES)],
      build: [
        slow('expiry.mjs compares with one clock.', 60),
        slow('refresh.mjs keeps used tokens.', 90),
        slow('A second tab is covered now.', 70),
        slow('tabs.mjs has a lock.', 50),
        slow('response.mjs has expiresAt.', LONG_MS),
      ],
      review: [
        yes,
        no('The test covers one tab only. Add a refresh from a second tab.'),
        turn(BROKEN),
        turn({ satisfied: true, context: 'Both tabs are covered.' }),
        yes,
        '$repeat',
      ],
    },
  },
  completed: {
    request: 'Say which build is running',
    loadout: 'Bugfix team',
    agents: {
      ...STEPS,
      plan: [plan('Print the version', 'Test it')],
      build: [turn('done'), '$repeat'],
      review: [yes, '$repeat'],
    },
  },
  refused: {
    request: 'Send the port plan as a calendar file',
    loadout: 'Bugfix team',
    agents: {
      ...STEPS,
      plan: [plan('Write the calendar file', 'Send it')],
      build: [turn('calendar.mjs'), '$repeat'],
      review: [turn(BROKEN), turn({ context: 'I think it is fine.' })],
    },
  },
  waiting: { request: 'Release 2.14', loadout: 'Release', agents: null },
  parked: {
    request: 'Cache the exchange rates for a minute',
    loadout: 'Patient team',
    agents: {
      ...STEPS,
      plan: [plan('Keep a rate for a minute', 'Round up to the next tick', 'Show the age of a rate')],
      build: [turn('built'), '$repeat'],
      review: [
        yes,
        no('It rounds down.'),
        no('It rounds down for negative rates.'),
        no('It rounds to the tick before.'),
        no('It is not rounded at all.'),
        yes,
      ],
    },
  },
  empty: {
    request: 'Fix what the linter found',
    loadout: 'Bugfix team',
    agents: { ...STEPS, plan: [turn({ workItems: [], context: 'The linter found nothing.' })], build: [], review: [] },
  },
  long: {
    request: `Rename every occurrence of ${'the-very-long-name-of-a-module-that-nobody-shortened/'.repeat(6)}index.ts without breaking the build`,
    loadout: 'Team with names that are longer than anybody would choose in earnest',
    agents: {
      ...STEPS,
      plan: [
        plan(
          'An item whose title says in one breath what has to be done, why it has to be done, and what must not be done on any account while it is done',
          'AnItemWhoseTitleHasNoSpaceAtAllAndGoesOnForLongerThanAnyColumnIsWide'.repeat(2),
          'short',
        ),
      ],
      build: [turn('x'.repeat(3_000)), turn('y'), slow('z', LONG_MS)],
      review: [yes, '$repeat'],
    },
  },
  many: {
    request: 'Translate all messages of the booking service',
    loadout: 'Bugfix team',
    agents: {
      ...STEPS,
      plan: [plan(...Array.from({ length: 48 }, (_, at) => `Translate group ${at + 1} of the messages`))],
      build: [...Array.from({ length: 30 }, () => turn('translated')), slow('translated', LONG_MS)],
      review: [yes, yes, no('Two messages kept their placeholders.'), yes, '$repeat'],
    },
  },
  lanes: {
    request: 'Upload test fails on slow disks',
    loadout: 'Lanes',
    agents: {
      lead: [turn(envelope(...['T-1', 'T-2', 'T-3', 'T-4', 'T-5'].map((id, at) => ({ id, title: TITLES[at] ?? id }))))],
      worker: [
        ...['T-1', 'T-2', 'T-3'].map((id) => turn(result(id), { delayMs: 80 })),
        slow(result('T-4'), LONG_MS),
        slow(result('T-5'), LONG_MS),
      ],
      report: [turn('done')],
    },
  },
} as const satisfies Readonly<Record<string, StageCast>>;
