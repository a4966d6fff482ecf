// The page for everybody: every view in both themes and sizes without a finding of axe, and a cast started, watched, looked
// back at, answered and stopped by the keys alone.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../cli/baton.ts';
import { inBrowser, opened, PHONE, WIDE } from './browser.ts';
import { CASTS, makeScene, type SceneCastName, scriptOf, startOf, TASKS } from './scene.ts';
import { Served } from './served.ts';

let at: Served;
const casts = new Map<SceneCastName, string>();

beforeAll(async () => {
  at = new Served(makeScene);
  await at.start();
  for (const name of Object.keys(CASTS) as SceneCastName[])
    casts.set(name, String((await at.ask('cast.start', startOf(name))).details.cast));
  for (const packet of TASKS) await at.ask('task.create', { packet });
  await until('all casts to wait, run or end', async () => (await inbox()).length >= 6 || undefined);
});
afterAll(() => at?.close());

async function inbox(): Promise<readonly { readonly id: string; readonly kind: string; readonly cast: string }[]> {
  return (await at.ask('inbox')).details.inbox as never;
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

type Finding = {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly any: readonly JsonObject[] }[];
};

/** All that a theme can change. */
const RULES_OF_COLOUR = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** What axe finds on the page, one line for each element. */
async function findings(page: Page, runOnly: object): Promise<readonly string[]> {
  if (await page.evaluate('!globalThis.axe')) await page.evaluate(AXE);
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] });
  const found = (await page.evaluate(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  )) as readonly Finding[];
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any.map(({ message }) => message).join('; ')}`),
  );
}

/** Goes there as a link of the page does, without loading it again. */
function goInPage(page: Page, path: string): Promise<unknown> {
  return page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
}

const TARGET_PX = 44;

/** What a finger hits only with luck. A word in a line is large enough by what lies around it; edges are in the form of their socket, too. */
function smallTargets(page: Page): Promise<readonly string[]> {
  return page.evaluate(`[...document.querySelectorAll(':is(main, .bottom-bar) :is(a, button, summary, select)')]
    .filter((each) => !each.matches('.link, .way-button, .unseen *'))
    .map((each) => [each.getBoundingClientRect().height, each.outerHTML.slice(0, 120)])
    .filter(([height]) => height > 0 && height < ${TARGET_PX} - 0.5)
    .map(([height, html]) => height + ' px high: ' + html)`);
}

/** Whether a finger hits the heading, or what lies on it can be closed. */
function reachesHeading(page: Page): Promise<boolean> {
  return page.evaluate(`(() => {
    const heading = document.querySelector('main h1');
    const { left, top, width, height } = heading.getBoundingClientRect();
    const front = document.elementFromPoint(left + width / 2, top + height / 2);
    const pane = front?.closest('.pane, .phone-turn');
    return heading.contains(front) || [...(pane?.querySelectorAll('button, a') ?? [])].some((each) => /^(Close|Back)/.test(each.ariaLabel ?? each.textContent));
  })()`);
}

/** Every view, and what opens on top of it. */
async function views(): Promise<
  readonly (readonly [name: string, path: string, open?: (page: Page) => Promise<unknown>])[]
> {
  const kinds = new Map((await inbox()).map(({ kind, id }) => [kind, id]));
  const of = (name: SceneCastName, rest = '') => `/cast/${casts.get(name)}${rest}`;
  const { entries } = (await at.ask('log', { cast: casts.get('running') ?? '', last: 20 })).details as unknown as {
    entries: readonly { readonly seq: number }[];
  };
  const palette = (page: Page) => page.keyboard.press('Control+k');
  return [
    ['home', '/'],
    ['casts', '/casts'],
    ['inbox', '/inbox'],
    ...[...kinds].map(([kind, id]) => [`inbox ${kind}`, `/inbox/${encodeURIComponent(id)}`] as const),
    ['ledger', '/ledger'],
    ['ledger task', '/ledger', (page) => page.locator('.task').first().click()],
    ['ledger dependencies', '/ledger?view=dependencies'],
    ['ledger table', '/ledger?view=table'],
    ['log', '/history/log'],
    ['log entry', '/history/log?entry=10'],
    ['costs', '/history/costs'],
    ['queue', '/queue'],
    ['cast', of('approval')],
    ['cast that failed', of('failed')],
    ['cast items', of('running', '?face=items')],
    ['cast log', of('running', '?face=log')],
    ['cast as of an entry', of('running', `?at=${entries[4]?.seq}`)],
    ...['output', 'brief', 'handoff', 'changes', 'evidence', 'usage'].map(
      (tab) => [`turn ${tab}`, of('approval', `/turn/2?tab=${tab}`)] as const,
    ),
    ['refused turn', of('failed', '/turn/2.1')],
    ['loadouts', '/loadouts'],
    ['editor', '/loadouts/Parallel-Build'],
    ['editor loop', '/loadouts/Parallel-Build', (page) => page.locator('.loop-legend-button').first().click()],
    ['editor socket', '/loadouts/Parallel-Build', (page) => page.locator('.node-open').nth(1).click()],
    ['editor text', '/loadouts/Parallel-Build?face=json'],
    ['editor trial', '/loadouts/Parallel-Build', (page) => page.getByRole('button', { name: 'Try it' }).click()],
    ['palette', '/', palette],
    ['keys', '/', (page) => page.keyboard.press('?')],
    ['nowhere', '/nowhere'],
  ];
}

inBrowser.for(['wide', 'phone'] as const)(
  'axe finds nothing on any view in light and dark, %s',
  { timeout: 400_000 },
  async (size) => {
    const page = await opened(at.link('/'), { viewport: size === 'wide' ? WIDE : PHONE });
    const found: string[] = [];
    let isCovered = false;
    for (const [name, path, open] of await views()) {
      // What only a wide window has is not looked for on a phone.
      if (size === 'phone' && open) continue;
      if (isCovered) await page.goto(at.link(path));
      else await goInPage(page, path);
      isCovered = open !== undefined;
      await page.locator('main h1').first().waitFor();
      await expect.poll(() => page.locator('.loading').count(), { timeout: 30_000 }).toBe(0);
      await expect.poll(() => page.locator('.graph:not(:has(.node-open))').count(), { timeout: 30_000 }).toBe(0);
      if (open) await open(page);
      else if (!(await reachesHeading(page))) found.push(`${name}: its heading is covered`);
      const wider = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
      if (wider > 0) found.push(`${name}: it is ${wider} px wider than the window`);
      if (size === 'phone') found.push(...(await smallTargets(page)).map((each) => `${name}: ${each}`));
      for (const [colorScheme, rules] of [
        ['light', RULES],
        ['dark', RULES_OF_COLOUR],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        found.push(...(await findings(page, rules)).map((each) => `${name}, ${colorScheme}: ${each}`));
      }
    }
    expect(found).toEqual([]);
  },
);

/** What has the focus, as a screen reader says it. */
const focused = (page: Page) =>
  page.evaluate(`(() => {
    const { activeElement: it } = document;
    return (it.getAttribute('aria-label') ?? it.labels?.[0]?.textContent ?? it.textContent ?? '').trim();
  })()`) as Promise<string>;

/** Presses Tab until that has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (name.test(now)) return;
    passed.push(now.slice(0, 40));
  }
  throw new Error(`Tab never came to ${name}; it came to ${passed.join(' | ')}`);
}

inBrowser('everything goes by the keys: start, watch, look back, answer, stop', async () => {
  const page = await opened(at.link('/casts'));
  const { keyboard } = page;
  await page.getByRole('heading', { level: 1, name: 'Casts' }).waitFor();
  // Start: C comes from anywhere.
  await keyboard.press('c');
  await expect.poll(() => focused(page), { timeout: 20_000 }).toBe('What should it do?');
  await keyboard.type('Upgrade the parser by the keys alone');
  await tabTo(page, /^More$/);
  await keyboard.press('Enter');
  await tabTo(page, /^agents, optional/);
  await keyboard.type(scriptOf('question'));
  await keyboard.press('Control+Enter');
  await page.getByRole('heading', { level: 1, name: 'Upgrade the parser by the keys alone' }).waitFor();

  // Look: the three faces, a step of the graph, an entry of the past, and back.
  await page.getByText(/asks/).first().waitFor();
  await keyboard.press('2');
  await page.getByRole('group', { name: 'Items', exact: true }).waitFor();
  await keyboard.press('3');
  await page
    .getByText(/is dispatched|started/)
    .first()
    .waitFor();
  await keyboard.press('1');
  await tabTo(page, /^plan: /);
  await keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Turn' }).getByText('plan').first().waitFor();
  await keyboard.press('Escape');
  await tabTo(page, /^Entry that is looked at/);
  await keyboard.press('ArrowLeft');
  await page.getByText(/^You are looking at/).waitFor();
  await keyboard.press('l');
  await page.getByText(/^You are looking at/).waitFor({ state: 'detached' });

  // Answer: W leads to what waits; the palette finds it by its cast.
  await keyboard.press('Control+k');
  await keyboard.type('Upgrade the parser by the keys alone');
  await page.getByRole('option').filter({ hasText: 'asks' }).first().waitFor();
  await keyboard.press('Enter');
  await page.getByRole('article').getByText('Two partners still send two-digit years.').first().waitFor();
  await tabTo(page, /^Your answer/);
  await keyboard.type('Drop it.');
  await keyboard.press('Escape');
  await expect
    .poll(() => page.getByRole('button', { name: 'Answer', exact: true }).getAttribute('aria-disabled'), {
      timeout: 20_000,
    })
    .toBeNull();
  await keyboard.press('Control+Enter');
  await page.getByRole('article').getByRole('status').waitFor();

  // Stop another one: its acts are in the palette, too.
  await page.goto(at.link(`/cast/${casts.get('running')}`));
  await page.getByText('1 of 2 done').first().waitFor();
  await tabTo(page, /^More$/);
  await keyboard.press('Enter');
  await tabTo(page, /^Abort…/);
  await keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  // The command of what has the focus, and the list of the keys.
  await keyboard.press('?');
  await page.getByRole('dialog').getByText('Next that waits for me').waitFor();
  await keyboard.press('Escape');
  for (const [key, name] of [
    ['h', 'Home'],
    ['i', 'Inbox'],
    ['l', 'Ledger'],
    ['t', 'History'],
  ] as const) {
    await keyboard.press('g');
    await keyboard.press(key);
    await page.getByRole('heading', { level: 1, name }).waitFor();
  }
});

inBrowser('what has the focus is seen, is large enough, and is reached in the order in which it is read', async () => {
  const page = await opened(at.link('/'));
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await page.getByText('Ended').first().waitFor();
  const unseen: string[] = [];
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab');
    const told = (await page.evaluate(`(() => {
      const it = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(it);
      const { width, height } = it.getBoundingClientRect();
      return { name: it.outerHTML.slice(0, 120), outline: outlineStyle + ' ' + outlineWidth, width, height, isBody: it === document.body };
    })()`)) as { name: string; outline: string; width: number; height: number; isBody: boolean };
    if (told.isBody) break;
    if (told.outline.startsWith('none') || told.outline.endsWith(' 0px')) unseen.push(`no outline: ${told.name}`);
    if (told.height < 24 || told.width < 24) unseen.push(`${told.width}×${told.height}: ${told.name}`);
  }
  expect(unseen).toEqual([]);
});
