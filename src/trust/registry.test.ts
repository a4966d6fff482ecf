import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Registry } from './agent.ts';
import { type Change, CLEAN, filesOf, sha256, world } from './fixtures/world.ts';
import { loadRegistry } from './registry.ts';

const [A, B] = ['domain-05-product', 'domain-02-analysis'] as const;
const MANIFEST = 'versions/prompt-manifest.json';
const LOCK = 'versions/prompt-lock.json';

const found = (registry: Registry, level: string) =>
  registry.diagnostics
    .filter((diagnostic) => diagnostic.level === level)
    .map(({ code, agent }) => (agent === null ? code : `${code} ${agent}`));
const entry = (id: string, change: JsonObject | null) => (lock: JsonObject) => {
  const { [id]: before, ...others } = lock.prompts as Record<string, JsonObject>;
  return { ...lock, prompts: change === null ? others : { ...others, [id]: { ...before, ...change } } };
};
const hashOf = (text: string) => sha256(new TextEncoder().encode(text));

test('a registry in order has nothing to report, and its digest is stable', () => {
  expect(CLEAN.usable).toBe(true);
  expect(CLEAN.diagnostics).toEqual([]);
  expect(CLEAN.digest).toMatch(/^[0-9a-f]{64}$/);
  expect(world().digest).toBe(CLEAN.digest);
  expect(world({ agents: { [A]: { scopes: ['other'] } } }).digest).not.toBe(CLEAN.digest);
});

test.each<[string, Change, string]>([
  ['no manifest', { files: { [MANIFEST]: null } }, 'REGISTRY_MISSING'],
  ['no lock', { files: { [LOCK]: null } }, 'REGISTRY_MISSING'],
  ['a manifest cut short', { files: { [MANIFEST]: '{"version": "1.0.0"' } }, 'REGISTRY_NOT_JSON'],
  ['a lock with a key twice', { files: { [LOCK]: '{"version":"1.0.0","version":"1.0.0"}' } }, 'REGISTRY_NOT_JSON'],
  ['a lock that is not UTF-8', { files: { [LOCK]: new Uint8Array([0x7b, 0xff, 0x7d]) } }, 'REGISTRY_NOT_JSON'],
  ['half a character in the manifest', { manifest: (m) => ({ ...m, description: '\ud800' }) }, 'REGISTRY_NOT_JSON'],
  ['a manifest that is a list', { files: { [MANIFEST]: '[]' } }, 'REGISTRY_MALFORMED'],
  ['a lock that is a text', { lock: () => 'locked' }, 'REGISTRY_MALFORMED'],
  ['a lock without prompts', { lock: () => ({ version: '1.0.0' }) }, 'REGISTRY_MALFORMED'],
  ['a version that is none', { manifest: (m) => ({ ...m, version: 'one' }) }, 'REGISTRY_MALFORMED'],
  ['md5', { lock: (lock) => ({ ...lock, algorithm: 'md5' }) }, 'REGISTRY_ALGORITHM'],
  ['versions that differ', { lock: (lock) => ({ ...lock, version: '1.0.1' }) }, 'REGISTRY_VERSION_SKEW'],
  [
    'no versions',
    { manifest: ({ version: _v, ...m }) => m, lock: ({ version: _v, ...l }) => l },
    'REGISTRY_VERSION_SKEW',
  ],
  [
    'a manifest changed after locking',
    { lock: (lock) => ({ ...lock, integrity: { manifest_hash: 'a'.repeat(64) } }) },
    'REGISTRY_MANIFEST_TAMPERED',
  ],
  [
    'a manifest hash that is no hash',
    { lock: (lock) => ({ ...lock, integrity: { manifest_hash: null } }) },
    'REGISTRY_MANIFEST_TAMPERED',
  ],
  ['no agents', { manifest: () => ({ version: '1.0.0', domains: {} }) }, 'REGISTRY_NO_AGENTS'],
])('%s makes the registry unusable', (_name, change, code) => {
  const registry = world(change);
  expect(registry.usable).toBe(false);
  expect(registry.agents.size).toBe(0);
  expect(found(registry, 'fatal')).toContain(code);
});

test('a changed composition is found by the manifest hash', () => {
  const files = filesOf();
  const text = new TextDecoder()
    .decode(files.get(MANIFEST))
    .replace('"domain-05-product":50', '"domain-05-product":51');
  files.set(MANIFEST, new TextEncoder().encode(text));
  const registry = loadRegistry('', (path) => files.get(path) ?? null, sha256);
  expect(found(registry, 'fatal')).toEqual(['REGISTRY_MANIFEST_TAMPERED']);
});

