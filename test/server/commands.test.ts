// `baton serve`, `baton ui` and `baton cast --ui` as people give them: real processes.
import { expect, onTestFinished, test } from 'vitest';
import type { Actor } from '../../src/access/actor.ts';
import { actorCalling, openPageSession, sessionCaller } from '../../src/access/server-callers.ts';
import { Workspace } from '../../src/app/workspace.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { locate } from '../../src/workspace/locate.ts';
import { batonProcess, environment, project, put, start, until } from '../cli/baton.ts';
import { lineProject } from './serving.ts';

type Addressed = { readonly url: string; readonly token?: string; readonly page?: string };

/** The server of a command that runs until it is ended, and what it says on standard output. */
async function running(dir: string, args: readonly string[]) {
  const { child, ended, stderr } = start(dir, args);
  let said = '';
  child.stdout?.on('data', (text: string) => {
    said += text;
  });
  const address = await until(`the address (${args.join(' ')})`, () =>
    said.includes('\n') ? (JSON.parse(said) as Addressed) : undefined,
  );
  return { address, child, ended, stderr };
}

const askWith = async (url: string, token: string, name: string, input: JsonObject = {}) => {
  const headers = { authorization: `Bearer ${token}` };
  return (
    await fetch(`${url}/api/${name}`, { method: 'POST', headers, body: JSON.stringify(input) })
  ).json() as Promise<JsonObject>;
};

const tokenIn = ({ page = '' }: Addressed) => decodeURIComponent(page.split('#token=')[1] ?? '');

test('a server is found by baton ui, which opens a session of its own; a server that was killed is replaced', async () => {
  const dir = lineProject();
  const first = await running(dir, ['serve', '--port', '0', '--json']);
  expect(await askWith(first.address.url, first.address.token ?? '', 'status')).toMatchObject({ allow: true });
  const opened = await batonProcess(dir, ['ui', '--json', '--no-open']);
  expect(opened.code).toBe(0);
  const page = JSON.parse(opened.stdout) as Addressed;
  expect(page.url).toBe(first.address.url);
  expect(tokenIn(page)).not.toBe(first.address.token);
  expect(await askWith(page.url, tokenIn(page), 'status')).toMatchObject({ allow: true });

  first.child.kill('SIGKILL');
  await first.ended;
  const second = await running(dir, ['ui', '--port', '0', '--json', '--no-open']);
  // A session outlives the server that it was opened at.
  expect(await askWith(second.address.url, tokenIn(page), 'status')).toMatchObject({ allow: true });
  expect(await askWith(second.address.url, tokenIn(second.address), 'status')).toMatchObject({ allow: true });
  second.child.kill('SIGTERM');
  expect((await second.ended).code).toBe(0);
});

test('baton cast --ui serves while the cast runs, and ends with it where no person looks on', async () => {
  const dir = lineProject();
  const { code, stdout, stderr } = await batonProcess(dir, [
    ...['cast', '--ui', '--json', '--in-place', '--agents', 'agents.json'],
    ...['--', 'do', 'it', '--ui'],
  ]);
  expect(stderr).toContain('#token=');
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    expect.objectContaining({ status: 'completed', request: 'do it --ui' }),
  ]);
});

test.each<[readonly string[], string]>([
  [['serve', '--host', '0.0.0.0'], 'beyond this machine'],
  [['serve', '--host', '0.0.0.0', '--behind-proxy'], 'give --public-url'],
  [['serve', '--behind-proxy'], 'give --public-url'],
  [['serve', '--public-url', 'http://baton.example'], '--public-url must be'],
  [['serve', '--tls-cert', 'a.pem'], 'go together'],
  [['serve', '--tls-cert', 'a.pem', '--tls-key', 'b.pem'], 'cannot be read'],
  [['serve', '--port', 'many'], '--port must be a port'],
  [['ui', '--port', '70000'], '--port must be a port'],
])('%j is refused', async (args, reason) => {
  const { code, stderr } = await batonProcess(project(), args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
});

test.each([['serve'], ['ui']])('an agent may not give baton %s', async (name) => {
  const { code, stdout, stderr } = await batonProcess(lineProject(), [name, '--json'], {
    env: { BATON_ATTEMPT: '1.1' },
  });
  expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('APPROVER_IS_AGENT')]);
});

