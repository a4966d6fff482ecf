// The line to the server: it is killed while a cast goes on, and comes back; two windows see the same.
import { afterAll, beforeAll, expect } from 'vitest';
import { until } from '../cli/baton.ts';
import { inBrowser, opened } from './browser.ts';
import { makeScene, startOf } from './scene.ts';
import { Served } from './served.ts';

let at: Served;

beforeAll(async () => {
  at = new Served(makeScene);
  await at.start();
});
afterAll(() => at?.close());

/** While the server is away, the browser says so, too. */
const GONE = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE/;

inBrowser(
  'a server is killed and started again: the page says so, stays, and catches up with what happened',
  async () => {
    const first = String((await at.ask('cast.start', startOf('question'))).details.cast);
    const page = await opened(at.link(`/cast/${first}`), { mayLog: GONE });
    await page.getByText('0 of 2 done').first().waitFor();
    await page
      .getByText(/^build asks/)
      .filter({ visible: true })
      .first()
      .waitFor();
    const seen = await page.locator('.status-bar b').first().textContent();
    // The other views are fetched while there is time.
    const fetched = () => page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name).join()");
    await expect.poll(fetched, { timeout: 30_000 }).toMatch(/\/home-[^,]*\.js/);
    await at.kill();
    await page.getByText(/^Disconnected since \d\d:\d\d:\d\d\.$/).waitFor();
    await page.getByText(`You see entry ${seen}.`).waitFor();
    // What was there is still there; nothing can be sent, and the command can be copied.
    await page.getByText('0 of 2 done').first().waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByLabel('What should it do?').fill('While nobody listens');
    const cast = page.getByRole('button', { name: 'Cast', exact: true });
    expect(await cast.getAttribute('aria-disabled')).toBe('true');
    await page.goBack();

    // Meanwhile somebody at a terminal lets the cast go on.
    const answered = await at.baton(['answer', first, 'drop it']);
    expect([answered.code, answered.stderr]).toEqual([0, expect.anything()]);
    await until('the end of the cast', async () =>
      /completed/.test((await at.baton(['show', first, '--json'])).stdout) ? true : undefined,
    );
    await at.start();
    await page.getByText(/^Caught up,$/).waitFor();
    await page.getByText('2 of 2 done').first().waitFor();
    await page.getByText(/^Disconnected since/).waitFor({ state: 'detached' });
  },
);

inBrowser('two windows of two people show the same cast, and what one does the other sees', async () => {
  const cast = String((await at.ask('cast.start', startOf('running'))).details.cast);
  const [ann, ben] = [
    await opened(at.link(`/cast/${cast}`)),
    await opened(at.link(`/cast/${cast}`, at.tokenOf('operator', 'ben'))),
  ];
  for (const page of [ann, ben]) await page.getByText('1 of 2 done').first().waitFor();
  await ann.getByRole('button', { name: 'Pause' }).click();
  await ben.getByText(/^Paused at/).waitFor();
  await ben.getByRole('button', { name: 'Continue' }).click();
  await ann.getByText(/^Paused at/).waitFor({ state: 'detached' });
  // Each has the theme, the place and the filter that they chose.
  await ann.goto(at.link('/casts?status=running'));
  await ann.locator('.cast-row').first().waitFor();
  await ben.getByRole('button', { name: 'More', exact: true }).click();
  await ben.getByRole('button', { name: 'Abort…' }).click();
  await ben.getByRole('dialog').getByRole('button', { name: 'Abort', exact: true }).click();
  await ben.getByText(/^Stopped at/).waitFor();
  await ann
    .getByText(/stopped, 1 of 2 items/)
    .first()
    .waitFor();
  await ann.goto(at.link(`/history/log?cast=${cast}`));
  await ann.getByText('ben', { exact: false }).first().waitFor();
  const { entries } = (await at.ask('log', { cast, kind: 'cast.aborted' })).details as {
    entries: readonly { by: string }[];
  };
  expect(entries.map(({ by }) => by)).toEqual(['token:ben']);
});
