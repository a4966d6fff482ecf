// One cast on the page: started there, followed while it runs, looked at as of any entry, and its turns opened.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { inBrowser, opened } from './browser.ts';
import { BROKEN, CASTS, CONFIG } from './cast-stage.ts';
import { Served } from './served.ts';

let at: Served;

beforeAll(async () => {
  at = new Served((dir) => {
    for (const folder of ['.baton', 'agents']) mkdirSync(join(dir, folder));
    writeFileSync(join(dir, '.baton/config.json'), JSON.stringify(CONFIG));
    for (const [name, { agents }] of Object.entries(CASTS))
      writeFileSync(join(dir, `agents/${name}.json`), JSON.stringify(agents));
  });
  await at.start();
});
afterAll(() => at?.close());

const known = new Map<string, Promise<string>>();

/** The cast of that name, run once for all tests of this file. */
function castOf(name: keyof typeof CASTS): Promise<string> {
  const script = CASTS[name].agents === null ? null : `agents/${name}.json`;
  const ran = known.get(name) ?? at.ran(CASTS[name], script);
  known.set(name, ran);
  return ran;
}

const socket = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name}: `) });
const slider = (page: Page) => page.getByRole('slider', { name: 'Entry that is looked at' });
const pane = (page: Page) => page.getByRole('complementary', { name: 'Turn' });
const tab = (page: Page, name: string) => page.getByRole('tab', { name: new RegExp(`^${name}`) });

inBrowser('a cast is started from the page, followed while it runs, paused, continued and stopped', async () => {
  const page = await opened(at.link());
  const { request } = CASTS.rework;
  await page.getByLabel('Team').selectOption('Bugfix team');
  await page.getByLabel('What should it do?').fill(request);
  await page.getByText('More', { exact: true }).click();
  await page.getByLabel('agents, optional').fill('agents/rework.json');
  await page.getByRole('button', { name: 'Cast', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: request }).waitFor();

  // Nothing is asked of the page from here on: what happens is drawn as it happens.
  await page.getByText('3 of 6 done').first().waitFor();
  await socket(page, 'build')
    .and(page.getByRole('button', { name: /: runs\./ }))
    .waitFor();
  expect(await page.locator('[data-way*="Socket-4"]').filter({ hasText: 'not satisfied' }).textContent()).toMatch(/1$/);
  await page.getByRole('button', { name: '1 attempt refused, open the last one' }).waitFor();
  for (const [name, marks] of [
    ['prepare', 'Entry'],
    ['plan', 'Generator'],
    ['review', 'Loop consumer'],
  ] as const)
    await page.getByRole('button', { name: new RegExp(`^${name}: .*${marks}`) }).waitFor();

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText(/^Paused at/).waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText(/^Paused at/).waitFor({ state: 'detached' });
  await socket(page, 'build')
    .and(page.getByRole('button', { name: /: runs\./ }))
    .waitFor();

  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('button', { name: 'Abort…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Abort' });
  await dialog.getByText('What was accepted stays').waitFor();
  await dialog.getByLabel('Reason').fill('seen enough');
  await dialog.getByRole('button', { name: 'Abort', exact: true }).click();
  await page.getByText(/^Stopped at/).waitFor();
  await page.getByText('“seen enough”. It can be run on from where it was.').waitFor();
});

inBrowser('a refused handoff shows the field that failed, where it stands, and what was asked for', async () => {
  const page = await opened(at.link(`/cast/${await castOf('refused')}`));
  await page.getByText('CONTRACT_VIOLATION').first().waitFor();
  await page.getByRole('button', { name: '2 attempts refused, open the last one' }).click();
  // What is missing is shown where it would be.
  await pane(page).getByText('"satisfied": ?').waitFor();
  await pane(page).getByText('It gets no other try.').waitFor();

  await page.getByRole('button', { name: /^Attempt 1 / }).click();
  await pane(page).getByText('Refused: the output breaks its contract in 2 places.').waitFor();
  await pane(page)
    .getByText(/Both issues went back to review/)
    .waitFor();
  expect(await pane(page).locator('mark').allInnerTexts()).toEqual(['"yes"', '"workItem"']);
  // The number of the line, and below it the number of the issue with what is wrong and where.
  const marked = pane(page).locator('.line-marked');
  const line = BROKEN.split('\n').findIndex((each) => each.includes('"yes"')) + 1;
  expect(await marked.locator('.line-number').allInnerTexts()).toEqual([line, 1, line + 2, 2].map(String));
  expect(await marked.nth(1).textContent()).toMatch(/`satisfied` must be true or false, not a string\s*\$\.satisfied/);
  expect(await marked.nth(3).textContent()).toMatch(/unexpected field.*\$\.workItem/s);
  const asked = pane(page).locator('.asked').filter({ hasText: 'The contract asks for' });
  expect(await asked.textContent()).toMatch(/satisfiedbooleanrequired by 2 edges/);
  await page.getByRole('button', { name: 'What this code means' }).first().click();
  await page
    .locator('.code-meaning')
    .getByText(/contract/)
    .waitFor();

  await tab(page, 'Brief').click();
  await pane(page).getByText('As it was sent, frozen').waitFor();
  await pane(page).getByText('Say whether every criterion holds.').first().waitFor();
  await tab(page, 'Handoff').click();
  await pane(page).getByText('Nothing was handed on').waitFor();
  await tab(page, 'Usage').click();
  await pane(page).getByText('21,400').waitFor();
});

/** The entries of a cast, as the server tells them. */
async function entriesOf(cast: string): Promise<readonly { seq: number; fact: JsonObject & { kind: string } }[]> {
  const { details } = await at.ask('log', { cast, after: 0 });
  return (details as unknown as { entries: readonly { seq: number; fact: JsonObject & { kind: string } }[] }).entries;
}

inBrowser('looking back shows graph, state and ledger as of an entry, and changes nothing', async () => {
  const cast = await castOf('completed');
  const entries = await entriesOf(cast);
  const last = entries.at(-1)?.seq ?? 0;
  const seqOf = (kind: string) => entries.find(({ fact }) => fact.kind === kind)?.seq ?? 0;
  const page = await opened(at.link(`/cast/${cast}`));
  await page.getByText('2 of 2 done').first().waitFor();
  const looking = page.getByText(/^You are looking at/);

  // The log leads to the moment at which the first item was done.
  await page.keyboard.press('3');
  const advanced = seqOf('task.moved');
  await page.getByRole('button', { name: new RegExp(`^${advanced} `) }).click();
  await looking.waitFor();
  await page.keyboard.press('1');
  await page.getByText('1 of 2 done').first().waitFor();
  expect(await socket(page, 'report').textContent()).toMatch(/^report: not started/);
  const state = pane(page);
  await state.getByRole('heading', { name: 'State at this entry' }).waitFor();
  await state.getByText('Changed at this entry').waitFor();
  const ledger = state.locator('.state-part').filter({ hasText: 'Ledger, 2 tasks' });
  expect(await ledger.textContent()).toMatch(/Print the versiondone.*Test ittodo/);
  expect(await page.getByRole('button', { name: /^(?:Pause|Continue|Abort|More)$/ }).count()).toBe(0);

  // The address says what is looked at: a link shows two people the same moment.
  expect(new URL(page.url()).searchParams.get('at')).toBe(String(advanced));
  await page.reload();
  await page.getByText('1 of 2 done').first().waitFor();

  await page.keyboard.press('ArrowLeft');
  await page.getByText('0 of 2 done').first().waitFor();
  expect(await slider(page).getAttribute('aria-valuenow')).toBe(String(advanced - 1));
  await page.keyboard.press('ArrowRight');
  await page.getByText('1 of 2 done').first().waitFor();
  await page.keyboard.press(']');
  await slider(page)
    .and(
      page.locator(
        `[aria-valuenow="${entries.find(({ seq, fact }) => seq > advanced && fact.kind === 'turn.started')?.seq}"]`,
      ),
    )
    .waitFor();

  // The playhead is dragged to before the generator answered.
  const box = await slider(page).boundingBox();
  if (!box) throw new Error('there is no timeline');
  await page.getByRole('button', { name: 'By entry' }).click();
  await page.mouse.move(box.x + box.width - 30, box.y + box.height - 8);
  await page.mouse.down();
  await page.mouse.move(box.x + 4, box.y + box.height - 8, { steps: 6 });
  await page.mouse.up();
  await page.getByText('Starts when there are items').waitFor();
  expect(await slider(page).getAttribute('aria-valuenow')).toBe(String(entries[0]?.seq));
  expect(await state.getByText('Ledger,').count()).toBe(0);

  await page.keyboard.press('l');
  await looking.waitFor({ state: 'detached' });
  await page.getByText('2 of 2 done').first().waitFor();
  expect((await entriesOf(cast)).at(-1)?.seq).toBe(last);
});

inBrowser.for([
  ['empty', 'plan returned no items, so the loop was skipped.'],
  ['waiting', 'release is yours to do'],
] as const)('a cast that is %s says so', async ([name, words]) => {
  const page = await opened(at.link(`/cast/${await castOf(name)}`));
  await page.getByText(words).first().waitFor();
  expect(await page.title()).toContain(CASTS[name].request);
});

inBrowser('items stand side by side in their lanes, and in a table', async () => {
  const cast = await at.started(CASTS.lanes, 'agents/lanes.json');
  const page = await opened(at.link(`/cast/${cast}`));
  await page.getByText('3 of 5 done').first().waitFor();
  await page.getByText('2 lanes').waitFor();
  for (const lane of ['Lane 1', 'Lane 2']) await page.getByRole('button', { name: new RegExp(`^${lane}`) }).waitFor();
  await page.keyboard.press('2');
  const items = page.getByRole('group', { name: 'Items' }).getByRole('listitem');
  expect(await items.count()).toBe(5);
  await page.getByRole('button', { name: 'Done', exact: true }).click();
  await items.nth(3).waitFor({ state: 'detached' });
  expect(await items.count()).toBe(3);
  await at.ask('cast.abort', { cast });
});

inBrowser('a graph of a thousand sockets is drawn, and leads to where it is now', async () => {
  const script = { report: [{ $turn: { output: 'x', delayMs: 600_000 } }] };
  writeFileSync(join(at.dir, 'agents/thousand.json'), JSON.stringify(script));
  const cast = await at.started({ request: 'Count', loadout: 'Thousand', agents: null }, 'agents/thousand.json');
  const page = await opened(at.link(`/cast/${cast}`));
  await page.locator('.graph[data-sockets="1000"]').waitFor();
  await page.getByRole('img', { name: 'All sockets' }).waitFor();
  await page.keyboard.press('.');
  await page.locator('.graph[data-distance="near"]').waitFor();
  await page.getByRole('button', { name: /^step 1: runs/ }).waitFor();
  // Only what is near the window is drawn.
  expect(await page.locator('.node').count()).toBeLessThan(100);
  await at.ask('cast.abort', { cast });
});

const MARKUP = `<img src=x onerror="globalThis.pwned=1"><b id=bold>b</b> \u001b[31mred\u001b[0m z\u200bw [x](javascript:pwned=1)`;
const SEEN = `<img src=x onerror="globalThis.pwned=1"><b id=bold>b</b> U+001B[31mredU+001B[0m zU+200Bw [x](javascript:pwned=1)`;
/** No handoff may hold it, so it is seen where a refused output is looked at, and where a person writes. */
const [TURNED, TURNED_SEEN] = ['\u202egpj.exe\u202c', 'U+202Egpj.exeU+202C'];

inBrowser('what agents say is text: no markup, no escapes, no change of direction', async () => {
  const agents = {
    prepare: [MARKUP + TURNED, { context: MARKUP }],
    plan: [{ workItems: [{ title: MARKUP, context: MARKUP }], context: MARKUP }],
    build: [MARKUP, '$repeat'],
    review: [{ satisfied: false, context: MARKUP }, `${MARKUP} {"satisfied": "${TURNED}"}`, { satisfied: true }],
    land: [{ satisfied: true, context: MARKUP }],
    report: [MARKUP],
  };
  writeFileSync(join(at.dir, 'agents/hostile.json'), JSON.stringify(agents));
  const request = `${MARKUP} ${TURNED}`;
  const cast = await at.ran({ request, loadout: 'Bugfix team', agents }, 'agents/hostile.json');
  const page = await opened(at.link('/'));
  const looked = async (path: string, says: string, press?: string): Promise<void> => {
    await page.goto(at.link(path));
    if (press) await page.keyboard.press(press);
    await page.getByText(says).filter({ visible: true }).first().waitFor();
    const text = `${await page.title()}\n${await page.content()}`;
    const found = {
      elements: await page.locator('img, #bold, a[href^="javascript"]').count(),
      pwned: await page.evaluate("'pwned' in globalThis"),
      raw: text.match(/.{0,80}(?:\p{Default_Ignorable_Code_Point}|(?![\t\n])\p{Cc}).{0,20}/gu) ?? [],
    };
    expect([path, press, found]).toEqual([path, press, { elements: 0, pwned: false, raw: [] }]);
  };
  const turns = (await entriesOf(cast)).filter(({ fact }) => fact.kind === 'turn.started');
  const turnAt = (socket: string) =>
    `/cast/${cast}/turn/${turns.findLast(({ fact }) => fact.socket === socket)?.fact.turn}`;
  for (const path of ['/', '/casts', `/cast/${cast}`]) await looked(path, TURNED_SEEN);
  for (const path of ['/ledger', '/ledger?view=table', `/cast/${cast}?at=${turns.at(-1)?.seq}`])
    await looked(path, SEEN);
  await looked('/history/log', '<b id=bold>b</b>');
  await looked(`/cast/${cast}`, SEEN, '2');
  for (const name of ['output', 'brief', 'handoff']) await looked(`${turnAt('Socket-3')}?tab=${name}`, SEEN);
  await looked(`${turnAt('Socket-1')}.1`, TURNED_SEEN);
  await looked(`${turnAt('Socket-4')}.1`, TURNED_SEEN);
  await looked('/', TURNED_SEEN, 'Control+k');
});
