import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { readManifest } from '../trust/manifest.ts';
import { loadRegistryFolder } from '../trust/registry-folder.ts';
import { lockedHashes } from './registry-boundaries.ts';

const BUNDLED = fileURLToPath(new URL('../bundled', import.meta.url));
const [MANIFEST, LOCK] = ['versions/prompt-manifest.json', 'versions/prompt-lock.json'] as const;

function copy(): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-registry-'));
  for (const part of ['versions', 'prompts']) cpSync(join(BUNDLED, part), join(dir, part), { recursive: true });
  return dir;
}

function found(dir: string) {
  const [manifest, lock] = [MANIFEST, LOCK].map(
    (path) => JSON.parse(readFileSync(join(dir, path), 'utf8')) as JsonObject,
  );
  return lockedHashes(dir, manifest ?? {}, lock ?? {}, readManifest(manifest ?? {}).agents);
}

const edit = (dir: string, path: string, from: RegExp, to: string) => {
  const file = join(dir, path);
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
};

function promptIn(dir: string): string {
  return /"file": "(prompts\/[^"]+)"/.exec(readFileSync(join(dir, LOCK), 'utf8'))?.[1] ?? '';
}

test('what nobody touched has the hashes that reading it in full finds', () => {
  const dir = copy();
  const { usable, agents } = loadRegistryFolder(dir);
  expect(usable).toBe(true);
  expect(Object.fromEntries(found(dir) ?? [])).toEqual(
    Object.fromEntries([...agents.values()].map(({ id, lockedHash }) => [id, lockedHash])),
  );
});

test.each<[what: string, touch: (dir: string) => void]>([
  ['a word of the manifest', (dir) => edit(dir, MANIFEST, /"1\.0\.0"/, '"1.0.1"')],
  ['the version of the lock', (dir) => edit(dir, LOCK, /"version": "[^"]+"/, '"version": "9.9.9"')],
  ['the algorithm', (dir) => edit(dir, LOCK, /"SHA-256"/, '"SHA-1"')],
  ['the hash of the manifest', (dir) => edit(dir, LOCK, /"manifest_hash": "[0-9a-f]{64}"/, '"manifest_hash": ""')],
  ['a hash', (dir) => edit(dir, LOCK, /"hash": "[0-9a-f]{2}/, '"hash": "zz')],
  ['the place of a prompt', (dir) => edit(dir, LOCK, /"file": "prompts\//, '"file": "prompts/../prompts/')],
  ['a prompt', (dir) => edit(dir, promptIn(dir), /^/, 'x')],
])('%s that was changed leaves it to the full reader', (_what, touch) => {
  const dir = copy();
  touch(dir);
  expect(found(dir)).toBeNull();
});
