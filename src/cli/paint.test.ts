import { expect, test } from 'vitest';
import { table } from './paint.ts';

const textOf = (...given: Parameters<typeof table>) => table(...given).map(({ text }) => text);

test('a long cell is cut, but not one that a person has to give back as it is', () => {
  const id = `context:${'c'.repeat(64)}`;
  const [, row = ''] = textOf([[id, 'x'.repeat(100)]], ['id', 'reason'], ['id']);
  expect(row).toContain(id);
  expect(row).toContain('…');
  expect(textOf([[id]], ['id'])[1]).toContain('…');
});

test('in a terminal the widest columns give way, so that a row fits', () => {
  const rows = [['2026-1', 'waiting', 'a request that is much longer than the terminal is wide']];
  expect(textOf(rows, ['cast', 'status', 'request'], ['cast'], 40)).toEqual([
    'cast    status   request',
    '2026-1  waiting  a request that is much…',
  ]);
});

test('cells of wide characters begin below each other', () => {
  expect(
    textOf(
      [
        ['日本', 'a'],
        ['x', 'b'],
      ],
      ['id', 'what'],
    ),
  ).toEqual(['id    what', '日本  a', 'x     b']);
});
