// Agents that report with a status: what a cast does with each, and which may follow which.
import { expect, test } from 'vitest';
import { always, graph, notSatisfied, satisfied } from '../../../test/loadouts.ts';
import { play, replayed } from '../../../test/play.ts';
import { asBlock, type PlanStatus, reportOf } from '../../../test/reports.ts';
import type { Json, JsonObject } from '../json.ts';
import { planTasks } from '../ledger/apply.ts';
import { bareSpec } from '../ledger/plan.ts';
import { tasksOf } from '../ledger/state.ts';
import { HELD_MAX } from '../report/status.ts';

const agent = { tools: 'none', prompt: 'Find it.' };
const gaia = { parse: 'json', contract: 'gaia' };
const one = graph({ 'Socket-1': { materia: 'Spec', ...gaia, edges: [always('end')] } }, { materia: { Spec: agent } });
const withRework = graph(
  {
    'Socket-1': { materia: 'Spec', ...gaia, edges: [satisfied('end'), notSatisfied('Socket-2', 2)] },
    'Socket-2': { materia: 'Help', edges: [always('Socket-1')] },
  },
  { materia: { Spec: agent, Help: { tools: 'none', prompt: 'Help.' } } },
);
const says = (status: PlanStatus, more: Parameters<typeof reportOf>[1] = {}) => asBlock(reportOf(status, more));
const cast = (turns: readonly Json[], config = one) =>
  play({ config, agents: { Spec: turns, Help: ['helped', '$repeat'] } });

test('COMPLETE is handed on, with what it comes to for those who come after', () => {
  const done = cast([says('COMPLETE', { key_outputs: ['the clock was wrong'] })]);
  expect(done.cast.status).toBe('completed');
  expect(done.cast.reports).toMatchObject([{ agent: 'Spec', status: 'COMPLETE', keyOutputs: ['the clock was wrong'] }]);
  expect(done.cast.data.context).toBe('[Socket-1 Spec] the clock was wrong');
  expect(replayed(done.entries)).toEqual(done.state);
});

test('IN_PROGRESS lets the same agent go on in the same turn, and the end of it is one visit', () => {
  const done = cast([says('IN_PROGRESS', { next_action: 'read the log' }), says('COMPLETE')]);
  expect(done.cast.status).toBe('completed');
  expect(done.path).toEqual(['Socket-1']);
  expect(done.all('turn.reported')).toMatchObject([{ outcome: 'continue', progress: { inProgressCount: 1 } }]);
  const [, second] = done.all('attempt.started');
  expect(second?.brief).toContain('You reported: read the log');
});

test('a third IN_PROGRESS in a row is refused, and the agent is blocked', () => {
  const stuck = cast([...Array(3).fill(says('IN_PROGRESS')), says('COMPLETE')]);
  expect(stuck.cast).toMatchObject({ status: 'waiting', code: 'RETRY_LIMIT' });
  expect(stuck.all('attempt.refused')).toMatchObject([{ verdict: { code: 'RETRY_LIMIT' }, repair: false }]);
  stuck.say({ kind: 'cast.resume', cast: 'c', reason: 'once more' });
  expect(stuck.cast.status).toBe('completed');
});

const inLoop = (iteration: number, metric: number, more: Parameters<typeof reportOf>[1] = {}) =>
  says('COMPLETE', { ...more, more: { loop_state: { iteration, max_iterations: 4, metric, threshold: 0.9 } } });

test('COMPLETE is held while the loop is not finished, and the same agent goes on until it is', () => {
  const done = cast([inLoop(1, 0.1), inLoop(2, 0.4), says('IN_PROGRESS'), says('IN_PROGRESS'), inLoop(3, 0.95)]);
  expect(done.cast.status).toBe('completed');
  expect(done.path).toEqual(['Socket-1']);
  expect(done.all('attempt.refused')).toMatchObject([
    { repair: true, loop: { round: 1 } },
    { repair: true, loop: { round: 2 } },
  ]);
  const [, second, third] = done.all('attempt.started');
  expect(second?.brief).toContain('You reported: COMPLETE at iteration 1 of 4');
  expect(third?.brief).toContain('LOOP_STATE_INCOMPLETE:iteration=2<max=4,metric=0.4<threshold=0.9');
  expect(replayed(done.entries)).toEqual(done.state);
});

