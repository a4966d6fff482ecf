// The page and its server: how soon a fact is on the screen while 200 streams are open, how large the first view is, how
// smooth the page stays while a long cast streams, and what HTTP adds to the call of an operation.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { callerWith } from '../src/access/server-callers.ts';
import { perform } from '../src/app/perform.ts';
import { Workspace } from '../src/app/workspace.ts';
import { WorkerStore } from '../src/engine/worker-store.ts';
import { packet } from '../src/kernel/ledger/fixtures/book.ts';
import { logFileIn } from '../src/log/sqlite/open.ts';
import { LOOPBACK_HOST, startServer } from '../src/server/serve.ts';
import { locate } from '../src/workspace/locate.ts';
import { roundTrip, runCast, scratch } from './casts.ts';
import { median, type Row } from './row.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TOKEN = 'bench';
const HEADERS = { authorization: `Bearer ${TOKEN}` };
const STREAMS = 200;
const FACTS = process.env.QUICK ? 40 : 200;
const TURNS = process.env.QUICK ? 1_000 : 10_000;
const CALLS = process.env.QUICK ? 200 : 2_000;
const SCREEN_MS_MAX = 100;
const FIRST_VIEW_BYTES_MAX = 300_000;
const FRAME_MS = 1_000 / 60;
const ACTOR = { name: 'user:bench', kind: 'person', role: 'admin', attempt: null } as const;

if (process.argv[2] === '--serve') await serve(process.argv[3] ?? '.');

/** A server in a process of its own, for a caller who may ask as often as it likes. */
async function serve(dir: string): Promise<void> {
  const { url } = await startServer({
    workspace: workspaceIn(dir),
    here: ACTOR,
    version: 'bench',
    host: LOOPBACK_HOST,
    port: 0,
    pageDir: join(ROOT, 'web/dist'),
    admit: (shown) => callerWith(process.env, ACTOR, TOKEN, shown),
    onRefused: () => undefined,
    newMcp: () => {
      throw new Error('no MCP here');
    },
    requestsPerSecond: 1e6,
  });
  console.log(url);
}

function workspaceIn(dir: string): Workspace {
  const located = locate(dir, process.env, dir);
  if (!located) throw new Error(`there is no workspace in ${dir}`);
  return new Workspace(located, { env: process.env });
}

async function serverOf(dir: string): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const args = ['--disable-warning=ExperimentalWarning', fileURLToPath(import.meta.url), '--serve', dir];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = (await once(child.stdout, 'data')) as [Buffer];
  return { url: String(url).trim(), child };
}

