// What waits is decided on the page: a permission by its seal, a question, an item that was put off; also on a phone, by two
// people at once, and not by somebody who may only look.
import { afterAll, beforeAll, expect } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../cli/baton.ts';
import { inBrowser, opened, PHONE, REFUSALS } from './browser.ts';
import { COMMAND, makeScene, type SceneCastName, startOf } from './scene.ts';
import { Served } from './served.ts';

let at: Served;

beforeAll(async () => {
  at = new Served(makeScene);
  await at.start();
});
afterAll(() => at?.close());

type Row = { readonly id: string; readonly kind: string; readonly cast: string };

async function waiting(cast: string, kind: string): Promise<Row> {
  return until(`${kind} of ${cast}`, async () => {
    const { details } = await at.ask('inbox');
    return (details as unknown as { inbox: readonly Row[] }).inbox.find(
      (row) => row.cast === cast && row.kind === kind,
    );
  });
}

/** A cast that was started, and what it waits for. */
async function waitingCast(name: SceneCastName, kind: string): Promise<{ cast: string; row: Row; path: string }> {
  const cast = String((await at.ask('cast.start', startOf(name))).details.cast);
  const row = await waiting(cast, kind);
  return { cast, row, path: `/inbox/${encodeURIComponent(row.id)}` };
}

async function showOf(cast: string): Promise<JsonObject> {
  return (await at.ask('cast.show', { cast })).details as JsonObject;
}

/** Waits until the cast is over, and answers how it ended. */
async function endOf(cast: string): Promise<unknown> {
  return until(`the end of ${cast}`, async () => {
    const { status } = await showOf(cast);
    return status === 'running' || status === 'waiting' ? undefined : status;
  });
}

const sealOf = (revision: string) => `${revision.slice(0, 4)} ${revision.slice(4, 8)}`;

inBrowser('a command is approved by the seal that is on the screen, and by no other', async () => {
  const { cast, path } = await waitingCast('approval', 'approval');
  const page = await opened(at.link('/'), { mayLog: REFUSALS });
  await page.getByRole('button', { name: 'Review' }).click();
  expect(new URL(page.url()).pathname).toBe(path);
  const card = page.getByRole('article');
  expect((await card.locator('.sealed pre, .sealed-command').first().textContent())?.trim()).toBe(COMMAND);
  await card.getByText('It changes state:').waitFor();
  const seal = String(await card.locator('.sealed-head').textContent()).match(/[0-9a-f]{4} [0-9a-f]{4}/)?.[0];

  // The file that the agent wrote has to be read first: no press of the button approves before that.
  await card.getByRole('button', { name: 'Read the 19 lines' }).click();
  await card.getByText('return new Date(local).toISOString();').scrollIntoViewIfNeeded();
  const approve = card.getByRole('button', { name: `Approve this command once ${seal}` });
  await approve.waitFor();
  expect(
    await page
      .locator('main')
      .getByRole('button', { name: /^Approve/ })
      .count(),
  ).toBe(1);

  // Something between the page and the server exchanges the seal.
  const other = '0'.repeat(64);
  const posted: string[] = [];
  await page.route('**/api/approve', async (route) => {
    const body = route.request().postDataJSON() as { revision: string };
    posted.push(body.revision);
    if (posted.length > 1) return route.continue();
    return route.continue({ postData: JSON.stringify({ ...body, revision: other }) });
  });
  await approve.click();
  await card.locator('.bar-refusal').waitFor();
  expect((await showOf(cast)).status).toBe('waiting');
  await card.getByRole('button', { name: 'Close' }).click();

  await page.keyboard.press('Control+Enter');
  await card
    .getByRole('status')
    .getByText(/approved/i)
    .waitFor();
  expect(posted.map(sealOf)).toEqual([seal, seal]);
  expect(await endOf(cast)).toBe('completed');
});

inBrowser('a question is answered, and the cast goes on with the answer', async () => {
  const { cast, path } = await waitingCast('question', 'question');
  const page = await opened(at.link(path));
  const card = page.getByRole('article');
  await card.getByText('Two partners still send two-digit years.').first().waitFor();
  const send = card.getByRole('button', { name: 'Answer', exact: true });
  expect(await send.getAttribute('aria-disabled')).toBe('true');
  await card.getByRole('textbox').fill('Drop it: both partners were told.');
  await send.click();
  await card.getByRole('status').waitFor();
  await until('the answer in the log', async () => {
    const { details } = await at.ask('log', { cast, last: 100 });
    return JSON.stringify(details).includes('both partners were told');
  });
});

