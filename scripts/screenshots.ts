// `npm run screenshots -- OUT [--only WORD]… [--docs]`: pictures of every view of the page, light and dark, wide, narrow and
// on a phone, through the real server and real casts. `--docs` takes the few that README and docs show, to `docs/images`.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import type { Json, JsonObject } from '../src/kernel/json.ts';
import { initRepository } from '../test/init-repository.ts';
import * as stage from '../test/web/cast-stage.ts';
import * as scene from '../test/web/scene.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true },
    size: { type: 'string', multiple: true },
    theme: { type: 'string', multiple: true },
    docs: { type: 'boolean' },
  },
});
const out = positionals[0] ?? (values.docs ? join(ROOT, 'docs/images') : undefined);
if (out === undefined) {
  console.error('usage: npm run screenshots -- OUT [--only WORD]... [--docs]');
  process.exit(2);
}

type Served = {
  readonly url: string;
  readonly token: string;
  readonly ask: (name: string, input?: JsonObject) => Promise<JsonObject>;
};
type Size = 'wide' | 'narrow' | 'phone';
const SIZES = {
  wide: { width: 1440, height: 900 },
  narrow: { width: 1024, height: 768 },
  phone: { width: 390, height: 844 },
} as const satisfies Readonly<Record<Size, { width: number; height: number }>>;

type Shot = {
  readonly name: string;
  readonly at: string;
  /** What has to be there before the picture is taken. */
  readonly until?: string;
  readonly act?: (page: Page) => Promise<unknown>;
  readonly sizes?: readonly Size[];
  /** The name of its picture in `docs/images`, and the sizes that are taken for it. */
  readonly docs?: string;
  /** The docs show it in the dark, too. */
  readonly isDark?: boolean;
};

const folder = mkdtempSync(join(tmpdir(), 'baton-screenshots-'));
const children: ChildProcess[] = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGTERM');
});

function environment(): NodeJS.ProcessEnv {
  const { PATH, LANG } = process.env;
  const user = join(folder, 'user');
  mkdirSync(user, { recursive: true });
  return {
    ...{ PATH, LANG, HOME: user, TMPDIR: folder, BATON_CONFIG: join(user, 'config'), USER: 'ann', LOGNAME: 'ann' },
    ...{ XDG_STATE_HOME: join(user, 'state'), BATON_CHECKPOINTS: join(user, 'checkpoints') },
  };
}