const ann: Actor = { name: 'user:ann', kind: 'person', role: 'admin', attempt: null };

test('a session is good for one workspace and for its time, and decides only where a person was shown', () => {
  const env = environment(project());
  const where = { env, stateDir: '/w/.baton/state', program: 'baton' };
  const now = Date.parse('2026-01-01T09:00:00Z');
  const person = openPageSession(where, { ...ann, proof: () => null }, now) ?? '';
  const nobody = openPageSession(where, { ...ann, proof: () => 'no terminal' }, now) ?? '';
  const server: Actor = { ...ann, name: 'user:server' };
  for (const [token, may] of [
    [person, true],
    [nobody, false],
  ] as const) {
    const caller = sessionCaller(where, token, now);
    if (!caller) throw new Error('there is no session');
    const actor = actorCalling(caller, server);
    expect(actor).toMatchObject({ name: 'user:ann', kind: 'person', role: 'admin' });
    expect(actor.proof?.('approve', 'c', 'baton') === null).toBe(may);
    expect(actor.proof?.('cast', 'c', 'baton')).toBe(null);
  }
  expect(sessionCaller({ ...where, stateDir: '/other' }, person, now)).toBe(null);
  expect(sessionCaller(where, person, now + 24 * 3_600_000)).toBe(null);
  expect(sessionCaller(where, `${person}x`, now)).toBe(null);
  expect(sessionCaller(where, '', now)).toBe(null);
});

test('a running server carries on a cast whose driver was killed, at a terminal or detached', async () => {
  const slow = (output: string) => ({ $turn: { output, delayMs: 1_500 } });
  const dir = lineProject();
  put(dir, { 'agents.json': { A: [slow('one'), '$repeat'], B: [slow('two'), '$repeat'] } });
  const { address } = await running(dir, ['serve', '--port', '0', '--json']);
  const token = address.token ?? '';
  const ask = (name: string, input: JsonObject) => askWith(address.url, token, name, input);
  const castArgs = ['cast', '--json', '--in-place', '--agents', 'agents.json'];
  const here = start(dir, [...castArgs, 'at a terminal']);
  const detached = await batonProcess(dir, [...castArgs, '--detach', 'detached']);
  expect(detached.code).toBe(0);
  const casts = await until('both casts', async () => {
    const { details } = (await ask('cast.list', {})) as { details: { casts: readonly { cast: string }[] } };
    return details.casts.length === 2 ? details.casts.map(({ cast }) => cast) : undefined;
  });
  const store = storeOf(dir);
  for (const cast of casts) {
    const driver = await until('its driver', async () => (await store.view('driver', cast)) ?? undefined);
    process.kill(driver.pid, 'SIGKILL');
  }
  await here.ended;
  for (const cast of casts) {
    const { details } = await until('its end', async () => {
      const shown = (await ask('cast.show', { cast })) as { details: JsonObject };
      return shown.details.status === 'completed' ? shown : undefined;
    });
    expect(details).toMatchObject({ path: [{ socket: 'Socket-1' }, { socket: 'Socket-2' }] });
    const facts = (await store.read({ after: 0, cast })).map(({ fact }) => fact.kind);
    expect(facts.filter((kind) => kind === 'turn.accepted')).toHaveLength(2);
    expect(facts.filter((kind) => kind === 'cast.completed')).toHaveLength(1);
  }
}, 60_000);

function storeOf(dir: string) {
  const located = locate(dir, environment(dir), dir);
  if (!located) throw new Error(`there is no ${dir}`);
  const workspace = new Workspace(located, { env: environment(dir) });
  onTestFinished(() => workspace.close());
  return workspace.castStore();
}
