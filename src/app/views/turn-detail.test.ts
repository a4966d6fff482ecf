import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { type Play, play } from '../../../test/play.ts';
import { asBlock, reportOf } from '../../../test/reports.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { foldAll } from './cast-view.ts';
import { differencesIn } from './reported.ts';
import { shownCast } from './shown-cast.ts';
import { turnDetailOf } from './turn-detail.ts';

const CONFIG = graph(
  { 'Socket-1': { materia: 'Spec', parse: 'json', contract: 'gaia', edges: [always('end')] } },
  { materia: { Spec: { tools: 'none', prompt: 'Find it.' } } },
);
const nothing = () => null;

type Words = readonly [output: string, commands?: readonly string[]];

/** A cast whose agent says these things, each with the commands it ran, where they are known. */
function told(...turns: readonly Words[]): Play {
  const cast = play({ config: CONFIG, agents: { Spec: turns.map(([output]) => output) }, hold: true });
  for (const [output, commands] of turns) {
    const { id: turn, attempt, phase } = cast.turn;
    if (phase === 'asked') cast.tell({ kind: 'turn.answer', cast: 'c', output: 'blue' });
    const now = phase === 'asked' ? cast.turn.attempt : attempt;
    const agent = commands ? { agent: { model: 'm', commands } } : {};
    const usage = { input: 10, output: 5, cost: 0.5 };
    cast.tell({ kind: 'attempt.output', cast: 'c', turn, attempt: now, output, usage, ...agent });
  }
  return cast;
}
const detail = ({ entries }: Play, read: (output: string) => JsonObject | null = nothing) =>
  turnDetailOf(foldAll(entries), 1, (_socket, output) => read(output));
const says = (...parts: Parameters<typeof reportOf>) => asBlock(reportOf(...parts));

test('a turn that the cast has not had is none', () => {
  const { entries } = told();
  expect(turnDetailOf(foldAll(entries), 2, nothing)).toBeNull();
});

test('what was told, what was asked, what was answered and what came of it', () => {
  const cast = told([says('NEEDS_INPUT', { next_action: 'which colour?' }), []], [says('COMPLETE'), []]);
  expect(detail(cast)).toMatchObject({
    ...{ cast: 'c', turn: 1, socket: 'Socket-1', materia: 'Spec', visit: 1, item: null },
    input: { agent_contract_handoff: { goal: 'do it' } },
    attempts: [
      { attempt: 1, verdict: { code: 'ANSWER_NEEDED' }, usage: { input: 10 } },
      { attempt: 2, verdict: { code: 'OK', reason: 'accepted' }, brief: expect.stringContaining('blue') },
    ],
    reports: [
      { attempt: 1, note: { status: 'NEEDS_INPUT' } },
      { attempt: 2, note: { status: 'COMPLETE' } },
    ],
    exchange: [
      { from: 'agent', by: 'Spec', text: 'which colour?' },
      { from: 'person', by: 'test', text: 'blue' },
    ],
    usage: { input: 20, output: 10, cost: 1 },
    models: ['m'],
  });
});

test('an attempt that runs has no verdict, and one that was refused has its own', () => {
  expect(detail(told())?.attempts).toMatchObject([{ attempt: 1, verdict: null, output: null, usage: null }]);
  expect(detail(told(['no block']))?.attempts).toMatchObject([
    { verdict: { code: 'NO_BLOCK' }, output: 'no block' },
    { verdict: null },
  ]);
});

test('a COMPLETE that its own loop holds is told as held, with the round and what it lacks', () => {
  const loop_state = { iteration: 1, max_iterations: 3, metric: 0.2, threshold: 0.9 };
  const cast = told([says('COMPLETE', { more: { loop_state } })]);
  const reason =
    'COMPLETE is not accepted yet, round 1 of 3: at iteration 1 of 3 the metric is 0.2, below its threshold of 0.9';
  const held = { allow: false, code: 'LOOP_STATE_INCOMPLETE', reason };
  expect(detail(cast)?.attempts).toMatchObject([{ verdict: held }, { verdict: null }]);
  expect(shownCast(foldAll(cast.entries), { seq: 0, hash: '' }, true).turns).toMatchObject([
    { verdict: held },
    { verdict: null },
  ]);
});

test('evidence is told by its keys, and what was rolled back as it was said', () => {
  const more = { rollback_executed: 'git revert', context_consumption: { tokens_used: 7 } };
  const cast = told([says('COMPLETE', { key_outputs: ['x'], commands_run: ['ls'], more })]);
  expect(detail(cast)?.reports).toMatchObject([
    {
      evidence: { commands_run: ['ls'], key_outputs: ['x'], open_gaps: [], verification: { result: 'pass' } },
      rollbackExecuted: 'git revert',
      contextConsumption: { tokens_used: 7 },
    },
  ]);
});

