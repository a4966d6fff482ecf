import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test, vi } from 'vitest';
import { awaitAttempt, endOrphans, type Packet, recoverAttempt, runBriefly, startAttempt } from './attempt.ts';
import { takeClaim } from './attempt-folder.ts';
import { HAS_PROC, isAlive, killProcess, type ProcessIdentity, processTable, startTimeOf } from './process-identity.ts';
import { ATTEMPT_MARK, treeMembers } from './process-tree.ts';

vi.setConfig({ testTimeout: 120_000 });
const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-attempt-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const never = new AbortController().signal;
const LONG_MS = 60_000;

let count = 0;
const newFolder = () => path.join(root, `${++count}`);

/** A packet that runs some JavaScript in Node. */
function js(code: string, changes: Partial<Packet> = {}): Packet {
  return packet({ argv: [process.execPath, '-e', code], ...changes });
}

function packet(changes: Partial<Packet>): Packet {
  const env = { PATH: process.env.PATH ?? '' };
  const limits = { timeoutMs: LONG_MS, graceMs: 200, maxStdoutBytes: 1_048_576, maxStderrBytes: 1_048_576 };
  return { argv: [], cwd: root, env, ...limits, ...changes };
}

async function until<T>(what: string, find: () => T | null | undefined | false, withinMs = 30_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = find();
    if (found) return found;
    if (performance.now() > deadline) throw new Error(`waited too long for ${what}`);
    await sleep(10);
  }
}

function readJson<T>(file: string): T | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : null;
}

const childOf = (dir: string) => until('child.json', () => readJson<ProcessIdentity>(path.join(dir, 'child.json')));
const claimOf = (dir: string) => until('the claim', () => readJson<ProcessIdentity>(path.join(dir, 'claim')));

/** Waits for a file of pids that the child wrote about itself and its descendants. */
async function pidsIn(file: string, howMany: number): Promise<number[]> {
  return until(`${howMany} pids`, () => {
    const pids = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
    return pids.length >= howMany && pids;
  });
}

function remains(dir: string): number[] {
  const child = readJson<ProcessIdentity>(path.join(dir, 'child.json'));
  return treeMembers({ child, mark: dir, fresh: true }).map((row) => row.pid);
}

test('a child gets its input, its folder and its environment, and its output and exit come back', async () => {
  const dir = newFolder();
  const code = `process.stdin.on('data', (d) => process.stdout.write(d)).on('end', () => {
    console.error(JSON.stringify({ cwd: process.cwd(), env: process.env.GREETING, extra: process.env.NODE_OPTIONS ?? null }));
  })`;
  await startAttempt(dir, js(code, { env: { GREETING: 'hello' } }), 'in and out ✓');
  const end = await awaitAttempt(dir, never);
  expect(end).toMatchObject({ code: 0, signal: null, timedOut: false, aborted: false, lost: false });
  expect(end).toMatchObject({ stdout: 'in and out ✓', stdoutBytes: 14, stdoutTruncated: false });
  expect(JSON.parse(end.stderr)).toEqual({ cwd: root, env: 'hello', extra: null });
  expect(end.error).toBeUndefined();
  expect(await recoverAttempt(dir)).toBe('finished');
});

test('only the owner can read the folder, and the environment does not stay in it', async () => {
  const dir = newFolder();
  await startAttempt(
    dir,
    js('console.log(process.env.BATON_ATTEMPT_KEY.length)', { env: { TOKEN: 'keep-me-secret' } }),
    '',
  );
  await awaitAttempt(dir, never);
  expect(statSync(dir).mode & 0o077).toBe(0);
  expect(readdirSync(dir).sort()).toEqual(['child.json', 'claim', 'exit.json', 'key', 'stderr', 'stdin', 'stdout']);
  for (const name of readdirSync(dir))
    expect(readFileSync(path.join(dir, name), 'utf8')).not.toContain('keep-me-secret');
});

