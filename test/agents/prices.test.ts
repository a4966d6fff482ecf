// What a cast costs where its agents tell only their tokens: an estimate, marked as one wherever it is shown, that counts
// against the budget like any other cost.
import { afterEach, expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { type ModelServer, modelServer } from '../../src/testing/index.ts';
import { always, baton, flow, json, project, type Ran } from '../cli/baton.ts';

let server: ModelServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const KEYS = { ANTHROPIC_API_KEY: 'key' };

/** Two turns, each of a million tokens of input and a hundred thousand of output. */
async function costly(model: string, more: JsonObject = {}, second = 'A'): Promise<string> {
  const said = { text: '{"satisfied":true}', usage: { input: 1_000_000, output: 100_000 } };
  server = await modelServer({ answers: () => said });
  const materia = { tools: 'none', prompt: 'Do it.', runner: 'anthropic', model, baseUrl: server.url };
  const sockets = {
    'Socket-1': { materia: 'A', parse: 'json', edges: [always('Socket-2')] },
    'Socket-2': { materia: second, parse: 'json' },
  };
  return project({
    '.baton/config.json': flow(
      { A: materia, person: { tools: 'none', prompt: 'Look.', runner: 'person' } },
      sockets,
      more,
    ),
  });
}

const cast = (dir: string): Promise<Ran> => baton(dir, ['cast', '--json', '--turns', 'do it'], { env: KEYS });

test('tokens of a known model have an estimated cost, and it is marked', async () => {
  const dir = await costly('claude-haiku-4-5-20251001');
  const view = json<CastView>(await cast(dir));
  expect(view).toMatchObject({ status: 'completed', usage: { cost: expect.closeTo(3, 6), estimated: true } });
  expect(view.usage.unpricedTokens).toBeUndefined();
  expect((await baton(dir, ['show'])).stdout).toContain('~$3.00, worked out from a table of prices');
});

test('what people wrote down counts before the table', async () => {
  const prices = { 'claude-haiku-4-5': { input: 2, output: 10 } };
  const view = json<CastView>(await cast(await costly('claude-haiku-4-5', { prices })));
  expect(view.usage).toMatchObject({ cost: expect.closeTo(6, 6), estimated: true });
});

test('a price of nothing is a price', async () => {
  const prices = { 'some-model': { input: 0, output: 0 } };
  const view = json<CastView>(await cast(await costly('some-model', { prices })));
  expect(view.usage).toMatchObject({ cost: 0, estimated: true });
  expect(view.usage.unpricedTokens).toBeUndefined();
});

test('a model that nobody knows has no price, and that is said', async () => {
  const dir = await costly('some-model');
  const view = json<CastView>(await cast(dir));
  expect(view.usage).toMatchObject({ cost: 0, unpricedTokens: 2_200_000 });
  expect(view.usage.estimated).toBeUndefined();
  expect((await baton(dir, ['show'])).stdout).toMatch(/cost +unknown: its agents named no price/);
});

test('an estimate is spent from the budget', async () => {
  const dir = await costly('claude-haiku-4-5', { budget: { maxCost: 1 } });
  expect(json<CastView>(await cast(dir))).toMatchObject({ status: 'failed', code: 'BUDGET_EXHAUSTED', accepted: 1 });
});

test('a cast that waits shows what it has cost so far, marked as an estimate', async () => {
  const dir = await costly('claude-haiku-4-5', {}, 'person');
  expect(json<CastView>(await cast(dir)).status).toBe('waiting');
  expect((await baton(dir, ['status'])).stdout).toContain('1.1M tokens, ~$1.50');
});

test('a dry run estimates a round by the prices of its models', async () => {
  const dir = await costly('claude-haiku-4-5');
  const { stdout } = await baton(dir, ['cast', '--dry-run', '--json', 'do it'], { env: KEYS });
  const { estimate } = JSON.parse(stdout) as {
    estimate: { cost: number; inputTokensPerRound: number; turns: object[] };
  };
  const byHand = (estimate.inputTokensPerRound * 1 + 2_000 * 5) / 1_000_000;
  expect(estimate).toMatchObject({ cost: expect.closeTo(byHand, 9), outputTokensPerRound: 2_000, exact: false });
  expect(estimate.turns).toHaveLength(2);
  expect((await baton(dir, ['cast', '--dry-run', 'do it'], { env: KEYS })).stdout).toMatch(
    /About ~\$0\.01 for one turn/,
  );
});

test('a dry run says which prices it does not know', async () => {
  const dir = await costly('some-model');
  const { stdout } = await baton(dir, ['cast', '--dry-run', '--json', 'do it'], { env: KEYS });
  expect(JSON.parse(stdout)).toMatchObject({ estimate: { cost: null, unpriced: ['Socket-1', 'Socket-2'] } });
});
