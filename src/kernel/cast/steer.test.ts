// What people do to a cast: stop it, carry it on, give it more, decide for a turn whose end nobody knows.
import { expect, test } from 'vitest';
import { always, costing, crew, failing, graph, no, plan, workflow, yes } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import { asBlock, type PlanStatus, reportOf } from '../../../test/reports.ts';
import { envelope, result, TEAM } from '../../../test/team.ts';
import { asks, opsTeam, sealed } from '../../../test/wishes.ts';
import type { Json, JsonObject } from '../json.ts';
import { heldLocks } from '../ledger/wire.ts';

const recast = { kind: 'cast.recast', cast: 'c' } as const;
const revive = { kind: 'cast.revive', cast: 'c' } as const;
const abort = { kind: 'cast.abort', cast: 'c', reason: 'enough' } as const;
const pause = { kind: 'cast.pause', cast: 'c', reason: 'lunch' } as const;
const resume = { kind: 'cast.resume', cast: 'c', reason: 'back' } as const;

const write = { materia: 'Write' };
const pair = graph({ 'Socket-1': { ...write, edges: [always('Socket-2')] }, 'Socket-2': write });

/** A cast in each of the states a person can find one in. */
const found: Record<string, () => Play> = {
  running: () => play({ config: pair, agents: { Write: ['a', 'b'] }, hold: true }),
  paused: () => after(pause),
  aborted: () => after(abort),
  failed: () => play({ config: pair, agents: { Write: [] } }),
  completed: () => play({ config: pair, agents: { Write: ['a', 'b'] } }),
  waiting: () => published('lost'),
};

function after(request: typeof pause | typeof abort): Play {
  const cast = play({ config: pair, agents: { Write: ['a', 'b'] }, hold: true });
  cast.tell(request);
  return cast;
}

/** A cast whose publishing, which must not happen twice, was cut off. */
function published(by: 'lost' | 'pause' | 'abort' | 'clock', said: readonly Json[] = [yes], once = 'Publish'): Play {
  const sockets = { 'Socket-1': { materia: once, edges: [always('Socket-2')] }, 'Socket-2': write };
  const materia = { Careful: { tools: 'coding', prompt: 'Send it.', parse: 'json', onCrash: 'wait' } };
  const budget = { maxDurationMs: 1000 };
  const agents = { [once]: said, Write: ['done'] };
  const cast = play({ config: graph(sockets, { materia, ...(by === 'clock' ? { budget } : {}) }), agents, hold: true });
  const lost = { kind: 'attempt.lost', cast: 'c', turn: 1, attempt: 1, mayHaveRun: true, reason: 'killed' } as const;
  if (by === 'clock') cast.tell({ kind: 'clock.rang', cast: 'c' }, Date.parse('2027-01-01T00:00:00.000Z'));
  else cast.tell(by === 'lost' ? lost : by === 'pause' ? pause : abort);
  return cast;
}

test.each([
  ['running', { abort: 'OK', pause: 'OK', resume: 'OK', recast: 'NOT_ALLOWED_NOW', revive: 'NOT_ALLOWED_NOW' }],
  [
    'paused',
    { abort: 'OK', pause: 'NOT_ALLOWED_NOW', resume: 'OK', recast: 'NOT_ALLOWED_NOW', revive: 'NOT_ALLOWED_NOW' },
  ],
  [
    'waiting',
    {
      abort: 'OK',
      pause: 'NOT_ALLOWED_NOW',
      resume: 'NOT_ALLOWED_NOW',
      recast: 'NOT_ALLOWED_NOW',
      revive: 'NOT_ALLOWED_NOW',
    },
  ],
  [
    'aborted',
    {
      abort: 'NOT_ALLOWED_NOW',
      pause: 'NOT_ALLOWED_NOW',
      resume: 'NOT_ALLOWED_NOW',
      recast: 'OK',
      revive: 'NOT_ALLOWED_NOW',
    },
  ],
  [
    'failed',
    { abort: 'NOT_ALLOWED_NOW', pause: 'NOT_ALLOWED_NOW', resume: 'NOT_ALLOWED_NOW', recast: 'OK', revive: 'OK' },
  ],
  [
    'completed',
    {
      abort: 'NOT_ALLOWED_NOW',
      pause: 'NOT_ALLOWED_NOW',
      resume: 'NOT_ALLOWED_NOW',
      recast: 'NOT_ALLOWED_NOW',
      revive: 'NOT_ALLOWED_NOW',
    },
  ],
])('what a %s cast can be asked', (status, codes) => {
  for (const [verb, request] of Object.entries({ abort, pause, resume, recast, revive })) {
    const cast = found[status]?.();
    expect([verb, cast?.tell(request).code]).toEqual([verb, codes[verb as keyof typeof codes]]);
  }
});

