// The key is made once, for its owner only, and is not used where it is open to others.
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { userFolder } from '../access/user-folder.ts';
import { keyLine, openSigner, trustedKeys } from './note.ts';

let root = '';
let env: NodeJS.ProcessEnv = {};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-key-'));
  env = { BATON_CONFIG: join(root, 'config') };
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function lineOf(): string {
  const signer = openSigner(env);
  if (!signer.ok) throw new Error(signer.verdict.reason);
  return keyLine(signer.value.publicKey);
}

test.each<[NodeJS.ProcessEnv, string]>([
  [{ BATON_CONFIG: '/c', XDG_CONFIG_HOME: '/x', HOME: '/h' }, '/c'],
  [{ XDG_CONFIG_HOME: '/x', HOME: '/h' }, '/x/baton'],
  [{ HOME: '/h' }, '/h/.config/baton'],
])('%j: the folder is %s', (given, folder) => {
  expect(userFolder(given)).toBe(folder);
});

test('it is made on first use, for its owner only, and is the same afterwards', () => {
  expect(trustedKeys(env)).toEqual({ ok: true, value: [] });
  const line = lineOf();
  expect(lineOf()).toBe(line);
  const mode = (name: string) => statSync(join(root, 'config', name)).mode & 0o777;
  expect([mode('.'), mode('signing-key.pem'), mode('trusted-keys.txt')]).toEqual([0o700, 0o600, 0o600]);
  const trusted = trustedKeys(env);
  expect(trusted.ok && trusted.value.map(keyLine)).toEqual([line]);
});

test('a new key in the place of a lost one does not make the old one unknown', () => {
  const old = lineOf();
  rmSync(join(root, 'config', 'signing-key.pem'));
  const now = lineOf();
  expect(now).not.toBe(old);
  const trusted = trustedKeys(env);
  expect(trusted.ok && trusted.value.map(keyLine)).toEqual([old, now]);
});

test.each<[string, number, RegExp]>([
  ['.', 0o750, /chmod 700/],
  ['signing-key.pem', 0o640, /chmod 600/],
  ['signing-key.pem', 0o604, /chmod 600/],
])('%s with mode %o is refused', (name, mode, way) => {
  lineOf();
  chmodSync(join(root, 'config', name), mode);
  const signer = openSigner(env);
  expect(signer).toMatchObject({ ok: false, verdict: { code: 'KEY_UNSAFE' } });
  expect(!signer.ok && signer.verdict.reason).toMatch(way);
});

test('trusted keys that others may write to are not trusted', () => {
  lineOf();
  chmodSync(join(root, 'config', 'trusted-keys.txt'), 0o620);
  expect(trustedKeys(env)).toMatchObject({ ok: false, verdict: { code: 'KEY_UNSAFE' } });
});

test('a key that is none is refused and stays as it is', () => {
  lineOf();
  const file = join(root, 'config', 'signing-key.pem');
  writeFileSync(file, 'x');
  expect(openSigner(env)).toMatchObject({ ok: false, verdict: { code: 'KEY_UNSAFE' } });
  expect(readFileSync(file, 'utf8')).toBe('x');
});
