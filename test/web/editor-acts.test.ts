// What a person does in the editor besides drawing: drafts, boundaries, tests, files, many sockets at once, other loadouts.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { baton } from '../cli/baton.ts';
import { initRepository } from '../init-repository.ts';
import { inBrowser, opened, REFUSALS } from './browser.ts';
import { Served } from './served.ts';

/** Claude Code, as far as a draft asks it. */
const DRAFT = {
  name: 'judging',
  description: 'Judges a change.',
  steps: [{ judge: { tools: 'read' } }],
  prompts: { judge: 'Judge the change for security.' },
};
const RESULT = { type: 'result', subtype: 'success', is_error: false, session_id: 's', result: JSON.stringify(DRAFT) };
const CLAUDE = `#!/bin/sh
case "$*" in *--version*) echo "2.1.0 (Claude Code)"; exit 0;; esac
cat >/dev/null
cat <<'END'
${JSON.stringify({ type: 'system', subtype: 'init', session_id: 's', model: 'm', tools: [] })}
${JSON.stringify({ ...RESULT, usage: { input_tokens: 1, output_tokens: 1 }, total_cost_usd: 0.01 })}
END
`;

const MANY = 60;

/** So many sockets that the layout is made in a worker. */
function long(): JsonObject {
  const sockets = Array.from({ length: MANY }, (_, n): [string, Json] => [
    `Socket-${n + 1}`,
    { materia: 'step', edges: n + 1 < MANY ? [{ when: 'always', to: `Socket-${n + 2}` }] : [] },
  ]);
  return { entry: 'Socket-1', sockets: Object.fromEntries(sockets) };
}

let at: Served;

beforeAll(async () => {
  at = new Served((dir) => {
    initRepository(dir);
    mkdirSync(join(dir, 'bin'));
    writeFileSync(join(dir, 'bin/claude'), CLAUDE);
    chmodSync(join(dir, 'bin/claude'), 0o755);
  });
  for (const args of [
    ['init', '--template', 'feature'],
    ['registry', 'lock'],
  ]) {
    const { code, stderr } = await baton(at.dir, args);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
  }
  const config = { materia: { step: { tools: 'coding', prompt: 'Do it.' } }, loadouts: { Long: long() } };
  writeFileSync(join(at.dir, '.baton/config.json'), JSON.stringify(config, null, 2));
  await at.start();
});
afterAll(() => at?.close());

const node = (page: Page, id: string) => page.locator(`[data-socket="${id}"] .node-open`);
const form = (page: Page) => page.getByRole('complementary', { name: 'Form' });
const said = (page: Page, text: RegExp) => page.locator('.editor-said').getByText(text).waitFor();

async function editor(path: string, options = {}): Promise<Page> {
  const page = await opened(at.link(path), { mayLog: REFUSALS, ...options });
  await page.locator('.canvas[data-current="true"]').waitFor();
  return page;
}

/** A new loadout with the loop that the empty canvas offers. */
async function begun(name: string): Promise<Page> {
  const page = await editor(`/loadouts/${name}?new=1`);
  await page.getByRole('button', { name: 'Plan, build, review' }).click();
  await page.locator('.canvas[data-current="true"] [data-socket="Socket-3"]').waitFor();
  return page;
}

/** Where the sockets are in the picture, by their ids. */
async function corners(page: Page): Promise<ReadonlyMap<string, { readonly x: number; readonly y: number }>> {
  const found = (await page.evaluate(`[...document.querySelectorAll('.node')].map((each) => {
    const { x, y } = each.getBoundingClientRect();
    return [each.dataset.socket, { x: Math.round(x), y: Math.round(y) }];
  })`)) as [string, { x: number; y: number }][];
  return new Map(found);
}

inBrowser(
  'an edge that a boundary refuses is flagged before anything runs, and the boundary is read in the form',
  async () => {
    const page = await editor('/loadouts/feature');
    await page.getByText('No issues').waitFor();
    await node(page, 'Socket-1').click();
    await page.keyboard.press('o');
    await page.getByRole('combobox', { name: /^Connect/ }).fill('summary');
    await page.keyboard.press('Enter');
    const issue = page.locator('[data-code="BOUNDARY_REFUSED"]');
    await issue.getByText('the boundaries of plan do not reach summary').waitFor();
    await page.locator('.way-flag').waitFor();
    await issue.getByRole('button', { name: 'Show boundary' }).click();
    await page.getByRole('heading', { level: 2, name: 'plan' }).waitFor();
    await form(page).getByRole('tab', { name: 'Trust', selected: true }).waitFor();
    // The identity is that of the manifest; the file of the loadout names none.
    await form(page).getByText('Identity', { exact: true }).waitFor();
    expect(await form(page).getByText('The registry here knows no').count()).toBe(0);
  },
);