test.each(['paused', 'aborted', 'failed', 'completed', 'waiting'])('nothing is owed to a %s cast', (status) => {
  const cast = found[status]?.();
  expect([cast?.cast.status, cast?.owed]).toEqual([status, []]);
});

test('an aborted cast goes on with the turn it stood at; the answer of the stopped attempt counts no more', () => {
  const cast = after(abort);
  expect([cast.cast.code, cast.cast.reason]).toEqual(['ABORTED', 'enough']);
  const late = { kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'late' } as const;
  expect(cast.tell(late).code).toBe('STALE_ATTEMPT');
  cast.tell(recast);
  expect(cast.tell(late).code).toBe('STALE_ATTEMPT');
  cast.run();
  expect([cast.cast.status, cast.path]).toEqual(['completed', ['Socket-1', 'Socket-2']]);
});

test('a paused cast dispatches its turn again when it is resumed', () => {
  const cast = after(pause);
  cast.say(resume);
  expect(cast.all('attempt.started').map(({ turn, attempt }) => [turn, attempt])).toEqual([
    [1, 1],
    [1, 2],
    [2, 1],
  ]);
});

test.each<[string, readonly Json[]]>([
  ['repair turns', ['oops', 'oops', 'oops', yes]],
  ['retries of faults', [failing('crash'), failing('crash'), failing('crash'), yes]],
  ['a time limit', [failing('timeout'), yes]],
])('a recast and a revival give the turn fresh %s', (_what, turns) => {
  for (const verb of [recast, revive]) {
    const cast = play({ config: graph({ 'Socket-1': { materia: 'Judge' } }), agents: { Judge: turns } });
    expect(cast.cast.status).toBe('failed');
    cast.say(verb);
    expect([cast.cast.status, cast.path.length]).toEqual(['completed', 1]);
  }
});

const spent = (evals: readonly Json[]) => {
  const config = workflow({ 'sockets.Socket-3.edges.1.maxTraversals': 2 });
  const cast = play({ config, agents: crew({ Eval: evals, Plan: [plan(2)] }) });
  expect(cast.cast.code).toBe('EDGE_BUDGET_EXHAUSTED');
  return cast;
};
const rejections = (count: number) => Array.from({ length: count }, (_, index) => no(`reason ${index + 1}`));
const builds = (cast: Play) => cast.path.filter((step) => step === 'Socket-2 WI-1').length;

test('a revival at a spent edge doubles its budget for that item and starts the blocked target, with the last reason', () => {
  const cast = spent([...rejections(3), yes, ...rejections(3)]);
  expect(builds(cast)).toBe(3);
  expect(cast.say(revive).code).toBe('OK');
  const reopened = cast.briefs('Socket-2')[3];
  for (const n of [1, 2, 3]) expect(reopened).toContain(`reason ${n}`);
  expect(reopened?.match(/Eval for Item 1/g)).toHaveLength(3);
  // The next item has the budget that was written down, no more.
  expect([cast.cast.code, cast.cast.stand]).toMatchObject([
    'EDGE_BUDGET_EXHAUSTED',
    { key: 'Socket-3->Socket-2@WI-2' },
  ]);
});