export async function webTimes(): Promise<Row[]> {
  if (!existsSync(join(ROOT, 'web/dist/index.html'))) throw new Error('build the page first: npm run build:webui');
  const dir = scratch();
  mkdirSync(join(dir, '.baton/state'), { recursive: true });
  writeFileSync(join(dir, '.baton/config.json'), JSON.stringify({ materia: {}, loadouts: {} }));
  const { url, child } = await serverOf(dir);
  const { chromium } = await import('playwright-core');
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const store = await WorkerStore.open(logFileIn(join(dir, '.baton/state')), dir);
    const { rules, script } = roundTrip(4);
    await store.submit({ kind: 'cast.start', cast: 'open', request: 'bench', loadout: 'Round', rules, script }, ACTOR);
    const rows = [
      ...(await firstView(browser, url)),
      ...(await factToScreen(browser, url)),
      ...(await frameTimes(browser, url, store, dir)),
      ...(await longCast(browser, dir)),
      ...(await editorFrames(browser, url, dir)),
      ...(await requestRates(url, dir)),
    ];
    await store.close();
    return rows;
  } finally {
    await browser.close();
    child.kill();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function pageAt(browser: Browser, address: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${address}#token=${TOKEN}`);
  await page.locator('main h1').first().waitFor();
  return page;
}

async function firstView(browser: Browser, url: string): Promise<Row[]> {
  const times: number[] = [];
  let bytes = 0;
  for (let run = 0; run < 5; run++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(`${url}/#token=${TOKEN}`);
    await page.locator('main h1').first().waitFor();
    // Home is whole; what other views need comes later.
    await page.getByRole('combobox', { name: 'Team' }).waitFor();
    const seen = (await page.evaluate(`(() => {
      const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
      const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now();
      return { paint, bytes: all.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) };
    })()`)) as { paint: number; bytes: number };
    times.push(seen.paint);
    bytes = Math.max(bytes, seen.bytes);
    await context.close();
  }
  return [
    {
      what: 'first view, compressed, with the answers of the API',
      value: `${Math.round(bytes / 1_000)} kB`,
      target: `< ${FIRST_VIEW_BYTES_MAX / 1_000} kB`,
      met: bytes < FIRST_VIEW_BYTES_MAX,
    },
    { what: 'first view, until something is painted', value: `${median(times).toFixed(0)} ms` },
  ];
}

/** From the time of an entry in the log until its number is in a frame of the page. */
async function factToScreen(browser: Browser, url: string): Promise<Row[]> {
  const stop = new AbortController();
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, () =>
      fetch(`${url}/api/events?after=0`, { headers: HEADERS, signal: stop.signal }),
    ),
  );
  let sent = 0;
  for (const { body } of streams)
    void (async () => {
      for await (const part of body ?? []) sent += part.length;
    })().catch(() => undefined);
  const page = await pageAt(browser, `${url}/cast/open`);
  await page.evaluate(`(() => {
    globalThis.seenAt = [];
    const number = document.querySelector('.status-bar b');
    new MutationObserver(() => requestAnimationFrame(() => {
      globalThis.seenAt.push([Number(number.textContent.replace(/\\D/g, '')), performance.timeOrigin + performance.now()]);
    })).observe(number, { characterData: true, childList: true, subtree: true });
  })()`);
  await wait(500);
  const first = Number((await page.locator('.status-bar b').first().textContent())?.replace(/\D/g, ''));
  for (let n = 1; n <= FACTS; n++) {
    const task = packet(`T-${n}`, { lock_scope: [`src/${n}`] });
    const body = JSON.stringify({ packet: task });
    const answer = await fetch(`${url}/api/task.create`, { method: 'POST', headers: HEADERS, body });
    if (!answer.ok) throw new Error(await answer.text());
    await wait(40);
  }
  await wait(1_000);
  const log = await fetch(`${url}/api/log?after=${first}&kind=task.created`, { headers: HEADERS });
  const { details } = (await log.json()) as { details: { entries: readonly { seq: number; at: string }[] } };
  const seen = (await page.evaluate('globalThis.seenAt')) as readonly (readonly [seq: number, at: number])[];
  const delays = details.entries.flatMap(({ seq, at }) => {
    const shown = seen.find(([number]) => number >= seq);
    return shown ? [shown[1] - Date.parse(at)] : [];
  });
  stop.abort();
  await page.close();
  const p95 = percentile(delays, 0.95);
  return [
    {
      what: `fact to screen, ${STREAMS} streams open, p95 of ${delays.length} facts`,
      value: `${p95.toFixed(0)} ms (median ${median(delays).toFixed(0)} ms; ${Math.round(sent / 1_000)} kB to the streams)`,
      target: `< ${SCREEN_MS_MAX} ms`,
      met: delays.length >= FACTS && p95 < SCREEN_MS_MAX,
    },
  ];
}

