// Every way in which a cast can stand, as `baton why` looks at it, and what it has to say about each. Where the kernel can be
// brought there by a script it is; the rest is put together by hand.
import { foldAll } from '../src/app/views/cast-view.ts';
import type { Situation } from '../src/app/views/why/why.ts';
import type { CastFact } from '../src/kernel/cast/fact.ts';
import type { Cast, Turn } from '../src/kernel/cast/state.ts';
import type { Entry } from '../src/kernel/fact.ts';
import { resolve } from '../src/kernel/graph/resolve.ts';
import type { Json, JsonObject } from '../src/kernel/json.ts';
import type { Quarantine } from '../src/kernel/trust/state.ts';
import { always, crew, graph, no, notSatisfied, plan, satisfied, workflow } from './loadouts.ts';
import { type Play, play } from './play.ts';
import { asBlock, reportOf } from './reports.ts';
import { envelope, result, TEAM } from './team.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const NOW = START + 3 * 3_600_000;
const DRIVER = { host: 'here', pid: 4711, startTime: '1' };
const ALONE = { driver: null, ledger: null, quarantine: [], now: NOW, baton: 'baton -C x' } as const;

export type Row = {
  readonly what: string;
  readonly situation: Situation;
  readonly code: string | null;
  /** Parts of the sentences, in their order. */
  readonly says: readonly string[];
  /** What follows the name of the program, in order. */
  readonly commands: readonly string[];
};

const agent = { tools: 'none', prompt: 'Do it.' };
const gaia = { parse: 'json', contract: 'gaia' };
const ASKING = graph(
  { 'Socket-1': { materia: 'Spec', ...gaia, edges: [always('end')] } },
  { materia: { Spec: agent } },
);
const JUDGED = graph(
  { 'Socket-1': { materia: 'Spec', parse: 'json', edges: [satisfied('end'), notSatisfied('Socket-1', 1)] } },
  { materia: { Spec: agent } },
);
const PARKED = workflow({ 'sockets.Socket-3.edges.1': { ...notSatisfied('Socket-2', 1), then: 'park' } });
const ASKED = graph(
  {
    'Socket-1': {
      ...{ materia: 'Spec', parse: 'json' },
      edges: [satisfied('end'), { ...notSatisfied('Socket-1', 1), then: 'ask' }],
    },
  },
  { materia: { Spec: agent } },
);

const said = (...turns: Json[]) => play({ config: ASKING, agents: { Spec: turns } });
const report = (...parts: Parameters<typeof reportOf>) => asBlock(reportOf(...parts));
/** With the entries, so that some can be added. */
type Looked = Situation & Pick<Play, 'entries'>;

const look = ({ cast, entries }: Pick<Play, 'cast' | 'entries'>, more: Partial<Situation> = {}): Looked => ({
  ...ALONE,
  cast,
  entries,
  view: foldAll(entries),
  ...more,
});

/** A cast in the middle of its first turn, changed by hand. */
function midway(turn: Partial<Turn>, cast: Partial<Cast> = {}, more: Partial<Situation> = {}): Looked {
  const held = play({ config: ASKING, agents: { Spec: ['x'] }, hold: true });
  const turns = { 1: { ...held.turn, ...turn } };
  return look({ cast: { ...held.cast, turns, ...cast }, entries: held.entries }, more);
}

const entry = (fact: CastFact): Entry => ({
  v: 1,
  seq: 99,
  at: new Date(START).toISOString(),
  prev: '',
  by: 'ann',
  fact,
});

/** A cast that failed with a code, for reasons that a script cannot easily bring about. */
function failed(code: string, details: JsonObject = {}, more: Partial<Situation> = {}): Situation {
  const reason = `it failed with ${code}`;
  const fact = { kind: 'cast.failed', cast: 'c', code, reason, details, turn: 1, stand: null } as const;
  const { cast, entries } = midway({ phase: 'failed' }, { status: 'failed', code, reason });
  return look({ cast, entries: [...entries, entry(fact)] }, more);
}

function waitingFor(code: string, turn: Partial<Turn>, facts: readonly CastFact[] = [], until?: number): Situation {
  const ends = until === undefined ? {} : { until };
  const { cast, entries } = midway(turn, { status: 'waiting', code, reason: `it waits with ${code}`, ...ends });
  const wait = { kind: 'cast.waiting', cast: 'c', code, reason: 'x' } as const;
  return look({ cast, entries: [...entries, ...facts.map(entry), entry(wait)] });
}