inBrowser('an agent that asks is sent on without an answer', async () => {
  const { cast, path } = await waitingCast('question', 'question');
  const page = await opened(at.link(path));
  await page.getByRole('article').getByRole('button', { name: 'Send on without an answer' }).click();
  const decided = await until('the decision in the log', async () => {
    const { details } = await at.ask('log', { cast, last: 100 });
    return /"kind":"turn.decided"[^}]*"choice":"(\w+)"/.exec(JSON.stringify(details))?.[1];
  });
  expect(decided).toBe('rerun');
});

inBrowser('a spent edge shows the last rejection and is taken again; a blocked agent reads how to go on', async () => {
  const spent = await waitingCast('spent', 'spent');
  const page = await opened(at.link(spent.path));
  const card = page.getByRole('article');
  await card.getByText('Harbours of Svalbard').first().waitFor();
  await card.getByRole('heading', { name: 'review sent it back as often as it may' }).waitFor();
  await card.getByRole('button', { name: 'Allow as many rounds again' }).click();
  await card.getByRole('status').waitFor();
  expect(await endOf(spent.cast)).toBe('completed');

  const blocked = await waitingCast('blocked', 'blocked');
  await page.goto(at.link(blocked.path));
  await card.getByText('the account needs a contract first').first().waitFor();
  await card.getByLabel('Tell it how to go on').fill('The contract is signed.');
  await card.getByRole('button', { name: 'Answer', exact: true }).click();
  await card.getByRole('status').waitFor();
  expect(await endOf(blocked.cast)).toBe('completed');
});

inBrowser('an item that was put off is tried again with a note, and another one is dropped', async () => {
  const tried = await waitingCast('parked', 'parked');
  const page = await opened(at.link(tried.path));
  const card = page.getByRole('article');
  await card.getByText('The test only checks whole minutes.').waitFor();
  await card.getByLabel(/^A note for the next agent/).fill('Round to the tick after.');
  await card.getByRole('button', { name: 'Retry', exact: true }).click();
  await card.getByRole('status').waitFor();
  expect(await endOf(tried.cast)).toBe('completed');
  const { details } = await at.ask('log', { cast: tried.cast, kind: 'attempt.started', last: 100 });
  expect(JSON.stringify(details)).toContain('Round to the tick after.');

  const dropped = await waitingCast('parked', 'parked');
  await page.goto(at.link(dropped.path));
  await card.getByRole('button', { name: 'Drop…' }).click();
  const drop = card.getByRole('button', { name: 'Drop it' });
  expect(await drop.getAttribute('aria-disabled')).toBe('true');
  await card.getByLabel('Why is it left out?').fill('Whole minutes are enough.');
  await drop.click();
  await card.getByRole('status').waitFor();
  expect(await endOf(dropped.cast)).toBe('completed');
});

inBrowser('two people look at the same request: the first one decides, the second one is told', async () => {
  const { cast, path } = await waitingCast('question', 'question');
  const [first, second] = [await opened(at.link(path)), await opened(at.link(path))];
  const fieldOf = (page: typeof first) => page.getByRole('article').getByRole('textbox');
  await fieldOf(second).fill('I would keep it.');
  await fieldOf(first).fill('Drop it.');
  const send = first.getByRole('article').getByRole('button', { name: 'Answer', exact: true });
  await send.click();
  await second.getByText(/decided elsewhere|no longer waits/).waitFor();
  // The card stays where it is, and cannot be sent any more.
  expect(new URL(second.url()).pathname).toBe(path);
  expect(await second.getByRole('article').getByRole('button', { name: 'Answer', exact: true }).count()).toBe(0);
  // Both see what comes of it.
  for (const page of [first, second]) await page.goto(at.link(`/cast/${cast}`));
  for (const page of [first, second])
    await page
      .getByText(/2 of 2 done/)
      .first()
      .waitFor();
});

inBrowser('somebody who looks elsewhere is notified of what stops a cast, once, and is led to it', async () => {
  await at.ask('cast.start', startOf('docs'));
  const page = await opened(at.link('/'), { permissions: ['notifications'] });
  // What waited before is no news, so the page has to know it first.
  await page.getByRole('heading', { name: /^(?:Nothing waits|Waits) for you/ }).waitFor();
  await page.evaluate(`(() => {
    globalThis.notes = [];
    globalThis.Notification = class {
      static permission = 'granted';
      constructor(title, options) { globalThis.notes.push({ title, ...options, press: () => this.onclick() }); }
      close() {}
    };
    Object.defineProperty(document, 'hidden', { get: () => true });
  })()`);
  const { row, path } = await waitingCast('question', 'question');
  const notes = () => page.evaluate('globalThis.notes.map(({ title, body, tag }) => [title, body, tag])');
  await expect
    .poll(notes, { timeout: 30_000 })
    .toEqual([[expect.stringMatching(/^build asks: Two partners/), 'Upgrade the date parser to version 4', row.id]]);
  await page.evaluate('globalThis.notes[0].press()');
  await page.getByRole('article').waitFor();
  expect(new URL(page.url()).pathname).toBe(path);
  await at.ask('cast.abort', { cast: row.cast });
});

