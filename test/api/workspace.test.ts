// A workspace opened by a program: its methods, its actor, its refusals, and what ends with it.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { OPERATIONS } from '../../src/app/operations/table.ts';
import { type CastEvent, type OpenWorkspace, openWorkspace } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import {
  agent,
  always,
  BATON,
  baton,
  flow,
  json,
  project,
  read,
  environment as userEnvironment,
} from '../cli/baton.ts';
import { create } from '../cli/ledger-story.ts';
import { coder, repository, writes } from '../cli/repository.ts';

const config = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'json', edges: [always('end')] } });
const slow = { A: [{ $turn: { output: '{"satisfied":true}', delayMs: 60_000 } }] };
const environment = (dir: string, more = {}) => ({ PATH: process.env.PATH, HOME: dir, TMPDIR: dir, ...more });

async function all(events: AsyncIterable<CastEvent>): Promise<CastEvent[]> {
  const found: CastEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

const CLAIM = { task: 'T-9', owner: 'ann' };

test.each<[string, (workspace: OpenWorkspace) => Promise<unknown>, string, object?]>([
  [
    'a cast of a loadout that is not there',
    (open) => open.cast.start({ request: 'x', loadout: 'Nobody' }),
    'BAD_USAGE',
  ],
  ['an empty request', (open) => open.cast.start({ request: '' }), 'BAD_USAGE'],
  ['a cast by an agent', (open) => open.cast.start({ request: 'x' }), 'APPROVER_IS_AGENT', { BATON_ATTEMPT: '1.1' }],
  ['a yes by an agent', (open) => open.approve({ id: 'P-0c2f81d4' }), 'UNKNOWN_APPROVAL', { BATON_ATTEMPT: '1.1' }],
  ['waiting for no number of seconds', (open) => open.cast.wait({ timeout_seconds: Number.NaN }), 'BAD_USAGE'],
  ['waiting for longer than timers count', (open) => open.cast.wait({ timeout_seconds: 1e9 }), 'BAD_USAGE'],
  ['a cast that never was', (open) => open.cast.show({ cast: 'nobody' }), 'UNKNOWN_CAST'],
  ['waiting for it', (open) => open.cast.wait({ cast: 'nobody' }), 'UNKNOWN_CAST'],
  ['a task that never was', (open) => open.task.claim(CLAIM), 'LEDGER_INCONSISTENT'],
  ['the same by its name', (open) => open.perform('task.claim', CLAIM), 'LEDGER_INCONSISTENT'],
  ['a sign of life for no claim', (open) => open.heartbeat(), 'BAD_USAGE'],
  ['a field that there is not', (open) => open.status({ nonsense: 1 } as never), 'BAD_USAGE'],
])('%s is refused with a verdict', async (_, work, code, more) => {
  const dir = project({ '.baton/config.json': config });
  expect(await work(openWorkspace(dir, { env: environment(dir, more) }))).toMatchObject({ allow: false, code });
});

test('every operation is a method by the dots of its name', () => {
  const open = openWorkspace(project()) as unknown as Record<string, Record<string, unknown>>;
  for (const name of Object.keys(OPERATIONS)) {
    const [first = '', verb] = name.split('.');
    expect([name, typeof (verb === undefined ? open[first] : open[first]?.[verb])]).toEqual([name, 'function']);
  }
});

test('a folder that is not there, and a workspace that was closed, are refused in every way', async () => {
  const dir = project();
  const closed = openWorkspace(dir);
  await closed.close();
  for (const [open, code] of [
    [closed, 'NOT_ALLOWED_NOW'],
    [openWorkspace(join(dir, 'nowhere')), 'BAD_USAGE'],
  ] as const) {
    const refusal = { allow: false, code };
    expect(await open.cast.list()).toMatchObject(refusal);
    expect(await open.cast.wait()).toMatchObject(refusal);
    expect(await open.task.create({ packet: {} })).toMatchObject(refusal);
    expect(await open.perform('status')).toMatchObject(refusal);
    expect(await all(open.events({}))).toMatchObject([{ kind: 'end', verdict: refusal }]);
  }
});

test('who acts is the actor that was given, for each workspace its own', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await create(dir, 'T-2');
  const opened = ['user:ann', 'user:bob'].map((name) => {
    const actor = { name, kind: 'person', role: 'operator', attempt: null } as const;
    return openWorkspace(dir, { actor, env: environment(dir) });
  });
  const claims = opened.map((open, index) => open.task.claim({ task: `T-${index + 1}`, owner: 'x' }));
  expect(await Promise.all(claims)).toMatchObject([{ allow: true }, { allow: true }]);
  for (const open of opened) {
    expect(await open.registry.lock()).toMatchObject({ code: 'ROLE_TOO_LOW' });
    await open.close();
  }
  const facts = json<readonly JsonObject[]>(await baton(dir, ['log', '--json']));
  const claimed = facts.filter(({ kind }) => kind === 'task.claimed').map(({ by, task }) => `${by} ${task}`);
  expect(claimed.sort()).toEqual(['user:ann T-1', 'user:bob T-2']);
});

