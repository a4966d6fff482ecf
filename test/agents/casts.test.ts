// Casts on models: who is asked instead, what is tried again and how often, what waits, and what is said about it. The model
// is the one on loopback; nothing here needs a key or a network.
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { CastFact } from '../../src/kernel/cast/fact.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { type Answers, type ModelServer, modelServer } from '../../src/testing/index.ts';
import { asProcesses, baton, flow, json, project, put, type Ran, read, start, until } from '../cli/baton.ts';

let server: ModelServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const KEYS = { ANTHROPIC_API_KEY: 'key', OPENAI_API_KEY: 'key' };

/** A project with one agent on the model server, which is asked once. */
async function asking(answers: Answers, materia: JsonObject = {}, more: JsonObject = {}, socket: JsonObject = {}) {
  server = await modelServer({ answers });
  const own = { tools: 'none', prompt: 'Do it.', runner: 'anthropic', model: 'first', baseUrl: server.url, ...materia };
  const config = flow({ Ask: own }, { 'Socket-1': { materia: 'Ask', parse: 'json', ...socket } }, more);
  return project({ '.baton/config.json': config });
}

async function cast(dir: string, ...more: string[]): Promise<CastView & { ran: Ran }> {
  const ran = await baton(dir, ['cast', '--json', '--turns', ...more, 'do it'], { env: KEYS });
  return { ...json<CastView>(ran), ran };
}

async function facts<K extends CastFact['kind']>(dir: string, kind: K): Promise<Extract<CastFact, { kind: K }>[]> {
  const entries = json<readonly { readonly kind: string }[]>(await baton(dir, ['log', '--json', '--after', '0']));
  return entries.filter((entry) => entry.kind === kind) as unknown as Extract<CastFact, { kind: K }>[];
}

const GOOD = '{"satisfied":true}';
const models = () => server?.requests.map(({ model }) => model);

test('the answer of a model is read by the contract, and who gave it is recorded', async () => {
  const dir = await asking([{ text: GOOD, usage: { input: 120, output: 30 }, model: 'really-this-one' }]);
  const view = await cast(dir);
  expect(view).toMatchObject({ status: 'completed', usage: { input: 120, output: 30, tokens: 150 } });
  expect(view.turns?.[0]?.agent).toEqual({
    runner: 'anthropic',
    model: 'really-this-one',
    unpriced: true,
    commands: [],
  });
  expect(view.usage).toMatchObject({ cost: 0, unpricedTokens: 150 });
  expect((await baton(dir, ['show'])).stdout).toMatch(/tokens {2}150\n {2}cost {4}unknown/);
});

test.each<[string, JsonObject[], (model: string) => object | string, string[], string]>([
  [
    'a model that does not exist',
    [{ model: 'second' }],
    (model) => (model === 'second' ? GOOD : { status: 404, message: 'model not found' }),
    ['first', 'second'],
    'MODEL_UNAVAILABLE',
  ],
  [
    'a model that wants to be left alone for long',
    [{ model: 'second' }],
    (model) => (model === 'second' ? GOOD : { status: 429, retryAfterSeconds: 3_000 }),
    ['first', 'second'],
    'RATE_LIMITED',
  ],
  [
    'a key that is refused: another model of the same runner would be refused too',
    [{ model: 'second' }, { runner: 'openai', model: 'third' }],
    (model) => (model === 'third' ? GOOD : { status: 401, message: 'invalid api key' }),
    ['first', 'third'],
    'AUTH_REQUIRED',
  ],
])('a fallback is asked after %s', async (_what, fallbacks, answer, asked, cause) => {
  const dir = await asking(({ model }) => answer(model) as never, { fallbacks });
  const places = fallbacks.map((one) => ('runner' in one ? { ...one, baseUrl: `${server?.url}/v1` } : one));
  const file = JSON.parse(read(dir, '.baton/config.json'));
  file.materia.Ask.fallbacks = places;
  put(dir, { '.baton/config.json': file });
  const view = await cast(dir);
  expect(view.status).toBe('completed');
  expect(models()).toEqual(asked);
  expect(view.turns?.map(({ agent }) => agent?.model)).toEqual([undefined, asked[1]]);
  expect(await facts(dir, 'attempt.failed')).toMatchObject([
    { fault: expect.any(String), cause, again: true, choice: fallbacks.length },
  ]);
});

