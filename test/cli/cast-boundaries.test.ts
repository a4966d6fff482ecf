// What the registry says about a configuration is told before a cast of it starts, as `check` tells it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, json, project, put } from './baton.ts';

const MANIFEST = '.baton/versions/prompt-manifest.json';
const EDGE =
  'warning BOUNDARY_REFUSED loadouts.Main.sockets.Socket-1.edges[0]: Socket-1 hands to Socket-2, which can never pass';

const agent = (identity: string, prompt: string) => ({ tools: 'none', identity, prompt });
const config = (prompt = 'Do it.') => ({
  materia: { A: agent('plan', prompt), B: agent('build', 'Build it.') },
  loadouts: {
    Main: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'A', parse: 'text', edges: [{ when: 'always', to: 'Socket-2' }] },
        'Socket-2': { materia: 'B', parse: 'text' },
      },
    },
  },
});
const manifest = (...partners: string[]) => ({
  version: '1.0.0',
  domains: { plan: { collaboration: { allow: partners.map((target) => ({ target })) } }, build: {} },
});
const AGENTS = { A: ['x', '$repeat'], B: ['y', '$repeat'] };
const casting = ['cast', '--agents', 'agents.json', 'x'];

function workspace(files: Readonly<Record<string, JsonObject>>): string {
  return project({ 'agents.json': AGENTS, ...files });
}

test.each([
  ['cast', casting],
  ['cast --json', [...casting, '--json']],
  ['cast --dry-run', [...casting, '--dry-run']],
  ['cast --dry-run --json', [...casting, '--dry-run', '--json']],
])('an edge that could never pass is told by `%s` before anything runs', async (_, args) => {
  const dir = workspace({ '.baton/config.json': config(), [MANIFEST]: manifest() });
  const { stdout, stderr } = await baton(dir, args);
  expect(stderr).toContain(EDGE);
  expect(stdout).not.toContain('BOUNDARY_REFUSED');
  put(dir, { [MANIFEST]: manifest('build') });
  expect((await baton(dir, args)).stderr).not.toContain('can never pass');
});

test.each([
  ['cast', casting],
  ['cast --dry-run', [...casting, '--dry-run']],
])('a slot in a pinned prompt is an error of the configuration: `%s` starts nothing', async (_, args) => {
  const dir = workspace({ '.baton/config.json': config('Do {{item.title}}.'), [MANIFEST]: manifest('build') });
  const checked = json<{ details: { issues: readonly JsonObject[] } }>(await baton(dir, ['check', '--json']));
  const refused = await baton(dir, [...args, '--json']);
  expect(refused.code).toBe(1);
  const { issues, ...failed } = json<{ issues: readonly JsonObject[] }>(refused);
  expect(failed).toMatchObject({ cast: null, status: 'failed', code: 'INVALID_MATERIA' });
  // An agent that cannot start is an error of `check`; a cast refuses it when its turn comes.
  const unleveled = (found: readonly JsonObject[]) => found.map(({ code, path, message }) => ({ code, path, message }));
  expect(unleveled(issues)).toEqual(unleveled(checked.details.issues));
  const told = await baton(dir, args);
  expect([told.code, told.stdout]).toEqual([1, '']);
  expect(told.stderr).toMatch(/^error INVALID_MATERIA materia\.A\.prompt: A pinned prompt goes out as it is/);
  expect(existsSync(join(dir, '.baton/state'))).toBe(false);
});

test.each([
  ['without a registry', {}, 'there is no registry'],
  [
    'with a manifest that no registry can be loaded from',
    { [MANIFEST]: { domains: { plan: {} } } },
    'the lock is missing',
  ],
])('%s neither is asked', async (_, files, told) => {
  const dir = workspace({ '.baton/config.json': config('Do {{request}}.'), ...files });
  const { code, stderr } = await baton(dir, [...casting, '--dry-run']);
  const asked = ['INVALID_MATERIA', 'can never pass'].filter((word) => stderr.includes(word));
  expect([code, asked]).toEqual([told === 'there is no registry' ? 1 : 0, []]);
  expect(stderr).toContain(told);
});