test('a loop takes nothing from the repair of a broken report, and nothing of what is held is kept', () => {
  const writes = { key_outputs: ['not yet'] };
  const done = cast([inLoop(1, 0.1, writes), inLoop(2, 0.1, writes), 'no block', inLoop(4, 0.1)]);
  expect(done.cast.status).toBe('completed');
  expect(done.all('attempt.refused').map(({ loop }) => loop?.round ?? null)).toEqual([1, 2, null]);
  expect(done.all('report.noted')).toHaveLength(1);
});

test('a loop that never gets on ends with its own maximum, and honestly', () => {
  const stuck = cast([inLoop(1, 0.1), '$repeat']);
  expect(stuck.cast).toMatchObject({ status: 'failed', code: 'CONTRACT_VIOLATION' });
  expect(stuck.cast.reason).toContain('LOOP_STATE_INCOMPLETE:iteration=1<max=4');
  expect(stuck.cast.reason).toContain('held 4 times');
  expect(stuck.all('attempt.refused').map(({ repair }) => repair)).toEqual([true, true, true, true, false]);
  expect(stuck.all('report.noted')).toEqual([]);
});

test('however many iterations an agent names, there is an end', () => {
  const loop_state = { iteration: 0, max_iterations: 1e9, metric: 0, threshold: 1 };
  const stuck = cast([says('COMPLETE', { more: { loop_state } }), '$repeat']);
  expect(stuck.cast.status).toBe('failed');
  expect(stuck.all('attempt.refused')).toHaveLength(HELD_MAX + 1);
});

test('a report that is broken elsewhere too is a broken report', () => {
  const { evidence_report: _evidence, ...broken } = reportOf('COMPLETE', {
    more: { loop_state: { iteration: 1, max_iterations: 4, metric: 0, threshold: 1 } },
  });
  const failed = cast([asBlock(broken), '$repeat']);
  expect(failed.all('attempt.refused').map(({ loop }) => loop)).toEqual([undefined, undefined]);
});

test('NEEDS_INPUT waits for a person, and the answer reaches the same agent', () => {
  const asking = cast([says('NEEDS_INPUT', { next_action: 'tabs or spaces?' }), says('COMPLETE')]);
  expect(asking.cast).toMatchObject({ status: 'waiting', code: 'ANSWER_NEEDED' });
  expect(asking.cast.reason).toContain('tabs or spaces?');
  expect(asking.turn).toMatchObject({ phase: 'asked', asks: { what: 'answer', question: 'tabs or spaces?' } });
  asking.say({ kind: 'turn.answer', cast: 'c', output: 'tabs' });
  expect(asking.cast.status).toBe('completed');
  expect(asking.all('attempt.started').at(-1)?.brief).toContain('A person answered: tabs');
  expect(asking.path).toEqual(['Socket-1']);
  expect(replayed(asking.entries)).toEqual(asking.state);
});

test('a script may answer for the person', () => {
  const done = cast([says('NEEDS_INPUT'), { $answer: 'blue' }, says('NEEDS_INPUT'), '$continue', says('COMPLETE')]);
  expect(done.cast.status).toBe('completed');
  expect(done.all('turn.answered').map(({ text }) => text)).toEqual(['blue', expect.stringContaining('Go on')]);
});

test('an answer is scrubbed before it is kept', () => {
  const asking = cast([says('NEEDS_INPUT'), says('COMPLETE')]);
  asking.say({
    kind: 'turn.answer',
    cast: 'c',
    output: 'use sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG',
  });
  expect(JSON.stringify(asking.entries)).not.toContain('abcdefghijklmnopqrstuvwxyz0123456789');
});

test('a secret in what a report comes to is kept nowhere: not in its note, the context or the words to a person', () => {
  const key = `AKIA${'B'.repeat(16)}`;
  const done = cast([
    says('NEEDS_INPUT', { next_action: `use ${key}?` }),
    { $answer: 'no' },
    says('COMPLETE', { key_outputs: [key] }),
  ]);
  expect(done.cast.status).toBe('completed');
  const kept = done.entries.filter(({ fact }) => fact.kind !== 'cast.started');
  expect(JSON.stringify([kept, done.cast.data, done.cast.reports])).not.toContain(key);
});

