// One driver at a time: hosts that get another name, sandboxes with process ids of their own, and drivers that are stopped.
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import {
  baton,
  flow,
  isRunning,
  json,
  project,
  put,
  type Ran,
  read,
  type Started,
  script,
  start,
  until,
  untilWritten,
} from './baton.ts';
import { inNamespace, onHost, whyNot } from './namespaces.ts';

const named = test.skipIf(whyNot('--uts') !== null);
const apart = test.skipIf(whyNot('--pid', '--fork', '--mount-proc') !== null);

/** Notes every run, then waits until it is told to go on. */
const WORK = `import { appendFileSync, existsSync } from 'node:fs';
appendFileSync('runs.txt', 'run\\n');
while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20));
console.log('{"satisfied":true}');`;

function working(): string {
  const config = flow({ Work: script('work.mjs', { timeoutMs: 600_000 }) }, { 'Socket-1': { materia: 'Work' } });
  return project({ 'c.json': config, 'work.mjs': WORK });
}

/** A cast whose utility runs. */
async function driven(dir: string, program?: readonly string[]): Promise<Started> {
  const driver = start(dir, ['cast', '--file', 'c.json', 'x'], program ? { program } : {});
  await untilWritten(dir, 'runs.txt');
  return driver;
}

const castIn = async (dir: string) => String(json<CastView[]>(await baton(dir, ['casts', '--json']))[0]?.cast);

function driverIn(dir: string): { pid: number; until: number } {
  const db = new DatabaseSync(`${dir}/.baton/state/log.sqlite`, { readOnly: true });
  try {
    const row = db.prepare("SELECT value FROM leases WHERE name LIKE 'cast:%'").get();
    return JSON.parse(String(row?.value));
  } finally {
    db.close();
  }
}

/** Lets the lease end in `ms`, as if its driver had renewed it last so long ago. */
function ageLease(dir: string, ms: number): void {
  const db = new DatabaseSync(`${dir}/.baton/state/log.sqlite`, { timeout: 10_000 });
  db.prepare("UPDATE leases SET value = json_set(value, '$.until', ?) WHERE name LIKE 'cast:%'").run(Date.now() + ms);
  db.close();
}

const end = ({ code, stderr }: Ran) => [code, stderr] as const;

named('a killed cast goes on after the host got another name, and so does one that was aborted', async () => {
  const dir = working();
  const first = await driven(dir, onHost('old-name'));
  first.child.kill('SIGKILL');
  await first.ended;
  put(dir, { go: '' });
  const resumed = await baton(dir, ['resume', '--json'], { program: onHost('new-name') });
  expect([resumed.code, json<CastView>(resumed).status]).toEqual([0, 'completed']);

  const other = working();
  const second = await driven(other, onHost('old-name'));
  second.child.kill('SIGKILL');
  await second.ended;
  expect((await baton(other, ['abort'], { program: onHost('new-name') })).code).toBe(0);
  put(other, { go: '' });
  const recast = await baton(other, ['recast', '--json'], { program: onHost('newer-name') });
  expect([recast.code, json<CastView>(recast).status]).toEqual([0, 'completed']);
});

test('a stopped driver keeps its cast until a person takes over, goes on with nothing, and says who has it', async () => {
  const dir = working();
  const first = await driven(dir);
  const pid = first.child.pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  const cast = await castIn(dir);
  const refused = await baton(dir, ['resume', cast, '--json']);
  expect([refused.code, json(refused).code]).toEqual([1, 'NOT_ALLOWED_NOW']);
  expect(json(refused).reason).toContain(`kill -CONT ${pid}`);
  expect(json(refused).reason).toContain(`resume ${cast} --take-over`);
  const next = start(dir, ['resume', cast, '--take-over', '--json']);
  await until('the take-over', () => driverIn(dir).pid === next.child.pid);
  process.kill(pid, 'SIGCONT');
  const [code, stderr] = end(await first.ended);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`process ${next.child.pid} on `)]);
  expect(stderr).toContain('took over cast');
  put(dir, { go: '' });
  const ran = await next.ended;
  // The new driver went on with the program that ran.
  expect([ran.code, json<CastView>(ran).status, read(dir, 'runs.txt')]).toEqual([0, 'completed', 'run\n']);
});

test('a take-over needs the name of a cast, and frees one that has nothing left to drive', async () => {
  const dir = working();
  expect((await baton(dir, ['resume', '--take-over'])).code).toBe(2);
  const first = await driven(dir);
  process.kill(first.child.pid ?? 0, 'SIGSTOP');
  const cast = await castIn(dir);
  const abort = start(dir, ['abort', cast]);
  await until('the abort', () => isAborted(dir));
  abort.child.kill('SIGKILL');
  const recast = await baton(dir, ['recast', cast, '--json']);
  expect([recast.code, json(recast).code]).toEqual([1, 'NOT_ALLOWED_NOW']);
  expect((await baton(dir, ['resume', cast, '--take-over'])).code).toBe(1);
  put(dir, { go: '' });
  const again = await baton(dir, ['recast', cast, '--json']);
  expect([again.code, json<CastView>(again).status]).toEqual([0, 'completed']);
});