test('revived again and again, it gets as much each time', () => {
  const cast = spent(rejections(9));
  for (const total of [5, 7]) {
    cast.say(revive);
    expect([cast.cast.code, builds(cast)]).toEqual(['EDGE_BUDGET_EXHAUSTED', total]);
    // The count goes on, and the allowance has grown to it.
    expect(cast.cast.reason).toContain(`was taken ${total - 1} times for WI-1`);
    expect(cast.all('cast.failed').at(-1)?.details).toMatchObject({ count: total, limit: total - 1 });
    expect(cast.cast.traversals).toEqual({ 'Socket-3->Socket-2@WI-1': total - 1 });
  }
});

test('what a revival added is forgotten with the item it was for', () => {
  const cast = spent([...rejections(3), yes, ...rejections(3)]);
  cast.say(revive);
  expect(cast.cast.extended).toEqual({});
  expect(cast.cast.reason).toContain('was taken 2 times for WI-2');
});

test('a recast at a spent edge lets its source judge once more, and the edge stays closed', () => {
  const cast = spent([...rejections(4), yes, '$repeat']);
  cast.say(recast);
  expect([cast.cast.code, builds(cast)]).toEqual(['EDGE_BUDGET_EXHAUSTED', 3]);
  cast.say(recast);
  expect(cast.cast.status).toBe('completed');
});

const asking = (evals: readonly Json[]) => {
  const edits = { 'sockets.Socket-3.edges.1.maxTraversals': 2, 'sockets.Socket-3.edges.1.then': 'ask' };
  return play({ config: workflow(edits), agents: crew({ Eval: evals, Plan: [plan(2)] }) });
};

test('an edge that asks lets the cast wait when it is spent; going on allows as many traversals again', () => {
  const cast = asking([...rejections(5), yes, '$repeat']);
  expect([cast.cast.status, cast.cast.code, builds(cast)]).toEqual(['waiting', 'EDGE_BUDGET_EXHAUSTED', 3]);
  expect(cast.cast.reason).toContain('allow 2 more rounds with: baton continue c');
  expect(cast.all('edge.spent')).toMatchObject([{ item: 'WI-1', count: 3, limit: 2 }]);
  cast.say(resume);
  expect([cast.cast.status, cast.cast.code, builds(cast)]).toEqual(['waiting', 'EDGE_BUDGET_EXHAUSTED', 5]);
  expect(cast.briefs('Socket-2')[3]).toContain('reason 3');
  cast.say(resume);
  expect([cast.cast.status, builds(cast), cast.cast.extended]).toEqual(['completed', 6, {}]);
  expect(cast.all('edge.extended').map(({ more }) => more)).toEqual([2, 2]);
  expect(cast.all('cast.failed')).toEqual([]);
});

test('a cast that asked at an edge and was aborted has its source judge once more; the edge stays closed', () => {
  const cast = asking([...rejections(4), yes, '$repeat']);
  cast.say(abort);
  cast.say(recast);
  expect([cast.cast.status, builds(cast)]).toEqual(['waiting', 3]);
  cast.say(resume);
  expect(cast.cast.status).toBe('completed');
});

test('a cast without budget is not recast; a revival refills it', () => {
  const config = { ...pair, budget: { maxTokens: 10 } };
  const cast = play({ config, agents: { Write: [costing(12, 'a'), costing(9, 'b')] } });
  expect(cast.cast.code).toBe('BUDGET_EXHAUSTED');
  expect([cast.tell(recast).code, cast.all('cast.recast')]).toEqual(['BUDGET_EXHAUSTED', []]);
  cast.say(revive);
  expect([cast.cast.status, cast.cast.budget.maxTokens]).toEqual(['completed', 22]);
});

test('a cast that was allowed nothing cannot be revived with as much again', () => {
  const cast = play({ config: { ...pair, budget: { maxTokens: 0 } }, agents: { Write: ['a', 'b'] } });
  expect([cast.tell(revive).code, cast.cast.status]).toEqual(['BUDGET_EXHAUSTED', 'failed']);
});