test.each<[string, Change, string]>([
  ['no lock entry', { lock: entry(A, null) }, 'LOCK_ENTRY_MISSING'],
  ['a placeholder for a hash', { lock: entry(A, { hash: 'REPLACE_WITH_HASH' }) }, 'LOCK_ENTRY_MISSING'],
  ['a hash in upper case', { lock: entry(A, { hash: 'A'.repeat(64) }) }, 'LOCK_ENTRY_MISSING'],
  ['a type the lock does not share', { lock: entry(A, { type: 'archetype' }) }, 'AGENT_TYPE_MISMATCH'],
  ['a canonical id that is not its key', { agents: { [A]: { canonical_id: 'product' } } }, 'AGENT_UNKNOWN'],
  ['a version that is not semver', { agents: { [A]: { version: '1.0' } } }, 'VERSION_NOT_SEMVER'],
  ['a version the lock does not share', { lock: entry(A, { version: '1.0.1' }) }, 'VERSION_MISMATCH'],
  ['no prompt file', { files: { [`prompts/${A}.md`]: null } }, 'PROMPT_MISSING'],
  ['a changed prompt', { files: { [`prompts/${A}.md`]: 'changed' } }, 'PROMPT_BYTES_MISMATCH'],
  ['a path upward', { agents: { [A]: { file: '../secret.md' } } }, 'PROMPT_PATH'],
  ['a path upward inside', { agents: { [A]: { file: 'prompts/../../x.md' } } }, 'PROMPT_PATH'],
  ['an absolute path', { agents: { [A]: { file: '/etc/passwd' } } }, 'PROMPT_PATH'],
  ['a path of another system', { agents: { [A]: { file: 'C:\\x.md' } } }, 'PROMPT_PATH'],
  ['an unknown status', { agents: { [A]: { status: 'resting' } } }, 'AGENT_RETIRED'],
])('%s is a fault of that agent alone', (_name, change, code) => {
  const registry = world(change);
  expect(registry.usable).toBe(true);
  const faults = registry.diagnostics.filter(({ level }) => level === 'agent');
  expect(faults.map((fault) => fault.code)).toContain(code);
  expect(new Set(faults.map(({ agent }) => agent))).not.toContain(B);
});

test.each<[string, Change, string]>([
  ['an id in capitals', { manifest: (m) => ({ ...m, orchestrators: { Router: {} } }) }, 'AGENT_ID_MALFORMED Router'],
  [
    'an agent in two sections',
    { manifest: (m) => ({ ...m, orchestrators: { [A]: {} } }) },
    'AGENT_TYPE_MISMATCH domain-05-product',
  ],
])('%s is left out', (_name, change, fault) => {
  const registry = world(change);
  expect(found(registry, 'agent')).toContain(fault);
  expect(registry.agents.has(fault.split(' ')[1] ?? '')).toBe(false);
});

test.each<[string, Change, string]>([
  ['wrong counts', { manifest: (m) => ({ ...m, taxonomy: { domains: 10 } }) }, 'TAXONOMY_COUNT'],
  ['an unknown member', { manifest: (m) => ({ ...m, extra: 1 }) }, 'UNKNOWN_MEMBER'],
  ['an unknown member of an agent', { agents: { [A]: { colour: 'red' } } }, `UNKNOWN_MEMBER ${A}`],
  [
    'a boundary to nobody',
    { agents: { [A]: { collaboration: { allow: [{ target: 'nobody' }] } } } },
    `BOUNDARY_UNKNOWN_TARGET ${A}`,
  ],
  ['a denial of nobody', { agents: { [A]: { collaboration: { deny: ['nobody'] } } } }, `BOUNDARY_UNKNOWN_TARGET ${A}`],
  ['an unknown member of a boundary', { agents: { [A]: { collaboration: { colour: 1 } } } }, `UNKNOWN_MEMBER ${A}`],
  [
    'an edge of unknown mode',
    { agents: { [A]: { collaboration: { allow: [{ target: B, mode: 'maybe' }] } } } },
    `BOUNDARY_MALFORMED ${A}`,
  ],
  [
    'a share that hardly leads',
    { agents: { 'page-smith': { composition: { [A]: 90, [B]: 10 } } } },
    'PRIMARY_SHARE page-smith',
  ],
  ['a locked stranger', { lock: entry('stranger', { hash: 'a'.repeat(64) }) }, 'LOCK_ORPHAN'],
])('%s is a warning', (_name, change, warning) => {
  const registry = world(change);
  expect(registry.usable).toBe(true);
  expect(found(registry, 'warning')).toContain(warning);
});

