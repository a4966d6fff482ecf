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

test('a narrow terminal does without the columns that may be spared', () => {
  const rows = [['2026-1', 'waiting', '45 s', 'a request that is long']];
  const head = ['cast', 'status', 'took', 'request'];
  expect(textOf(rows, head, ['cast', 'status'], 34, ['took'])).toEqual([
    'cast    status   request',
    '2026-1  waiting  a request that i…',
  ]);
  expect(textOf(rows, head, ['cast', 'status'], 44, ['took'])[0]).toContain('took');
});

test('why, and what to do, are not cut: they go on below', () => {
  const reason = 'set OPENAI_API_KEY, or run codex login once';
  expect(textOf([['codex', 'no', reason]], ['runner', 'ready', 'why'], [], 40)).toEqual([
    'runner  ready  why',
    'codex   no     set OPENAI_API_KEY, or',
    '               run codex login once',
  ]);
  expect(textOf([['a runner with a name', 'no', reason]], ['runner', 'ready', 'why'], ['runner'], 40)).toEqual([
    'runner                ready  why',
    'a runner with a name  no',
    '    set OPENAI_API_KEY, or run codex',
    '    login once',
  ]);
  expect(textOf([['x', reason.repeat(3)]], ['runner', 'why'])[1]).toContain(reason.repeat(3));
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