inBrowser('on a phone a request is read in full, and rejected with a reason', async () => {
  const { cast, path } = await waitingCast('approval', 'approval');
  const page = await opened(at.link('/inbox'), { viewport: PHONE, isMobile: true, hasTouch: true });
  const width = () => page.evaluate('document.documentElement.scrollWidth - innerWidth');
  expect(await width()).toBe(0);
  await page.locator(`a[href="${path}"]`).tap();
  const card = page.getByRole('article');
  await card.getByText(COMMAND).first().waitFor();
  expect(await width()).toBe(0);
  const no = card.getByRole('button', { name: /^Reject/ });
  // A thumb reaches it without scrolling.
  const { y = 0, height = 0 } = (await no.boundingBox()) ?? {};
  expect(height).toBeGreaterThanOrEqual(44);
  expect(y + height).toBeLessThanOrEqual(PHONE.height);
  await no.tap();
  await card.getByRole('textbox').fill('Run it on a copy first.');
  await card.getByRole('button', { name: 'Reject', exact: true }).tap();
  await card.getByRole('status').waitFor();
  expect(await endOf(cast)).toBe('completed');
});

type Operation = { readonly name: string; readonly act: string; readonly may: boolean };

inBrowser('a viewer sees what waits and runs, and can steer nothing, also by forged requests', async () => {
  const asked = await waitingCast('question', 'question');
  const runs = String((await at.ask('cast.start', startOf('running'))).details.cast);
  const token = at.tokenOf('viewer', 'vera');
  const page = await opened(at.link('/', token), { mayLog: REFUSALS });
  await page.getByText('vera, viewer').waitFor();
  const acts =
    /^(?:New cast|Cast|Start a cast|Answer|Send|Approve|Reject|Pause|Continue|Abort|New task|Move|Retry|Drop)\b/;
  for (const path of ['/', '/casts', asked.path, '/ledger', `/cast/${runs}`, `/cast/${asked.cast}`]) {
    await page.goto(at.link(path, token));
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    if (path === '/') await page.getByRole('button', { name: 'Look' }).first().waitFor();
    if (path === asked.path) await page.getByText('A person with the role approver decides this.').waitFor();
    const buttons = page.locator('main').getByRole('button', { name: acts });
    // A card of the ledger opens its task, and its name is the task's, whatever that begins with.
    const found = await buttons.and(page.locator('button:not(.task)')).allInnerTexts();
    expect([path, found]).toEqual([path, []]);
  }
  // The page of a viewer posts what the page of an operator would post.
  const forged = (await page.evaluate(`(async () => {
    const authorization = 'Bearer ' + sessionStorage.getItem('baton.token');
    const { operations } = await (await fetch('/api', { headers: { authorization } })).json();
    const acting = operations.filter(({ act }) => act !== 'look');
    const ask = async ({ name }) => {
      const input = { cast: '${runs}', id: 'P-1', request: 'x', answer: 'x', task: 'T-1', to: 'done', item: '${runs}:1' };
      const answer = await fetch('/api/' + name, { method: 'POST', headers: { authorization }, body: JSON.stringify(input) });
      return [name, answer.status, (await answer.json()).code];
    };
    const answers = [];
    for (const each of acting) answers.push(await ask(each));
    return answers;
  })()`)) as readonly (readonly [name: string, status: number, code: string])[];
  expect(forged.length).toBeGreaterThan(30);
  expect(forged.filter(([, , code]) => code !== 'ROLE_TOO_LOW')).toEqual([]);
  const { details } = (await at.ask('cast.list', { limit: 100 })) as unknown as {
    details: { casts: readonly JsonObject[] };
  };
  expect(details.casts.find(({ cast }) => cast === runs)?.status).toBe('running');
  const told = (await (
    await fetch(new URL('/api', page.url()), { headers: { authorization: `Bearer ${token}` } })
  ).json()) as {
    operations: readonly Operation[];
  };
  expect(told.operations.filter(({ act, may }) => act !== 'look' && may)).toEqual([]);
  for (const cast of [runs, asked.cast]) await at.ask('cast.abort', { cast });
});