test('an agent that was sent on without an answer has to say first that it works again', () => {
  const asking = cast([says('NEEDS_INPUT'), says('COMPLETE'), says('IN_PROGRESS'), says('COMPLETE')]);
  asking.say({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'rerun' });
  expect(asking.all('attempt.refused')).toMatchObject([{ verdict: { code: 'ILLEGAL_TRANSITION' }, repair: true }]);
  expect(asking.cast.status).toBe('completed');
  expect(replayed(asking.entries)).toEqual(asking.state);
});

test('an agent that was sent on without an answer is told so, and what it may report', () => {
  const asking = cast([says('NEEDS_INPUT', { next_action: 'q' }), says('IN_PROGRESS'), says('COMPLETE')]);
  asking.say({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'rerun' });
  expect(asking.cast.status).toBe('completed');
  expect(asking.all('attempt.refused')).toEqual([]);
  const [, sentOn, last] = asking.all('attempt.started').map(({ brief }) => brief);
  expect(sentOn).toContain('A person sends you on without an answer');
  expect(sentOn).toContain('what may follow it is IN_PROGRESS');
  expect(sentOn).toContain('"plan_status": "IN_PROGRESS"');
  expect(sentOn).not.toContain('- COMPLETE:');
  expect(last).not.toContain('sends you on');
  expect(last).toContain('- COMPLETE:');
});

test.each([
  ['goes on', says('COMPLETE'), { status: 'completed', code: null }],
  ['asks again', says('NEEDS_INPUT'), { status: 'waiting', code: 'ANSWER_NEEDED' }],
])('an illegal report is refused and changes nothing; given back, its agent is at work and %s', (_what, said, end) => {
  const hasty = cast([says('NEEDS_INPUT'), said, said]);
  hasty.say({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'rerun' });
  expect(hasty.all('attempt.refused')).toMatchObject([{ verdict: { code: 'ILLEGAL_TRANSITION' }, repair: true }]);
  expect(hasty.all('report.noted')).toHaveLength(2);
  expect(hasty.all('attempt.started').at(-1)?.brief).toContain('You are set to work again');
  expect(hasty.cast).toMatchObject(end);
  expect(replayed(hasty.entries)).toEqual(hasty.state);
});

test('an illegal report that comes after the one repair costs an attempt too, and not the cast', () => {
  const asking = cast([says('NEEDS_INPUT'), 'no block', says('COMPLETE'), says('COMPLETE')]);
  asking.say({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'rerun' });
  const codes = asking.all('attempt.refused').map(({ verdict }) => verdict.code);
  expect(codes).toEqual(['NO_BLOCK', 'ILLEGAL_TRANSITION']);
  expect(asking.cast.status).toBe('completed');
  expect(replayed(asking.entries)).toEqual(asking.state);
});

test('after that a broken report is one too many', () => {
  const asking = cast([says('NEEDS_INPUT'), 'no block', says('COMPLETE'), 'no block', says('COMPLETE')]);
  asking.say({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'rerun' });
  expect(asking.cast).toMatchObject({ status: 'failed', code: 'CONTRACT_VIOLATION' });
  expect(asking.cast.reason).toContain('after 1 of 1 repair turns');
});

test('a person may give up on an agent that asks, and may not accept what it has not handed in', () => {
  const asking = cast([says('NEEDS_INPUT')]);
  expect(asking.tell({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'accept' }).code).toBe('NOT_ALLOWED_NOW');
  asking.say({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'fail', reason: 'no time' });
  expect(asking.cast).toMatchObject({ status: 'failed', code: 'AGENT_FAILED' });
});

test('BLOCKED without a way back lets the cast wait with the gap', () => {
  const stuck = cast([says('BLOCKED', { open_gaps: ['no access to the registry'] })]);
  expect(stuck.cast.status).toBe('waiting');
  expect(stuck.cast.reason).toContain('no access to the registry');
  expect(stuck.all('turn.blocked')).toHaveLength(1);
});

