import { tmpdir } from 'node:os';
import { expect, test, vi } from 'vitest';
import { type Ran, runCommand } from './command.ts';

vi.setConfig({ testTimeout: 60_000 });

const js = (code: string) => [process.execPath, '-e', code];

test.each<[string, readonly string[], number, Partial<Ran>]>([
  ['a result', js('console.log(1)'), 30_000, { ok: true, missing: false, stdout: '1\n', error: '' }],
  ['nothing to read', js('process.stdin.resume().on("end", () => console.log("end"))'), 30_000, { stdout: 'end\n' }],
  ['an argument as it is', [...js('console.log(process.argv[1])'), '$HOME; `id`'], 30_000, { stdout: '$HOME; `id`\n' }],
  ['no such program', ['no-such-program-at-all'], 30_000, { ok: false, missing: true }],
  ['a failure', js('console.error("bad"); process.exit(3)'), 30_000, { ok: false, missing: false, error: 'bad' }],
  [
    'too long',
    js('setInterval(() => {}, 1000)'),
    50,
    { ok: false, error: `${process.execPath} did not end within 50 ms` },
  ],
])('%s', async (_name, [program = '', ...args], timeoutMs, ran) => {
  expect(await runCommand(program, args, tmpdir(), timeoutMs)).toMatchObject(ran);
});

test('a failure is told in at most 800 characters', async () => {
  const { error } = await runCommand(process.execPath, ['-e', 'console.error("x".repeat(5000)); process.exit(1)'], '/');
  expect(error).toHaveLength(800);
});
