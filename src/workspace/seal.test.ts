// The seal breaks when anything that governs agents changes, and only then.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sealOf } from './main-checkout.ts';

let dir = '';
const at = (...names: string[]) => join(dir, '.baton', ...names);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-seal-'));
  mkdirSync(at('prompts'), { recursive: true });
  mkdirSync(at('state'));
  writeFileSync(at('config.json'), '{}');
  writeFileSync(at('prompts', 'a.md'), 'A');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test.each<[string, () => void]>([
  ['the configuration changed', () => writeFileSync(at('config.json'), '{"a":1}')],
  ['a prompt changed', () => writeFileSync(at('prompts', 'a.md'), 'B')],
  ['a file was added', () => writeFileSync(at('prompts', 'b.md'), 'B')],
  ['a file was removed', () => unlinkSync(at('prompts', 'a.md'))],
  ['a file was renamed', () => renameSync(at('prompts', 'a.md'), at('prompts', 'c.md'))],
  [
    'the folder became a link to a copy of itself',
    () => {
      renameSync(at(), join(dir, 'copy'));
      symlinkSync(join(dir, 'copy'), at());
    },
  ],
  [
    'a file became a link',
    () => {
      unlinkSync(at('prompts', 'a.md'));
      symlinkSync('/dev/null', at('prompts', 'a.md'));
    },
  ],
])('%s: another seal', (_what, change) => {
  const before = sealOf(dir);
  change();
  expect(sealOf(dir)).not.toBe(before);
});

test.each<[string, () => void]>([
  ['the state changed', () => writeFileSync(at('state', 'log.sqlite'), 'x')],
  ['the project changed', () => writeFileSync(join(dir, 'x.ts'), 'x')],
  ['a file was written again as it was', () => writeFileSync(at('config.json'), '{}')],
])('%s: the same seal', (_what, change) => {
  const before = sealOf(dir);
  change();
  expect(sealOf(dir)).toBe(before);
});

test('a project without .baton has a seal too', () => {
  rmSync(at(), { recursive: true });
  expect(sealOf(dir)).toMatch(/^[0-9a-f]{64}$/);
});