test('a cast is driven in this process; an agent that is the actor starts none', async () => {
  const dir = project({ '.baton/config.json': config, 'agents.json': { A: ['{"satisfied":true}'] } });
  const input = { request: 'do it', agents: 'agents.json' };
  const attempt = { cast: 'c', turn: 1, attempt: 1, fence: null, task: null, dir };
  const agentOf = { name: 'agent:A@c-1.1', kind: 'agent', role: null, attempt } as const;
  const inside = openWorkspace(dir, { actor: agentOf, env: environment(dir) });
  expect(await inside.cast.start(input)).toMatchObject({ code: 'APPROVER_IS_AGENT' });
  await inside.close();
  const seen: string[] = [];
  const open = openWorkspace(dir, { env: environment(dir) });
  const ended = await open.cast.start(input, { onEvent: ({ kind }) => seen.push(kind) });
  expect(ended).toMatchObject({ allow: true, details: { status: 'completed', stands: true } });
  expect(seen).toEqual(expect.arrayContaining(['driving', 'change', 'driven']));
  await open.close();
});

test('leaving ends only the own waiting: a detached cast goes on', async () => {
  const dir = project({ '.baton/config.json': config, 'agents.json': slow });
  const open = openWorkspace(dir, { env: environment(dir) });
  const started = await open.cast.start({ request: 'do it', agents: 'agents.json', detach: true });
  if (!started.allow) throw new Error(started.reason);
  const { cast } = started.details;
  expect(await open.cast.wait({ cast, timeout_seconds: 0.3 })).toMatchObject({
    allow: true,
    details: { stands: false },
  });
  for await (const event of open.events({ cast })) {
    expect(event).toMatchObject({ kind: 'fact', fact: { kind: 'cast.started', cast } });
    break;
  }
  const leaving = all(open.events({ cast }));
  const waiting = open.cast.wait({ cast });
  await open.close();
  expect((await leaving).at(-1)).toMatchObject({ kind: 'end' });
  expect(await waiting).toMatchObject({ details: { stands: false } });
  expect(json(await baton(dir, ['show', cast, '--json']))).toMatchObject({ status: 'running' });
});

test('a checker of a cast that a program drives is an agent, whatever it does to its environment', async () => {
  const tries = `exec env -i "PATH=$PATH" "HOME=$HOME" '${BATON}' cast again --json > '.baton/state/tried.json'`;
  const dir = repository({
    '.baton/config.json': {
      ...flow({ A: coder }, { 'Socket-1': { materia: 'A' } }),
      checkers: { look: { command: ['sh', '-c', `cd "$CHECKOUT_DIR" && ${tries}`] } },
    },
    'agents.json': { A: [writes({ 'a.txt': 'two\n' })] },
  });
  const open = openWorkspace(dir, { env: userEnvironment(dir) });
  process.env.CHECKOUT_DIR = dir;
  onTestFinished(() => void delete process.env.CHECKOUT_DIR);
  await open.cast.start({ request: 'do it', agents: 'agents.json' });
  await open.close();
  expect(JSON.parse(read(dir, '.baton/state/tried.json'))).toMatchObject({ code: 'APPROVER_IS_AGENT' });
});
