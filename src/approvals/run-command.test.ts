// The command runs in a process of its own, because it writes to the standard output of the process that runs it.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type CommandStreams, keptStreams, runApproved } from './use-approval.ts';

const MODULE = fileURLToPath(new URL('./use-approval.ts', import.meta.url));
const TOKEN = 'hunter2hunter2';

function ran(line: string, env: Record<string, string>) {
  const wanted = { file: '/bin/sh', argv: ['sh', '-c', line], cwd: '/', env: { PATH: '/usr/bin:/bin', ...env } };
  const code = `const { ownStreams, runApproved } = await import(${JSON.stringify(MODULE)});
    process.exitCode = (await runApproved(${JSON.stringify(wanted)}, ownStreams())).code;`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    maxBuffer: 10_000_000,
  });
  return { status, stdout: stdout.toString('latin1'), stderr: stderr.toString('latin1') };
}

test('what an approved command prints is passed on without the secrets of its environment', () => {
  const line =
    'echo "out $MY_TOKEN"; echo "err $MY_TOKEN" >&2; printf "hunter2"; sleep 0.2; printf "hunter2 end"; exit 3';
  expect(ran(line, { MY_TOKEN: TOKEN })).toEqual({
    status: 3,
    stdout: 'out [secret:env]\n[secret:env] end',
    stderr: 'err [secret:env]\n',
  });
});

test('other bytes stay as they are, also many of them', () => {
  const line = String.raw`printf '\377\000\303\274'; head -c 3000000 /dev/zero; printf "$MY_TOKEN"`;
  const { stdout } = ran(line, { MY_TOKEN: TOKEN });
  expect(stdout.slice(0, 4)).toBe('\xff\0\xc3\xbc');
  expect([stdout.length, stdout.endsWith('\0[secret:env]')]).toEqual([4 + 3_000_000 + '[secret:env]'.length, true]);
});

test('a command without secrets writes where we write, and one in the background holds nobody up', () => {
  expect(ran('echo plain', { PLAIN: 'x' })).toMatchObject({ status: 0, stdout: 'plain\n' });
  const before = Date.now();
  const { status, stdout } = ran('echo begun; sleep 20 >/dev/null 2>&1 & exit 5', { MY_TOKEN: TOKEN });
  expect([status, stdout, Date.now() - before < 15_000]).toEqual([5, 'begun\n', true]);
});

/** Runs a line in this process; `signal` reaches us once it runs. */
async function kept(line: string, over: Partial<CommandStreams> = {}, signal?: NodeJS.Signals) {
  const streams = { ...keptStreams(), ...over };
  const command = { argv: ['sh', '-c', line], cwd: '/', env: { PATH: '/usr/bin:/bin', MY_TOKEN: TOKEN } };
  const running = runApproved({ file: line === 'gone' ? '/nowhere/sh' : '/bin/sh', ...command }, streams);
  if (signal) process.emit(signal, signal);
  return { end: await running, printed: streams.printed() };
}

test('the end of a long output is kept, without secrets', async () => {
  const { end, printed } = await kept('head -c 40000 /dev/zero | tr "\\0" x; echo "$MY_TOKEN"; echo bad >&2; exit 4');
  expect(end).toEqual({ code: 4, exit: 4 });
  expect([printed.stdout.length, printed.stdout.endsWith('x[secret:env]\n'), printed.stderr]).toEqual([
    16_384,
    true,
    'bad\n',
  ]);
});

test.each<[string, string, object]>([
  ['that is not there', 'gone', { code: 127, exit: null, note: expect.stringContaining('could not start') }],
  ['that a signal ended', 'kill -TERM $$', { code: 143, exit: null, note: 'ended by SIGTERM' }],
])('a command %s has no exit code of its own', async (_, line, expected) => {
  expect((await kept(line)).end).toEqual(expected);
});

test.each<[NodeJS.Signals, Partial<CommandStreams>, object]>([
  ['SIGUSR2', { passesSignals: true }, { code: 140, exit: null, note: 'ended by SIGUSR2', isCut: true }],
  ['SIGQUIT', { passesSignals: true }, { code: 131, exit: null, note: 'ended by SIGQUIT', isCut: true }],
  // The terminal has sent it to the command too.
  ['SIGQUIT', { passesSignals: true, stdin: 'inherit' }, { code: 0, exit: 0 }],
])('%s is passed on where %j says so, and listened to no longer', async (signal, streams, expected) => {
  const before = process.listenerCount(signal);
  const line = 'stdin' in streams ? 'sleep 0.1' : 'exec sleep 20';
  expect((await kept(line, streams, signal)).end).toEqual(expected);
  expect(process.listenerCount(signal)).toBe(before);
});

test('without it no signal of ours is listened to', async () => {
  const before = process.listenerCount('SIGUSR2');
  const running = kept('sleep 0.1');
  expect(process.listenerCount('SIGUSR2')).toBe(before);
  expect((await running).end).toEqual({ code: 0, exit: 0 });
});
