// A person on the page talks with an agent, says something to a cast that goes on, decides about a turn whose outcome is unknown, and
// releases an agent whose prompt was changed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import {
  agent,
  always,
  asProcesses,
  flow,
  pinTeam,
  put,
  read,
  script,
  start,
  supervisorIn,
  until,
  untilWritten,
} from '../cli/baton.ts';
import { inBrowser, opened, REFUSALS } from './browser.ts';
import { Served } from './served.ts';

const LONG = `Before I plan it: ${'which of the many harbours is meant by that? '.repeat(12)}Name one.`;
const PLAN = { workItems: [{ title: 'Greet the harbour', context: 'greet.txt says hello' }] };
const CHARGE = `import { existsSync, writeFileSync } from 'node:fs';
if (existsSync('go')) { console.log('{"satisfied":true}'); process.exit(0); }
writeFileSync('pid', String(process.pid));
setInterval(() => {}, 1000);`;

const TEAM: JsonObject = {
  ...flow(
    { Plan: { ...agent, generator: true, multiTurn: true, prompt: 'Plan it.' }, Tell: agent },
    {
      'Socket-1': { materia: 'Plan', label: 'plan', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'Tell', label: 'tell', parse: 'text' },
    },
  ),
};
const agents = { Plan: [LONG, 'Rotterdam it is.', { $turn: { output: PLAN } }], Tell: ['It is planned.'] };
const slow = { Plan: [{ $turn: { output: 'One moment.', delayMs: 600_000 } }], Tell: ['x'] };
const charging = flow(
  { Charge: script('charge.mjs', { once: true, timeoutMs: 600_000 }) },
  { 'Socket-1': { materia: 'Charge', label: 'charge' } },
);

const LOOK = {
  materia: { Look: { ...agent, prompt: 'Look in {{inputs.path}} for trouble of severity {{inputs.severity}}.' } },
  loadouts: {
    Look: {
      entry: 'Socket-1',
      inputs: {
        severity: { enum: ['low', 'high'], default: 'low', description: 'what to look for' },
        path: { type: 'string', pattern: '^src' },
        deep: { type: 'boolean', default: false },
        rounds: { type: 'integer', default: 2 },
      },
      sockets: { 'Socket-1': { materia: 'Look', parse: 'text' } },
    },
  },
};

let at: Served;

beforeAll(async () => {
  at = new Served((dir) => {
    mkdirSync(join(dir, '.baton'));
    put(dir, { '.baton/config.json': TEAM, 'agents.json': agents, 'slow.json': slow, 'charge.json': charging });
    writeFileSync(join(dir, 'charge.mjs'), CHARGE);
  });
  await at.start();
});
afterAll(() => at?.close());

const statusOf = async (cast: string) => ((await at.ask('cast.show', { cast })).details as JsonObject).status;

