import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Json, JsonObject } from '../kernel/json.ts';
import { hashBytes, loadRegistryFolder } from '../trust/registry-folder.ts';
import { importRegistry } from './registry-lock.ts';

const AT = '2030-01-01T00:00:00.000Z';
let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-import-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const WORDS = 'You analyse.\n\n### Collaboration Boundaries\n\n- **With Domain 05 (Product):** receive questions\n';
const AGENTS = { 'domain-02-analysis': WORDS, 'domain-05-product': 'You decide.\n', thinker: 'You think.\n' };
const entry = (id: keyof typeof AGENTS, type = 'domain') => ({
  file: `prompts/${id}.md`,
  hash: hashBytes(AGENTS[id]),
  type,
  version: '1.0.0',
});
const record = (id: string) => ({ name: id, file: `prompts/${id}.md`, canonical_id: id, version: '1.0.0' });
const domains = {
  'domain-02-analysis': record('domain-02-analysis'),
  'domain-05-product': record('domain-05-product'),
};
const composition: JsonObject = { 'domain-02-analysis': 60, 'domain-05-product': 40 };
const archetypes = (shares: Json = composition) => ({ thinker: { ...record('thinker'), composition: shares } });
const prompts = {
  'domain-02-analysis': entry('domain-02-analysis'),
  'domain-05-product': entry('domain-05-product'),
  thinker: entry('thinker', 'archetype'),
};

/** Another project's registry; what is null is left out. */
function foreign(manifest: Json, lock: Json, files: Readonly<Record<string, string>> = AGENTS): string {
  const dir = join(root, 'theirs');
  const put = (name: string, text: string) => {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  };
  put('versions/prompt-manifest.json', JSON.stringify(manifest));
  put('versions/prompt-lock.json', JSON.stringify(lock));
  for (const [id, text] of Object.entries(files)) put(`prompts/${id}.md`, text);
  return dir;
}
const home = () => join(root, 'ours', '.baton');
const lock = { version: '1.0.0', algorithm: 'SHA-256', prompts };

test.each<[string, Json, Json]>([
  ['maps at the top, a lock with records', { version: '1.0.0', domains, archetypes: archetypes() }, lock],
  ['maps under taxonomy', { version: '1.0.0', taxonomy: { domains, archetypes: archetypes() } }, lock],
  [
    'shares as fractions',
    { version: '1.0.0', domains, archetypes: archetypes({ 'domain-02-analysis': 0.6, 'domain-05-product': 0.4 }) },
    lock,
  ],
  [
    'a lock of hashes only',
    { version: '1.0.0', domains, archetypes: archetypes() },
    { version: '1.0.0', hashes: Object.fromEntries(Object.entries(prompts).map(([id, { hash }]) => [id, hash])) },
  ],
])('%s is taken over and is in order', (_, manifest, theirs) => {
  expect(importRegistry(foreign(manifest, theirs), home(), AT).code).toBe('OK');
  const { diagnostics, agents } = loadRegistryFolder(home());
  expect(diagnostics.filter(({ level }) => level !== 'warning')).toEqual([]);
  expect([...agents.keys()]).toEqual(['domain-02-analysis', 'domain-05-product', 'thinker']);
  const pinned = JSON.parse(readFileSync(join(home(), 'versions', 'prompt-lock.json'), 'utf8')).prompts;
  expect(pinned.thinker.locked_at).toBe(AT);
  expect(agents.get('thinker')?.composition).toEqual([
    ['domain-02-analysis', 60],
    ['domain-05-product', 40],
  ]);
  expect(agents.get('domain-02-analysis')?.collaboration.allow).toMatchObject([{ target: 'domain-05-product' }]);
});

test('prompts that the lock itself holds become files with the very bytes that were hashed', () => {
  const embedded = Object.fromEntries(
    Object.entries(prompts).map(([id, one]) => [
      id,
      { ...one, file: null, system_prompt: AGENTS[id as keyof typeof AGENTS] },
    ]),
  );
  const bare = Object.fromEntries(Object.keys(domains).map((id) => [id, { canonical_id: id, version: '1.0.0' }]));
  const manifest = { version: '1.0.0', domains: bare, archetypes: { thinker: { version: '1.0.0', composition } } };
  expect(
    importRegistry(
      foreign(manifest, { version: '1.0.0', lockfileVersion: 2, algorithm: 'sha256', prompts: embedded }, {}),
      home(),
      AT,
    ).code,
  ).toBe('OK');
  expect(readFileSync(join(home(), 'prompts', 'thinker.md'), 'utf8')).toBe(AGENTS.thinker);
});

test.each<[string, Json, Json, Readonly<Record<string, string>>, string]>([
  ['a manifest without agents', { version: '1.0.0', taxonomy: { domains: ['a'] } }, lock, AGENTS, 'REGISTRY_NO_AGENTS'],
  ['another version', { version: '1.1.0', domains }, lock, AGENTS, 'REGISTRY_VERSION_SKEW'],
  ['another algorithm', { version: '1.0.0', domains }, { ...lock, algorithm: 'md5' }, AGENTS, 'REGISTRY_ALGORITHM'],
  [
    'a prompt that is not the locked one',
    { version: '1.0.0', domains },
    lock,
    { ...AGENTS, 'domain-05-product': 'x' },
    'PROMPT_BYTES_MISMATCH',
  ],
  [
    'a composition of 99',
    { version: '1.0.0', domains, archetypes: archetypes({ 'domain-02-analysis': 59, 'domain-05-product': 40 }) },
    lock,
    AGENTS,
    'COMPOSITION_SUM',
  ],
  [
    'a placeholder for a hash',
    { version: '1.0.0', domains },
    { ...lock, prompts: { ...prompts, 'domain-05-product': { hash: 'REPLACE_WITH_HASH' } } },
    AGENTS,
    'LOCK_ENTRY_MISSING',
  ],
])('%s is refused, and nothing is written', (_, manifest, theirs, files, code) => {
  expect(importRegistry(foreign(manifest, theirs, files), home(), AT).code).toBe(code);
  expect(existsSync(home())).toBe(false);
});

test('a registry of one’s own, or a file that is in the way, is left alone', () => {
  const dir = foreign({ version: '1.0.0', domains }, lock);
  mkdirSync(join(home(), 'prompts'), { recursive: true });
  writeFileSync(join(home(), 'prompts', 'domain-05-product.md'), 'My own.\n');
  expect(importRegistry(dir, home(), AT).code).toBe('PROMPT_PATH');
  rmSync(join(home(), 'prompts'), { recursive: true });
  expect(importRegistry(dir, home(), AT).code).toBe('OK');
  expect(importRegistry(dir, home(), AT).code).toBe('NOT_ALLOWED_NOW');
});
