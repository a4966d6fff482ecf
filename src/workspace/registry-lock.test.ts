import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MANIFEST_PATH } from '../trust/registry.ts';
import { hashBytes, loadRegistryFolder } from '../trust/registry-folder.ts';
import { BUNDLED } from './find-config.ts';
import { readJsonFile } from './load-config.ts';
import { hasRegistry, registryOnceLocked, writeRegistryLock } from './registry-lock.ts';
import { reviewRegistry } from './registry-review.ts';

const bundled = dirname(BUNDLED);
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-lock-'));
  cpSync(join(bundled, 'prompts'), join(dir, 'prompts'), { recursive: true });
  cpSync(join(bundled, 'versions', 'prompt-manifest.json'), join(dir, 'versions', 'prompt-manifest.json'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Lock = { prompts: Record<string, { file: string; hash: string }> };
const lock = (folder: string): Lock => JSON.parse(readFileSync(join(folder, 'versions', 'prompt-lock.json'), 'utf8'));

test('every prompt is pinned to the SHA-256 of its bytes, and the registry is usable', () => {
  const { agents, file } = writeRegistryLock(dir);
  expect(agents).toHaveLength(14);
  expect(file).toBe(join(dir, 'versions', 'prompt-lock.json'));
  for (const { file: prompt, hash } of Object.values(lock(dir).prompts)) {
    expect(hash).toBe(hashBytes(readFileSync(join(dir, prompt))));
  }
  expect(loadRegistryFolder(dir).diagnostics).toEqual([]);
});

test('a prompt that changed afterwards is found out, and a new lock takes it as it is', () => {
  writeRegistryLock(dir);
  writeFileSync(join(dir, 'prompts', 'build.md'), 'Do something else.\n');
  expect(loadRegistryFolder(dir).diagnostics).toMatchObject([{ agent: 'domain-02-build' }]);
  writeRegistryLock(dir);
  expect(loadRegistryFolder(dir).diagnostics).toEqual([]);
});

test('an agent without its prompt gets no entry; the others do', () => {
  rmSync(join(dir, 'prompts', 'build.md'));
  const { agents } = writeRegistryLock(dir);
  expect([agents.length, agents.includes('domain-02-build')]).toEqual([13, false]);
});

test('a manifest or a lock makes a registry', () => {
  expect([hasRegistry(dir), hasRegistry(bundled), hasRegistry(join(dir, 'prompts'))]).toEqual([true, true, false]);
});

test('the lock that comes with the bundled loadout fits its prompts', () => {
  writeRegistryLock(dir);
  expect(lock(bundled)).toEqual(lock(dir));
});

test('the bundled agents are those of the manifest, and their prompts hold no template', () => {
  const { materia } = JSON.parse(readFileSync(BUNDLED, 'utf8')) as {
    materia: Record<string, { identity?: string; promptFile?: string }>;
  };
  const agents = Object.values(materia).filter(({ promptFile }) => promptFile !== undefined);
  const pinned = Object.fromEntries(Object.entries(lock(bundled).prompts).map(([id, { file }]) => [id, file]));
  expect(Object.fromEntries(agents.map(({ identity, promptFile }) => [identity, promptFile]))).toEqual(pinned);
  for (const { promptFile } of agents)
    expect(readFileSync(join(bundled, promptFile ?? ''), 'utf8')).not.toContain('{{');
});

test('the copy of a pinned prompt replaces a link and writes nothing through it', () => {
  const other = join(dir, 'other.md');
  writeFileSync(other, 'Mine.');
  mkdirSync(join(dir, 'versions', 'pinned'), { recursive: true });
  symlinkSync(other, join(dir, 'versions', 'pinned', 'domain-02-build.md'));
  writeRegistryLock(dir);
  const copy = readFileSync(join(dir, 'versions', 'pinned', 'domain-02-build.md'));
  expect([readFileSync(other, 'utf8'), copy]).toEqual(['Mine.', readFileSync(join(dir, 'prompts', 'build.md'))]);
});

test('bytes that are no text are pinned as they are, with a remark that no cast can send them', () => {
  writeFileSync(join(dir, 'prompts', 'build.md'), Buffer.from([0xff, 0xfe, 0x00]));
  const manifest = readJsonFile(join(dir, MANIFEST_PATH));
  expect(reviewRegistry(registryOnceLocked(dir, manifest), {}, null)).toMatchObject([
    { level: 'warning', code: 'PROMPT_NOT_TEXT', agent: 'domain-02-build' },
  ]);
  writeRegistryLock(dir);
  expect(loadRegistryFolder(dir).agents.get('domain-02-build')).toMatchObject({ bytesMatch: true, faults: [] });
});

test('a prompt that is a link out of the registry is a wrong path, and one that is not there is missing', () => {
  writeRegistryLock(dir);
  const codes = () => loadRegistryFolder(dir).diagnostics.map(({ code }) => code);
  rmSync(join(dir, 'prompts', 'build.md'));
  expect(codes()).toEqual(['PROMPT_MISSING']);
  symlinkSync(BUNDLED, join(dir, 'prompts', 'build.md'));
  expect(codes()).toEqual(['PROMPT_PATH']);
});