test('a report of which only the text was kept is read again', () => {
  const blocked = told([says('BLOCKED', { open_gaps: ['no key'], commands_run: ['ls'] }), ['pwd']]);
  expect(detail(blocked)?.reports).toMatchObject([{ note: { status: 'BLOCKED' }, evidence: null }]);
  const report = { evidence_report: { commands_run: ['ls'] } };
  const read = detail(blocked, (output) => (output.includes('no key') ? report : null));
  expect(read).toMatchObject({
    reports: [{ evidence: { commands_run: ['ls'] } }],
    commands: { ran: ['pwd'], notRun: ['ls'], unnamed: ['pwd'] },
  });
});

test('what it wrote for others, and what was refused', () => {
  const more = { update_contracts: [{ contract: 'services', payload: { a: 1 } }], memory_suggestions: ['use UTC'] };
  expect(detail(told([says('COMPLETE', { more })]))).toMatchObject({
    context: [{ section: 'services', written: false, code: 'WRITE_NOT_PERMITTED' }],
    memory: [{ body: 'use UTC' }],
  });
});

test('what was asked of a person and decided stands in order', () => {
  const cast = told();
  const at = '2026-01-01T00:00:00.000Z';
  const sealed = { operation: 'apply', commands: [{ display: 'terraform apply' }] };
  const facts = [
    { kind: 'approval.requested', id: 'P-1', cast: 'c', turn: 1, attempt: 1, sealed },
    { kind: 'approval.approved', id: 'P-1', cast: 'c', turn: 1, by: 'ann', reason: 'fine', until: 1 },
    { kind: 'approval.finished', id: 'P-1', cast: 'c', turn: 1, index: 0, exit: 0 },
    { kind: 'approval.approved', id: 'P-2', cast: 'c', turn: 2, by: 'ann', reason: '', until: 1 },
  ] as unknown as readonly Entry['fact'][];
  const entries = facts.map((fact) => ({ v: 1, seq: 0, at, prev: '', by: 'ann', fact }));
  expect(turnDetailOf(foldAll([...cast.entries, ...entries]), 1, nothing)?.approvals).toEqual([
    { id: 'P-1', at, what: 'requested', by: null, said: 'apply; terraform apply' },
    { id: 'P-1', at, what: 'approved', by: 'ann', said: 'fine' },
    { id: 'P-1', at, what: 'finished', by: null, said: 'exit 0' },
  ]);
});

test.each<[string, Words[], object[]]>([
  ['as it was', [[says('COMPLETE', { commands_run: ['ls'] }), ['ls']]], []],
  [
    'more than was run',
    [[says('COMPLETE', { commands_run: ['ls'] }), []]],
    [{ turn: 1, agent: 'Spec', notRun: ['ls'], unnamed: [] }],
  ],
  ['less than was run', [[says('COMPLETE'), ['ls']]], [{ turn: 1, agent: 'Spec', notRun: [], unnamed: ['ls'] }]],
  [
    'what an earlier attempt ran',
    [
      ['no block', ['ls']],
      [says('COMPLETE', { commands_run: ['ls'] }), []],
    ],
    [],
  ],
  ['something, where nobody knows what was run', [[says('COMPLETE', { commands_run: ['ls'] })]], []],
  [
    'otherwise in its last report than in its first',
    [
      [says('IN_PROGRESS', { commands_run: ['pwd'] }), ['ls']],
      [says('COMPLETE', { commands_run: ['ls'] }), []],
    ],
    [],
  ],
])('a report names %s', (_what, turns, differences) => {
  const { entries } = told(...turns);
  expect(differencesIn(foldAll(entries).reports)).toEqual(differences);
  const view = shownCast(foldAll(entries), { seq: 0, hash: '' }, false);
  expect(view.differences).toEqual(differences.length === 0 ? undefined : differences);
  expect(view.report).toMatchObject({ agents: ['Spec'] });
});

test('a cast without such reports has no report of them all', () => {
  const plain = graph({ 'Socket-1': { materia: 'Spec' } }, { materia: { Spec: { tools: 'none', prompt: 'Do it.' } } });
  const { entries } = play({ config: plain, agents: { Spec: ['done'] } });
  expect(shownCast(foldAll(entries), { seq: 0, hash: '' }, false)).not.toHaveProperty('report');
});