test.each(['lost', 'pause', 'abort', 'clock'] as const)(
  'what must not run twice is not run again after %s, before a person decided',
  (by) => {
    for (const once of ['Publish', 'Careful']) {
      const cast = published(by, [yes], once);
      if (by === 'pause') cast.tell(resume);
      if (by === 'abort') cast.tell(recast);
      if (by === 'clock') cast.tell(revive);
      expect([cast.cast.status, cast.cast.code, cast.turn.phase]).toEqual(['waiting', 'OUTCOME_UNKNOWN', 'unknown']);
      expect(cast.cast.reason).toContain('baton decide c:1 rerun|accept|fail');
      expect(cast.all('attempt.started')).toHaveLength(1);
      cast.say({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'rerun' });
      expect([cast.cast.status, cast.all('attempt.started').length]).toEqual(['completed', 3]);
    }
  },
);

const move = (cast: Play, task: string, to: 'canceled' | 'failed') =>
  cast.tell({ kind: 'task.move', run: 'c', task, to, reason: 'not needed' });

/** Workers side by side, who report with a status: each has said its word, was lost, or is at work. */
function side(...words: readonly (PlanStatus | 'lost' | 'works')[]): Play {
  const config: JsonObject = JSON.parse(JSON.stringify(TEAM), (key, value) => {
    if (key === 'Socket-2') return { ...value, contract: 'gaia', parse: 'json' };
    return key === 'Worker' && words.includes('lost') ? { ...value, onCrash: 'wait' } : value;
  });
  const lead = envelope(...words.map((_, index) => ({ id: `T-${index + 1}` })));
  const cast = play({
    config,
    agents: { Lead: [lead], Worker: [said('COMPLETE'), '$repeat'], Sum: ['ok'] },
    hold: true,
  });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(lead) });
  for (const [index, word] of words.entries()) {
    const where = { cast: 'c', turn: index + 2, attempt: 1 };
    if (word === 'lost') cast.tell({ kind: 'attempt.lost', ...where, mayHaveRun: true, reason: 'killed' });
    else if (word !== 'works') cast.tell({ kind: 'attempt.output', ...where, output: said(word) });
  }
  return cast;
}
const said = (status: PlanStatus) => asBlock(reportOf(status, { open_gaps: ['no key'], next_action: 'which one?' }));
const phases = ({ cast }: Play) => Object.values(cast.turns).map(({ task, phase }) => `${task} ${phase}`);

test.each<[string, () => Play, string]>([
  ['whose outcome nobody knows', () => published('lost'), 'cast c is waiting, not paused'],
  ['that waits for an answer', () => side('NEEDS_INPUT'), 'cast c is waiting: Socket-2 (Worker) asks: '],
  ['that was aborted while it asked', () => aborted(side('NEEDS_INPUT')), 'cast c is aborted, not paused'],
  ['that was aborted while it was blocked', () => aborted(side('BLOCKED')), 'cast c is aborted, not paused'],
])('a cast %s is not resumed, and the refusal says why', (_what, begin, reason) => {
  const cast = begin();
  const { status } = cast.cast;
  expect(cast.tell(resume)).toMatchObject({ code: 'NOT_ALLOWED_NOW', reason: expect.stringContaining(reason) });
  expect([cast.cast.status, cast.all('cast.resumed')]).toEqual([status, []]);
});

function aborted(cast: Play): Play {
  cast.tell(abort);
  return cast;
}

test('an item that is left out while it asks lets the cast go on; the other question stays open', () => {
  const cast = side('NEEDS_INPUT', 'NEEDS_INPUT');
  expect(cast.tell(resume).code).toBe('NOT_ALLOWED_NOW');
  expect(move(cast, 'T-1', 'canceled').code).toBe('OK');
  expect(cast.tell(resume).code).toBe('OK');
  expect([cast.cast.status, cast.cast.code, phases(cast)]).toEqual(['waiting', 'ANSWER_NEEDED', ['T-2 asked']]);
  expect(cast.tell(resume).code).toBe('NOT_ALLOWED_NOW');
});

