// A provider that is down, through the real command line: what cannot be helped is asked once, and a runner that worked
// before holds its turns until it works again.
import { expect, onTestFinished, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { type Answer, modelServer } from '../../src/testing/index.ts';
import { always, baton, flow, json, project, start } from './baton.ts';

async function asking(answers: (request: number) => Answer) {
  const server = await modelServer({ answers: ({ number }) => answers(number) });
  onTestFinished(() => server.close());
  const Ask: JsonObject = {
    ...{ tools: 'none', prompt: 'Say it.', runner: 'openai', model: 'm' },
    ...{ baseUrl: `${server.url}/v1`, keyVariable: 'TEST_KEY' },
  };
  const sockets = { 'Socket-1': { materia: 'Ask', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Ask' } };
  return { server, dir: project({ '.baton/config.json': flow({ Ask }, sockets) }) };
}

const KEY = { env: { TEST_KEY: 'key' } };
const REFUSED = { status: 401, message: 'the key has expired' } as const;

test.each([
  ['a refused key', REFUSED, 'AUTH_REQUIRED'],
  ['an unknown model', { status: 404, message: 'model m not found' }, 'MODEL_UNAVAILABLE'],
  ['a wrong request', { status: 400, message: 'no such field' }, 'REQUEST_REFUSED'],
] as const)('%s is asked once, and the cast fails at once', async (_what, answer, cause) => {
  const { server, dir } = await asking(() => answer);
  const ran = await baton(dir, ['cast', '--json', 'do it'], KEY);
  expect(json<CastView>(ran)).toMatchObject({
    status: 'failed',
    code: 'AGENT_FAILED',
    result: { failure: { code: cause } },
  });
  expect(server.requests).toHaveLength(1);
});

test('a runner that worked before holds its turns while it is down, says so in one line, and goes on', async () => {
  let isDown = true;
  const { server, dir } = await asking((request) => (request === 1 || !isDown ? `answer ${request}` : REFUSED));
  const one = start(dir, ['cast', 'do it'], KEY);
  await expect.poll(() => server.requests.length, { timeout: 30_000 }).toBe(2);
  await expect.poll(() => one.stderr(), { timeout: 10_000 }).toContain('is down; its turns wait');
  // Another cast does not find it out for itself.
  const other = start(dir, ['cast', 'do it too'], KEY);
  await expect.poll(() => other.stderr(), { timeout: 30_000 }).toContain('is down; its turns wait');
  const status = await baton(dir, ['status']);
  expect(status.stdout.match(/has been down for/g)).toHaveLength(1);
  expect(status.stdout).toMatch(/openai at 127\.0\.0\.1:\d+ has been down for .*the key has expired/);
  expect(json(await baton(dir, ['status', '--json']))).toMatchObject({ down: [{ code: 'AUTH_REQUIRED' }] });
  isDown = false;
  const ended = await Promise.all([one.ended, other.ended]);
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  // Two answers for each cast, the refusal that was found, and at most a few questions whether it is over.
  expect(server.requests.length).toBeLessThanOrEqual(8);
  expect(ended[0].stderr.match(/is down; its turns wait/g)).toHaveLength(1);
  expect((await baton(dir, ['status'])).stdout).not.toContain('has been down');
});

test('a cast that starts during an outage, and is the first to notice it, waits and goes on', async () => {
  let isDown = false;
  const { server, dir } = await asking((request) => (isDown ? REFUSED : `answer ${request}`));
  expect((await baton(dir, ['cast', 'do it'], KEY)).code).toBe(0);
  isDown = true;
  const late = start(dir, ['cast', 'do it again'], KEY);
  await expect.poll(() => late.stderr(), { timeout: 30_000 }).toContain('is down; its turns wait');
  expect((await baton(dir, ['status'])).stdout.match(/has been down for/g)).toHaveLength(1);
  isDown = false;
  expect((await late.ended).code).toBe(0);
  // Two answers for each cast, the refusal that was found, and at most a few questions whether it is over.
  expect(server.requests.length).toBeLessThanOrEqual(8);
});
