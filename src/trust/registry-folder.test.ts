import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { filesOf } from './fixtures/world.ts';
import { loadRegistryFolder, readerOf, registryLoader } from './registry-folder.ts';

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'registry-')));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function folder(name: string): string {
  const dir = join(scratch, name);
  for (const [path, bytes] of filesOf()) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), bytes);
  }
  return dir;
}

test('the shipped example is in order', () => {
  const registry = loadRegistryFolder(join(import.meta.dirname, 'fixtures/registry'));
  expect(registry.diagnostics).toEqual([]);
  expect([...registry.agents.keys()]).toHaveLength(6);
});

test('a folder loads; a missing one is unusable', () => {
  expect(loadRegistryFolder(folder('plain')).diagnostics).toEqual([]);
  expect(loadRegistryFolder(join(scratch, 'nowhere')).diagnostics[0]?.code).toBe('REGISTRY_MISSING');
});

test('reads plain files inside, and nothing else', () => {
  const dir = folder('guarded');
  writeFileSync(join(scratch, 'secret.md'), 'secret');
  mkdirSync(join(scratch, 'guarded-too'));
  writeFileSync(join(scratch, 'guarded-too', 'x.md'), 'neighbour');
  symlinkSync(join(scratch, 'secret.md'), join(dir, 'out.md'));
  symlinkSync(scratch, join(dir, 'up'));
  symlinkSync(join(scratch, 'guarded-too'), join(dir, 'next'));
  symlinkSync('prompts/router.md', join(dir, 'inside.md'));
  symlinkSync('loop.md', join(dir, 'loop.md'));
  execFileSync('mkfifo', [join(dir, 'pipe.md')]);
  const read = readerOf(dir);
  expect(read('prompts/router.md')).not.toBeNull();
  expect(read('inside.md')).not.toBeNull();
  for (const path of ['out.md', 'up/secret.md', 'next/x.md', '../secret.md', '/etc/hostname', 'loop.md']) {
    expect(read(path), path).toBeNull();
  }
  for (const path of ['pipe.md', 'prompts', 'absent.md', '', '.', 'a\0b']) expect(read(path), path).toBeNull();
});

test('a loader resolves against its base and keeps what it loaded', () => {
  const dir = folder('kept');
  const load = registryLoader(scratch);
  const first = load('kept');
  expect(first.usable).toBe(true);
  writeFileSync(join(dir, 'prompts/router.md'), 'changed');
  expect(load(dir)).toBe(first);
  expect(registryLoader(dir)(null).agents.get('router')?.bytesMatch).toBe(false);
  expect(registryLoader(null)(null).usable).toBe(false);
});