async function frameTimes(browser: Browser, url: string, store: WorkerStore, dir: string): Promise<Row[]> {
  const page = await pageAt(browser, `${url}/cast/open`);
  const began = performance.now();
  const running = runCast(store, 'long', TURNS, dir);
  await wait(300);
  await page.goto(`${url}/cast/long#token=${TOKEN}`);
  await page.locator('.node').first().waitFor();
  await page.evaluate(`(() => {
    globalThis.frames = [];
    let last = performance.now();
    const next = (now) => { globalThis.frames.push(now - last); last = now; requestAnimationFrame(next); };
    requestAnimationFrame(next);
  })()`);
  await running;
  const ranMs = performance.now() - began;
  await page
    .getByText(/^(?:Done|Failed)/)
    .first()
    .waitFor({ timeout: 60_000 })
    .catch(() => undefined);
  const frames = (await page.evaluate('globalThis.frames')) as readonly number[];
  await page.close();
  return [
    {
      what: `a frame while ${TURNS.toLocaleString('en-US')} turns stream in ${(ranMs / 1_000).toFixed(0)} s`,
      value: `median ${median(frames).toFixed(0)} ms, p95 ${percentile(frames, 0.95).toFixed(0)} ms, worst ${Math.max(...frames).toFixed(0)} ms of ${frames.length}`,
      target: `median ≤ ${(2 * FRAME_MS).toFixed(0)} ms`,
      met: median(frames) <= 2 * FRAME_MS,
    },
  ];
}

/** The same cast in a server that has not seen it yet: opened, opened again, and looked back at in many places. */
async function longCast(browser: Browser, dir: string): Promise<Row[]> {
  const { url, child } = await serverOf(dir);
  const page = await pageAt(browser, `${url}/`);
  const open = async (): Promise<number> => {
    const began = performance.now();
    await page.goto(`${url}/cast/long`);
    await page.locator('.node').first().waitFor();
    await page.locator('.timeline-at').waitFor();
    return performance.now() - began;
  };
  const [cold, warm] = [await open(), await open()];
  const head = Number((await page.locator('.timeline-at').textContent())?.replace(/.* of |\D/g, ''));
  const began = Number(await page.locator('.timeline-track').getAttribute('aria-valuemin'));
  const times: number[] = [];
  let bytes = 0;
  for (let n = 0; n < 20; n++) {
    // Places far from each other, so that each begins with another keyframe.
    const at = began + Math.floor(((n * 7) % 20) * ((head - began) / 20)) + n;
    const then = performance.now();
    const answer = await fetch(`${url}/api/casts/long/view?at=${at}`, { headers: HEADERS });
    bytes = Math.max(bytes, (await answer.text()).length);
    times.push(performance.now() - then);
  }
  await page.close();
  child.kill();
  return [
    {
      what: `a cast of ${(head - began + 1).toLocaleString('en-US')} facts, until it is drawn`,
      value: `${warm.toFixed(0)} ms; ${cold.toFixed(0)} ms in a server that has not read it yet`,
    },
    {
      what: 'the same cast as of another entry, from the server',
      value: `median ${median(times).toFixed(0)} ms, worst ${Math.max(...times).toFixed(0)} ms of ${times.length}; at most ${Math.round(bytes / 1_000)} kB`,
      target: 'median < 100 ms',
      met: median(times) < 100,
    },
  ];
}

const SOCKETS = 500;

