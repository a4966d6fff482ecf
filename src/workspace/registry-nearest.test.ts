// `check` tells everything for which no agent of a workspace with a registry could be dispatched.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Fact } from '../kernel/fact.ts';
import { check } from '../kernel/graph/check.ts';
import { SqliteLog } from '../log/sqlite/log.ts';
import { BUNDLED } from './find-config.ts';
import { nearestBoundaries } from './registry-boundaries.ts';

const bundled = dirname(BUNDLED);
const prompt = readFileSync(join(bundled, 'prompts', 'build.md'), 'utf8');
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-nearest-'));
  mkdirSync(join(dir, 'state'));
  for (const folder of ['prompts', 'versions'])
    cpSync(join(bundled, folder), join(dir, '.baton', folder), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const at = (name: string) => join(dir, '.baton', name);
const MANIFEST = 'versions/prompt-manifest.json';
const LOCK = 'versions/prompt-lock.json';
const config = (materia: object) => ({
  materia: { Build: { tools: 'none', identity: 'domain-02-build', prompt, ...materia } },
  loadouts: { L: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Build', parse: 'text' } } } },
});

async function found(materia = {}): Promise<readonly string[]> {
  const given = config(materia);
  const boundaries = await nearestBoundaries({ dir, stateDir: join(dir, 'state') }, join(dir, '.baton'), given);
  return check(given, boundaries ? { boundaries } : {}).map(({ code, message }) => `${code} ${message}`);
}

test('where everything is in order there is nothing to tell', async () => {
  expect(await found()).toEqual([]);
});

test.each<[string, () => void, object, RegExp]>([
  ['a manifest that is no JSON', () => writeFileSync(at(MANIFEST), '{'), {}, /registry cannot be used, because .*JSON/],
  ['no lock', () => rmSync(at(LOCK)), {}, /registry cannot be used, because the lock is missing/],
  ['no manifest', () => rmSync(at(MANIFEST)), {}, /registry cannot be used, because the manifest is missing/],
  [
    'a manifest that was edited after it was locked',
    () => writeFileSync(at(MANIFEST), readFileSync(at(MANIFEST), 'utf8').replace('"scope": "', '"scope": "not ')),
    {},
    /registry cannot be used, because the manifest is not the one the lock was made for/,
  ],
  [
    'a prompt that is not the locked one',
    () => writeFileSync(at('prompts/build.md'), 'x'),
    {},
    /not the one that was locked/,
  ],
  [
    'a text of its own beside the identity',
    () => undefined,
    { prompt: 'Do it.' },
    /not the one that "domain-02-build" is pinned/,
  ],
  ['an agent without an identity', () => rmSync(at(LOCK)), { identity: undefined }, /registry cannot be used/],
])('%s', async (_, change, materia, told) => {
  change();
  const issues = await found(materia);
  expect(issues).toHaveLength(1);
  expect(issues[0]).toMatch(/^(BOUNDARY_REFUSED|PROMPT_BYTES_MISMATCH) No turn of it can start: /);
  expect(issues[0]).toMatch(told);
});

test.each(['deny', 'denies'])('a malformed %s of an agent is an error, used or not', async (member) => {
  const manifest = JSON.parse(readFileSync(at(MANIFEST), 'utf8'));
  for (const id of ['domain-01-plan', 'domain-02-build'])
    manifest.domains[id].collaboration = { ...manifest.domains[id].collaboration, [member]: 'domain-03-release' };
  writeFileSync(at(MANIFEST), JSON.stringify(manifest));
  const given = config({});
  const boundaries = await nearestBoundaries({ dir, stateDir: join(dir, 'state') }, join(dir, '.baton'), given);
  const errors = check(given, boundaries ? { boundaries } : {}).filter(({ level }) => level === 'error');
  expect(errors.map(({ code, path }) => `${code} ${path}`)).toEqual([
    'BOUNDARY_MALFORMED registry.domain-01-plan',
    'BOUNDARY_MALFORMED materia.Build.identity',
  ]);
});

test('a registry that was in force and is gone is missed', async () => {
  rmSync(at('versions'), { recursive: true });
  expect(await found()).toEqual([]);
  const log = new SqliteLog(join(dir, 'state', 'log.sqlite'));
  const registry = { digest: '', lock: '', version: '', agents: {} };
  await log.commit(0, {
    decide: () => [{ fact: { kind: 'registry.loaded', registry } satisfies Fact, by: 'test', at: 0 }],
  });
  await log.close();
  expect((await found()).join()).toContain('it was taken away');
});
