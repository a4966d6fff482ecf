import { expect, test, vi } from 'vitest';
import { always, crew, graph, no, workflow, yes } from '../../test/loadouts.ts';
import { play } from '../../test/play.ts';
import { asBlock, reportOf } from '../../test/reports.ts';
import type { Entry } from '../kernel/fact.ts';
import { progressFor } from './progress.ts';
import { codeIn, storyteller } from './story.ts';

const CONFIG = graph(
  { 'Socket-1': { materia: 'Spec', parse: 'json', contract: 'gaia', edges: [always('end')] } },
  { materia: { Spec: { tools: 'none', prompt: 'Find it.' } } },
);
const inLoop = (metric: number) =>
  asBlock(reportOf('COMPLETE', { more: { loop_state: { iteration: 1, max_iterations: 2, metric, threshold: 0.9 } } }));

/** What is told of a cast while it runs. */
function linesOf(entries: readonly Entry[], json = true): readonly string[] {
  const lines: string[] = [];
  const screen = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  const progress = progressFor({ env: {}, json } as never, 'c');
  progress.take(entries);
  progress.stop();
  screen.mockRestore();
  return lines;
}

test('what its own loop holds goes on, and what breaks its contract is refused and given back', () => {
  const { entries } = play({ config: CONFIG, agents: { Spec: [inLoop(0.2), 'no block', inLoop(0.95)] } });
  const why =
    'COMPLETE is not accepted yet, round 1 of 2: at iteration 1 of 2 the metric is 0.2, below its threshold of 0.9';
  const [held, broken] = linesOf(entries).filter((line) => /goes on|refused/.test(line));
  expect(held).toContain(`… Spec · goes on with its loop: ${why} ·`);
  expect(broken).toMatch(/✗ Spec · refused, one repair turn: /);
  const told = storyteller();
  const story = entries.map((entry) => [codeIn(entry.fact), told(entry)]);
  expect(story).toContainEqual(['LOOP_STATE_INCOMPLETE', `Spec goes on with its loop: ${why}`]);
});

test('a provider that is asked again for the same reason gets one line', () => {
  const lines: string[] = [];
  const screen = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  const progress = progressFor({ env: {}, json: true } as never, 'c');
  for (const reason of ['server error', 'server error', 'server error', 'connection reset'])
    progress.hear(1, { kind: 'waiting', forMs: 2_000, reason });
  progress.stop();
  screen.mockRestore();
  expect(lines.filter((line) => line.includes('waits')).map((line) => line.split(': ')[1])).toEqual([
    'server error\n',
    'connection reset\n',
  ]);
});

const reworked = (entries: readonly Entry[]) =>
  linesOf(entries).flatMap((line) => /↺.*/.exec(line)?.[0].replace(/ {2,}/g, ' ') ?? []);

test('rework is counted where the edge back is taken, with the number that is allowed', () => {
  const config = workflow({ 'sockets.Socket-3.edges.1.maxTraversals': 3 });
  const cast = play({ config, agents: crew({ Eval: [no('tests fail'), '$repeat'] }) });
  const rounds = [1, 2, 3].map((round) => `↺ back to Build, round ${round} of 3: tests fail`);
  const last = '↺ not sent back to Build again: tests fail';
  expect(reworked(cast.entries)).toEqual([...rounds, last]);
  cast.say({ kind: 'cast.revive', cast: 'c' });
  const more = [4, 5, 6].map((round) => `↺ back to Build, round ${round} of 6: tests fail`);
  expect(reworked(cast.entries)).toEqual([...rounds, last, ...more, last]);
});

test('a spent edge that asks shows the rejection, and counts on with what a person allows', () => {
  const edits = { 'sockets.Socket-3.edges.1.maxTraversals': 1, 'sockets.Socket-3.edges.1.then': 'ask' };
  const cast = play({ config: workflow(edits), agents: crew({ Eval: [no('tests fail'), '$repeat'] }) });
  const last = '↺ not sent back to Build again: tests fail';
  expect(reworked(cast.entries)).toEqual(['↺ back to Build, round 1 of 1: tests fail', last]);
  cast.say({ kind: 'cast.resume', cast: 'c', reason: 'once more' });
  expect(reworked(cast.entries).slice(2)).toEqual(['↺ back to Build, round 2 of 2: tests fail', last]);
});

test('each item counts its own rework, and an edge without a limit names none', () => {
  const cast = play({ config: workflow(), agents: crew({ Eval: [no('a'), no('b'), yes, no('c'), yes] }) });
  expect(reworked(cast.entries)).toEqual([
    '↺ back to Build, round 1: a',
    '↺ back to Build, round 2: b',
    '↺ back to Build, round 1: c',
  ]);
});

test('a skipped item is no rework', () => {
  const config = workflow({
    'sockets.Socket-3.advance': { cursor: 'workItemIndex', items: 'state.workItems', when: 'not_satisfied' },
    'loops.main.exits.1': { id: 'x', from: 'Socket-3', condition: 'always', targetSocketId: 'Socket-5' },
  });
  const cast = play({ config, agents: crew({ Eval: [no('skip it'), yes] }) });
  expect([cast.cast.status, reworked(cast.entries)]).toEqual(['completed', []]);
});

test.each([
  [true, 1],
  [false, 0],
])('where a cast waits, its reason is left to the closing lines, which --json (%s) does not have', (json, times) => {
  const { cast, entries } = play({ config: CONFIG, agents: { Spec: [asBlock(reportOf('BLOCKED'))] } });
  expect(cast.status).toBe('waiting');
  const lines = linesOf(entries, json).filter((line) => /blocked \(|waiting/.test(line));
  expect(lines).toHaveLength(1 + times);
  const reason = entries.flatMap(({ fact }) => (fact.kind === 'turn.blocked' ? [fact.reason] : []))[0] ?? 'none';
  // The line of the turn leaves it to the line of the cast.
  expect(lines.filter((line) => line.includes(reason))).toHaveLength(times);
});

test('a turn that is blocked after it was accepted keeps its name, and so does its next attempt', () => {
  const { entries } = play({ config: workflow(), agents: crew() });
  const judged = entries.find(({ fact }) => fact.kind === 'turn.started' && fact.socket === 'Socket-3');
  const turn = judged?.fact.kind === 'turn.started' ? judged.fact.turn : 0;
  const started = entries.filter(({ fact }) => fact.kind === 'attempt.started' && fact.turn === turn);
  const usage = { input: 0, output: 0, cost: 0 };
  const why = { code: 'ITEMS_LEFT', reason: 'no edge' };
  const blocked = { kind: 'turn.blocked', cast: 'c', turn, attempt: 1, output: '', usage, ...why } as const;
  const again = [...entries, { ...entries[0], fact: blocked }, ...started] as readonly Entry[];
  const lines = linesOf(again).slice(-2).join('');
  expect(lines).toContain('✗ Eval · 1/2 Item 1 · blocked (ITEMS_LEFT): no edge');
  expect(lines).toContain('▸ Eval · 1/2 Item 1');
});