test.each<[string, Change, string]>([
  ['collaboration that is a text', { agents: { [A]: { collaboration: 'all' } } }, `BOUNDARY_MALFORMED ${A}`],
  ['a denial that is a text', { agents: { [A]: { collaboration: { deny: B } } } }, `BOUNDARY_MALFORMED ${A}`],
  [
    'a denial of an object',
    { agents: { [A]: { collaboration: { deny: [{ target: B }] } } } },
    `BOUNDARY_MALFORMED ${A}`,
  ],
  ...['*', '', `${B} `, B.toUpperCase()].map((id): [string, Change, string] => [
    `a denial of ${JSON.stringify(id)}, which is no id,`,
    { agents: { [A]: { collaboration: { deny: [B, id] } } } },
    `BOUNDARY_MALFORMED ${A}`,
  ]),
  ...['Deny', 'denies', 'denied', 'dent'].map((member): [string, Change, string] => [
    `a denial that is spelt ${member}`,
    { agents: { [A]: { collaboration: { [member]: [B] } } } },
    `BOUNDARY_MALFORMED ${A}`,
  ]),
])('%s is an error, and its agent hands to nobody', (_name, change, fault) => {
  const registry = world(change);
  expect(found(registry, 'agent')).toContain(fault);
  expect(registry.agents.get(A)?.collaboration.deny).toBe('everybody');
});

test('prompt and manifest that name other partners have drifted apart', () => {
  const prompt = '# Product\n\n### Collaboration Boundaries\n- **With Domain 09 (Technical):** ask what it costs.\n';
  const change = { lock: entry(A, { hash: hashOf(prompt) }), files: { [`prompts/${A}.md`]: prompt } };
  const messages = world(change)
    .diagnostics.filter(({ code }) => code === 'BOUNDARY_DRIFT')
    .map(({ message }) => message);
  expect(messages).toEqual([
    'the prompt names domain-09-technical, the manifest does not',
    'the manifest names domain-02-analysis, the prompt does not',
  ]);
});

test('a broken denial denies everybody', () => {
  const registry = world({ agents: { [A]: { collaboration: { allow: [{ target: B }], deny: B } } } });
  expect(registry.agents.get(A)?.collaboration.deny).toBe('everybody');
});

test.each<[string, (manifest: JsonObject) => Json]>([
  [
    'agents under taxonomy',
    ({ domains = {}, archetypes = {}, ...rest }) => ({ ...rest, taxonomy: { domains, archetypes } }),
  ],
  ['empty records', ({ domains, ...rest }) => ({ ...rest, domains: emptied(domains) })],
  [
    'governance and other members of older files',
    (m) => ({ ...m, generated: '2026-01-01', governance: {}, prompts_index: [] }),
  ],
])('reads a manifest with %s', (_name, manifest) => {
  // Records without a file or a version take them from the lock.
  const original = filesOf();
  const lock = JSON.parse(new TextDecoder().decode(original.get(LOCK)));
  const registry = world({ manifest, lock: () => ({ ...lock, integrity: {} }) });
  expect(registry.usable).toBe(true);
  expect(registry.agents.size).toBe(CLEAN.agents.size);
  expect(found(registry, 'agent')).toEqual([]);
  expect(registry.agents.get(A)).toMatchObject({ type: 'domain', version: '1.0.0', bytesMatch: true });
});

function emptied(section: Json | undefined): JsonObject {
  return Object.fromEntries(Object.keys(section as JsonObject).map((id) => [id, {}]));
}

test('a manifest that only lists names has no agents', () => {
  const registry = world({
    manifest: () => ({
      version: '1.1.0',
      governance_mode: 'strict',
      taxonomy: { domains: ['strategy', 'finance'], archetypes: ['founder'], total_prompts: 3 },
      security: { hash_algorithm: 'sha256' },
      compatibility: { lockfile_required: true },
    }),
  });
  expect(found(registry, 'fatal')).toEqual(['REGISTRY_NO_AGENTS']);
});

test.each<[string, (lock: JsonObject) => Json]>([
  ['SHA-256', (lock) => ({ ...lock, algorithm: 'SHA-256' })],
  ['sha256', (lock) => ({ ...lock, algorithm: 'sha256', lockfileVersion: 2 })],
  ['Sha-256', (lock) => ({ ...lock, algorithm: 'Sha-256' })],
  [
    'the members of a second version',
    (lock) => ({
      ...lock,
      ...{
        lockfileVersion: 2,
        algorithm: 'sha256',
        generated: '2026-01-01',
        description: 'all',
        governance_mode: 'strict',
      },
      ...{ enforcement_layers: ['build'], integrity: { total_prompts: 8, domains: 4, archetypes: 2, immutable: true } },
    }),
  ],
  ['a map of hashes', ({ prompts }) => ({ version: '1.0.0', hashes: hashes(prompts) })],
  ['entries of file and hash', ({ prompts }) => ({ version: '1.0.0', immutable: true, prompts: short(prompts) })],
])('reads a lock with %s', (_name, lock) => {
  const registry = world({ lock });
  expect(registry.diagnostics).toEqual([]);
  expect(registry.agents.get(A)).toMatchObject({ version: '1.0.0', bytesMatch: true });
});