test('an item is left out, and the cast still waits for a decision about the other', () => {
  const cast = side('BLOCKED', 'lost');
  expect(cast.cast.code).toBe('OUTCOME_UNKNOWN');
  move(cast, 'T-1', 'canceled');
  expect(cast.tell(resume)).toMatchObject({ code: 'OK', reason: expect.stringContaining('baton decide c:3') });
  expect([cast.cast.status, cast.cast.code, phases(cast)]).toEqual(['waiting', 'OUTCOME_UNKNOWN', ['T-2 unknown']]);
});

test.each(['canceled', 'failed'] as const)('a blocked item that is %s is not opened again; the other is', (to) => {
  const cast = side('BLOCKED', 'BLOCKED');
  move(cast, 'T-1', to);
  cast.tell(resume);
  expect(cast.all('turn.reopened').map(({ turn }) => turn)).toEqual([3]);
  cast.run();
  expect(cast.cast.status).toBe('completed');
});

test('a paused cast is resumed with its blocked items as they are', () => {
  const cast = side('BLOCKED', 'works');
  cast.tell(pause);
  expect(cast.tell(resume).code).toBe('OK');
  expect(phases(cast)).toEqual(['T-1 blocked', 'T-2 running']);
});

test('a revival leaves a budget that is not spent as it is', () => {
  const cast = play({ config: { ...pair, budget: { maxTokens: 10 } }, agents: { Write: [costing(2, 'a')] } });
  expect(cast.cast.code).toBe('AGENT_FAILED');
  cast.tell(revive);
  expect([cast.all('budget.changed'), cast.cast.budget.maxTokens]).toEqual([[], 10]);
});

test('a cast that is over as soon as it goes on says so', () => {
  const config = { ...graph({ 'Socket-1': write }), budget: { maxTokens: 10 } };
  const cast = play({ config, agents: { Write: [costing(12, 'a')] } });
  expect(cast.cast.code).toBe('BUDGET_EXHAUSTED');
  expect(cast.tell(revive)).toMatchObject({ code: 'OK', reason: 'cast c went on and is completed' });
});

/** One item after the other, by an agent that reports with a status and is blocked at the first. */
function row(count: number): Play {
  const advance = { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' };
  const config = graph(
    {
      'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'Write', contract: 'gaia', parse: 'json', advance, edges: [always('Socket-2')] },
    },
    { loops: { items: { sockets: ['Socket-2'], consumes: { from: 'Socket-1', output: 'workItems' } } } },
  );
  return play({ config, agents: { Plan: [plan(count)], Write: [said('BLOCKED'), said('COMPLETE'), '$repeat'] } });
}

test.each([
  [1, 'cast c went on and is completed'],
  [2, 'cast c runs again'],
])('the first of %i items is left out of an aborted cast; when it is recast, %s', (count, reason) => {
  const cast = aborted(row(count));
  expect(move(cast, 'T-1', 'canceled').code).toBe('OK');
  expect(cast.say(recast)).toMatchObject({ code: 'OK', reason });
  expect([cast.cast.status, cast.all('turn.reopened')]).toEqual(['completed', []]);
});

test('where the item at work was left out of an aborted cast, the recast begins the next one', () => {
  const wishes = [
    { id: 'T-1', lock_scope: ['src'] },
    { id: 'T-2', lock_scope: ['src'] },
  ];
  const agents = { Lead: [envelope(...wishes)], Worker: [result('T-1'), result('T-2')], Sum: ['ok'] };
  const cast = play({ config: TEAM, agents, hold: true });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(envelope(...wishes)) });
  expect(phases(cast)).toEqual(['T-1 running']);
  cast.tell(abort);
  expect(move(cast, 'T-1', 'canceled').code).toBe('OK');
  cast.tell(recast);
  expect([cast.cast.status, phases(cast)]).toEqual(['running', ['T-2 running']]);
});

const decide = (choice: 'rerun' | 'accept' | 'fail', turn = 1) =>
  ({ kind: 'turn.decide', cast: 'c', turn, choice, reason: 'no trace' }) as const;

