// Signs of life as they are in the world: clocks that jump while tasks are held, agents that say nothing and work, agents that
// say nothing and do nothing, and one that waits for its tool. Everything runs as the real command line.
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Why } from '../../src/app/views/why/why.ts';
import type { Fact } from '../../src/kernel/fact.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { envelope, result, TEAM } from '../team.ts';
import {
  agent,
  baton,
  CHECKOUT,
  flow,
  injecting,
  isRunning,
  json,
  project,
  put,
  read,
  start,
  until,
  untilWritten,
} from './baton.ts';
import { ask, create, heartbeat, later, packet, rows, start as take } from './ledger-story.ts';

const HOURS = 2 * 3600;

const watchdog = (dir: string, seconds = 0) => ask(dir, ['watchdog'], later(seconds));
const factsOf = async (dir: string) => json<readonly Fact[]>(await baton(dir, ['log', '--json', '--after', '0']));

/** A process whose clock is set from outside while it runs, by a file with seconds. */
function movable(file: string) {
  const code = `import { readFileSync } from 'node:fs';
    const now = Date.now;
    Date.now = () => now() + 1000 * Number(readFileSync(${JSON.stringify(file)}, 'utf8'));`;
  return injecting(code);
}

test('a clock that jumps forward is reported and loses nobody a task; set right again, it has prolonged nothing', async () => {
  const dir = project();
  put(dir, { '.baton/in.json': packet('T-2') });
  await ask(dir, ['task', 'create', '.baton/in.json'], later(-100));
  await ask(dir, ['task', 'claim', 'T-2', '--owner', 'bob'], later(-100));
  await create(dir, 'T-1');
  const fence = await take(dir, 'T-1');
  expect((await heartbeat(dir, 'T-1', fence, later(HOURS))).code).toBe('OK');
  // Who is really silent is found beside the one of whom nothing can be said.
  expect(await watchdog(dir)).toMatchObject({
    code: 'R-WD-001',
    details: { timed_out: [{ task_id: 'T-2' }], skewed: [{ task_id: 'T-1', rule: 'R-WD-002' }] },
  });
  expect(await watchdog(dir, 62)).toMatchObject({ code: 'R-WD-002', details: { timed_out: [] } });
  const held = (await rows(dir)).find(({ task_id }) => task_id === 'T-1');
  expect(held).toMatchObject({ status: 'in_progress', owner: 'ann' });

  expect((await heartbeat(dir, 'T-1', fence)).code).toBe('OK');
  expect((await watchdog(dir)).code).toBe('OK');
  expect(await watchdog(dir, 120)).toMatchObject({
    code: 'R-WD-001',
    details: { timed_out: [{ task_id: 'T-1', why: 'silent' }], skewed: [] },
  });
});

test('an owner whose clock was set back is heard of as long as it speaks, and no longer', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const fence = await take(dir, 'T-1');
  for (const seconds of [0, 50, 100]) await heartbeat(dir, 'T-1', fence, later(seconds - HOURS));
  expect(await watchdog(dir, 110)).toMatchObject({ code: 'OK', details: { skewed: [] } });
  expect(await watchdog(dir, 200)).toMatchObject({ code: 'R-WD-001', details: { timed_out: [{ task_id: 'T-1' }] } });
});

test('what one process wrote with a wrong clock does not date the claims of others', async () => {
  const dir = project();
  await create(dir, 'T-1');
  expect((await ask(dir, ['task', 'claim', 'T-9', '--owner', 'eve'], later(HOURS))).allow).toBe(false);
  const fence = await take(dir, 'T-1');
  expect(await watchdog(dir, 30)).toMatchObject({ code: 'OK', details: { skewed: [] } });
  await heartbeat(dir, 'T-1', fence, later(40));
  expect((await watchdog(dir, 90)).code).toBe('OK');
  expect(await watchdog(dir, 120)).toMatchObject({ code: 'R-WD-001', details: { timed_out: [{ task_id: 'T-1' }] } });
  const moved = (await factsOf(dir)).find((fact) => fact.kind === 'task.moved' && fact.to === 'blocked');
  const { silentS } = (moved as unknown as { evidence: { silentS: number } }).evidence;
  expect(silentS).toBeLessThan(200);
});

