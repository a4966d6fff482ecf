// Agents that lie about where they come from are known all the same: by the supervisor above them.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { isInsideAttempt, supervisedFolder } from '../agents/inside-attempt.ts';
import { awaitAttempt, startAttempt } from '../agents/process/attempt.ts';
import { attemptNamed } from '../agents/process/attempt-folder.ts';
import { HAS_PROC } from '../agents/process/process-identity.ts';
import { attemptAbove } from './attempt.ts';
import { createToken } from './tokens.ts';
import { callerIdentity } from './who-acts.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const state = realpathSync(mkdtempSync(join(tmpdir(), 'baton-above-')));
afterAll(() => rmSync(state, { recursive: true, force: true, maxRetries: 5 }));
const supervisor = fileURLToPath(new URL('../agents/process/supervisor.ts', import.meta.url));
const limits = { timeoutMs: 60_000, graceMs: 0, maxStdoutBytes: 10_000, maxStderrBytes: 10_000 };
const WAIT = (file: string) => `echo $$ > ${file}.new && mv ${file}.new ${file} && exec sleep 50`;

/** Runs a program in an attempt and answers who it is taken for, once it has written the number of its process to the file. */
async function takenFor(name: string, argv: (file: string) => readonly string[], env: Record<string, string> = {}) {
  const dir = join(state, 'attempts', name);
  const file = join(state, `${name}.pid`);
  const given = { PATH: process.env.PATH ?? '', ...env };
  await startAttempt(dir, { argv: argv(file), cwd: state, env: given, ...limits }, '');
  const over = new AbortController();
  try {
    const pid = await written(file);
    return { above: attemptAbove(pid), by: callerIdentity({}, pid, 0).name, isInside: isInsideAttempt({}, pid) };
  } finally {
    over.abort();
    await awaitAttempt(dir, over.signal);
  }
}

async function written(file: string): Promise<number> {
  for (let round = 0; round < 1_000; round++) {
    try {
      return Number(readFileSync(file, 'utf8'));
    } catch {
      await sleep(20);
    }
  }
  throw new Error(`nothing was written to ${file}`);
}

/** A folder of an attempt as the engine prepares it, for whoever wants to look like another one. */
function forged(name: string, argv: readonly string[]): string {
  const dir = join(state, 'forged', 'attempts', name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'stdin'), '');
  writeFileSync(
    join(dir, 'packet.json'),
    JSON.stringify({ argv, cwd: state, env: { PATH: process.env.PATH ?? '' }, ...limits }),
  );
  return dir;
}

test.skipIf(!HAS_PROC).each<[string, string, (file: string) => readonly string[]]>([
  ['a program of an attempt', 'C-7.1', (file) => ['sh', '-c', WAIT(file)]],
  ['one without its environment', 'C-7.2', (file) => ['env', '-i', 'sh', '-c', WAIT(file)]],
  [
    'one that names another attempt in its environment',
    'C-7.3',
    (file) => [
      ...['env', '-i', `BATON_ATTEMPT_DIR=${forged('other-9.1', ['true'])}`, 'BATON_CAST=other', 'BATON_ATTEMPT=9.1'],
      ...['sh', '-c', WAIT(file)],
    ],
  ],
  [
    'one below a supervisor of its own',
    'C-7.4',
    (file) => [process.execPath, supervisor, forged('other-9.2', ['sh', '-c', WAIT(file)])],
  ],
])('%s is taken for what it is', async (_what, name, argv) => {
  const { above, by, isInside } = await takenFor(name, argv);
  expect(isInside).toBe(true);
  const [turn = '', attempt = ''] = name.slice(2).split('.');
  expect(above).toEqual({ cast: 'C', turn: Number(turn), attempt: Number(attempt), stateDir: state });
  // There is no log in this state folder that could tell the socket.
  expect(by).toBe(`agent:unknown@${name}`);
});

test('who has no supervisor above him is a user, or, where he says that he is an agent, an unknown one', () => {
  expect(attemptAbove()).toBeNull();
  expect(callerIdentity({}, process.pid, 0)).toMatchObject({ name: expect.stringMatching(/^user:/), role: 'admin' });
  expect(callerIdentity({ BATON_ATTEMPT: '1.1' }, process.pid, 0)).toEqual({
    name: 'agent:unknown',
    role: null,
    by: 'attempt',
  });
});

test('nobody acts for a token that is not there, or without a server that asked for it', () => {
  const env = { BATON_CONFIG: join(state, 'user'), BATON_ACTS_FOR: 'ci' };
  expect(callerIdentity(env, process.pid, 0, () => true)).toEqual({
    name: 'token:unknown',
    role: 'viewer',
    by: 'user',
  });
  expect(callerIdentity(env, process.pid, 0)).toEqual({ name: 'token:unknown', role: 'viewer', by: 'user' });
});

test('a process that shows a token acts under the name of the token, also where none is required', () => {
  const env = { BATON_CONFIG: join(state, 'shown') };
  const made = createToken(env, { role: 'operator', name: 'ci', expires: null }, 0);
  const secret = made.ok ? made.value.secret : '';
  const shown = (word: string | null) => callerIdentity(env, process.pid, 0, () => false, word);
  expect(shown(secret)).toMatchObject({ name: 'token:ci', role: 'operator', by: 'token' });
  expect(shown(`${secret}x`)).toMatchObject({ name: 'token:unknown', role: 'viewer' });
  expect(shown(null)).toMatchObject({ name: expect.stringMatching(/^user:/), role: 'admin' });
});

test.each([
  ['/s/attempts/C-7.2', { cast: 'C', turn: 7, attempt: 2, stateDir: '/s' }],
  ['/s/attempts/C-7.2.again-3', { cast: 'C', turn: 7, attempt: 2, stateDir: '/s' }],
  ['/s/attempts/20300101-120000-ab12cd-7.2', { cast: '20300101-120000-ab12cd', turn: 7, attempt: 2, stateDir: '/s' }],
  ['/s/attempts/C-7', null],
  ['/s/attempts/C-0.1', null],
  ['/s/elsewhere/C-7.2', null],
])('%s is the folder of %j', (folder, attempt) => {
  expect(attemptNamed(folder)).toEqual(attempt);
});

test('whatever a command line or a folder is called, reading it gives an attempt or nothing', () => {
  const word = fc.oneof(fc.string(), fc.constantFrom('supervisor.ts', '\0', '/', 'attempts/', 'C-1.1', '-', '.'));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (words) => {
      const folder = supervisedFolder(words.join(''));
      if (folder !== null) expect(folder.startsWith('/')).toBe(true);
      expect(attemptNamed(words.join(''))?.turn ?? 1).toBeGreaterThan(0);
    }),
    { numRuns: RUNS },
  );
  expect(supervisedFolder('/usr/bin/node\0/b/supervisor.js\0/s/attempts/C-1.2\0')).toBe('/s/attempts/C-1.2');
  expect(supervisedFolder('node /b/supervisor.js /s/my state/attempts/C-1.2')).toBe('/s/my state/attempts/C-1.2');
});