test.each<[string, () => Play, object]>([
  ['the source of a spent edge', () => spent(rejections(4)), { socket: 'Socket-3', budgeted: true }],
  ['a socket that the guard kept from starting', circling, { socket: 'Socket-2', budgeted: false }],
])('%s is started by a recast; only the first is left out of the count of rounds', (_what, begin, started) => {
  const cast = begin();
  const before = cast.all('turn.started').length;
  cast.tell(recast);
  expect(cast.all('turn.started').slice(before)).toMatchObject([started]);
});

/** A cast that went round too often. */
function circling(): Play {
  const config = { ...workflow(), limits: { maxNoAdvanceCycles: 1 } };
  const cast = play({ config, agents: crew({ Eval: [no(), '$repeat'] }) });
  expect(cast.cast.code).toBe('NO_PROGRESS');
  return cast;
}

test('a step of the graph is never left out: where its task was canceled, a recast gives it a new one, with its locks', () => {
  const cast = after(abort);
  const held = () => heldLocks(cast.state.ledger).map(({ task, path }) => [task, path]);
  expect([move(cast, 'T-1', 'canceled').code, held()]).toEqual(['OK', []]);
  cast.tell(recast);
  expect([cast.turn.socket, cast.turn.task, held()]).toEqual(['Socket-1', 'T-2', [['T-2', '.']]]);
  cast.run();
  expect(cast.cast.status).toBe('completed');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('a step whose row in the ledger was closed by an abort still asks after a recast, and is not resumed', () => {
  const Spec = { tools: 'none', prompt: 'Do.' };
  const socket = { materia: 'Spec', contract: 'gaia', parse: 'json', edges: [always('end')] };
  const agents = { Spec: [said('BLOCKED'), said('NEEDS_INPUT')] };
  const cast = aborted(play({ config: graph({ 'Socket-1': socket }, { materia: { Spec } }), agents }));
  cast.say(recast);
  expect([cast.cast.code, cast.tell(resume).code]).toEqual(['ANSWER_NEEDED', 'NOT_ALLOWED_NOW']);
});

test("a person's own turn is answered, not decided", () => {
  const Ask = { tools: 'none', prompt: 'Ask.', runner: 'person' };
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Ask' } }, { materia: { Ask } }) });
  cast.run();
  expect(cast.turn.phase).toBe('asked');
  for (const choice of ['rerun', 'accept', 'fail'] as const)
    expect([choice, cast.tell(decide(choice)).code]).toEqual([choice, 'NOT_ALLOWED_NOW']);
  expect([cast.cast.status, cast.all('turn.decided')]).toEqual(['waiting', []]);
});

test.each(['rerun', 'fail'] as const)('%s needs no output, whatever the turn must hand on', (choice) => {
  const List = { type: 'utility', command: ['list'], generator: true, once: true };
  const config = graph({ 'Socket-1': { materia: 'List' } }, { materia: { List } });
  const cast = play({ config, agents: { List: [plan(1)] }, hold: true });
  cast.tell({ kind: 'attempt.lost', cast: 'c', turn: 1, attempt: 1, mayHaveRun: true, reason: 'killed' });
  expect(cast.tell(decide('accept')).code).toBe('NOT_ALLOWED_NOW');
  expect(cast.tell(decide(choice)).code).toBe('OK');
});

test.each([
  ['accept', 'NOT_ALLOWED_NOW', 'waiting'],
  ['rerun', 'OK', 'running'],
  ['fail', 'OK', 'failed'],
] as const)('the claim of a lost turn ran out and the workspace is paused: %s is %s', (choice, code, status) => {
  const Careful = { tools: 'coding', prompt: 'Send it.', onCrash: 'wait' };
  const config = graph({ 'Socket-1': { materia: 'Careful' } }, { materia: { Careful } });
  const cast = play({ config, agents: { Careful: ['sent'] }, hold: true });
  cast.tell({ kind: 'task.expire', run: 'c', task: 'T-1', lastHeartbeatAt: null, why: 'gone' });
  cast.tell({ kind: 'attempt.lost', cast: 'c', turn: 1, attempt: 1, mayHaveRun: true, reason: 'killed' });
  expect(cast.cast.code).toBe('OUTCOME_UNKNOWN');
  cast.tell({ kind: 'ledger.hold', reason: 'release day' });
  expect(cast.tell(decide(choice)).code).toBe(code);
  expect([cast.cast.status, cast.all('turn.decided').length]).toEqual([status, code === 'OK' ? 1 : 0]);
});

test.each([
  ['Publish', 'UTILITY_FAILED', 'utility'],
  ['Careful', 'AGENT_FAILED', 'crash'],
])('a lost %s that a person gives up has failed for good and used nothing', (once, code, fault) => {
  const cast = published('lost', [yes], once);
  cast.tell(decide('fail'));
  const usage = { input: 0, output: 0, cost: 0 };
  expect(cast.all('attempt.failed')).toMatchObject([{ code, fault, usage, again: false }]);
  expect(cast.all('cast.failed')).toMatchObject([{ code, details: { socket: 'Socket-1' } }]);
  expect(cast.cast.usage).toMatchObject(usage);
});

test.each<[string, () => Play, number, string]>([
  ['a question', () => side('NEEDS_INPUT'), 2, 'baton answer c'],
  ['a permission', permission, 1, 'baton approve P-1'],
])('an agent that waits for %s has nothing to accept; the refusal names the way on', (_what, begin, turn, way) => {
  const cast = begin();
  const verdict = cast.tell(decide('accept', turn));
  expect(verdict).toMatchObject({ code: 'NOT_ALLOWED_NOW', reason: expect.stringContaining(`it waits for: ${way}`) });
  expect([cast.cast.status, cast.all('turn.decided')]).toEqual(['waiting', []]);
});

function permission(): Play {
  const cast = play({ config: opsTeam, agents: { Ops: [asks, '$repeat'] }, hold: true });
  const where = { cast: 'c', turn: 1, attempt: 1 } as const;
  cast.tell({ kind: 'attempt.output', ...where, output: asks });
  cast.tell({ kind: 'turn.verified', ...where, seal: '', approval: sealed('P-1') });
  return cast;
}

test('an agent that asked is given up: the cast fails with the reason, and the agent is not run again', () => {
  const cast = side('NEEDS_INPUT');
  cast.say(decide('fail', 2));
  expect(cast.all('cast.failed')).toMatchObject([{ code: 'AGENT_FAILED', details: { socket: 'Socket-2' } }]);
  expect(cast.cast.reason).toBe('Socket-2: a person decided that it failed: no trace');
  expect(cast.all('attempt.started')).toHaveLength(2);
});

test.each(['rerun', 'accept', 'fail'] as const)('an agent that asked in an aborted cast: %s is refused', (choice) => {
  const cast = aborted(side('NEEDS_INPUT'));
  const reason = 'cast c has aborted already';
  expect(cast.tell(decide(choice, 2))).toMatchObject({ code: 'NOT_ALLOWED_NOW', reason });
  expect([cast.cast.status, cast.all('turn.decided')]).toEqual(['aborted', []]);
});

test.each<[string, number, readonly ('NEEDS_INPUT' | 'works')[]]>([
  ['waits', 1, ['NEEDS_INPUT']],
  ['runs', 0, ['NEEDS_INPUT', 'works']],
])('an agent that asked is sent on in a cast that %s, which is resumed %i times', (_what, count, words) => {
  const cast = side(...words);
  expect(cast.tell(decide('rerun', 2)).code).toBe('OK');
  expect([cast.cast.status, cast.all('cast.resumed').length]).toEqual(['running', count]);
});

test.each([
  [{ maxTokens: 11 }, { used: 12, unit: 'tokens' }],
  [{ maxCost: 0.5 }, { used: 1, unit: 'cost' }],
])('a limit below what is used is refused: %o', (limits, details) => {
  const cast = play({ config: pair, agents: { Write: [costing(12, 'a', 1)] } });
  expect(cast.tell({ kind: 'budget.change', cast: 'c', ...limits })).toMatchObject({
    code: 'NOT_ALLOWED_NOW',
    details,
  });
});
