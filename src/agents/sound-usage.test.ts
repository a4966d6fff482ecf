import { expect, test } from 'vitest';
import type { Json } from '../kernel/json.ts';
import { addUsage, figure, ofWhichCached, soundUsage } from './report.ts';

test.each<[string, number, number, number]>([
  ['whole numbers', 12, 12, 0],
  ['nothing', 0, 0, 0],
  ['as much as can be', 1e12, 1e12, 0],
  ['too much', 1e12 + 1, 0, 1],
  ['a part of a token', 1.5, 0, 1],
  ['less than nothing', -1, 0, 1],
  ['no end of it', Number.POSITIVE_INFINITY, 0, 1],
  ['no number', Number.NaN, 0, 1],
])('of tokens: %s', (_what, input, counted, doubts) => {
  const sound = soundUsage({ input, output: 3, cost: 0.5 });
  expect([sound.usage, sound.doubts.length]).toEqual([{ input: counted, output: 3, cost: 0.5 }, doubts]);
});

test.each<[Json | undefined, number, number]>([
  [undefined, 0, 0],
  [null, 0, 0],
  [0, 0, 0],
  [7, 7, 0],
  [1.5, 0, 1],
  [-5_000, 0, 1],
  ['12', 0, 1],
  [true, 0, 1],
  [Number.POSITIVE_INFINITY, 0, 1],
])('a provider that tells %j as its cached tokens and as a part of its input', (told, counted, doubts) => {
  const known = { input: 10, output: 1, cost: 0 };
  const sum = addUsage(known, { input: figure(told), output: 1, cost: 0, ...ofWhichCached(figure(told)) });
  const { usage, doubts: all } = soundUsage(sum);
  const input = doubts === 0 ? 10 + counted : 0;
  expect(usage).toEqual({ input, output: 2, cost: 0, ...(counted === 0 ? {} : { cached: counted }) });
  expect(all).toHaveLength(2 * doubts);
});

test('a figure that is no number is named', () => {
  expect(soundUsage({ input: figure('12'), output: 1, cost: 0 }).doubts).toEqual([
    'it reported a use of input tokens that are no number, which is impossible; counted as 0',
  ]);
});

test.each([
  [0.01, 0.01],
  [1e308, 0],
  [-1, 0],
  [Number.NaN, 0],
])('of a price: %s counts as %s', (cost, counted) => {
  expect(soundUsage({ input: 1, output: 1, cost }).usage?.cost).toBe(counted);
});

test('each figure stands for itself, and what is estimated stays so', () => {
  const usage = { input: 1, output: 2, cost: 0.1, cached: Number.POSITIVE_INFINITY, estimated: true } as const;
  expect(soundUsage(usage)).toEqual({
    usage: { input: 1, output: 2, cost: 0.1, estimated: true },
    doubts: ['it reported a use of Infinity cached tokens, which is impossible; counted as 0'],
  });
  expect(soundUsage(null)).toEqual({ usage: null, doubts: [] });
});