test.each([
  ['none', [], {}, 'its agent reported BLOCKED and named no gap; next_action: "done"'],
  ['filler', ['none'], {}, 'its agent reported BLOCKED and named no gap; next_action: "done"'],
  ['one beside the evidence', [], { consolidation_report: { open_gaps: ['no key'] } }, 'no key'],
])('the gap of a BLOCKED report: %s', (_what, open_gaps, more, reason) => {
  const stuck = cast([says('BLOCKED', { open_gaps, more }), says('COMPLETE')]);
  expect(stuck.all('turn.blocked')).toMatchObject([{ reason }]);
  expect(stuck.cast.reason).toContain(
    `Socket-1 is blocked: ${reason}. Put it right, then go on with: baton continue c`,
  );
  stuck.say({ kind: 'turn.answer', cast: 'c', output: 'it is in the drawer' });
  const { brief } = stuck.all('attempt.started').at(-1) ?? {};
  expect(brief).toMatch(/You reported: BLOCKED(?:: no key|, without a gap)\n/);
});

test('BLOCKED has a code of its own, whatever the report calls itself', () => {
  const stuck = cast([says('BLOCKED', { open_gaps: ['no key'], more: { x_code: 'LOCK_CONFLICT' } })]);
  expect(stuck.cast).toMatchObject({ status: 'waiting', code: 'AGENT_BLOCKED' });
  expect(stuck.all('turn.blocked')).toMatchObject([{ code: 'AGENT_BLOCKED', reason: 'no key' }]);
});

test('a person may tell a blocked agent what it lacks, in the same turn', () => {
  const stuck = cast([says('BLOCKED', { open_gaps: ['no key'] }), says('COMPLETE')]);
  stuck.say({ kind: 'turn.answer', cast: 'c', output: 'it is in the drawer' });
  expect(stuck.cast.status).toBe('completed');
  expect(stuck.path).toEqual(['Socket-1']);
  const { brief } = stuck.all('attempt.started').at(-1) ?? {};
  expect(brief).toContain('You reported: BLOCKED: no key\nA person answered: it is in the drawer');
  expect(replayed(stuck.entries)).toEqual(stuck.state);
});

test('a task that is blocked by its agent is handed out again when a person has spoken', () => {
  const config = graph(
    { 'Socket-1': { materia: 'Spec', ...gaia, edges: [always('end')] } },
    { materia: { Spec: { ...agent, tools: 'coding' } } },
  );
  const stuck = cast([says('BLOCKED', { open_gaps: ['no key'] }), says('COMPLETE')], config);
  const statuses = () => stuck.all('task.moved').map(({ to, code }) => code ?? to);
  expect(statuses()).toEqual(['AGENT_BLOCKED']);
  stuck.say({ kind: 'turn.answer', cast: 'c', output: 'look again' });
  expect(statuses()).toEqual(['AGENT_BLOCKED', 'todo', 'done']);
});

/** What the row of a turn that was no task is called: a UUID, so that no number is taken from a planner. */
const ROW = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);

test('the gap of an agent whose turn was no task stands in the ledger until the turn is over', () => {
  const stuck = cast([
    says('BLOCKED', { open_gaps: ['no key'] }),
    says('BLOCKED', { open_gaps: ['no lock'] }),
    says('COMPLETE'),
  ]);
  const rows = () =>
    tasksOf(stuck.state.ledger, 'c').map(({ id, status, code, reason, owner }) => [id, status, code, reason, owner]);
  expect(rows()).toEqual([[ROW, 'blocked', 'AGENT_BLOCKED', 'no key', 'Spec']]);
  stuck.say({ kind: 'turn.answer', cast: 'c', output: 'here it is' });
  expect(rows()).toEqual([[ROW, 'blocked', 'AGENT_BLOCKED', 'no lock', 'Spec']]);
  expect(stuck.all('items.planned')).toHaveLength(1);
  stuck.say({ kind: 'cast.resume', cast: 'c', reason: 'again' });
  expect(stuck.cast.status).toBe('completed');
  expect(rows()).toMatchObject([{ 0: ROW, 1: 'done', 2: null }]);
  expect(stuck.all('task.moved').map(({ to }) => to)).toEqual(['blocked', 'todo', 'blocked', 'todo', 'done']);
  expect(replayed(stuck.entries)).toEqual(stuck.state);
});

