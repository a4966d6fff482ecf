// What is kept of the lines sockets leave for others, and how much.
import { expect, test } from 'vitest';
import { linesFor, withLine, withoutList, withoutNoted } from './notes.ts';
import type { ContextNote, Item, ReworkNote } from './state.ts';

const item = (index: number, cursorKey = 'i'): Item => {
  return { key: `WI-${index + 1}`, label: 'x', index, total: 9, items: 'state.workItems', as: 'workItem', cursorKey };
};
const heard: readonly ContextNote[] = [
  { about: null, line: 'all' },
  { about: 'i:0', line: 'first' },
  { about: 'i@b:0', line: 'first of another list' },
  { about: 'i:10', line: 'eleventh' },
];

test.each<[string, Item | null, string[]]>([
  ['on no item hears everything', null, ['all', 'first', 'first of another list', 'eleventh']],
  ['on an item hears what concerns it', item(0), ['all', 'first']],
  ['on the same place of another list hears of that', item(0, 'i@b'), ['all', 'first of another list']],
  ['on an item nobody spoke of hears what is for all', item(1), ['all']],
])('who works %s', (_who, about, lines) => {
  expect(linesFor(heard, about)).toEqual(lines);
});

test('the newest lines are kept, whole ones, up to a bound', () => {
  const many = Array.from({ length: 50 }, (_, n) => `${n} ${'x'.repeat(300)}`);
  const kept = many.reduce<readonly ContextNote[]>((all, line) => withLine(all, null, line), []);
  expect(kept.map(({ line }) => line)).toEqual(many.slice(-13));
  expect(withLine(kept, null, 'y'.repeat(9000)).map(({ line }) => line.length)).toEqual([4000]);
});

test('a new list takes what was said about the old one with it', () => {
  expect(linesFor(withoutList(heard, 'i'), null)).toEqual(['all', 'first of another list']);
});

const note = (reason: string): ReworkNote => {
  return {
    from: 'Socket-3',
    label: 'Eval',
    target: 'Socket-2',
    when: 'not_satisfied',
    item: null,
    itemLabel: null,
    reason,
  };
};

test.each([
  ['[Socket-3 Eval] tests\n fail', 'tests fail', 0],
  ['[Socket-3 Eval] an older remark', 'tests fail', 1],
  ['[Socket-30 Eval] tests fail', 'tests fail', 1],
])('%j is dropped once %j became a note: %i left', (line, reason, left) => {
  expect(withoutNoted([{ about: null, line }], [note(reason)])).toHaveLength(left);
});
