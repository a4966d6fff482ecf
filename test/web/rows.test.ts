// Lists of ten thousand: casts and tasks are drawn as far as they are seen, counted exactly, filtered by the server.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Append } from '../../src/engine/ports.ts';
import { WorkerStore } from '../../src/engine/worker-store.ts';
import { resolve } from '../../src/kernel/graph/resolve.ts';
import { packet } from '../../src/kernel/ledger/fixtures/book.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';
import { logFileIn } from '../../src/log/sqlite/open.ts';
import { inBrowser, opened } from './browser.ts';
import { CONFIG } from './scene.ts';
import { Served } from './served.ts';

const MANY = 10_000;
let at: Served;

/** Every tenth cast failed. */
function castsOf(from: number, to: number): Append[] {
  const rules = resolve(CONFIG, 'Docs');
  return Array.from({ length: to - from }, (_, index) => from + index).flatMap((n): Append[] => {
    const cast = `20260101-000000-${n.toString(16).padStart(6, '0')}`;
    const time = Date.UTC(2026, 0, 1) + n * 1_000;
    const begun = { cast, request: `Request ${n}`, loadout: 'Docs', rules, script: null, data: {} };
    const end =
      n % 10 === 0 ? { kind: 'cast.failed', code: 'AGENT_FAILED', reason: 'gave up' } : { kind: 'cast.completed' };
    return [
      { kind: 'cast.started', ...begun },
      { cast, ...end },
    ].map((fact) => ({ fact, by: 'user:ann', at: time }) as Append);
  });
}

beforeAll(async () => {
  at = new Served((dir) => {
    mkdirSync(join(dir, '.baton/state'), { recursive: true });
    writeFileSync(join(dir, '.baton/config.json'), JSON.stringify(CONFIG));
  });
  const file = logFileIn(join(at.dir, '.baton/state'));
  const log = new SqliteLog(file);
  for (let from = 0, seq = 0; from < MANY; from += 1_000)
    seq += (await log.commit(seq, { decide: () => castsOf(from, from + 1_000) })).length;
  await log.close();
  const store = await WorkerStore.open(file, at.dir);
  const tasks = Array.from({ length: MANY }, (_, n) =>
    packet(`T-${n + 1}`, { title: `Task ${n + 1}`, lock_scope: [`src/${n}`] }),
  );
  await Promise.all(tasks.map((task) => store.submit({ kind: 'task.create', packet: task }, { name: 'user:ann' })));
  await store.close();
  await at.start();
});
afterAll(() => at?.close());

/** How many elements a list has, however long it is. */
const drawn = (page: Page, selector: string) => page.locator(selector).count();

inBrowser('ten thousand casts are one list: counted, walked through by keys, and filtered by the server', async () => {
  const page = await opened(at.link('/casts'));
  await page.getByRole('heading', { level: 1, name: 'Casts' }).waitFor();
  await page.getByText('10,000', { exact: true }).first().waitFor();
  await page.getByText('Request 9999', { exact: true }).waitFor();
  expect(await drawn(page, '.cast-row')).toBeLessThan(100);
  // What was not read yet is read when somebody comes there.
  const lastOnScreen = async () => {
    await page.keyboard.press('End');
    return Number(/\d+/.exec((await page.locator('.cast-request').last().textContent()) ?? '')?.[0]);
  };
  await expect.poll(lastOnScreen, { timeout: 60_000 }).toBeLessThan(9_000);
  expect(await drawn(page, '.cast-row')).toBeLessThan(100);
  await page.keyboard.press('Home');
  await page.getByText('Request 9999', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Failed', exact: true }).click();
  await page.getByText('1,000', { exact: true }).first().waitFor();
  await page.getByLabel('Filter by words').fill('request 4320');
  await page.getByText('Request 4320', { exact: true }).waitFor();
  expect(await drawn(page, '.cast-row')).toBe(1);
});

inBrowser('ten thousand tasks are a table, as far as it is seen', async () => {
  const page = await opened(at.link('/ledger'));
  await page.getByText('Task 1', { exact: true }).first().waitFor();
  expect(await page.getByRole('button', { name: 'Table', exact: true }).getAttribute('aria-pressed')).toBe('true');
  expect(await drawn(page, '.task-row')).toBeLessThan(120);
  await page.getByPlaceholder('Filter').fill('Task 7654');
  await page.getByText('Task 7654', { exact: true }).waitFor();
  // The board draws no more than it shows, either.
  await page.getByPlaceholder('Filter').fill('');
  await page.getByRole('button', { name: 'Board', exact: true }).click();
  await page.getByText('10,000', { exact: true }).first().waitFor();
  expect(await drawn(page, '.task')).toBeLessThan(400);
});

inBrowser('a log of thirty thousand entries is read from its end, and back page by page', async () => {
  const page = await opened(at.link('/history/log'));
  await page
    .getByText(/^Task 10000|T-10000/)
    .first()
    .waitFor();
  expect(await drawn(page, '.log-row')).toBeLessThan(120);
  await page.locator('.log-row').first().click();
  await page.getByRole('heading', { name: /^Entry 3\d,\d{3}$/ }).waitFor();
});

const FIRST_VIEW_BYTES_MAX = 200_000;

inBrowser(
  'the first view stays small, with ten thousand casts too: all that is fetched for it, compressed',
  async () => {
    const page = await opened(at.link('/'));
    // What is fetched in advance when the browser has nothing to do is no part of the first view.
    await page.addInitScript('window.requestIdleCallback = () => 0');
    await page.reload();
    await page.getByText('All 10,000 casts').waitFor();
    await page.getByRole('combobox', { name: 'Team' }).waitFor();
    const fetched = (await page.evaluate(`
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize])
  `)) as [path: string, bytes: number][];
    expect(fetched.map(([path]) => path)).toEqual(expect.arrayContaining(['/', '/api', '/api/cast.list']));
    const bytes = fetched.reduce((sum, [, each]) => sum + each, 0);
    expect(bytes, JSON.stringify(fetched)).toBeGreaterThan(10_000);
    expect(bytes, JSON.stringify(fetched)).toBeLessThan(FIRST_VIEW_BYTES_MAX);
  },
);