test('what was handed in meanwhile is without the secrets of the environment when the attempt has ended', async () => {
  const dir = newFolder();
  const handIn = `const handoff = { cast: 'c', turn: 1, attempt: 1, output: 'with ' + process.env.TOKEN };
    require('node:fs').writeFileSync(${JSON.stringify(path.join(dir, 'handoff.json'))}, JSON.stringify(handoff));`;
  await startAttempt(dir, js(handIn, { env: { TOKEN: 'keep-me-secret' } }), '');
  expect(await awaitAttempt(dir, never)).toMatchObject({ code: 0 });
  expect(JSON.parse(readFileSync(path.join(dir, 'handoff.json'), 'utf8'))).toMatchObject({
    output: 'with [secret:env]',
  });
});

test('an exit code other than 0 is told, with all that was written', async () => {
  const dir = newFolder();
  await startAttempt(dir, js(`console.log('{"satisfied":true}'); process.exitCode = 3`), '');
  expect(await awaitAttempt(dir, never)).toMatchObject({ code: 3, signal: null, stdout: '{"satisfied":true}\n' });
});

test('bytes that are not UTF-8 are replaced', async () => {
  const dir = newFolder();
  await startAttempt(dir, js('process.stdout.write(Buffer.from([0x61, 0xff, 0x62]))'), '');
  expect(await awaitAttempt(dir, never)).toMatchObject({ stdout: 'a\ufffdb', stdoutBytes: 3 });
});

test('output over the limit is cut, counted and does not stop the child', async () => {
  const dir = newFolder();
  const code = `process.stdout.write('x'.repeat(2 * 1024 * 1024), () => process.stderr.write('done'))`;
  await startAttempt(dir, js(code), '');
  const end = await awaitAttempt(dir, never);
  expect(end).toMatchObject({ code: 0, stdoutBytes: 2_097_152, stdoutTruncated: true });
  expect(end).toMatchObject({ stderr: 'done', stderrTruncated: false });
  expect(end.stdout.length).toBe(1_048_576);
});

test('a child that would write for ever is ended where its output is full, if it is told so', async () => {
  const dir = newFolder();
  await startAttempt(dir, packet({ argv: ['yes'], endsWhenFull: true }), '');
  const end = await awaitAttempt(dir, never);
  expect(end).toMatchObject({ code: null, timedOut: false, aborted: false, stdoutTruncated: true });
  expect(end.stdout.length).toBe(1_048_576);
  expect(remains(dir)).toEqual([]);
});

test.each([
  ['a program that is not there', { argv: ['no-such-program-at-all'] }, /no-such-program-at-all was not found/],
  ['a file that is no program', { argv: [fileURLToPath(import.meta.url)] }, /may not be run/],
  ['a working directory that is gone', { argv: ['true'], cwd: '/no/such/folder' }, /\/no\/such\/folder does not exist/],
  ['an argument that no program can take', { argv: ['true', 'a\0b'] }, /could not be started/],
  ['no program', { argv: [] }, /packet/],
])('%s ends the attempt with the reason', async (_name, changes, reason) => {
  const dir = newFolder();
  await startAttempt(dir, packet(changes), '');
  const end = await awaitAttempt(dir, never);
  expect(end).toMatchObject({ code: null, signal: null, lost: false, stdout: '' });
  expect(end.error).toMatch(reason);
});

// Writes the pids of a child that ignores SIGTERM, of its child and of a grandchild that left the group and lost its parent.
const STUBBORN = (pids: string) => `
  const { spawn } = require('node:child_process');
  const { appendFileSync } = require('node:fs');
  const note = 'process.on("SIGTERM", () => {}); require("node:fs").appendFileSync(${JSON.stringify(pids)}, process.pid + "\\\\n"); setInterval(() => {}, 1000);';
  spawn(process.execPath, ['-e', note], { stdio: 'inherit' });
  const stray = 'require("node:child_process").spawn(process.execPath, ["-e", ' + JSON.stringify(note) + '], { stdio: "inherit", detached: true }).unref()';
  spawn(process.execPath, ['-e', stray], { stdio: 'inherit' });
  process.on('SIGTERM', () => {});
  appendFileSync(${JSON.stringify(pids)}, process.pid + '\\n');
  setInterval(() => {}, 1000);
`;