inBrowser('the prompt of a role is drafted from a sentence, shown, and used', async () => {
  const page = await begun('Roles');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'New materia' }).click();
  const dialog = page.getByRole('dialog', { name: 'New materia' });
  await dialog.getByLabel('Name').fill('security');
  await dialog.getByLabel('What it is asked to do').fill('judge the change for security');
  await dialog.getByRole('button', { name: 'Draft its prompt from this' }).click();
  await dialog.getByText('It is not written yet.').waitFor();
  await dialog.getByRole('button', { name: 'Draft it again' }).waitFor();
  await dialog.getByRole('button', { name: 'Use this prompt' }).click();
  await dialog.getByRole('button', { name: 'Add it' }).click();
  await page.getByRole('heading', { level: 2, name: 'security' }).waitFor();
  expect(await form(page).getByLabel('Prompt', { exact: true }).inputValue()).toBe(DRAFT.prompts.judge);
});

inBrowser('Enter in the name is the main button: a loadout is begun and duplicated by keys alone', async () => {
  const page = await opened(at.link('/loadouts'));
  await page.getByText('feature').first().waitFor();
  await page.keyboard.press('n');
  await page.getByRole('dialog', { name: 'New loadout' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'New loadout' }).waitFor();
  await page.keyboard.type('By-Keys');
  await page.keyboard.press('Enter');
  await page.getByText('An empty loadout').waitFor();
  // The first start has the focus: Enter draws it, and two more keys save it.
  await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('Plan, build, review');
  await page.keyboard.press('Enter');
  await node(page, 'Socket-3').waitFor();
  await page.keyboard.press('Control+s');
  await page.getByRole('dialog').getByText('"By-Keys"').first().waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect((await at.ask('loadout.open', { name: 'By-Keys' })).details.home).toBe('config');
  await page.goto(at.link('/loadouts/Full-Auto'));
  await page.getByRole('button', { name: 'Duplicate' }).press('Enter');
  await page.getByRole('dialog', { name: 'Duplicate Full-Auto' }).getByLabel('Name of the copy').fill('Ours');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Save…' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/loadouts/Ours');
});

inBrowser('a trial is saved as a test, replaced, and played again by `baton test`', async () => {
  const page = await begun('Tried');
  await page.keyboard.press('t');
  const trial = page.getByRole('complementary', { name: 'Try it' });
  const save = trial.getByRole('button', { name: 'Save it' });
  await trial.getByRole('button', { name: 'To the end' }).click();
  await trial.getByText('The cast is complete.').last().waitFor();
  await trial.getByText('Save as test').click();
  await trial.getByLabel('Name of the test').fill('Twice Right');
  expect(await save.getAttribute('aria-disabled')).toBe('true');
  await trial.getByLabel('Name of the test').fill('twice-right');
  await save.click();
  await trial.getByText('There is no loadout Tried. Save it first.').waitFor();
  await page.keyboard.press('Control+s');
  await page.getByRole('dialog').getByText('"Tried"').first().waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await save.click();
  await trial.getByText('“baton test” plays it again').waitFor();
  await save.click();
  await trial.getByText('There is a test twice-right already').waitFor();
  await trial.getByRole('button', { name: 'Replace it' }).click();
  await trial.getByText('“baton test” plays it again').waitFor();
  const played = await at.baton(['test', '--loadout', 'Tried']);
  expect([played.code, played.stdout]).toEqual([0, '✓ twice-right  Tried\n1 test passed\n']);
  // A broken answer is refused in the names of steps, in whole sentences.
  await trial.getByRole('button', { name: 'Again' }).click();
  for (const answers of [1, 2]) {
    await trial.getByLabel('Answer as plan').fill('no JSON');
    await trial.getByRole('button', { name: 'Answer as plan' }).click();
    await expect.poll(() => trial.getByRole('listitem').count()).toBe(answers);
  }
  await trial.getByText('The cast failed.').waitFor();
  const words = await trial.textContent();
  expect(words).toContain('plan did not keep its contract');
  expect(words).not.toMatch(/\.\.|Socket-/);
});