test('a provider that asks for patience gets it, and it is said while it happens', async () => {
  const dir = await asking([{ status: 429, retryAfterSeconds: 1 }, GOOD]);
  const view = await cast(dir);
  expect(view.status).toBe('completed');
  expect(view.ran.stderr).toMatch(/Ask waits 2 s: .*429/);
  expect(await facts(dir, 'attempt.failed')).toEqual([]);
});

test('without a fallback the cast fails with its own code, and the finer one is beside it', async () => {
  const dir = await asking(() => ({ status: 401, message: 'invalid api key' }));
  const view = await cast(dir);
  expect(view).toMatchObject({ status: 'failed', code: 'AGENT_FAILED' });
  expect(view.reason).toContain('AUTH_REQUIRED');
  expect(view.turns).toMatchObject([{ verdict: { code: 'AGENT_FAILED', details: { cause: 'AUTH_REQUIRED' } } }]);
  expect(server?.requests).toHaveLength(1);
});

test('a context that is too long is tried once more with a brief half as long, and it is said', async () => {
  const tooLong = { status: 400, message: 'prompt is too long: 250000 tokens > 200000 maximum' };
  const dir = await asking(({ number }) => (number === 1 ? tooLong : GOOD), { prompt: 'Word for word. '.repeat(500) });
  const view = await cast(dir);
  expect(view.status).toBe('completed');
  const [first = 0, second = 0] = view.turns?.map(({ brief }) => Buffer.byteLength(brief)) ?? [];
  expect(second).toBeLessThanOrEqual(first / 2);
  const [failed] = await facts(dir, 'attempt.failed');
  expect(failed).toMatchObject({ cause: 'CONTEXT_OVERFLOW', briefBytesMax: Math.floor(first / 2), again: true });
  expect(failed?.reason).toContain(`a brief of at most ${Math.floor(first / 2)} bytes instead of ${first}`);
});

test('a short brief that is too long for a model alone is not sent again, and that is said', async () => {
  const dir = await asking([{ status: 400, message: 'prompt is too long' }, GOOD]);
  const view = await cast(dir);
  expect(view).toMatchObject({ status: 'failed', code: 'AGENT_FAILED' });
  expect(view.reason).toMatch(
    /CONTEXT_OVERFLOW: .*of its brief of \d+ bytes nothing can be left out, so it is not tried/,
  );
  expect(server?.requests).toHaveLength(1);
});

test('a context that stays too long ends the cast', async () => {
  const dir = await asking(() => ({ status: 400, message: 'prompt is too long' }), { prompt: 'Words. '.repeat(1_000) });
  const view = await cast(dir);
  expect(view).toMatchObject({ status: 'failed', code: 'AGENT_FAILED' });
  expect(server?.requests).toHaveLength(2);
});

const personal = { runner: 'person', model: '', baseUrl: null };

test('a person takes a turn: the brief is shown, a wrong answer is refused with the reason, a right one goes on', async () => {
  const dir = await asking([], personal, {}, { schema: { type: 'object', required: ['name'] } });
  const waiting = await cast(dir);
  expect(waiting).toMatchObject({ status: 'waiting', code: 'ANSWER_NEEDED' });
  expect(waiting.ran.code).toBe(4);
  expect((await baton(dir, ['show'])).stdout).toContain('Do it.');

  const wrong = await baton(dir, ['answer', 'latest', '{"satisfied": true}', '--json']);
  expect(wrong.code).toBe(4);
  expect(wrong.stderr).toContain('name');
  expect(json<CastView>(wrong)).toMatchObject({ status: 'waiting', code: 'ANSWER_NEEDED' });
  expect(json<CastView>(wrong).reason).toContain('refused');

  const right = await baton(dir, ['answer', 'latest', '--file', '-', '--json'], { input: '{"name": "Ada"}' });
  expect(json<CastView>(right)).toMatchObject({ status: 'completed', path: [{ socket: 'Socket-1', visit: 1 }] });
  expect(server?.requests).toEqual([]);
});

test.each([
  ['nobody is asked', ['answer', 'latest', 'x'], 'NOT_ALLOWED_NOW', {}],
  ['another turn is meant', ['answer', 'latest', '--turn', '7', 'x'], 'NOT_ALLOWED_NOW', {}],
  ['an agent answers for the person', ['answer', 'latest', GOOD], 'APPROVER_IS_AGENT', { BATON_ATTEMPT: '1.1' }],
])('an answer is refused where %s', async (what, args, code, env) => {
  const dir = await asking([GOOD], what === 'nobody is asked' ? {} : personal);
  await cast(dir);
  const ran = await baton(dir, [...args, '--json'], { env });
  expect(json(ran)).toMatchObject({ allow: false, code });
  expect(ran.code).toBe(1);
});