function blockedWith(code: 'MERGE_CONFLICT' | 'TASK_TIMEOUT'): Situation {
  const usage = { input: 0, output: 0, cost: 0 };
  const fact = {
    kind: 'turn.blocked',
    cast: 'c',
    turn: 1,
    attempt: 1,
    output: '',
    usage,
    code,
    reason: 'both changed a.txt',
  } as const;
  return waitingFor(code, { phase: 'blocked' }, [fact]);
}

const OF_LOST = { id: 'P-1', cast: 'c', turn: 1 };
const LOST = [
  { kind: 'approval.requested', ...OF_LOST, sealed: { operation: 'apply', commands: [] } },
  { kind: 'approval.unknown', ...OF_LOST, index: 0 },
  { kind: 'approval.unknown', ...OF_LOST, id: 'P-2', index: 0 },
  { kind: 'approval.finished', ...OF_LOST, id: 'P-2', index: 0, exit: 0 },
] as unknown as readonly CastFact[];

/** The agent reported BLOCKED because its approved command may have run. */
function lostUse(): Situation {
  const { cast, entries } = said(report('BLOCKED', { open_gaps: ['P-1 may have run'] }));
  return look({ cast, entries: [...entries, ...LOST.map(entry)] });
}

/** Cast `c` holds everything, and cast `d` wants the same. */
function rival(): Situation {
  const config = graph({ 'Socket-1': { materia: 'Write' } });
  const script = { Write: ['x', '$repeat'] };
  const both = play({ config, agents: script, hold: true });
  both.tell({ kind: 'cast.start', cast: 'd', request: 'x', loadout: 'Flow', rules: resolve(config, 'Flow'), script });
  const entries = both.entries.filter(({ fact }) => 'cast' in fact && fact.cast === 'd');
  return look({ cast: both.state.casts.d as Cast, entries }, { driver: DRIVER, ledger: both.state.ledger });
}

function heldFor(code: 'RATE_LIMITED' | 'DAILY_CAP_REACHED' | 'DEPENDENCY_NOT_MET', until: number | null): Situation {
  return midway({ phase: 'held', held: { code, reason: `because of ${code}`, until } }, {}, { driver: DRIVER });
}

const HELD_WORKSPACE = (() => {
  const situation = midway(
    { phase: 'held', held: { code: 'NOT_ALLOWED_NOW', reason: 'held', until: null } },
    {},
    { driver: DRIVER },
  );
  const { ledger } = play({ config: ASKING, hold: true }).state;
  return { ...situation, ledger: { ...ledger, hold: { by: 'ann', reason: 'release day' } } };
})();

const QUARANTINE: Quarantine = {
  ...{ key: 'analyst', agent: 'analyst', hash: null, context: null, code: 'PROMPT_BYTES_MISMATCH' },
  ...{ reason: 'its prompt was changed', pin: null, since: START, times: 1 },
};

const PERSON = play({
  config: graph({ 'Socket-1': { materia: 'Me' } }, { materia: { Me: { ...agent, runner: 'person' } } }),
  hold: true,
});
PERSON.run();

const SPENT = play({
  config: graph(
    { 'Socket-1': { materia: 'Spec', edges: [always('Socket-1')] } },
    { materia: { Spec: agent }, budget: { maxTokens: 10 } },
  ),
  agents: { Spec: [{ $turn: { output: 'x', usage: { input: 10, output: 5, cost: 0 } } }, '$repeat'] },
});