/** Serves a workspace by the program itself. */
async function serve(dir: string): Promise<Served> {
  const args = ['serve', '--port', '0', '--json'];
  const child = spawn(join(ROOT, 'bin/baton'), args, {
    cwd: dir,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let heard = '';
  child.stderr.on('data', (text: Buffer) => {
    heard += String(text);
  });
  const { url, token } = await new Promise<{ url: string; token: string }>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (part: Buffer) => {
      text += String(part);
      try {
        resolve(JSON.parse(text) as { url: string; token: string });
      } catch {
        // The rest is still to come.
      }
    });
    child.on('exit', () => reject(new Error(`the server ended: ${heard}`)));
  });
  const ask: Served['ask'] = async (name, input = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/${name}`, { method: 'POST', headers, body: JSON.stringify(input) });
    const verdict = (await answer.json()) as { allow: boolean; reason: string; details: JsonObject };
    if (!verdict.allow) throw new Error(`${name}: ${verdict.reason}`);
    return verdict.details;
  };
  return { url, token, ask };
}

async function castOf({ ask }: Served, input: JsonObject): Promise<string> {
  return String((await ask('cast.start', { ...input, detach: true })).cast);
}

type CastRow = { readonly cast: string; readonly status: string; readonly items?: { done: number } };

/** Waits until no cast does anything that will end soon. */
async function settled({ ask }: Served, goesOn: readonly string[]): Promise<void> {
  let [before, same] = ['', 0];
  for (let tries = 0; tries < 240 && same < 8; tries++) {
    const { casts } = (await ask('cast.list', { limit: 100 })) as unknown as { casts: readonly CastRow[] };
    const isQuiet = casts.every(({ cast, status }) => status !== 'running' || goesOn.includes(cast));
    const now = JSON.stringify(casts.map(({ cast, status, items }) => [cast, status, items]));
    same = isQuiet && now === before ? same + 1 : 0;
    before = now;
    await wait(250);
  }
}

/** A service with a team: what waits, runs and ended, tasks by hand, and a person's words. */
async function harbor(): Promise<{ served: Served; casts: Readonly<Record<scene.SceneCastName, string>> }> {
  const dir = join(folder, 'harbor-api');
  mkdirSync(dir);
  scene.makeScene(dir);
  const served = await serve(dir);
  const names = Object.keys(scene.CASTS) as scene.SceneCastName[];
  const casts: Partial<Record<scene.SceneCastName, string>> = {};
  for (const name of names.toReversed()) casts[name] = await castOf(served, scene.startOf(name));
  for (const task of scene.TASKS) await served.ask('task.create', { packet: task });
  for (const request of scene.QUESTS) await served.ask('quest.add', { request, loadout: 'Bugfix team' });
  await settled(served, [casts.running ?? '']);
  return { served, casts: casts as Readonly<Record<scene.SceneCastName, string>> };
}

type StageName = keyof typeof stage.CASTS;
const AS_LONG_AS_LOOKED_AT: readonly StageName[] = ['rework', 'long', 'many', 'lanes'];

async function sessions(): Promise<{ served: Served; casts: Readonly<Record<StageName, string>> }> {
  const dir = join(folder, 'sessions');
  mkdirSync(dir);
  initRepository(dir);
  const put = (path: string, value: Json): void => writeFileSync(join(dir, path), JSON.stringify(value, null, 2));
  mkdirSync(join(dir, '.baton'));
  mkdirSync(join(dir, 'agents'));
  put('.baton/config.json', stage.CONFIG);
  for (const [name, { agents }] of Object.entries(stage.CASTS)) if (agents) put(`agents/${name}.json`, agents as Json);
  writeFileSync(join(dir, '.gitignore'), '.baton/state/\nagents/\n');
  const env = { PATH: process.env.PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: '1' };
  for (const args of [
    ['add', '-A'],
    ['commit', '-q', '-m', 'the service'],
  ])
    execFileSync('git', args, { cwd: dir, env });
  const served = await serve(dir);
  const casts: Partial<Record<StageName, string>> = {};
  for (const [name, { request, loadout, agents }] of Object.entries(stage.CASTS))
    casts[name as StageName] = await castOf(served, {
      ...{ request, loadout },
      ...(agents ? { agents: `agents/${name}.json` } : {}),
    });
  await settled(
    served,
    AS_LONG_AS_LOOKED_AT.map((name) => casts[name] ?? ''),
  );
  return { served, casts: casts as Readonly<Record<StageName, string>> };
}

/** A project in which nothing ever happened. */
async function nothing(): Promise<Served> {
  const dir = join(folder, 'new-project');
  mkdirSync(dir);
  initRepository(dir);
  mkdirSync(join(dir, '.baton'));
  writeFileSync(join(dir, '.baton/config.json'), JSON.stringify(scene.CONFIG, null, 2));
  return serve(dir);
}

const opened = (selector: string) => (page: Page) => page.locator(selector).first().click();
const press = (key: string) => (page: Page) => page.keyboard.press(key);
const WIDE: readonly Size[] = ['wide'];

async function harborShots(served: Served, casts: Readonly<Record<scene.SceneCastName, string>>): Promise<Shot[]> {
  const { inbox } = (await served.ask('inbox')) as unknown as { inbox: readonly { id: string; kind: string }[] };
  const cards = inbox.map(({ id, kind }): Shot => {
    return { name: `inbox-${kind}`, at: `/inbox/${encodeURIComponent(id)}`, until: '.card, .decision-bar, main' };
  });
  const { entries } = (await served.ask('log', { last: 40 })) as unknown as { entries: readonly { seq: number }[] };
  return [
    { name: 'home', at: '/', docs: 'home' },
    { name: 'casts', at: '/casts' },
    { name: 'inbox', at: '/inbox' },
    ...cards.map((card) => (card.name === 'inbox-approval' ? { ...card, docs: 'approval' } : card)),
    { name: 'ledger', at: '/ledger', docs: 'ledger' },
    { name: 'ledger-task', at: '/ledger', act: opened('.task') },
    { name: 'ledger-dependencies', at: '/ledger?view=dependencies' },
    { name: 'ledger-table', at: '/ledger?view=table' },
    {
      name: 'ledger-move',
      at: '/ledger',
      act: async (page) => {
        await page.locator('.task').first().click();
        await page.keyboard.press('m');
      },
      sizes: WIDE,
    },
    { name: 'loadouts', at: '/loadouts' },
    {
      name: 'editor',
      at: '/loadouts/Full-Auto',
      until: '.canvas[data-current="true"] .node',
      act: opened('[data-socket="Socket-5"] .node-open'),
      docs: 'editor',
      isDark: true,
    },
    {
      name: 'editor-trial',
      at: '/loadouts/Full-Auto',
      until: '.canvas[data-current="true"] .node',
      act: async (page) => {
        await page.keyboard.press('t');
        await page.locator('.try-open').first().waitFor();
      },
      sizes: WIDE,
    },
    { name: 'history-log', at: '/history/log' },
    { name: 'history-entry', at: `/history/log?entry=${entries[8]?.seq ?? 10}` },
    { name: 'history-costs', at: '/history/costs' },
    { name: 'queue', at: '/queue' },
    { name: 'cast-approval', at: `/cast/${casts.approval}`, docs: 'cast' },
    { name: 'cast-failed', at: `/cast/${casts.failed}` },
    { name: 'palette', at: '/', act: press('ControlOrMeta+k') },
    {
      name: 'palette-operation',
      at: '/',
      act: async (page) => {
        await page.keyboard.press('ControlOrMeta+k');
        await page.keyboard.type('task.create');
        await page.keyboard.press('Enter');
      },
      sizes: WIDE,
    },
    { name: 'keys', at: '/', act: press('?'), sizes: WIDE },
    { name: 'missing', at: '/nowhere', sizes: WIDE },
  ];
}

function sessionsShots(casts: Readonly<Record<StageName, string>>): Shot[] {
  const of = (name: StageName, rest = '') => `/cast/${casts[name]}${rest}`;
  return [
    { name: 'cast', at: of('rework') },
    { name: 'cast-turn', at: of('rework', '/turn/10'), sizes: ['wide', 'phone'] },
    { name: 'cast-items', at: of('rework', '?face=items') },
    { name: 'cast-log', at: of('rework', '?face=log') },
    { name: 'cast-refused', at: of('refused', '/turn/4?attempt=1') },
    { name: 'cast-completed', at: of('completed') },
    { name: 'cast-waiting', at: of('waiting') },
    { name: 'cast-parked', at: of('parked') },
    { name: 'cast-empty', at: of('empty') },
    { name: 'cast-long', at: of('long') },
    { name: 'cast-many', at: of('many') },
    { name: 'cast-lanes', at: of('lanes') },
    ...['brief', 'handoff', 'changes', 'evidence', 'usage'].map(
      (tab): Shot => ({ name: `turn-${tab}`, at: of('rework', `/turn/5?tab=${tab}`), sizes: WIDE }),
    ),
  ];
}

async function pastShots({ ask }: Served, cast: string): Promise<Shot[]> {
  const { entries } = (await ask('log', { cast, last: 500 })) as unknown as {
    entries: readonly { seq: number; fact: { kind: string; turn?: number; when?: string } }[];
  };
  const back = entries.find(({ fact }) => fact.kind === 'edge.taken' && fact.when === 'not_satisfied');
  const seq = back?.seq ?? entries[Math.floor(entries.length / 2)]?.seq ?? 10;
  const turn = back?.fact.turn ?? 4;
  return [{ name: 'cast-past', at: `/cast/${cast}/turn/${turn}?at=${seq}`, docs: 'cast-past' }];
}

const isWanted = ({ name, docs }: Shot): boolean =>
  (!values.docs || docs !== undefined) &&
  (values.only === undefined || values.only.some((word) => name.includes(word)));

async function take(browser: Browser, { url, token }: Served, shots: readonly Shot[]): Promise<void> {
  const themes = (['light', 'dark'] as const).filter((each) => values.theme?.includes(each) ?? true);
  for (const theme of themes)
    for (const [size, viewport] of Object.entries(SIZES) as [Size, (typeof SIZES)[Size]][]) {
      if (values.size && !values.size.includes(size)) continue;
      const own = shots
        .filter(({ sizes = Object.keys(SIZES) }) => sizes.includes(size))
        .filter(isWanted)
        .filter(({ isDark }) => !values.docs || theme === 'light' || isDark);
      if (own.length === 0 || (values.docs && size !== 'wide')) continue;
      const context = await browser.newContext({
        viewport,
        colorScheme: theme,
        deviceScaleFactor: 1,
        reducedMotion: 'reduce',
      });
      await context.addInitScript(`sessionStorage.setItem('baton.token', ${JSON.stringify(token)})`);
      for (const shot of own) {
        const page = await context.newPage();
        const faults: string[] = [];
        page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
        page.on('pageerror', (error) => faults.push(error.message));
        await page.goto(url + shot.at);
        await page.locator('main').first().waitFor();
        await wait(300);
        for (let tries = 0; tries < 60 && (await page.locator('.loading').count()) > 0; tries++) await wait(250);
        await wait(400);
        await shot.act?.(page).catch((error: Error) => faults.push(error.message));
        if (shot.act) await wait(400);
        const wide = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
        if (wide > 0) faults.push(`the page is ${wide} px wider than the window`);
        await picture(page, values.docs ? docsName(shot, theme) : `${shot.name}.${size}.${theme}`);
        for (const fault of faults) console.error(`${shot.name}.${size}.${theme}: ${fault}`);
        await page.close();
      }
      await context.close();
    }
}

function docsName({ docs }: Shot, theme: 'light' | 'dark'): string {
  return `${docs}${theme === 'dark' ? '-dark' : ''}`;
}

/** The docs get WebP, which is a third of a PNG. */
async function picture(page: Page, name: string): Promise<void> {
  const dir = out ?? '.';
  if (!values.docs) {
    await page.screenshot({ path: join(dir, `${name}.png`) });
    return;
  }
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
  writeFileSync(join(dir, `${name}.webp`), Buffer.from(data, 'base64'));
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ends = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ends;
}

async function main(): Promise<void> {
  if (!existsSync(CHROMIUM)) throw new Error(`there is no ${CHROMIUM}; install the package chromium, or set CHROMIUM`);
  if (!existsSync(join(ROOT, 'web/dist/index.html')))
    execFileSync('npm', ['run', '--silent', 'build:webui'], { cwd: ROOT, stdio: 'inherit' });
  const { chromium } = await import('playwright-core');
  mkdirSync(out ?? '.', { recursive: true });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const work = await harbor();
    await take(browser, work.served, await harborShots(work.served, work.casts));
    const play = await sessions();
    await take(browser, play.served, [
      ...sessionsShots(play.casts),
      ...(await pastShots(play.served, play.casts.rework)),
    ]);
    const empty: readonly Shot[] = ['/', '/casts', '/inbox', '/ledger', '/queue', '/history/log', '/history/costs'].map(
      (at) => {
        return { name: `empty-${at.split('/').filter(Boolean).join('-') || 'home'}`, at };
      },
    );
    if (empty.some(isWanted)) await take(browser, await nothing(), empty);
  } finally {
    await browser.close();
    await Promise.all(children.map(stopped));
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