test('what is over the cap of the day is put off until the next one', async () => {
  const used = { text: '{"satisfied":false}', usage: { input: 90, output: 20 } };
  const again = { edges: [{ when: 'not_satisfied', to: 'Socket-1', maxTraversals: 5 }] };
  const dir = await asking(() => used, {}, { budget: { maxTokensPerDay: 100 } }, again);
  const running = start(dir, ['cast', 'do it'], { env: KEYS });
  await until('the turn to be put off', () => running.stderr().includes('postponed'));
  running.child.kill('SIGINT');
  await running.ended;
  expect(server?.requests).toHaveLength(1);
  const [held] = await facts(dir, 'turn.held');
  expect(held).toMatchObject({ code: 'DAILY_CAP_REACHED', until: expect.any(Number) });
});

/** A model that answers after a moment, and how many were asking it at the same time. */
function counting() {
  const seen = { under: 0, most: 0 };
  const answer = async () => {
    seen.under += 1;
    seen.most = Math.max(seen.most, seen.under);
    await new Promise((resolve) => setTimeout(resolve, 300));
    seen.under -= 1;
    return GOOD;
  };
  return { answer, seen };
}

test('no more attempts of a runner are under way than its limit allows, whichever process they belong to', async () => {
  const { answer, seen } = counting();
  const dir = await asking(answer, {}, { runners: { anthropic: { maxConcurrent: 1 } } });
  const casts = await asProcesses(() => Promise.all(Array.from({ length: 3 }, () => cast(dir))));
  expect(casts.map(({ status, ran }) => status ?? ran.stderr + ran.stdout)).toEqual([
    'completed',
    'completed',
    'completed',
  ]);
  expect(seen.most).toBe(1);
});

test('no more attempts of a runner begin in a minute than its limit allows, whichever process they belong to', async () => {
  const dir = await asking(() => GOOD, {}, { runners: { anthropic: { perMinute: 1 } } });
  const both = [0, 1].map(() => start(dir, ['cast', '--json', 'do it'], { env: KEYS }));
  const waiting = await until('one that waits', () => both.find(({ stderr }) => stderr().includes('is at its limit')));
  const other = both.find((one) => one !== waiting);
  expect(json<CastView>((await other?.ended) as Ran).status).toBe('completed');
  expect(server?.requests).toHaveLength(1);
  waiting.child.kill('SIGINT');
  expect(json<CastView>(await waiting.ended).status).toBe('paused');
});

test('what the user limits himself holds for all of his workspaces', async () => {
  const { promise: go, resolve: release } = Promise.withResolvers<void>();
  const first = await asking(() => go.then(() => GOOD));
  const second = project({ '.baton/config.json': JSON.parse(read(first, '.baton/config.json')) });
  put(first, { 'user/config.json': { runners: { anthropic: { maxConcurrent: 1 } } } });
  const env = { ...KEYS, BATON_CONFIG: join(first, 'user') };
  const both = [first, second].map((dir) => start(dir, ['cast', '--json', 'do it'], { env }));
  await until('one that waits', () =>
    both.some(({ stderr }) => stderr().includes('at the limit of all your workspaces')),
  );
  // The other one has its place by then, and may still be on its way to the model.
  await until('one that asks', () => server?.requests.length === 1);
  release();
  const ran = await Promise.all(both.map(({ ended }) => ended));
  expect(ran.map((one) => json<CastView>(one).status)).toEqual(['completed', 'completed']);
});

test('any command can be an agent', async () => {
  const dir = await asking([], {
    runner: 'command',
    baseUrl: null,
    command: ['./echo.mjs', ['--model', '{{model}}'], '{{prompt}}'],
    tools: 'coding',
    env: ['OF_MINE'],
  });
  put(dir, {
    '.baton/echo.mjs':
      'const { argv, env } = process; console.log(JSON.stringify({context: [argv[3], env.OF_MINE, env.NOT_MINE].join()}))',
  });
  const env = { OF_MINE: 'listed', NOT_MINE: 'hidden' };
  const view = json<CastView>(await baton(dir, ['cast', '--in-place', '--json', 'do it'], { env }));
  expect(view.status).toBe('completed');
  expect(JSON.stringify(view.data)).toContain('first,listed,');
});