test('the row of a blocked turn has a name that no task of the run has', () => {
  const blocked = (...taken: string[]) => {
    const stuck = play({ config: one, agents: { Spec: [says('BLOCKED', { open_gaps: ['no key'] })] }, hold: true });
    planTasks(stuck.state.ledger, 'c', taken, bareSpec('by hand'), []);
    stuck.run();
    const ids = tasksOf(stuck.state.ledger, 'c').map(({ id }) => id);
    expect(ids).toEqual([...taken, ROW]);
    expect(stuck.turn.task).toBe(ids.at(-1));
    return ids.at(-1) ?? '';
  };
  const name = blocked('T-2');
  expect(blocked('T-2')).toBe(name);
  expect(blocked(name)).not.toBe(name);
});

test('an abort closes the row of a blocked turn, and a recast that is blocked again has another', () => {
  const stuck = cast([says('BLOCKED', { open_gaps: ['a'] }), says('BLOCKED', { open_gaps: ['b'] }), says('COMPLETE')]);
  const rows = () => tasksOf(stuck.state.ledger, 'c').map(({ status }) => status);
  stuck.say({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  expect(rows()).toEqual(['canceled']);
  stuck.say({ kind: 'cast.recast', cast: 'c' });
  expect(rows()).toEqual(['canceled', 'blocked']);
  stuck.say({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'rerun' });
  expect([stuck.cast.status, rows()]).toEqual(['completed', ['canceled', 'done']]);
  expect(replayed(stuck.entries)).toEqual(stuck.state);
});

test('a cast that is aborted while such a turn runs again can be recast to its end', () => {
  const stuck = cast([says('BLOCKED', { open_gaps: ['a'] }), says('COMPLETE')]);
  stuck.tell({ kind: 'turn.answer', cast: 'c', output: 'go on' });
  expect(stuck.turn).toMatchObject({ phase: 'running', task: ROW });
  stuck.tell({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  expect(tasksOf(stuck.state.ledger, 'c')).toMatchObject([{ id: ROW, status: 'canceled' }]);
  stuck.say({ kind: 'cast.recast', cast: 'c' });
  expect(stuck.cast.status).toBe('completed');
});

test('an agent that gets no further leaves a row too, and one that failed keeps it for a recast', () => {
  const stuck = cast([...Array(3).fill(says('IN_PROGRESS')), says('COMPLETE')]);
  const rows = () => tasksOf(stuck.state.ledger, 'c').map(({ status, code }) => [status, code]);
  expect(rows()).toEqual([['blocked', 'RETRY_LIMIT']]);
  stuck.say({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'fail' });
  expect([stuck.cast.status, rows()]).toEqual(['failed', [['blocked', 'RETRY_LIMIT']]]);
  stuck.say({ kind: 'cast.recast', cast: 'c' });
  expect([stuck.cast.status, rows()]).toEqual(['completed', [['done', null]]]);
});

test.each([
  ['rerun', { status: 'completed', code: null }],
  ['fail', { status: 'failed', code: 'AGENT_FAILED' }],
] as const)('a person decides about a blocked agent: %s', (choice, end) => {
  const stuck = cast([says('BLOCKED', { open_gaps: ['no key'] }), says('COMPLETE')]);
  expect(stuck.tell({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'accept' }).code).toBe('NOT_ALLOWED_NOW');
  stuck.say({ kind: 'turn.decide', cast: 'c', turn: 1, choice });
  expect(stuck.cast).toMatchObject(end);
  expect(replayed(stuck.entries)).toEqual(stuck.state);
});

test('what of a report could not be taken is told beside it', () => {
  const more = {
    memorialize_suggestions: [{ description: 'd' }, 5],
    memory_suggestions: 'notalist',
    update_contracts: [{ contract: 'services' }, { contract: 'services', payload: {} }],
  };
  const done = cast([says('COMPLETE', { more })]);
  expect(done.all('report.noted')).toMatchObject([
    {
      warnings: [
        'update_contracts[0]: not an object with contract and payload',
        'memorialize_suggestions[0]: body missing, skipped',
        'memorialize_suggestions[1]: not an object, skipped',
        'memory_suggestions: expected array, got a string',
      ],
    },
  ]);
  expect(done.all('context.rejected')).toMatchObject([{ code: 'WRITE_NOT_PERMITTED' }]);
});

test('evidence of a report that was taken is deposited, and a file is looked at first', () => {
  const about = { brief_id: 7, ac_id: 'AC-1' };
  const evidence = (payload: JsonObject) => ({ contract: 'evidence', payload: { ...about, ...payload } });
  const text = evidence({ type: 'text', text: 'seen' });
  const done = cast([says('COMPLETE', { more: { update_contracts: [text] } })]);
  expect(done.all('evidence.deposited')).toMatchObject([{ id: 'c-1.1-1', agent: 'Spec', turn: 1, text: 'seen' }]);
  expect(replayed(done.entries)).toEqual(done.state);

  const files = [evidence({ type: 'file', artifact_path: 'a.txt' }), text];
  const output = says('COMPLETE', { more: { update_contracts: files } });
  for (const [inside, deposited, refused] of [
    [true, ['a.txt', undefined], []],
    [false, [], ['EVIDENCE_OUTSIDE', 'EVIDENCE_WITHHELD']],
  ] as const) {
    const held = play({ config: one, agents: { Spec: [output] }, hold: true });
    const where = { cast: 'c', turn: 1, attempt: 1 } as const;
    held.tell({ kind: 'turn.prepared', ...where });
    held.tell({ kind: 'attempt.output', ...where, output });
    expect([held.turn.phase, held.owed[0]?.kind]).toEqual(['verifying', 'verify']);
    held.tell({ kind: 'turn.verified', ...where, seal: '', artifacts: { 'a.txt': { inside, bytes: 5 } } });
    expect(held.cast.status).toBe('completed');
    expect(held.all('evidence.deposited').map(({ artifact_path }) => artifact_path)).toEqual(deposited);
    expect(held.all('context.rejected').map(({ code }) => code)).toEqual(refused);
  }
});

test('of many warnings the first are told, and how many more there are', () => {
  const done = cast([says('COMPLETE', { more: { memorialize_suggestions: Array(50).fill(5) } })]);
  const [{ warnings = [] } = {}] = done.all('report.noted');
  expect([warnings.length, warnings.at(-1)]).toEqual([21, 'and 30 more']);
});

test('BLOCKED with a way back is rework, and counts as set to work again', () => {
  const done = cast([says('BLOCKED', { open_gaps: ['no key'] }), says('COMPLETE')], withRework);
  expect(done.cast.status).toBe('completed');
  expect(done.path).toEqual(['Socket-1', 'Socket-2', 'Socket-1']);
  expect(done.all('rework.noted')).toMatchObject([{ note: { reason: 'no key' } }]);
});

test('a broken report is given back once with its codes, then the cast fails honestly', () => {
  const report = reportOf('COMPLETE');
  const { evidence_report: _evidence, ...broken } = report;
  const failed = cast([asBlock(broken), asBlock(broken), says('COMPLETE')]);
  expect(failed.cast).toMatchObject({ status: 'failed', code: 'CONTRACT_VIOLATION' });
  const [, second] = failed.all('attempt.started');
  expect(second?.brief).toContain('EVIDENCE_REPORT');
});

test('nothing of a refused report is kept: neither what it writes nor what it suggests', () => {
  const { evidence_report: _evidence, ...broken } = {
    ...reportOf('COMPLETE'),
    memory_suggestions: ['remember me'],
    update_contracts: [{ contract: 'services', payload: { a: 1 } }],
  };
  const failed = cast([asBlock(broken), asBlock(broken)]);
  expect(failed.entries.some(({ fact }) => /^(?:context|memory|report)\./.test(fact.kind))).toBe(false);
});

test('an id of the wrong form is refused even from a script', () => {
  const report = reportOf('COMPLETE');
  const refused = cast([
    asBlock({ ...report, agent_status: { ...report.agent_status, agent_id: 'bogus' } }),
    says('COMPLETE'),
  ]);
  expect(refused.all('attempt.refused')[0]?.verdict.details.invalid).toEqual(['AGENT_ID:bogus']);
  expect(refused.cast.status).toBe('completed');
});