function hashes(prompts: Json | undefined): JsonObject {
  const entries = Object.entries(prompts as Record<string, { hash: string }>);
  return Object.fromEntries(entries.map(([id, { hash }]) => [id, hash]));
}

function short(prompts: Json | undefined): JsonObject {
  const entries = Object.entries(prompts as Record<string, { file: string; hash: string }>);
  return Object.fromEntries(entries.map(([id, { file, hash }]) => [id, { file, hash }]));
}

test.each<[string, string | null, string | null, string, boolean]>([
  ['the file alone', 'prompt', null, 'prompt', true],
  ['the embedded text alone', null, 'prompt', 'prompt', true],
  ['both the same', 'prompt', 'prompt', 'prompt', true],
  ['embedded text of another hash', null, 'prompt', 'other', false],
  ['a file of another hash beside the embedded text', 'other', 'prompt', 'prompt', false],
  ['embedded text of another hash beside the file', 'prompt', 'other', 'prompt', false],
])('%s: file %j, embedded %j, locked %j', (_name, file, embedded, locked, matches) => {
  const change = { hash: hashOf(locked), ...(embedded !== null && { system_prompt: embedded }) };
  const registry = world({ lock: entry(A, change), files: { [`prompts/${A}.md`]: file } });
  expect(registry.agents.get(A)?.bytesMatch).toBe(matches);
});

test('embedded text does not make up for a path that leaves the registry', () => {
  const lock = entry(A, { hash: hashOf('prompt'), system_prompt: 'prompt' });
  expect(world({ agents: { [A]: { file: '../x.md' } }, lock }).agents.get(A)?.bytesMatch).toBe(false);
});

test.each<[string, Uint8Array]>([
  ['carriage returns', new TextEncoder().encode('one\r\ntwo\r\n')],
  ['a byte order mark', new Uint8Array([0xef, 0xbb, 0xbf, 0x61])],
  ['no final newline', new TextEncoder().encode('one')],
  ['bytes that are not UTF-8', new Uint8Array([0xff, 0x00, 0xfe])],
  ['nothing', new Uint8Array()],
])('a prompt with %s is pinned as it is', (_name, bytes) => {
  const registry = world({ lock: entry(A, { hash: sha256(bytes) }), files: { [`prompts/${A}.md`]: bytes } });
  expect(registry.agents.get(A)).toMatchObject({ bytesMatch: true, prompt: bytes });
});

test.each([
  ['one\r\ntwo\r\n', 'one\ntwo\n', 'CRLF'],
  ['one\ntwo\n', 'one\r\ntwo\r\n', 'LF'],
])('%j checked out as %j: the message names %s line ends', (locked, stored, ends) => {
  const registry = world({ lock: entry(A, { hash: hashOf(locked) }), files: { [`prompts/${A}.md`]: stored } });
  const fault = registry.diagnostics.find(({ code }) => code === 'PROMPT_BYTES_MISMATCH');
  expect(fault?.message).toContain(`with ${ends} line ends`);
});

test('a registry below a folder, and a reader that answers with something else', () => {
  const files = filesOf();
  const below = loadRegistry('.baton/', (path) => files.get(path.replace('.baton/', '')) ?? null, sha256);
  expect(below.usable).toBe(true);
  const broken = loadRegistry('', (() => 'text') as unknown as () => Uint8Array, sha256);
  expect(found(broken, 'fatal')).toEqual(['REGISTRY_MISSING', 'REGISTRY_MISSING']);
});

test('its normal form loads as the same registry', () => {
  const files = filesOf();
  files.set(MANIFEST, new TextEncoder().encode(JSON.stringify(CLEAN.manifest)));
  const { manifest_hash: _of_the_first_form, ...integrity } = CLEAN.lock.integrity as JsonObject;
  files.set(LOCK, new TextEncoder().encode(JSON.stringify({ ...CLEAN.lock, integrity })));
  const again = loadRegistry('', (path) => files.get(path) ?? null, sha256);
  expect(again.manifest).toEqual(CLEAN.manifest);
  expect(again.diagnostics).toEqual([]);
});
