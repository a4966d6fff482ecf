// Which agents are found, and what counts as signed in. The programs are stand-ins in a folder of the test.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { detect, detectAgents, PROGRAMS, versionIn } from './detect.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-detect-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, text: string, mode = 0o600) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  chmodSync(join(root, path), mode);
};
const install = (path: string, says: string) => put(path, `#!/bin/sh\necho '${says}'\n`, 0o755);
const env = (more: Record<string, string> = {}) => ({
  PATH: `${join(root, 'bin')}:/usr/bin:/bin`,
  HOME: root,
  ...more,
});

test('what is not installed is said with the way to get it', async () => {
  const found = await detect('pi', { ...env(), PATH: join(root, 'bin') });
  expect(found).toMatchObject({ path: null, version: null, hint: expect.stringContaining('npm install -g') });
});

test('a program on PATH, its version, and nobody signed in', async () => {
  install('bin/claude', '2.1.325 (Claude Code)');
  const path = join(root, 'bin', 'claude');
  const hint = expect.stringContaining('ANTHROPIC_API_KEY');
  expect(await detect('claude', env())).toEqual({
    name: 'claude',
    path,
    version: '2.1.325',
    fault: null,
    signedInBy: null,
    hint,
  });
});

test('a program in a place of its own', async () => {
  install('.local/bin/codex', 'codex-cli 0.166.0');
  expect(await detect('codex', env())).toMatchObject({ path: join(root, '.local/bin/codex'), version: '0.166.0' });
});

test.each<[string, Record<string, string>, string | null]>([
  ['a key', { OPENAI_API_KEY: 'k' }, 'OPENAI_API_KEY'],
  ['a blank key', { OPENAI_API_KEY: ' ' }, null],
  ['a key of somebody else', { ANTHROPIC_API_KEY: 'k' }, null],
])('%s', async (_what, more, signedInBy) => {
  install('bin/codex', 'codex-cli 0.166.0');
  expect((await detect('codex', env(more))).signedInBy).toBe(signedInBy);
});

test('credentials that the program left, where it leaves them', async () => {
  install('bin/codex', 'codex-cli 0.166.0');
  put('.codex/auth.json', '{}');
  expect((await detect('codex', env())).signedInBy).toBeNull();
  put('.codex/auth.json', '{"tokens":{}}');
  expect(await detect('codex', env())).toMatchObject({ signedInBy: join(root, '.codex/auth.json'), hint: null });
  expect((await detect('codex', env({ CODEX_HOME: join(root, 'elsewhere') }))).signedInBy).toBeNull();
});

test.each<[string, string, string | null]>([
  ['says something else', 'echo hello', null],
  ['ends badly', 'exit 127', '--version ended with exit code 127'],
  [
    'says why it ends badly',
    'printf "at x\\nSyntaxError: no export\\nNode.js v20.1.0\\n" >&2; exit 1',
    '--version ended with exit code 1: SyntaxError: no export',
  ],
])('a program that %s instead of its version', async (_what, script, fault) => {
  put('bin/pi', `#!/bin/sh\n${script}\n`, 0o755);
  const found = await detect('pi', env({ OPENAI_API_KEY: 'k' }));
  expect(found).toMatchObject({ path: join(root, 'bin', 'pi'), version: null, fault });
  expect(found.hint === null).toBe(fault === null);
});

test('a file that may not be run is no program', async () => {
  put('bin/pi', 'text');
  expect((await detectAgents({ ...env(), PATH: join(root, 'bin') })).map(({ path }) => path)).toEqual(
    PROGRAMS.map(() => null),
  );
});

test.each<[string, string | null]>([
  ['2.1.325 (Claude Code)', '2.1.325'],
  ['codex-cli 0.166.0-alpha.3', '0.166.0-alpha.3'],
  ['none', null],
])('the version in "%s" is %s', (text, version) => {
  expect(versionIn(text)).toBe(version);
});