/** Runs an attempt into its timeout, giving it longer when the machine was too slow to get it going in time. */
async function timeOut(code: (dir: string) => string, isGoing: (dir: string) => boolean, graceMs: number) {
  for (const timeoutMs of [1_500, 10_000, 40_000]) {
    const dir = newFolder();
    await startAttempt(dir, js(code(dir), { timeoutMs, graceMs }), '');
    const end = await awaitAttempt(dir, never);
    if (isGoing(dir)) return { dir, end };
  }
  throw new Error('the machine is too slow to start a process');
}

test('a timeout ends a child that ignores SIGTERM, with its grandchildren', async () => {
  const pidsOf = (dir: string) => readFileSync(`${dir}.pids`, 'utf8').trim().split('\n').map(Number);
  const { dir, end } = await timeOut(
    (folder) => STUBBORN(`${folder}.pids`),
    (folder) => pidsOf(folder).length === 3,
    200,
  );
  expect(end).toMatchObject({ code: null, signal: 'SIGKILL', timedOut: true, aborted: false });
  expect(end.error).toBeUndefined();
  expect(pidsOf(dir).filter((pid) => startTimeOf(pid) !== null)).toEqual([]);
});

test('a child that obeys SIGTERM ends within the grace, by its own code', async () => {
  const code = `process.on('SIGTERM', () => { console.log('tidy'); process.exit(7); }); console.log('up'); setInterval(() => {}, 1000)`;
  const isUp = (dir: string) => readFileSync(path.join(dir, 'stdout'), 'utf8').startsWith('up');
  const { end } = await timeOut(() => code, isUp, LONG_MS);
  expect(end).toMatchObject({ code: 7, timedOut: true, stdout: 'up\ntidy\n' });
});

test('what a child leaves behind is ended when the child has ended', async () => {
  const dir = newFolder();
  const pids = `${dir}.pids`;
  const sleeper = `require('node:fs').writeFileSync(${JSON.stringify(pids)}, String(process.pid)); setInterval(() => {}, 1000)`;
  const code = `
    const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(sleeper)}], { stdio: 'inherit' });
    const wait = setInterval(() => { if (require('node:fs').existsSync(${JSON.stringify(pids)})) process.exit(0); }, 10);
  `;
  await startAttempt(dir, js(code), '');
  expect(await awaitAttempt(dir, never)).toMatchObject({ code: 0, timedOut: false });
  expect(remains(dir)).toEqual([]);
});

test('an abort reaches the child through its supervisor', async () => {
  const dir = newFolder();
  const abort = new AbortController();
  await startAttempt(dir, js('console.log("up"); setInterval(() => {}, 1000)'), '');
  const child = await childOf(dir);
  const waiting = awaitAttempt(dir, abort.signal);
  abort.abort();
  expect(await waiting).toMatchObject({ aborted: true, timedOut: false, lost: false, signal: 'SIGTERM' });
  expect(isAlive(child)).toBe(false);
});

test('an abort before the supervisor took the attempt keeps it from running', async () => {
  const dir = newFolder();
  mkdirSync(dir);
  const waiting = awaitAttempt(dir, AbortSignal.abort());
  // Long before the wait for a supervisor would be given up.
  await until('the claim', () => existsSync(path.join(dir, 'claim')), 10_000);
  expect(await waiting).toMatchObject({ aborted: true, code: null, lost: false });
  expect(await takeClaim(dir, 'supervisor')).toBe(false);
});

test('the supervisor and the child each lead a group of their own', async () => {
  const dir = newFolder();
  await startAttempt(dir, js('setInterval(() => {}, 1000)'), '');
  const leaders = [await claimOf(dir), await childOf(dir)].map(({ pid }) => pid);
  const rows = processTable().filter((row) => leaders.includes(row.pid));
  expect(rows.map((row) => row.pgid).sort()).toEqual(leaders.sort());
  expect(await awaitAttempt(dir, AbortSignal.abort())).toMatchObject({ aborted: true });
});

