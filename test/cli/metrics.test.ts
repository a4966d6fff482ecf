// The numbers of a workspace: what was refused in casts counts beside what was refused by hand, and the trend is there to
// be read.
import { expect, test } from 'vitest';
import type { Metrics } from '../../src/kernel/ledger/history.ts';
import { agent, baton, cast, flow, json, project } from './baton.ts';
import { claim, create, finish, RUN, start } from './ledger-story.ts';

const JUDGE = flow({ Judge: agent }, { 'Socket-1': { materia: 'Judge', parse: 'json' } });

type Measured = {
  readonly runs: readonly (Metrics & { readonly began: string })[];
  readonly all: Metrics;
  readonly trend: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
};

const measure = async (dir: string) => json<Measured>(await baton(dir, ['status', '--metrics', '--json']));

test('refusals inside casts are counted with their codes beside those by hand', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await create(dir, 'T-2', { lock_scope: ['work'] });
  const fence = await start(dir, 'T-1');
  expect((await claim(dir, 'T-2', 'bob')).code).toBe('LOCK_CONFLICT');
  expect((await finish(dir, 'T-1', fence, { changes: [] })).code).toBe('OK');
  const mended = await cast(dir, JUDGE, { Judge: ['oops', { satisfied: true }] });
  const failed = await cast(dir, JUDGE, { Judge: ['oops', 'oops again'] });
  expect([mended.status, failed.status]).toEqual(['completed', 'failed']);
  const { runs, all, trend } = await measure(dir);
  expect(runs.map(({ run, denies, families }) => [run, denies, families.contract])).toEqual([
    [RUN, { LOCK_CONFLICT: 1 }, 0],
    [mended.cast, { NOT_JSON: 1 }, 1],
    [failed.cast, { NOT_JSON: 2 }, 2],
  ]);
  expect(all).toMatchObject({
    denies: { LOCK_CONFLICT: 1, NOT_JSON: 3 },
    families: { contract: 3, lock: 1, state: 0, compliance: 0 },
  });
  expect(trend.map(({ values }) => values.length)).toEqual([3, 3, 3, 3]);
});

test('the trend is shown as a table, one line for each of the last runs, oldest first', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await finish(dir, 'T-1', await start(dir, 'T-1'), { changes: [] });
  expect((await baton(dir, ['status', '--metrics'])).stdout).toContain('Trend, with the first run:');
  const { cast: id } = await cast(dir, JUDGE, { Judge: ['oops', { satisfied: true }] });
  const { stdout } = await baton(dir, ['status', '--metrics']);
  const lines = stdout.split('\n');
  const at = lines.indexOf('Trend, the last 2 runs, oldest first:');
  expect(lines[at + 1]).toMatch(/^run +began +valid packets +met a lock +first attempt +retries +mean time$/);
  expect(lines[at + 2]).toMatch(
    new RegExp(`^${RUN} +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d +100.0 % +0.0 % +100.0 % +– +\\d+\\.\\d s$`),
  );
  expect(lines[at + 3]).toMatch(new RegExp(`^${id} +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d +– +– +– +– +–$`));
  expect(stdout).toContain('Refused: NOT_JSON 1×');
  expect(stdout).toContain('Of these: contract 1, lock 0, state 0, compliance 0');
});

test('a workspace in which nothing was done yet says so', async () => {
  const dir = project();
  expect((await baton(dir, ['status', '--metrics'])).stdout).toBe('The ledger holds no run yet.\n');
  expect(await measure(dir)).toMatchObject({ runs: [], all: null, trend: [] });
});
