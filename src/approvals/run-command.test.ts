// The command runs in a process of its own, because it writes to the standard output of the process that runs it.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MODULE = fileURLToPath(new URL('./run-command.ts', import.meta.url));
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