test('SIGINT and SIGHUP do not stop a supervisor', async () => {
  const dir = newFolder();
  const go = `${dir}.go`;
  await startAttempt(
    dir,
    js(`setInterval(() => { if (require('node:fs').existsSync(${JSON.stringify(go)})) process.exit(0) }, 10)`),
    '',
  );
  const supervisor = await claimOf(dir);
  await childOf(dir);
  expect([killProcess(supervisor, 'SIGINT'), killProcess(supervisor, 'SIGHUP')]).toEqual([true, true]);
  mkdirSync(go);
  expect(await awaitAttempt(dir, never)).toMatchObject({ code: 0, aborted: false });
});

test('without its supervisor an attempt is lost, and its child and grandchildren are ended', async () => {
  const dir = newFolder();
  const pids = `${dir}.pids`;
  await startAttempt(dir, js(STUBBORN(pids)), '');
  await pidsIn(pids, 3);
  expect(await recoverAttempt(dir)).toBe('running');
  const supervisor = await claimOf(dir);
  const child = await childOf(dir);
  killProcess(supervisor, 'SIGKILL');
  await until('the end of the supervisor', () => !isAlive(supervisor));
  expect(isAlive(child)).toBe(true);
  expect(await recoverAttempt(dir)).toBe('lost');
  expect(isAlive(child)).toBe(false);
  expect(remains(dir)).toEqual([]);
  expect(await recoverAttempt(dir)).toBe('lost');
});

test('who waits for an attempt that loses its supervisor is told so', async () => {
  const dir = newFolder();
  await startAttempt(dir, js('console.log("so far"); setInterval(() => {}, 1000)'), '');
  const child = await childOf(dir);
  await until('output', () => readFileSync(path.join(dir, 'stdout'), 'utf8') !== '');
  const waiting = awaitAttempt(dir, never);
  killProcess(await claimOf(dir), 'SIGKILL');
  expect(await waiting).toMatchObject({ lost: true, code: null, aborted: false, stdout: 'so far\n' });
  expect(isAlive(child)).toBe(false);
});

test('an abort after the supervisor is gone ends the child itself', async () => {
  const dir = newFolder();
  await startAttempt(dir, js('setInterval(() => {}, 1000)'), '');
  const child = await childOf(dir);
  const supervisor = await claimOf(dir);
  killProcess(supervisor, 'SIGKILL');
  await until('the end of the supervisor', () => !isAlive(supervisor));
  expect(await awaitAttempt(dir, AbortSignal.abort())).toMatchObject({ lost: true, aborted: true });
  expect(isAlive(child)).toBe(false);
});

test.runIf(HAS_PROC)('a child whose pid was never written down is found by the mark it carries', async () => {
  const dir = newFolder();
  await startAttempt(dir, js('setInterval(() => {}, 1000)'), '');
  const child = await childOf(dir);
  const supervisor = await claimOf(dir);
  killProcess(supervisor, 'SIGKILL');
  await until('the end of the supervisor', () => !isAlive(supervisor));
  rmSync(path.join(dir, 'child.json'));
  expect(await recoverAttempt(dir)).toBe('lost');
  expect(isAlive(child)).toBe(false);
});

test('the child outlives the engine that started it, and its result is there', async () => {
  const dir = newFolder();
  const go = `${dir}.go`;
  const child = js(
    `setInterval(() => { if (require('node:fs').existsSync(${JSON.stringify(go)})) { console.log('made it'); process.exit(0) } }, 10)`,
  );
  const attempt = new URL('./attempt.ts', import.meta.url).href;
  const code = `
    import { startAttempt } from ${JSON.stringify(attempt)};
    await startAttempt(${JSON.stringify(dir)}, ${JSON.stringify(child)}, '');
    setInterval(() => {}, 1000);
  `;
  const engine = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore', detached: true });
  await childOf(dir);
  process.kill(-(engine.pid ?? Number.NaN), 'SIGKILL');
  await until('the end of the engine', () => engine.signalCode);
  expect(await recoverAttempt(dir)).toBe('running');
  mkdirSync(go);
  expect(await awaitAttempt(dir, never)).toMatchObject({ code: 0, stdout: 'made it\n', lost: false });
  expect(await recoverAttempt(dir)).toBe('finished');
});

