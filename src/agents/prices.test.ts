import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Price } from '../kernel/graph/config.ts';
import { estimated, PRICES, PRICES_CHECKED, priceOf } from './agent-result.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

test.each<[string, string | null, Record<string, Price>, number | null]>([
  ['no model is known', null, {}, null],
  ['a model by its name', 'gpt-5', {}, 1.25],
  ['a dated model', 'gpt-5-2025-08-07', {}, 1.25],
  ['the longest beginning', 'gpt-5-mini-2025-08-07', {}, 0.25],
  ['a newer number is another model', 'gpt-5.9', {}, null],
  ['a longer name is another model', 'o30', {}, null],
  ['with its provider', 'openai/gpt-5-nano', {}, 0.05],
  ['with a tag', 'claude-haiku-4-5@20251001', {}, 1],
  ['a model of nobody', 'some-model', {}, null],
  ['what people wrote down counts first', 'gpt-5-mini', { 'gpt-5': { input: 7, output: 7 } }, 7],
  ['and adds models', 'some-model', { some: { input: 3, output: 3 } }, 3],
  ['with a provider in its own name', 'local/some-model', { 'local/some': { input: 0, output: 0 } }, 0],
])('%s: %s', (_what, model, own, input) => {
  expect(priceOf(model, own)?.input ?? null).toBe(input);
});

test.each([
  ['input and output', { input: 1_000_000, output: 100_000, cost: 0 }, 'gpt-5', 2.25],
  ['what was read from a cache', { input: 1_000_000, output: 0, cost: 0, cached: 1_000_000 }, 'gpt-5', 0.125],
  ['more cached than read', { input: 1_000_000, output: 0, cost: 0, cached: 2_000_000 }, 'gpt-5', 0.125],
])('an estimate counts %s', (_what, usage, model, cost) => {
  expect(estimated(usage, model)).toEqual({ ...usage, cost: expect.closeTo(cost, 9), estimated: true });
});

test.each([
  ['a cost that was told', { input: 1, output: 1, cost: 0.5 }, 'gpt-5'],
  ['nothing used', { input: 0, output: 0, cost: 0 }, 'gpt-5'],
  ['a model without a price', { input: 1, output: 1, cost: 0 }, 'some-model'],
])('%s is left as it is', (_what, usage, model) => {
  expect(estimated(usage, model)).toBe(usage);
});

test('a cached price that is not written down is that of the input', () => {
  const own = { m: { input: 2, output: 0 } };
  expect(estimated({ input: 1_000_000, output: 0, cost: 0, cached: 500_000 }, 'm', own).cost).toBe(2);
});

test('every price is one, and reading from a cache costs no more', () => {
  expect(PRICES_CHECKED).toMatch(/^20\d\d-\d\d-\d\d$/);
  for (const { input, output, cached = input } of Object.values(PRICES)) {
    expect(input > 0 && output > input && cached > 0 && cached <= input).toBe(true);
  }
});

test('whatever a model is called, it has a price or none', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString')), (model) => {
      const usage = estimated({ input: 10, output: 10, cost: 0 }, model);
      expect(Number.isFinite(usage.cost)).toBe(true);
    }),
    { numRuns: RUNS },
  );
});
