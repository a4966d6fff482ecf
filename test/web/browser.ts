// A browser on the page of a real server. Every test fails on an error in the console, and on a request that leaves the machine.
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, inject, onTestFinished, test } from 'vitest';

const program = inject('chromium');

/** A test in a browser; left out where there is none. */
export const inBrowser = test.skipIf(program === null);

/** One for all files of this process. It ends with the process. */
let running: Promise<Browser> | undefined;

function browser(): Promise<Browser> {
  if (program === null) throw new Error('there is no browser');
  const isRoot = process.getuid?.() === 0;
  running ??= chromium.launch({
    executablePath: program,
    // Nothing but this machine has an address.
    args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', ...(isRoot ? ['--no-sandbox'] : [])],
  });
  return running;
}

/** How long a test waits for what a person would see; only a failure takes so long. */
const PATIENCE_MS = 30_000;
const SHOWN_CHARS_MAX = 5_000;

export const WIDE = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

export type Opening = BrowserContextOptions & {
  /** What the console may say: a refusal, for example, is an answer that the browser counts as an error. */
  readonly mayLog?: RegExp;
};

/** A window of a browser of its own, with its own memory. */
export async function opened(link: string, { mayLog, ...options }: Opening = {}): Promise<Page> {
  const { origin } = new URL(link);
  const context = await (await browser()).newContext({ viewport: WIDE, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const faults: string[] = [];
  context.on('console', (message) => {
    const said = `${message.text()} (${message.location().url})`;
    if (message.type() === 'error' && !mayLog?.test(said)) faults.push(said);
  });
  context.on('weberror', (error) => faults.push(String(error.error().stack)));
  context.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !/^(?:blob|data):/.test(url)) faults.push(`a request to ${url}`);
  });
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await describe(context);
    await context.close();
    expect(faults).toEqual([]);
  });
  const page = await context.newPage();
  await page.goto(link);
  return page;
}

/** What a failed test had on its screen. */
async function describe(context: BrowserContext): Promise<void> {
  for (const page of context.pages()) {
    const seen = await page.locator('body').ariaSnapshot().catch(String);
    process.stderr.write(`${page.url()}\n${seen.slice(0, SHOWN_CHARS_MAX)}\n`);
  }
}

/** A refused act. */
export const REFUSALS = /the server responded with a status of 4\d\d .*\/api\//;