test('recovery that takes the claim first keeps the supervisor from ever running the child', async () => {
  const dir = newFolder();
  mkdirSync(dir);
  expect(await recoverAttempt(dir)).toBe('never-started');
  await expect(startAttempt(dir, js('0'), '')).rejects.toThrow(/another process runs this attempt/);
  const supervisor = fileURLToPath(new URL('./supervisor.ts', import.meta.url));
  const late = spawn(process.execPath, [supervisor, dir], { stdio: 'ignore' });
  await until('the end of the late supervisor', () => late.exitCode !== null);
  expect(late.exitCode).toBe(0);
  expect(readdirSync(dir)).toEqual(['claim']);
  expect(await recoverAttempt(dir)).toBe('never-started');
});

test('of a supervisor and a recovery that race for a new attempt exactly one gets it', async () => {
  const outcomes = await Promise.all(
    [0, 40, 80, 120].map(async (delayMs) => {
      const dir = newFolder();
      await startAttempt(dir, js('require("node:fs").writeFileSync(process.env.BATON_ATTEMPT_DIR + ".proof", "")'), '');
      await sleep(delayMs);
      const answer = await recoverAttempt(dir);
      const end = await awaitAttempt(dir, never);
      const ran = existsSync(`${dir}.proof`);
      return ran === (answer !== 'never-started') && ran === (end.code === 0);
    }),
  );
  expect(outcomes).toEqual([true, true, true, true]);
});

test('a folder that was never made is an attempt that never started', async () => {
  expect(await recoverAttempt(newFolder())).toBe('never-started');
});

test('an attempt inside an attempt carries the mark of the inner one', async () => {
  const dir = newFolder();
  await startAttempt(dir, js('console.log(process.env.BATON_ATTEMPT_DIR)', { env: { [ATTEMPT_MARK]: '/outer' } }), '');
  expect((await awaitAttempt(dir, never)).stdout.trim()).toBe(dir);
});

// Programs that end by themselves, without a supervisor.
test('a brief program gives its code and the end of what it printed', async () => {
  const dir = newFolder();
  const code =
    'console.log("x".repeat(20_000) + process.env.BATON_ATTEMPT_DIR); console.error("bad"); process.exitCode = 3';
  const end = await runBriefly(dir, js(code), never);
  expect(end).toMatchObject({ code: 3, stderr: 'bad\n', aborted: false, timedOut: false });
  expect([end.stdout.length, end.stdout.endsWith(`x${dir}\n`)]).toEqual([16_384, true]);
  expect((await runBriefly(newFolder(), packet({ argv: ['no-such-program'] }), never)).error).toContain('ENOENT');
});

const SLEEPS = 'sleep 100 & echo $! > "$BATON_ATTEMPT_DIR.pids"; echo $$ >> "$BATON_ATTEMPT_DIR.pids"; wait';

test.each([
  ['aborted', LONG_MS],
  ['timedOut', 400],
] as const)('a brief program that is %s ends with what it started', async (why, timeoutMs) => {
  const dir = newFolder();
  const abort = new AbortController();
  const running = runBriefly(dir, packet({ argv: ['sh', '-c', SLEEPS], timeoutMs }), abort.signal);
  if (why === 'aborted') {
    await pidsIn(`${dir}.pids`, 2);
    abort.abort();
  }
  expect(await running).toMatchObject({ aborted: false, timedOut: false, [why]: true });
  expect(remains(dir)).toEqual([]);
});

test.runIf(HAS_PROC)('a brief program whose starter is killed is found by its folder, and ended', async () => {
  const dir = newFolder();
  const attempt = new URL('./attempt.ts', import.meta.url).href;
  const sleeps = packet({ argv: ['sh', '-c', SLEEPS] });
  const code = `
    import { runBriefly } from ${JSON.stringify(attempt)};
    await runBriefly(${JSON.stringify(dir)}, ${JSON.stringify(sleeps)}, new AbortController().signal);
  `;
  const engine = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore', detached: true });
  await pidsIn(`${dir}.pids`, 2);
  process.kill(-(engine.pid ?? Number.NaN), 'SIGKILL');
  await until('the end of the engine', () => engine.signalCode);
  expect(remains(dir).length).toBeGreaterThan(0);
  await endOrphans(dir);
  expect(remains(dir)).toEqual([]);
});
