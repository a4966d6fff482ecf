// What a short command loads before it answers. Most of its time goes into that, so what it does not need is not loaded.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { agent, baton, flow, importing, project, put } from './baton.ts';

const NOTED = 'loaded.txt';
const NOTING = `
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
process.on('exit', () => writeFileSync('${NOTED}', loaded.join('\\n')));
`;
const NOTING_CACHE = `
import { writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
process.on('exit', () => writeFileSync('${NOTED}', getCompileCacheDir() ?? ''));
`;
const config = flow(
  { A: { ...agent, identity: 'plan' } },
  { 'Socket-1': { materia: 'A', parse: 'text', edges: [{ when: 'always', to: 'end' }] } },
);

/** A workspace with a manifest in which a cast has ended. */
async function workspace(): Promise<string> {
  const before = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text' } });
  const dir = project({ '.baton/config.json': before, 'agents.json': { A: ['x'] }, 'noting.mjs': NOTING });
  expect((await baton(dir, ['cast', '--agents', 'agents.json', 'x'])).code).toBe(0);
  put(dir, {
    '.baton/config.json': config,
    '.baton/versions/prompt-manifest.json': { version: '1.0.0', domains: { plan: {} } },
  });
  return dir;
}

async function loadedBy(dir: string, args: readonly string[]): Promise<readonly string[]> {
  // The registry has no lock, which `check` reports.
  expect((await baton(dir, args, importing(join(dir, 'noting.mjs')))).code).toBe(args[0] === 'check' ? 1 : 0);
  return readFileSync(join(dir, NOTED), 'utf8').split('\n');
}

const DECIDING = /\/(?:engine\/decider|kernel\/decide|access\/who-acts)\.ts$|\/dialects\//;

test.each<[string, readonly string[], RegExp, RegExp]>([
  [
    'check',
    ['check'],
    /registry-boundaries\.ts$/,
    // It hashes the prompts that a registry pins.
    /node:sqlite|\/(?:ajv|canonicalize)\/|\/engine\/decider/,
  ],
  ['casts', ['casts'], /\/log\/sqlite\/log\.ts$/, DECIDING],
  ['status', ['status'], /\/app\/operations\/status\.ts$/, DECIDING],
  ['show', ['show', 'latest'], /\/kernel\/apply\.ts$/, DECIDING],
  ['log', ['log'], /\/log\/sqlite\/log\.ts$/, DECIDING],
  ['approvals', ['approvals'], /open-approvals\.ts$/, /\/approvals\/(?:seal-request|tier)\.ts$|\/hooks\//],
])('`baton %s` loads what it needs and no more', async (_, args, needed, needless) => {
  const loaded = await loadedBy(await workspace(), args);
  expect(loaded.filter((url) => needed.test(url))).toHaveLength(1);
  expect(loaded.filter((url) => needless.test(url))).toEqual([]);
});

test.each<[readonly string[], string]>([
  [['check'], 'check'],
  [['-C', '.', 'casts'], 'casts'],
  [['--directory', 'status', '--version'], 'none'],
  [['--version'], 'none'],
])('of %j the compiled code is kept for %s', async (args, folder) => {
  const dir = project({ 'noting.mjs': NOTING_CACHE });
  await baton(dir, args, importing(join(dir, 'noting.mjs')));
  expect(basename(dirname(readFileSync(join(dir, NOTED), 'utf8')))).toBe(folder);
});
