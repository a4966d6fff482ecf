import { expect, test } from 'vitest';
import { always, crew, graph, no, notSatisfied, plan, satisfied, workflow, yes } from '../../../test/loadouts.ts';
import { type Play, play } from '../../../test/play.ts';
import { asBlock, reportOf } from '../../../test/reports.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { foldAll } from './cast-view.ts';
import { resultOf } from './result.ts';

const result = ({ entries }: Play) => resultOf(foldAll(entries));

const row = (...materia: readonly string[]) =>
  graph(
    Object.fromEntries(
      materia.map((name, index) => {
        const next = index + 1 < materia.length ? { edges: [always(`Socket-${index + 2}`)] } : {};
        return [`Socket-${index + 1}`, { materia: name, ...next }];
      }),
    ),
    { materia: { Note: { tools: 'none', prompt: 'Note it.', parse: 'text' } } },
  );

test.each<[string, readonly string[], Record<string, readonly Json[]>, string | null]>([
  ['the last text', ['Note', 'Note'], { Note: ['first', 'second'] }, 'second'],
  ['prose before an object that came later', ['Note', 'Judge'], { Note: ['prose'], Judge: [yes] }, 'prose'],
  ['an object where there is no prose', ['Judge'], { Judge: [yes] }, JSON.stringify(yes)],
  ['no output of a utility beside agents', ['Note', 'Tool'], { Note: ['prose'], Tool: [yes] }, 'prose'],
  ['the output of a utility without agents', ['Tool'], { Tool: [{ satisfied: true }] }, '{"satisfied":true}'],
  ['no blank text', ['Note', 'Note'], { Note: ['said', ' \n'] }, 'said'],
])('the last text is %s', (_name, materia, agents, text) => {
  expect(result(play({ config: row(...materia), agents })).last?.text ?? null).toBe(text);
});

test('a long text is cut, and says so', () => {
  const { last } = result(play({ config: row('Note'), agents: { Note: ['x'.repeat(20_000)] } }));
  expect([last?.text.length, last?.isCut]).toEqual([16_000, true]);
});

test('a turn that was repaired is no failure; the turn that stopped the cast is', () => {
  const repaired = play({ config: row('Judge'), agents: { Judge: ['no', yes] } });
  expect(result(repaired).failure).toBeNull();
  const failed = play({ config: row('Note', 'Judge'), agents: { Note: ['said'], Judge: ['no', 'never'] } });
  expect(result(failed)).toMatchObject({
    last: { text: 'said', turn: 1 },
    failure: { turn: 2, socket: 'Socket-2', materia: 'Judge', attempt: 2, code: 'NOT_JSON', text: 'never' },
  });
});

test.each<[code: string, cast: () => Play]>([
  [
    'EDGE_BUDGET_EXHAUSTED',
    () =>
      play({
        config: workflow({ 'sockets.Socket-3.edges': [satisfied('Socket-4'), notSatisfied('Socket-2', 1)] }),
        agents: crew({ Eval: [no('red once'), no('red twice')] }),
      }),
  ],
  [
    'ITEMS_LEFT',
    () =>
      play({
        config: workflow({ 'sockets.Socket-3.edges': [satisfied('Socket-4')] }),
        agents: crew({ Eval: [no('red twice')] }),
      }),
  ],
  ['NO_PROGRESS', () => play({ config: workflow(), agents: crew({ Eval: [no('red twice'), '$repeat'] }) })],
])('what the turn said that rejected the work is shown where it stops the cast: %s', (code, made) => {
  const cast = made();
  expect([cast.cast.status, cast.cast.code]).toEqual(['failed', code]);
  expect(result(cast)).toMatchObject({
    last: { text: 'built' },
    failure: { socket: 'Socket-3', code, text: expect.stringContaining('red twice'), issues: [] },
  });
});

test('a failure that was put right is not told again with the next one', () => {
  const config = workflow({ 'sockets.Socket-3.edges': [satisfied('Socket-4'), notSatisfied('Socket-2', 1)] });
  const agents = crew({
    Build: ['', '', 'built', '$repeat'],
    Plan: ['bad', 'worse', plan(1)],
    Eval: [no('red'), '$repeat'],
  });
  const cast = play({ config, agents });
  expect(result(cast).failure).toMatchObject({ socket: 'Socket-1', text: 'worse' });
  cast.say({ kind: 'cast.recast', cast: 'c' });
  expect(cast.cast.code).toBe('EDGE_BUDGET_EXHAUSTED');
  expect(result(cast).failure).toMatchObject({ socket: 'Socket-3', text: expect.stringContaining('red') });
});

test('a report with a status is known as one, and the prose of another agent is shown before it', () => {
  const sockets = (edges: JsonObject[]) => ({
    'Socket-1': { materia: 'Spec', parse: 'json', contract: 'gaia', edges },
    'Socket-2': { materia: 'Sum' },
  });
  const materia = { Spec: { tools: 'none', prompt: 'Find it.' }, Sum: { tools: 'none', prompt: 'Sum up.' } };
  const agents = { Spec: [asBlock(reportOf('COMPLETE'))], Sum: ['all of it'] };
  const made = (to: string) => play({ config: graph(sockets([always(to)]), { materia }), agents });
  expect(result(made('end')).last).toMatchObject({ socket: 'Socket-1', isReport: true });
  expect(result(made('Socket-2')).last).toEqual({
    ...{ turn: 2, socket: 'Socket-2', name: 'Sum', materia: 'Sum', text: 'all of it' },
  });
});

test('a question that follows a refused report is no failure', () => {
  const config = graph(
    { 'Socket-1': { materia: 'Spec', parse: 'json', contract: 'gaia', edges: [always('end')] } },
    { materia: { Spec: { tools: 'none', prompt: 'Find it.' } } },
  );
  const asks = asBlock(reportOf('NEEDS_INPUT', { next_action: 'ask', more: { consolidation_report: null } }));
  const cast = play({ config, agents: { Spec: ['no report', asks] } });
  expect([cast.cast.status, result(cast).failure]).toEqual(['waiting', null]);
});

test('a cast that was stopped by its budget does not show a failure that was repaired before', () => {
  const config = { ...row('Judge', 'Note'), budget: { maxTokens: 5 } };
  const stopped = play({ config, agents: { Judge: ['no', { $turn: { output: yes, usage: { input: 9 } } }] } });
  expect(stopped.cast).toMatchObject({ status: 'failed', code: 'BUDGET_EXHAUSTED' });
  expect(result(stopped).failure).toBeNull();
});

test('of a failed attempt the last words are kept, at most so many and without secrets', () => {
  const key = `AKIA${'B'.repeat(16)}`;
  const crashed = play({ config: row('Note') });
  const at = { cast: 'c', turn: 1 };
  crashed.tell({ kind: 'turn.prepared', ...at, attempt: 1 });
  const said = `${'x'.repeat(9_000)} ${key} end`;
  crashed.tell({ kind: 'attempt.failed', ...at, attempt: 1, fault: 'refused', reason: 'broken', said });
  const { failure } = result(crashed);
  expect(failure?.text).toMatch(/x.* end$/);
  expect(failure?.text).not.toContain('BBBB');
  expect(failure?.text.length).toBe(4_000);
});

test('that nothing was planned is known', () => {
  const idle = play({ config: workflow(), agents: { 'Socket-1': [plan(0)] } });
  expect(result(idle)).toMatchObject({ nothingPlanned: true, failure: null });
  const busy = play({ config: row('Note'), agents: { Note: ['said'] } });
  expect(result(busy)).not.toHaveProperty('nothingPlanned');
});