inBrowser('the picture is exported as SVG, PNG and Mermaid', async () => {
  const page = await begun('Shown');
  const exported = async (format: string): Promise<{ readonly name: string; readonly bytes: Buffer }> => {
    await page.getByRole('button', { name: 'Export the picture' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('option', { name: new RegExp(`^${format}`) }).click(),
    ]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  };
  const svg = await exported('SVG');
  expect([svg.name, svg.bytes.toString()]).toEqual([
    'Shown.svg',
    expect.stringMatching(/^<svg [\s\S]*review[\s\S]*<\/svg>/),
  ]);
  const png = await exported('PNG');
  expect([png.name, png.bytes.subarray(1, 4).toString()]).toEqual(['Shown.png', 'PNG']);
  expect([png.bytes.readUInt32BE(16) > 600, png.bytes.readUInt32BE(20) > 300]).toEqual([true, true]);
  const mermaid = await exported('Mermaid');
  expect([mermaid.name, mermaid.bytes.toString()]).toEqual([
    'Shown.mmd',
    expect.stringContaining('Socket_3 -->|"not satisfied, at most 3"| Socket_2'),
  ]);
});

inBrowser('sockets in a box are selected, aligned without covering each other, and moved together', async () => {
  const page = await begun('Boxed');
  const before = await corners(page);
  const [two, three] = [before.get('Socket-2'), before.get('Socket-3')];
  if (!two || !three) throw new Error('the sockets are not drawn');
  await page.keyboard.press('Escape');
  await page.keyboard.down('Shift');
  await page.mouse.move(two.x - 20, two.y - 20);
  await page.mouse.down();
  await page.mouse.move(three.x + 200, three.y + 100, { steps: 6 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await page.getByRole('heading', { level: 2, name: '2 sockets' }).waitFor();
  await form(page).getByRole('button', { name: 'Left', exact: true }).click();
  await expect
    .poll(async () => (await corners(page)).get('Socket-3')?.x)
    .toBe((await corners(page)).get('Socket-2')?.x);
  const between = (found: typeof before, from: string, to: string) => {
    const [one, other] = [found.get(from), found.get(to)];
    return { x: (other?.x ?? 0) - (one?.x ?? 0), y: (other?.y ?? 0) - (one?.y ?? 0) };
  };
  const after = await corners(page);
  // The one that was not selected stays where it is; the two lie below each other.
  expect(between(after, 'Socket-1', 'Socket-2')).toEqual(between(before, 'Socket-1', 'Socket-2'));
  expect(between(after, 'Socket-2', 'Socket-3')).toEqual({ x: 0, y: 112 });
  await page.keyboard.press('Control+z');
  await expect
    .poll(async () => between(await corners(page), 'Socket-2', 'Socket-3'))
    .toEqual(between(before, 'Socket-2', 'Socket-3'));
  await node(page, 'Socket-2').click();
  await node(page, 'Socket-3').click({ modifiers: ['Control'] });
  const grip = (await corners(page)).get('Socket-2') ?? two;
  await page.mouse.move(grip.x + 60, grip.y + 40);
  await page.mouse.down();
  await page.mouse.move(grip.x + 60, grip.y + 120, { steps: 6 });
  await page.mouse.up();
  const moved = await corners(page);
  expect(between(moved, 'Socket-2', 'Socket-3')).toEqual(between(before, 'Socket-2', 'Socket-3'));
  const { x, y } = between(moved, 'Socket-1', 'Socket-2');
  expect(x).toBe(between(before, 'Socket-1', 'Socket-2').x);
  expect(y).toBeGreaterThan(between(before, 'Socket-1', 'Socket-2').y + 40);
});

inBrowser(
  'sockets are copied to another loadout in another window, and a loadout is dragged in as a whole',
  async () => {
    const page = await begun('From-Here');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Control+c');
    await said(page, /3 sockets copied/);
    const other = await page.context().newPage();
    await other.goto(at.link('/loadouts/To-There?new=1'));
    await other.getByText('An empty loadout').waitFor();
    await other.keyboard.press('Control+v');
    await other.getByRole('button', { name: /^For each item of plan/ }).waitFor();
    await other.getByText('No issues').waitFor();
    await other
      .locator('[data-loadout="feature"]')
      .dragTo(other.locator('.canvas'), { targetPosition: { x: 300, y: 500 } });
    await expect.poll(() => other.locator('.node').count()).toBe(8);
    await other.keyboard.press('Control+z');
    await other.keyboard.press('Control+z');
    await other.getByText('An empty loadout').waitFor();
  },
);

inBrowser(`${MANY} sockets are laid out in a worker, and the picture answers meanwhile`, async () => {
  const page = await editor('/loadouts/Long');
  expect(page.workers().map((worker) => worker.url())).toEqual([expect.stringContaining('layout-worker')]);
  await page.locator(`.canvas[data-sockets="${MANY}"]`).waitFor();
  await page.getByRole('img', { name: 'All sockets' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to, do, find' }).fill('Socket-60');
  const found = page.getByRole('listbox', { name: 'What was found' }).getByRole('option');
  await found.filter({ hasText: 'Socket-60' }).first().click();
  await page.getByRole('heading', { level: 2, name: 'step' }).waitFor();
  await node(page, `Socket-${MANY}`).waitFor();
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  await page.locator(`.canvas[data-sockets="${MANY - 1}"][data-current="true"]`).waitFor();
});
