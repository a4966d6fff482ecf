import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { scrub } from '../../kernel/secrets.ts';
import { isKeyOf, makeKey } from './attempt-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-key-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('only the key of the folder fits, and what is kept of it fits nothing', () => {
  const key = makeKey(folder);
  const kept = readFileSync(join(folder, 'key'), 'utf8');
  expect(kept).not.toContain(key);
  expect(statSync(join(folder, 'key')).mode & 0o777).toBe(0o600);
  expect(isKeyOf(folder, key)).toBe(true);
  for (const other of ['', kept, `${key}x`, key.slice(0, -1), 'x'.repeat(10_000)])
    expect(isKeyOf(folder, other)).toBe(false);
  expect(isKeyOf(join(folder, 'nowhere'), key)).toBe(false);
});

test('every attempt has another one, and a text that is kept has none', () => {
  const [one, other] = [makeKey(folder), makeKey(folder)];
  expect(one).not.toBe(other);
  expect(scrub(`BATON_ATTEMPT_KEY=${one}`).text).not.toContain(one);
});