function isAborted(dir: string): boolean {
  const db = new DatabaseSync(`${dir}/.baton/state/log.sqlite`, { readOnly: true });
  try {
    return db.prepare("SELECT seq FROM facts WHERE kind = 'cast.aborted'").get() !== undefined;
  } finally {
    db.close();
  }
}

apart(
  'a driver with process ids of its own keeps its cast while it renews its lease, and not when it is gone',
  async () => {
    const dir = working();
    const first = await driven(dir, inNamespace());
    expect(driverIn(dir).pid).toBeLessThan(100);
    // Its number may well be that of another process here.
    const waiting = start(dir, ['resume', '--json'], {});
    await until('the wait', () => /cannot be seen from here/.test(waiting.stderr()));
    ageLease(dir, 61_000);
    const refused = await waiting.ended;
    expect([refused.code, json(refused).code]).toEqual([1, 'NOT_ALLOWED_NOW']);
    first.child.kill('SIGKILL');
    await first.ended;
    ageLease(dir, 1_500);
    put(dir, { go: '' });
    const resumed = await baton(dir, ['resume', '--json']);
    expect([resumed.code, json<CastView>(resumed).status]).toEqual([0, 'completed']);
  },
);

apart('of drivers in separate process namespaces that want one cast exactly one gets it', async () => {
  const dir = working();
  const first = await driven(dir, inNamespace());
  first.child.kill('SIGKILL');
  await first.ended;
  const cast = await castIn(dir);
  ageLease(dir, 0);
  const racers = [true, false, true, false].map((hasOwnProc) =>
    start(dir, ['resume', cast, '--json'], { program: inNamespace(hasOwnProc) }),
  );
  await until('a second run', () => read(dir, 'runs.txt').length > 'run\n'.length);
  await until('the refusals', () => racers.filter(({ stderr }) => /cannot be seen/.test(stderr())).length === 3);
  put(dir, { go: '' });
  const ran = await Promise.all(racers.map(({ ended }) => ended));
  expect(ran.map(({ stderr }) => stderr).join('')).not.toContain('EEXIST');
  const won = ran.filter(({ code }) => code === 0);
  expect(won.length).toBeGreaterThan(0);
  expect(read(dir, 'runs.txt')).toBe('run\nrun\n');
  const facts = json<{ kind: string }[]>(await baton(dir, ['log', '--after', '0', '--json'])).map(({ kind }) => kind);
  expect(facts.filter((kind) => kind === 'turn.accepted')).toHaveLength(1);
});

apart('a driver in a sandbox that loses its cast ends its agents and says who has it', async () => {
  const dir = working();
  const first = await driven(dir, inNamespace());
  const cast = await castIn(dir);
  const next = start(dir, ['resume', cast, '--take-over', '--json']);
  await until('a second run', () => read(dir, 'runs.txt') === 'run\nrun\n');
  const [code, stderr] = end(await first.ended);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`process ${next.child.pid} on `)]);
  put(dir, { go: '' });
  const ran = await next.ended;
  expect([ran.code, json<CastView>(ran).status]).toEqual([0, 'completed']);
  expect(isRunning(first.child.pid ?? 0)).toBe(false);
});

/** Takes the write lock of the log and stops with it, as a driver does that is stopped in the middle of a commit. */
const HOLDER = `import { DatabaseSync } from 'node:sqlite'; import { writeFileSync } from 'node:fs';
const db = new DatabaseSync('.baton/state/log.sqlite'); db.exec('BEGIN IMMEDIATE');
writeFileSync('holds', String(process.pid)); process.kill(process.pid, 'SIGSTOP');`;

test('a process that is stopped in the middle of a commit is named; who looks is not held up', async () => {
  const dir = working();
  put(dir, { go: '', 'hold.mjs': HOLDER });
  expect((await baton(dir, ['cast', '--file', 'c.json', 'x'])).code).toBe(0);
  start(dir, ['--no-warnings', 'hold.mjs'], { program: [process.execPath] });
  const pid = Number(await untilWritten(dir, 'holds'));
  const refused = await baton(dir, ['hold', '--reason', 'x', '--json']);
  expect([refused.code, json(refused).code]).toEqual([3, 'STORAGE_FAILED']);
  expect(json(refused).reason).toContain(`process ${pid} is stopped and holds the write lock`);
  for (const look of [['status'], ['casts'], ['show', 'latest'], ['why', 'latest']])
    expect([look[0], (await baton(dir, look)).code]).toEqual([look[0], 0]);
  const driver = start(dir, ['cast', '--file', 'c.json', 'x']);
  await until('the word', () => driver.stderr().includes(`kill -CONT ${pid}`));
  process.kill(pid, 'SIGKILL');
  expect((await driver.ended).code).toBe(0);
});

apart('a driver whose /proc shows the processes of another namespace runs each turn once', async () => {
  const dir = working();
  put(dir, { go: '' });
  const ran = await baton(dir, ['cast', '--file', 'c.json', '--json', 'x'], { program: inNamespace(false) });
  expect([ran.code, json<CastView>(ran).status, read(dir, 'runs.txt')]).toEqual([0, 'completed', 'run\n']);
});
