import { expect, test } from 'vitest';
import type { TaskView } from '../app/views/result.ts';
import type { CastView } from '../app/views/shown-cast.ts';
import type { Consolidation, Proposal } from '../kernel/report/consolidation.ts';
import { itemLines, reportLines, resultLines } from './result-lines.ts';

const item = (title: string, files?: number): TaskView => ({
  ...{ task: 'T-1', title, status: 'done', owner: 'Build', code: null, reason: '', fence: 1, isItem: true },
  ...(files === undefined ? {} : { files }),
});

test.each([80, 60, undefined])('the table of items fits a terminal of %s columns', (columns) => {
  const lines = itemLines([item('a long title '.repeat(10), 0), item('Two', 3)], columns).map((line) =>
    typeof line === 'string' ? line : line.text,
  );
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/^a long title .*… +done +changed no file$/);
  expect(lines[2]).toMatch(/^Two +done +3 files$/);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns ?? 90);
});

test.each([
  [
    'a list of items',
    '{"workItems":[{"title":"One","context":"x"},{"title":"Two","context":"y"}]}',
    ['  1. One', '  2. Two'],
  ],
  ['another object', '{"note":"x"}', ['  {"note":"x"}']],
  ['no JSON', '{ is a brace', ['  { is a brace']],
])('the last text, %s', (_name, text, lines) => {
  const last = { turn: 1, socket: 'Socket-1', name: 'plan', materia: 'plan', text };
  const result = { last, failure: null, nothingPlanned: false, files: null, checks: null };
  expect(resultLines({ cast: 'c', result: result as never }, 'baton')).toEqual(['plan:', ...lines]);
});

const proposal = (over: Partial<Proposal>): Proposal => ({
  ...{ agent: 'A', by: 'B', socket: 'Socket-1', allowed: true, noWay: null, refusal: null, reported: false },
  ...over,
});
const EMPTY: Consolidation = {
  ...{ agents: ['A', 'B'], reports: [], ownership: [], confirmed: [], suspected: [], conflicts: [], openGaps: [] },
  ...{ crossLayerImpacts: [], verification: [], rollbacks: [], proposals: [], contextConsumption: [], summary: '' },
  ...{ findings: [], leftOut: 0 },
};

test.each([
  ['to an agent that has not spoken', {}, ['proposed  A (by B): a way leads there, to Socket-1']],
  ['to one that has spoken, and may again', { reported: true }, []],
  [
    'to one that has spoken, where no way leads there',
    { reported: true, allowed: false, noWay: 'no edge leads there from Socket-2' },
    ['proposed  A (by B): no edge leads there from Socket-2'],
  ],
  [
    'to one that has spoken, where the boundaries are against it',
    { reported: true, allowed: false, refusal: 'never' },
    ['proposed  A (by B): the boundaries refuse it: never'],
  ],
] as const)('a proposal %s', (_name, over, lines) => {
  const view = { report: { ...EMPTY, proposals: [proposal(over)] } } as unknown as CastView;
  expect(reportLines(view, 'baton')).toEqual(lines);
});

test('what is left out is counted with the way to it, and what is shown in full leaves nothing out', () => {
  const report = { ...EMPTY, summary: 'A: 1\nB: 2\n… and 1 more', findings: ['A: 1', 'B: 2', 'A: 3'], leftOut: 1 };
  const view = { cast: 'c', report } as unknown as CastView;
  expect(reportLines(view, 'baton')).toEqual([
    'summary   A: 1',
    '          B: 2',
    '          … and 1 more: baton show c',
  ]);
  expect(reportLines(view, 'baton', true)).toEqual(['summary   A: 1', '          B: 2', '          A: 3']);
});

test.each([
  [['A'], ['verified  WI-1: pass', '          WI-2: pass']],
  [
    ['A', 'B'],
    ['verified  A on WI-1: pass', '          A on WI-2: pass'],
  ],
])('the same of several items of %j names the item', (agents, lines) => {
  const verification = ['WI-1', 'WI-2'].map((item) => ({ agent: 'A', item, text: 'pass' }));
  const view = { report: { ...EMPTY, agents, verification } } as unknown as CastView;
  expect(reportLines(view, 'baton')).toEqual(lines);
});