test('a cast is taken over by the clock of who takes it over, not by that of who wrote last', async () => {
  const dir = project();
  const slow = (id: string): Json => ({ $turn: { output: result(id), delayMs: 3_000 } });
  const agents = { Lead: [envelope({ id: 'T-1' })], Worker: [slow('T-1')], Sum: ['done'] };
  put(dir, { 'cast.json': TEAM, 'agents.json': agents });
  const cast = start(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it']);
  const begun = async () => {
    const told = await baton(dir, ['log', '--json', '--after', '0']);
    return told.code === 0 ? json<Fact[]>(told).filter(({ kind }) => kind === 'attempt.started').length : 0;
  };
  await expect.poll(begun, { timeout: 20_000, interval: 100 }).toBe(2);
  cast.child.kill('SIGKILL');
  await cast.ended;
  expect((await ask(dir, ['task', 'claim', 'T-9', '--owner', 'eve'], later(HOURS))).allow).toBe(false);
  expect(json<CastView>(await baton(dir, ['resume', '--json'])).status).toBe('completed');
  const facts = await factsOf(dir);
  expect(facts.find(({ kind }) => kind === 'cast.recovered')).toMatchObject({
    tasks: [{ task: 'T-1', judged: 'alive' }],
  });
  expect(facts.filter((fact) => fact.kind === 'task.moved' && fact.to === 'blocked')).toEqual([]);
});

test('a watchdog whose clock is set while it waits gives everybody the time again', async () => {
  const dir = project({ clock: '0' });
  await create(dir, 'T-1');
  const fence = await take(dir, 'T-1');
  // Its owner's clock was wrong for a moment, too.
  await heartbeat(dir, 'T-1', fence, later(HOURS));
  await heartbeat(dir, 'T-1', fence);
  // By its clock the task has a few seconds left.
  put(dir, { clock: '55' });
  const { child, ended, stderr } = start(dir, ['watchdog', '--follow'], movable(join(dir, 'clock')));
  const looks = () => stderr().split('next look in').length - 1;
  await until('the first look', () => looks() === 1);
  put(dir, { clock: String(HOURS) });
  await until('the second look', () => looks() === 2);
  expect(stderr()).toMatch(/the clock went forward by 71\d\d s/);
  expect(await rows(dir)).toMatchObject([{ task_id: 'T-1', status: 'in_progress', owner: 'ann' }]);
  child.kill('SIGTERM');
  expect((await ended).stdout).toBe('');
});

/** Workers that say nothing: one sleeps, with a child that sleeps too, one works now and then. Once they are through, they answer. */
const WORKER = `brief=$(cat)
case $brief in
*'Task T-1'*)
  if [ ! -e src/T-1/asleep ]; then
    setsid sleep 300 &
    mkdir -p src/T-1; echo $$ $! > src/T-1/asleep
    sleep 300
  fi
  cat T-1.json ;;
*)
  node work.mjs
  cat T-2.json ;;
esac
`;

const WORK = `import { mkdirSync, writeFileSync } from 'node:fs';
const begun = performance.now();
const used = () => process.cpuUsage().user + process.cpuUsage().system;
while (performance.now() - begun < 36_000) {
  const until = used() + 100_000;
  while (used() < until) for (let n = 0; n < 1_000_000; n += 1);
  await new Promise((resolve) => setTimeout(resolve, 700));
}
mkdirSync('src/T-2', { recursive: true });
writeFileSync('src/T-2/worked', String(performance.now() - begun));`;

// The shortest limit that an assignment may set is 30 s, so that this test takes a little longer than that.
test('who says nothing and works is slow; who says nothing and does nothing is ended with its children', async () => {
  const shell = (...argv: string[]): JsonObject => ({ prompt: 'Do it.', runner: 'command', command: argv });
  const limits = { timeout_seconds: 30, heartbeat_interval_seconds: 5, forbidden_scope: [] };
  const scope = (id: string) => ({ id, ...limits, lock_scope: [`src/${id}`] });
  const materia = {
    Lead: { ...shell('cat', 'plan.json'), tools: 'readOnly', generator: true },
    Worker: { ...shell('sh', 'worker.sh'), tools: 'coding' },
    Sum: { ...shell('echo', 'done'), tools: 'none' },
  };
  const dir = project({
    'cast.json': { ...TEAM, materia },
    'plan.json': envelope(scope('T-1'), scope('T-2')),
    'T-1.json': result('T-1'),
    'T-2.json': result('T-2'),
    'worker.sh': WORKER,
    'work.mjs': WORK,
    '.gitignore': '*',
  });
  const cast = start(dir, ['cast', '--file', 'cast.json', '--in-place', '--json', 'do it']);
  const asleep = (await untilWritten(dir, 'src/T-1/asleep')).trim().split(' ').map(Number);
  expect(asleep.map(isRunning)).toEqual([true, true]);
  // The engine speaks for what it runs.
  const heard = async () => (await rows(dir)).map(({ last_heartbeat_at }) => String(last_heartbeat_at));
  const [claimed = ''] = await heard();
  const areLater = async () => (await heard()).every((at) => at > claimed);
  await expect.poll(areLater, { timeout: 20_000, interval: 1_000 }).toBe(true);
  const view = json<CastView>(await cast.ended);
  expect([view.status, view.reason]).toEqual(['completed', 'completed']);
  expect(asleep.map(isRunning)).toEqual([false, false]);
  const facts = await factsOf(dir);
  const failed = facts.flatMap((fact) => (fact.kind === 'attempt.failed' ? [fact] : []));
  expect(failed).toMatchObject([{ code: 'AGENT_TIMEOUT', fault: 'timeout', again: true }]);
  expect(failed[0]?.reason).toMatch(
    /gave no sign of life: it was waiting.* of CPU time, had written 0 bytes .*last sign/,
  );
  const blocked = facts.flatMap((fact) => (fact.kind === 'task.moved' && fact.to === 'blocked' ? [fact] : []));
  expect(blocked).toMatchObject([{ task: 'T-1', code: 'TASK_TIMEOUT', releases: true }]);
  expect(blocked[0]?.reason).toContain('gave no sign of life');
  // The other one was as quiet for longer than the limit.
  expect(Number(read(dir, 'src/T-2/worked'))).toBeGreaterThan(30_000);
  // Its paths were free before it was handed out again.
  const story = facts.flatMap((fact) => {
    if (fact.kind !== 'task.claimed' && fact.kind !== 'task.moved') return [];
    return fact.task === 'T-1' ? [fact.kind === 'task.claimed' ? `claimed ${fact.fence}` : fact.to] : [];
  });
  expect(story).toEqual(['claimed 1', 'blocked', 'todo', 'claimed 3', 'done']);
}, 150_000);

/** What Claude Code printed until it called its first tool. */
function untilToolCall(): string {
  const lines = readFileSync(join(CHECKOUT, 'test/agents/fixtures/claude/wrote.jsonl'), 'utf8').split('\n');
  const call = lines.findIndex((line) => line.startsWith('{"type":"assistant"') && line.includes('"tool_use"'));
  return `${lines.slice(0, call + 1).join('\n')}\n`;
}

test('of an agent that waits for its tool, the tool and how long nothing was heard are told, while it runs and when it is ended', async () => {
  const claude = '#!/bin/sh\ncat > /dev/null\ncat said.jsonl\nsleep 300 & echo $! > tool\nwait\n';
  const dir = project({
    '.baton/config.json': flow(
      { A: { ...agent, tools: 'coding', runner: 'claude' } },
      { 'Socket-1': { materia: 'A', limits: { timeoutMs: 12_000 } } },
    ),
    'said.jsonl': untilToolCall(),
    'bin/claude': claude,
    '.gitignore': '*',
  });
  chmodSync(join(dir, 'bin/claude'), 0o755);
  const how = { env: { PATH: `${join(dir, 'bin')}:${process.env.PATH ?? ''}`, ANTHROPIC_API_KEY: 'key' } };
  const cast = start(dir, ['cast', '--in-place', '--json', 'do it'], how);
  const tool = Number(await untilWritten(dir, 'tool'));
  const why = async () => json<Why>(await baton(dir, ['why', '--json'])).sentences.join(' ');
  await expect
    .poll(why, { timeout: 10_000 })
    .toMatch(/Its last sign of life was at \S+Z \(.*\); its last tool call was Write\./);
  expect(isRunning(tool)).toBe(true);
  const view = json<CastView>(await cast.ended);
  expect(view).toMatchObject({ status: 'failed', code: 'AGENT_TIMEOUT' });
  const told =
    /did not answer in time: it was waiting.*last sign of life \d+ s before; its last tool call was Write, of 1/;
  const facts = await factsOf(dir);
  const reason = expect.stringMatching(told);
  expect(facts.find(({ kind }) => kind === 'attempt.failed')).toMatchObject({ code: 'AGENT_TIMEOUT', reason });
  const moved = facts.find((fact) => fact.kind === 'task.moved' && fact.to === 'blocked');
  expect(moved).toMatchObject({ code: 'TASK_TIMEOUT', releases: true, reason });
  expect((await baton(dir, ['why'])).stdout).toMatch(told);
  expect((await baton(dir, ['show', '--turn', '1'])).stdout).toMatch(told);
  expect((await baton(dir, ['log'])).stdout).toContain('its last tool call was Write');
  expect(isRunning(tool)).toBe(false);
});