const LEFT = play({
  config: workflow({ 'sockets.Socket-4.edges': [always('end')] }),
  agents: crew({ Plan: [plan(3)] }),
});
const LEFT_BESIDE = play({
  config: graph(
    {
      'Socket-1': { materia: 'Lead', contract: 'operator', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'Judge', edges: [satisfied('Socket-2')] },
    },
    {
      loops: { work: { sockets: ['Socket-2'], consumes: { from: 'Socket-1', output: 'workItems' } } },
      materia: { Lead: { ...agent, generator: true } },
    },
  ),
  agents: { Lead: [envelope({ id: 'T-1' })], Judge: [no('red')] },
});
const LATER = said(report('COMPLETE', { more: { user_facing_summary: 'All is well.' } }));
const STOPPED = play({ config: ASKING, agents: { Spec: ['x'] }, hold: true });
STOPPED.tell({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
const PAUSED = play({ config: ASKING, agents: { Spec: ['x'] }, hold: true });
PAUSED.tell({ kind: 'cast.pause', cast: 'c', reason: 'interrupted' });

const SEE = 'show c --turn 1';
/** The ways on with an agent that stopped by its own report. */
const SPOKEN_TO = ['continue c', 'answer c --turn 1 "…"', 'decide c:1 fail', 'abort c'];
const RECAST = 'recast c';

export const SITUATIONS: readonly Row[] = [
  {
    what: 'running, with an agent at work',
    situation: midway({ phase: 'running', startedAt: NOW - 60_000, attempt: 1 }, {}, { driver: DRIVER }),
    code: null,
    says: ['has been running', 'Process 4711 on here', 'attempt 1 since 2026-01-01T02:59:00Z (60 s ago)'],
    commands: ['watch c'],
  },
  {
    what: 'running, with nobody who drives it',
    situation: midway({ phase: 'running', startedAt: NOW - 60_000 }),
    code: null,
    says: ['cut off', 'No process runs it'],
    commands: ['resume c'],
  },
  {
    what: 'running, between two turns',
    situation: midway({}, { turns: {} }, { driver: DRIVER }),
    code: null,
    says: ['between two turns'],
    commands: ['watch c'],
  },
  ...(
    [
      ['owed', 'is about to start'],
      ['verifying', 'is being checked'],
      ['merging', 'is being merged'],
      ['blocked', 'is blocked, and the other items go on'],
      ['unknown', 'may have run'],
    ] as const
  ).map(([phase, says]) => ({
    what: `running, with a turn that is ${phase}`,
    situation: midway({ phase }, {}, { driver: DRIVER }),
    code: null,
    says: [says],
    commands: ['watch c'],
  })),
  {
    what: 'running, with a turn that waits for the lock of another cast',
    situation: rival(),
    code: 'LOCK_CONFLICT',
    says: [
      'is postponed (LOCK_CONFLICT, by the check "claim: locks")',
      'T-1 of cast c, for Write, holds the whole folder since 2026-01-01T00:00:00Z (3 h ago)',
    ],
    commands: ['why c', 'lock list', 'watch d'],
  },
  {
    what: 'running, in a workspace that a person holds',
    situation: HELD_WORKSPACE,
    code: 'NOT_ALLOWED_NOW',
    says: ['ann paused the workspace (release day)'],
    commands: ['unhold', 'watch c'],
  },
  {
    what: 'running, while the provider wants patience',
    situation: heldFor('RATE_LIMITED', NOW + 600_000),
    code: 'RATE_LIMITED',
    says: ['starts by itself at 2026-01-01T03:10:00Z (in 10 min)'],
    commands: ['watch c'],
  },
  {
    what: 'running, at the end of the allowance of the day',
    situation: heldFor('DAILY_CAP_REACHED', NOW + 21 * 3_600_000),
    code: 'DAILY_CAP_REACHED',
    says: ['starts by itself at 2026-01-02T00:00:00Z (in 21 h)'],
    commands: ['watch c'],
  },
  {
    what: 'running, with a task before it that is not done',
    situation: heldFor('DEPENDENCY_NOT_MET', null),
    code: 'DEPENDENCY_NOT_MET',
    says: ['It starts by itself once that is over'],
    commands: ['task list', 'watch c'],
  },
  {
    what: 'running, with items that are put off',
    situation: midway(
      {},
      {
        turns: {},
        lanes: {
          l: {
            entry: 'Socket-1',
            from: null,
            held: { code: 'LOCK_CONFLICT', reason: 'a.txt is held', until: null },
            walks: {},
          },
        },
      },
      { driver: DRIVER },
    ),
    code: 'LOCK_CONFLICT',
    says: ['The next item is postponed (LOCK_CONFLICT): a.txt is held.'],
    commands: ['lock list', 'watch c'],
  },
  {
    what: 'failed, with items left in a loop',
    situation: look(LEFT),
    code: 'ITEMS_LEFT',
    says: ['failed (ITEMS_LEFT)', '1 of 3 items done, 2 open.', '2 of 3 items are not done', 'the next item begins'],
    commands: ['show c --turn 4', RECAST, 'check'],
  },
  {
    what: 'waiting, with an item that found no way on beside others',
    situation: look(LEFT_BESIDE),
    code: 'ITEMS_LEFT',
    says: ['has been waiting for a person (ITEMS_LEFT)', '0 of 1 item done, 1 open.', 'and its item is not done'],
    commands: ['task move T-1 canceled --run c --reason "not needed"', 'show c --turn 2', 'continue c'],
  },
  {
    what: 'paused',
    situation: look(PAUSED),
    code: null,
    says: ['has been paused', 'interrupted'],
    commands: ['resume c'],
  },
  {
    what: 'paused while a turn was put off',
    situation: midway(
      { phase: 'held', held: { code: 'DAILY_CAP_REACHED', reason: 'the cap is reached', until: NOW + 3_600_000 } },
      { status: 'paused', reason: 'stopped by SIGTERM' },
    ),
    code: null,
    says: ['has been paused', 'stopped by SIGTERM.', 'was postponed until', '(DAILY_CAP_REACHED): the cap is reached.'],
    commands: ['resume c'],
  },
  {
    what: 'waiting for a turn that a person takes',
    situation: look(PERSON),
    code: 'ANSWER_NEEDED',
    says: ['has been waiting for a person (ANSWER_NEEDED)', 'is a step that a person does'],
    commands: ['answer c --turn 1', SEE],
  },
  {
    what: 'waiting for the answer to a question',
    situation: look(said(report('NEEDS_INPUT', { next_action: 'tabs or spaces?' }))),
    code: 'ANSWER_NEEDED',
    says: ['Spec (turn 1) asks since 2026-01-01T00:00:00Z (3 h ago): tabs or spaces?'],
    commands: ['answer c --turn 1 "…"', 'decide c:1 rerun', 'decide c:1 fail', SEE],
  },
  {
    what: 'waiting for a permission',
    situation: waitingFor('APPROVAL_NEEDED', {
      phase: 'asked',
      asks: { what: 'approval', question: 'apply; terraform apply', since: START, approval: 'P-1' },
    }),
    code: 'APPROVAL_NEEDED',
    says: ['asks for permission P-1 since', 'terraform apply'],
    commands: ['approvals', 'approve P-1', 'reject P-1 --reason "not now"', SEE],
  },
  {
    what: 'waiting for a permission in one of several lanes',
    situation: (() => {
      const { cast, ...rest } = waitingFor('APPROVAL_NEEDED', {
        phase: 'asked',
        asks: { what: 'approval', question: 'terraform apply', since: START, approval: 'P-1' },
      });
      return { ...rest, cast: { ...cast, lanes: { l: { entry: 'Socket-1', from: null, held: null, walks: {} } } } };
    })(),
    code: 'APPROVAL_NEEDED',
    says: ['asks for permission P-1 since'],
    commands: ['approvals', 'approve P-1', 'reject P-1 --reason "not now"', SEE],
  },
  {
    what: 'waiting for a permission that nobody gave in time',
    situation: waitingFor(
      'APPROVAL_NEEDED',
      {
        phase: 'asked',
        asks: {
          ...{ what: 'approval', question: 'apply; terraform apply', since: START, approval: 'P-1' },
          until: START + 3_600_000,
        },
      },
      [],
      START + 3_600_000,
    ),
    code: 'APPROVAL_EXPIRED',
    says: [
      'has been waiting for a person (APPROVAL_EXPIRED)',
      'asked for permission P-1',
      'terraform apply',
      '2 h ago',
    ],
    commands: ['continue c', 'decide c:1 fail', SEE],
  },
  {
    what: 'waiting, with an approved command of which its end is unknown',
    situation: lostUse(),
    code: 'AGENT_BLOCKED',
    says: ['is blocked since', 'A command of P-1 (apply) began, and its end is unknown.'],
    commands: ['approve P-1 --again', ...SPOKEN_TO, SEE],
  },
  {
    what: 'waiting for the word of a person about such a command',
    situation: waitingFor(
      'OUTCOME_UNKNOWN',
      { phase: 'asked', asks: { what: 'approval', question: 'terraform apply', since: START, approval: 'P-1' } },
      LOST,
    ),
    code: 'OUTCOME_UNKNOWN',
    says: ['may this run once more? `terraform apply`.', 'A command of P-1 (apply) began'],
    commands: ['approve P-1 --again', 'approvals', 'reject P-1 --reason "it ran"', SEE],
  },
  {
    what: 'waiting because nobody knows whether a turn ran',
    situation: waitingFor('OUTCOME_UNKNOWN', { phase: 'unknown' }),
    code: 'OUTCOME_UNKNOWN',
    says: ['must not run twice, and may have run'],
    commands: ['decide c:1 rerun', 'decide c:1 accept', 'decide c:1 fail', SEE],
  },
  {
    what: 'waiting because an agent is blocked',
    situation: look(said(report('BLOCKED', { open_gaps: ['no access to the registry'] }))),
    code: 'AGENT_BLOCKED',
    says: ['is blocked since', 'no access to the registry'],
    commands: [...SPOKEN_TO, SEE],
  },
  {
    what: 'waiting because an agent never gets further',
    situation: look(said(...Array(3).fill(report('IN_PROGRESS')))),
    code: 'RETRY_LIMIT',
    says: ['is blocked since', 'IN_PROGRESS was reported 3 times in a row'],
    commands: [...SPOKEN_TO, SEE],
  },
  {
    what: 'waiting because work cannot be merged',
    situation: blockedWith('MERGE_CONFLICT'),
    code: 'MERGE_CONFLICT',
    says: ['both changed a.txt'],
    commands: ['diff c', SEE, 'continue c'],
  },
  {
    what: 'waiting because an agent was silent for too long',
    situation: blockedWith('TASK_TIMEOUT'),
    code: 'TASK_TIMEOUT',
    says: ['is blocked since'],
    commands: [SEE, 'continue c'],
  },
  {
    what: 'waiting because an item is blocked that can be left out',
    situation: (() => {
      const stuck = result('T-1', { status: 'blocked', acceptance_check: [] });
      const agents = { Lead: [envelope({ id: 'T-1' })], Worker: [stuck], Sum: ['x'] };
      return look(play({ config: TEAM, agents }));
    })(),
    code: 'MISSING_REQUIRED_INPUT',
    says: ['is blocked since'],
    commands: ['task move T-1 canceled --run c --reason "not needed"', 'show c --turn 2', 'continue c'],
  },
  {
    what: 'waiting for a task that no open turn explains',
    situation: look({
      ...midway(
        {},
        {
          ...{ status: 'waiting', code: 'ACCEPTANCE_FAILED', reason: 'T-2 is blocked', turns: {} },
          lanes: { l: { entry: 'Socket-1', from: null, held: null, walks: {} } },
        },
      ),
    }),
    code: 'ACCEPTANCE_FAILED',
    says: ['T-2 is blocked.'],
    commands: ['continue c'],
  },
  {
    what: 'failed because the contract was broken twice',
    situation: look(said('no block', asBlock({ agent_status: {} }))),
    code: 'CONTRACT_VIOLATION',
    says: ['failed (CONTRACT_VIOLATION)', 'At agent_status: ', 'CONTRACT_VIOLATION means:'],
    commands: [SEE, RECAST],
  },
  {
    what: 'failed at a spent edge',
    situation: look(
      play({
        config: JUDGED,
        agents: { Spec: [no('not yet'), no('still not')] },
      }),
    ),
    code: 'EDGE_BUDGET_EXHAUSTED',
    says: ['was taken once and is wanted once more', 'it does not allow more rounds'],
    commands: ['show c --turn 2', RECAST, 'revive c'],
  },
  {
    what: 'waiting at a spent edge',
    situation: look(play({ config: ASKED, agents: { Spec: [no('not yet'), no('still not')] } })),
    code: 'EDGE_BUDGET_EXHAUSTED',
    says: ['it may not go back to Spec again', 'The last rejection: still not.'],
    commands: ['continue c', 'abort c', 'show c --turn 2'],
  },
  {
    what: 'waiting for a decision about parked items',
    situation: look(play({ config: PARKED, agents: crew({ Plan: [plan(1)], Eval: [no('bad'), no('still bad')] }) })),
    code: 'ITEMS_PARKED',
    says: ['Item 1 (WI-1) is parked. The last rejection: still bad.', 'Nothing of its work was taken back.'],
    commands: ['retry c:WI-1 --note "…"', 'drop c:WI-1 --reason "…"'],
  },
  {
    what: 'failed at a spent allowance',
    situation: look(SPENT),
    code: 'BUDGET_EXHAUSTED',
    says: ['15 of 10 tokens are used', 'It has used 15 tokens'],
    commands: ['revive c', 'budget c --tokens 25', SEE, RECAST],
  },
  ...(
    [
      ['NO_PROGRESS', {}],
      ['NOT_CONVERGING', {}],
      ['UTILITY_FAILED', {}],
      ['AGENT_FAILED', {}],
      ['AGENT_TIMEOUT', { fault: 'timeout', socket: 'Socket-1' }],
      ['ACCEPTANCE_FAILED', {}],
      ['MISSING_VALIDATOR', {}],
      ['LEDGER_INCONSISTENT', {}],
    ] as const
  ).map(([code, details]) => ({
    what: `failed with ${code}`,
    situation: failed(code, details),
    code,
    says: [`it failed with ${code}.`, `${code} means:`],
    commands: [SEE, RECAST],
  })),
  {
    what: 'failed because a report could not follow the one before',
    situation: failed('ILLEGAL_TRANSITION', {
      ...{ from: 'COMPLETE', to: 'BLOCKED', allowed: ['IN_PROGRESS'], gate: 'status' },
    }),
    code: 'ILLEGAL_TRANSITION',
    says: ['The check "status" refused it.', 'What may follow is IN_PROGRESS.'],
    commands: [SEE, RECAST],
  },
  {
    what: 'failed because nobody is signed in',
    situation: failed('AGENT_FAILED', { cause: 'AUTH_REQUIRED', socket: 'Socket-1' }),
    code: 'AGENT_FAILED',
    says: ['The cause is AUTH_REQUIRED: no account is signed in'],
    commands: ['agents test claude', SEE, RECAST],
  },
  {
    what: 'failed because of a provider',
    situation: failed('AGENT_FAILED', { cause: 'PROVIDER_ERROR', socket: 'Socket-1' }),
    code: 'AGENT_FAILED',
    says: ['The cause is PROVIDER_ERROR'],
    commands: [SEE, RECAST],
  },
  {
    what: 'failed because of where it wrote',
    situation: failed('SCOPE_VIOLATION'),
    code: 'SCOPE_VIOLATION',
    says: ['it failed with SCOPE_VIOLATION.'],
    commands: ['diff c', SEE, RECAST],
  },
  {
    what: 'failed because an agent is blocked in the registry',
    situation: failed('QUARANTINED', { key: 'analyst' }, { quarantine: [QUARANTINE] }),
    code: 'QUARANTINED',
    says: ['analyst is blocked (PROMPT_BYTES_MISMATCH): its prompt was changed.'],
    commands: ['registry verify', 'registry release analyst --reason "looked into"', SEE, RECAST],
  },
  {
    what: 'failed because two agents may not hand to each other',
    situation: failed('BOUNDARY_NOT_ALLOWED'),
    code: 'BOUNDARY_NOT_ALLOWED',
    says: ['BOUNDARY_NOT_ALLOWED means:'],
    commands: ['registry verify', SEE, RECAST],
  },
  {
    what: 'failed because it was started with another prompt than is locked',
    situation: failed('HASH_MISMATCH'),
    code: 'HASH_MISMATCH',
    says: ['HASH_MISMATCH means:'],
    commands: ['registry verify', SEE, "cast -l 'Flow' -- 'do it'"],
  },
  {
    what: 'aborted',
    situation: look(STOPPED),
    code: 'ABORTED',
    says: ['was aborted', 'test stopped it: enough.'],
    commands: [RECAST],
  },
  {
    what: 'completed',
    situation: look(LATER),
    code: null,
    says: ['completed at', 'There is nothing left to do.', 'All is well.'],
    commands: ['show c'],
  },
  {
    what: 'completed in a worktree',
    situation: look({ cast: { ...LATER.cast, root: 'wt' }, entries: LATER.entries.map(withChange) }),
    code: null,
    says: ['completed at'],
    commands: ['diff c', 'merge c', 'show c'],
  },
  {
    what: 'completed, and merged',
    situation: {
      ...look({ cast: { ...LATER.cast, root: 'wt' }, entries: LATER.entries.map(withChange) }),
      work: 'merged',
    },
    code: null,
    says: ['completed at', 'Its work is merged.'],
    commands: ['diff c', 'undo c', 'show c'],
  },
  {
    what: 'completed, and taken back',
    situation: {
      ...look({ cast: { ...LATER.cast, root: 'wt' }, entries: LATER.entries.map(withChange) }),
      work: 'undone',
    },
    code: null,
    says: ['completed at', 'Its work was taken back.'],
    commands: ['show c'],
  },
  {
    what: 'completed in a worktree without a change',
    situation: look({ cast: { ...LATER.cast, root: 'wt' }, entries: LATER.entries }),
    code: null,
    says: ['completed at', 'It changed no file.'],
    commands: ['show c'],
  },
];

/** The same entry of a turn that changed a file. */
function withChange(entry: Entry): Entry {
  return entry.fact.kind === 'turn.accepted' ? { ...entry, fact: { ...entry.fact, touched: { a: 'x' } } } : entry;
}