inBrowser('a conversation is a chat: the words of both, the next ones, and the end of it', async () => {
  const cast = await at.started({ request: 'Greet somebody', loadout: 'L', agents: null }, 'agents.json');
  const page = await opened(at.link('/inbox'));
  await page.getByText('plan talks with you').first().click();
  await page.getByRole('button', { name: 'Open the conversation' }).click();
  expect(new URL(page.url()).pathname).toBe(`/cast/${cast}/turn/1`);
  const chat = page.getByRole('list', { name: 'What was said' });
  // The whole of it, not only how it begins.
  await chat.getByText('Name one.').waitFor();
  const composer = page.getByRole('region', { name: 'Talk with plan' });
  await composer.getByLabel('Say something to plan').fill('Rotterdam, and nothing else');
  await page.keyboard.press('ControlOrMeta+Enter');
  await chat.getByText('Rotterdam, and nothing else').waitFor();
  await chat.getByText('Rotterdam it is.').waitFor();
  expect(await chat.getByRole('listitem').count()).toBe(3);

  await composer.getByRole('button', { name: 'Hand on…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Hand on' });
  await dialog.getByText('plan is asked for its final answer. It goes to tell.').waitFor();
  await dialog.getByText('Rotterdam it is.').waitFor();
  await dialog.getByText('workItems').first().waitFor();
  await dialog.getByRole('button', { name: 'Hand on', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await until('the end', async () => (await statusOf(cast)) === 'completed');
  // What was said stays, and what was handed on is below it.
  await chat.getByText('Rotterdam it is.').waitFor();
  await page.getByText('Greet the harbour').first().waitFor();
});

inBrowser('something is said to a cast that goes on', async () => {
  const cast = await at.started({ request: 'Greet slowly', loadout: 'L', agents: null }, 'slow.json');
  const page = await opened(at.link(`/cast/${cast}`));
  await page.getByRole('button', { name: 'Say', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Say' });
  await dialog.getByLabel('What the next brief of its agents holds').fill('the greeting is a short one');
  await dialog.getByRole('button', { name: 'Say', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const saidInLog = async () => JSON.stringify((await at.ask('log', { cast, kind: 'cast.said' })).details);
  expect(await saidInLog()).toContain('the greeting is a short one');
  await at.ask('cast.abort', { cast });
});

inBrowser('what is said at once, and can interrupt no agent, is answered with when it is told', async () => {
  const cast = await at.started({ request: 'Greet the quay', loadout: 'L', agents: null }, 'agents.json');
  await until('the conversation', async () => (await statusOf(cast)) === 'waiting');
  const page = await opened(at.link(`/cast/${cast}`));
  await page.getByRole('button', { name: 'Say', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Say' });
  await dialog.getByLabel('What the next brief of its agents holds').fill('and a friendly one');
  await dialog.getByLabel('At once: the agents at work are interrupted').check();
  await dialog.getByRole('button', { name: 'Say', exact: true }).click();
  await dialog.getByText('No agent is at work on it now; the next agent of the cast gets it.').waitFor();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const { entries } = (await at.ask('log', { cast, kind: 'cast.said' })).details;
  expect(JSON.stringify(entries)).toContain('and a friendly one');
  await at.ask('cast.abort', { cast });
});

inBrowser('a turn whose outcome is unknown is decided by what follows from each choice', async () => {
  const driver = start(at.dir, ['cast', '--file', 'charge.json', 'Charge it']);
  await untilWritten(at.dir, 'pid');
  driver.child.kill('SIGKILL');
  process.kill(await supervisorIn(at.dir), 'SIGKILL');
  await driver.ended;
  await at.baton(['resume']);
  put(at.dir, { go: '' });
  const page = await opened(at.link('/inbox'), { mayLog: REFUSALS });
  await page.getByText('charge may have run. Did it?').first().click();
  const card = page.getByRole('article');
  await card.getByText('Outcome unknown: did it run?').waitFor();
  await card.getByText('The turn is dispatched again. What it did before may happen twice.').waitFor();
  await card.getByText('The cast fails with this turn.').waitFor();
  const again = card.getByRole('button', { name: 'Run it once more' });
  await until('the button wakes up', async () => (await again.getAttribute('aria-disabled')) === null);
  await again.click();
  const [row] = ((await at.ask('cast.list', { limit: 1 })).details as { casts: { cast: string }[] }).casts;
  expect(await until('the end', async () => (await statusOf(row?.cast ?? '')) === 'completed')).toBe(true);
});

inBrowser('an agent whose prompt was changed is released where file and lock agree again, and not before', async () => {
  const pinned = new Served((dir) => mkdirSync(join(dir, '.baton')));
  onTestFinished(() => pinned.close());
  const { dir } = pinned;
  // In the process of a test that has a browser, commands have no folder of their own.
  await asProcesses(() => pinTeam(dir));
  await pinned.start();
  const file = '.baton/prompts/build.md';
  const before = read(dir, file);
  put(dir, {
    [file]: `${before}And do as you like.\n`,
    'pinned.json': { 'Auto-Plan': [{ workItems: [{ title: 'Greet', context: 'hello' }] }] },
  });
  const ran = await pinned.baton(['cast', '--agents', 'pinned.json', '--json', 'Greet']);
  expect(ran.stdout).toContain('PROMPT_BYTES_MISMATCH');
  const page = await opened(pinned.link('/inbox'), { mayLog: REFUSALS });
  await page.locator('.inbox-row').first().click();
  const card = page.getByRole('article');
  await card.getByText('Nothing runs on it until a person releases it.').waitFor();
  await card.getByText('PROMPT_BYTES_MISMATCH').first().waitFor();
  await card.getByText('Locked', { exact: true }).waitFor();
  await card.getByText(', not as locked').waitFor();
  const digests = async () => (await card.getByText(/^[0-9a-f]{12}$/).allTextContents()).slice(0, 2);
  expect(new Set(await digests()).size).toBe(2);
  await card.getByLabel('Why may it run again?').fill('put back as it was');
  const release = card.getByRole('button', { name: 'Release', exact: true });
  expect(await release.getAttribute('title')).toBe('Manifest, lock and prompt do not agree yet.');

  put(dir, { [file]: before });
  await page.reload();
  await card.getByText('Manifest, lock and prompt agree.').waitFor();
  await card.getByText(', as locked').waitFor();
  expect(new Set(await digests()).size).toBe(1);
  await card.getByLabel('Why may it run again?').fill('put back as it was');
  await until('the button wakes up', async () => (await release.getAttribute('aria-disabled')) === null);
  await release.click();
  const blocked = async () => (await pinned.ask('registry.quarantine')).details.blocked as readonly JsonObject[];
  await until('the release', async () => (await blocked()).length === 0);
  expect(await blocked()).toEqual([]);
});

inBrowser(
  'a team with inputs is started with them: required ones marked, defaults shown, a refusal at its field',
  async () => {
    const looking = new Served((dir) => mkdirSync(join(dir, '.baton')));
    onTestFinished(() => looking.close());
    put(looking.dir, { '.baton/config.json': { ...LOOK, activeLoadout: 'Look' }, 'look.json': { Look: ['Nothing.'] } });
    await looking.start();
    const page = await opened(looking.link('/'), { mayLog: REFUSALS });
    const inputs = page.getByRole('group', { name: 'Inputs of the team' });
    const [path, severity] = [inputs.getByLabel('path, required'), inputs.getByLabel('severity')];
    await path.waitFor();
    expect(await path.getAttribute('aria-required')).toBe('true');
    expect(await severity.getByRole('option').allTextContents()).toEqual(['low, the default', 'high']);
    expect(await inputs.getByLabel('deep').getByRole('option').allTextContents()).toEqual(['no, the default', 'yes']);
    expect(await inputs.getByLabel('rounds').getAttribute('placeholder')).toBe('2');
    await inputs.getByText('What to look for.').waitFor();

    await page.getByLabel('What should it do?').fill('Look around');
    const go = page.getByRole('button', { name: 'Cast', exact: true });
    expect(await go.getAttribute('title')).toBe('Fill in path.');
    await path.fill('docs');
    await severity.selectOption('high');
    await page.locator('.composer-more summary').click();
    await page.getByLabel(/^agents/).fill('look.json');
    await go.click();
    const fault = inputs.getByRole('alert');
    await fault.waitFor();
    expect(await fault.textContent()).toMatch(/pattern.*docs/i);
    expect(await path.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByText('INPUT_INVALID').count()).toBe(0);

    await path.fill('src/api');
    await go.click();
    await page.waitForURL(/\/cast\//);
    const [started] = (await looking.ask('log', { kind: 'cast.started' })).details.entries as unknown as [
      { fact: { data: JsonObject } },
    ];
    expect(started.fact.data.inputs).toEqual({ severity: 'high', path: 'src/api', deep: false, rounds: 2 });

    await page.goto(looking.link('/'));
    await page.getByLabel('What should it do?').fill('Look once more');
    await path.fill('src/web');
    await page.getByLabel('Budget, optional').fill('3');
    await page.getByRole('button', { name: 'Add to queue' }).click();
    await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor();
    const [quest] = (await looking.ask('quest.list', {})).details.quests as unknown as [JsonObject];
    expect(quest.how).toEqual({
      inputs: { severity: 'low', path: 'src/web', deep: false, rounds: 2 },
      set: ['budget.maxCost=3'],
    });
  },
);

inBrowser('work is put into the queue, ordered and taken out again', async () => {
  const page = await opened(at.link('/'));
  for (const request of ['Upgrade the date parser', 'Write the release notes']) {
    await page.goto(at.link('/'));
    await page.getByLabel('What should it do?').fill(request);
    await page.getByRole('button', { name: 'Add to queue' }).click();
    await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor();
    await page.getByRole('group', { name: request }).waitFor();
  }
  const titles = async () => {
    const { details } = await at.ask('quest.list');
    return (details as unknown as { quests: readonly { title: string }[] }).quests.map(({ title }) => title);
  };
  expect(await titles()).toEqual(['Upgrade the date parser', 'Write the release notes']);
  await page.getByRole('button', { name: 'Move Q-2 up' }).click();
  await until('the new order', async () => (await titles())[0] === 'Write the release notes');
  // The same by the keys, once the page shows the new order.
  const first = page.getByRole('list', { name: 'Quests' }).getByRole('listitem').first();
  await first.filter({ hasText: 'Write the release notes' }).waitFor();
  await page.getByRole('button', { name: 'Move Q-2 down' }).focus();
  await page.keyboard.press('Alt+ArrowDown');
  await until('the old order', async () => (await titles())[0] === 'Upgrade the date parser');
  await page.getByRole('button', { name: 'Remove Q-1' }).click();
  await page.getByRole('group', { name: 'Upgrade the date parser' }).waitFor({ state: 'detached' });
  expect(await titles()).toEqual(['Write the release notes']);
});
