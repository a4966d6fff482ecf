import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Every module that a file loads, and those load in turn. */
function loadedBy(file: string, found = new Set<string>()): Set<string> {
  const source = readFileSync(fileURLToPath(new URL(file, import.meta.url)), 'utf8');
  for (const [, name = ''] of source.matchAll(/from '([^']+)';/g)) {
    if (found.has(name)) continue;
    found.add(name);
    if (name.startsWith('.')) loadedBy(name, found);
  }
  return found;
}

test('the supervisor loads nothing but Node and its own folder, because it is started for every turn', () => {
  const own = [...loadedBy('./supervisor.ts')].filter((name) => !name.startsWith('node:'));
  expect(own.sort()).toEqual(['./attempt-folder.ts', './process-identity.ts', './process-tree.ts', './vigil.ts']);
});

test.each([[[]], [['/no/such/folder']]])('with %j it says how it is used', (args) => {
  const file = fileURLToPath(new URL('./supervisor.ts', import.meta.url));
  const ran = spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' });
  expect([ran.status, ran.stderr]).toEqual([2, expect.stringMatching(/^usage: /)]);
});