/** How smooth the canvas of the editor stays with many sockets: moved, brought nearer, and with one socket dragged. */
async function editorFrames(browser: Browser, url: string, dir: string): Promise<Row[]> {
  const sockets = Object.fromEntries(
    Array.from({ length: SOCKETS }, (_, n) => {
      const back = n % 7 === 6 ? [{ when: 'not_satisfied', to: `Socket-${n - 2}`, maxTraversals: 2 }] : [];
      const on = n + 1 < SOCKETS ? [{ when: 'satisfied', to: `Socket-${n + 2}` }] : [];
      return [`Socket-${n + 1}`, { materia: 'work', parse: 'json', edges: [...on, ...back] }];
    }),
  );
  const places = Object.keys(sockets).map((id, n) => [id, { x: (n % 25) * 240, y: Math.floor(n / 25) * 180 }]);
  const loadout = { entry: 'Socket-1', sockets, layout: { sockets: Object.fromEntries(places) } };
  const materia = { work: { tools: 'none', prompt: 'Work.' } };
  writeFileSync(join(dir, '.baton/config.json'), JSON.stringify({ materia, loadouts: { Large: loadout } }));
  const page = await pageAt(browser, `${url}/loadouts/Large`);
  const began = performance.now();
  await page.locator('.canvas[data-current="true"] .node').first().waitFor({ timeout: 60_000 });
  const drawnMs = performance.now() - began;
  await wait(1_000);
  const box = await page.locator('.canvas').boundingBox();
  if (!box) throw new Error('the canvas is not drawn');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const drag = async (fromX: number, fromY: number): Promise<void> => {
    await page.mouse.move(fromX, fromY);
    await page.mouse.down();
    for (let step = 1; step <= 40; step++) {
      await page.mouse.move(fromX + step * 4, fromY + step * 2);
      await wait(8);
    }
    await page.mouse.up();
  };
  const rows: Row[] = [
    { what: `${SOCKETS} sockets in the editor, until they are drawn`, value: `${drawnMs.toFixed(0)} ms` },
  ];
  const measure = async (what: string, act: () => Promise<void>): Promise<void> => {
    await page.evaluate(`(() => {
      globalThis.frames = [];
      let last = performance.now();
      const next = (now) => { globalThis.frames.push(now - last); last = now; globalThis.handle = requestAnimationFrame(next); };
      globalThis.handle = requestAnimationFrame(next);
    })()`);
    await act();
    const frames = (await page.evaluate(
      'cancelAnimationFrame(globalThis.handle), globalThis.frames',
    )) as readonly number[];
    rows.push({
      what: `a frame of the editor with ${SOCKETS} sockets, ${what}`,
      value: `median ${median(frames).toFixed(0)} ms, p95 ${percentile(frames, 0.95).toFixed(0)} ms, worst ${Math.max(...frames).toFixed(0)} ms of ${frames.length}`,
      target: `median ≤ ${(2 * FRAME_MS).toFixed(0)} ms`,
      met: median(frames) <= 2 * FRAME_MS,
    });
  };
  await measure('all in sight and moved', () => drag(x, box.y + 12));
  await page.mouse.move(x, y);
  await measure('while it comes nearer', async () => {
    for (let step = 0; step < 12; step++) {
      await page.mouse.wheel(0, -120);
      await wait(30);
    }
  });
  await wait(300);
  await measure('near and moved', () => drag(x, box.y + 12));
  const node = await page.locator('.node-open').nth(4).boundingBox();
  if (node) await measure('with one socket dragged', () => drag(node.x + 8, node.y + 8));
  await page.close();
  return rows;
}

/** The same operation by a call of the library and by HTTP, one after the other and sixteen at once. */
async function requestRates(url: string, dir: string): Promise<Row[]> {
  const workspace = workspaceIn(dir);
  const signal = new AbortController().signal;
  const byCall = () => perform(workspace, 'lock.list', {}, { actor: ACTOR, signal, onEvent: () => undefined });
  const byHttp = async () => void (await (await fetch(`${url}/api/lock.list`, { headers: HEADERS })).text());
  const library = await rate(byCall, 1);
  const [one, many] = [await rate(byHttp, 1), await rate(byHttp, 16)];
  await workspace.close();
  return [
    { what: '`lock.list` by library call, a second', value: `${library.toFixed(0)}` },
    {
      what: '`lock.list` by HTTP, one after the other, a second',
      value: `${one.toFixed(0)} (${(one / library).toFixed(2)}×)`,
    },
    {
      what: '`lock.list` by HTTP, sixteen at once, a second',
      value: `${many.toFixed(0)} (${(many / library).toFixed(2)}×)`,
    },
  ];
}

async function rate(call: () => Promise<unknown>, atOnce: number): Promise<number> {
  for (let n = 0; n < 20; n++) await call();
  let left = CALLS;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left-- > 0) await call();
    }),
  );
  return CALLS / ((performance.now() - began) / 1_000);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
