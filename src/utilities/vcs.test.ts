import { tmpdir } from 'node:os';
import { expect, test, vi } from 'vitest';
import { type ProgramAnswer, runProgram } from './vcs.ts';

vi.setConfig({ testTimeout: 60_000 });

const js = (code: string) => [process.execPath, '-e', code];

test.each<[string, readonly string[], number, Partial<ProgramAnswer>]>([
  ['a result', js('console.log(1)'), 30_000, { ok: true, missing: false, stdout: '1\n', error: '' }],
  ['nothing to read', js('process.stdin.resume().on("end", () => console.log("end"))'), 30_000, { stdout: 'end\n' }],
  ['an argument as it is', [...js('console.log(process.argv[1])'), '$HOME; `id`'], 30_000, { stdout: '$HOME; `id`\n' }],
  [
    'no such program',
    ['no-such-program'],
    30_000,
    { ok: false, missing: true, error: 'no-such-program was not found' },
  ],
  ['a failure', js('console.error("bad"); process.exit(3)'), 30_000, { ok: false, missing: false, error: 'bad' }],
  ['too long', js('setInterval(() => {}, 1000)'), 50, { ok: false, error: expect.stringMatching(/within 50 ms/) }],
])('%s', async (_name, [program = '', ...args], timeoutMs, ran) => {
  expect(await runProgram(program, args, tmpdir(), timeoutMs)).toMatchObject(ran);
});

test('a failure is told in at most 800 characters', async () => {
  const { error } = await runProgram(process.execPath, ['-e', 'console.error("x".repeat(5000)); process.exit(1)'], '/');
  expect(error).toHaveLength(800);
});

test('a folder that is gone is not taken for a missing program', async () => {
  const ran = await runProgram(process.execPath, ['-e', '0'], '/no/such/folder');
  expect(ran).toEqual({ ok: false, missing: false, stdout: '', error: 'the folder /no/such/folder does not exist' });
});
