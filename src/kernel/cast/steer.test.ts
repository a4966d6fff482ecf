// What people do to a cast: stop it, carry it on, give it more, decide for a turn whose end nobody knows.
import { expect, test } from 'vitest';
import { always, costing, crew, failing, graph, no, plan, workflow, yes } from '../../../test/loadouts.ts';
import { type Play, play } from '../../../test/play.ts';
import type { Json } from '../json.ts';

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
