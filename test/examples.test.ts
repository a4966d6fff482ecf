// What ships as an example is checked and cast, so that it cannot go stale.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { check } from '../src/kernel/graph/check.ts';
import { BUNDLED } from '../src/workspace/find-config.ts';
import { loadConfig } from '../src/workspace/load-config.ts';
import { play } from './play.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const loadout = join(root, 'examples', 'graph-semantics-loadout.json');
const dir = mkdtempSync(join(tmpdir(), 'baton-example-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('the graph-semantics loadout has no issue, even strictly', () => {
  expect(check(JSON.parse(readFileSync(loadout, 'utf8')), { strict: true })).toEqual([]);
});

test('the graph-semantics loadout is cast: loop, rework, exit', () => {
  const agents = join(root, 'examples', 'graph-semantics-agents.json');
  const args = ['-C', dir, 'cast', '--json', '--file', loadout, '--agents', agents, 'Bring the docs up to date'];
  const cast = JSON.parse(
    execFileSync(join(root, 'bin', 'baton'), args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  expect(cast.status).toBe('completed');
  expect(cast.path.map(({ socket, item }: { socket: string; item: string | null }) => [socket, item])).toEqual([
    ['Socket-1', null],
    ['Socket-2', null],
    ['Socket-3', null],
    ['Socket-4', 'WI-1'],
    ['Socket-5', 'WI-1'],
    ['Socket-6', 'WI-1'],
    ['Socket-4', 'WI-2'],
    ['Socket-5', 'WI-2'],
    ['Socket-4', 'WI-2'],
    ['Socket-5', 'WI-2'],
    ['Socket-6', 'WI-2'],
    ['Socket-7', null],
  ]);
  expect(cast.data.vcs.kind).toBe('none');
  expect(readFileSync(join(dir, '.gitignore'), 'utf8')).toContain('.baton/state/');
  const shown = execFileSync(join(root, 'bin', 'baton'), ['-C', dir, 'show', 'latest'], { encoding: 'utf8' });
  expect(shown).toMatch(/^8 +Auto-Eval · Drop the stale branch syntax +not satisfied/m);
  // The ignore file was changed by a utility that is known to do so.
  expect(shown).not.toContain('who changed it is not known');
});

const PICTURE = {
  'Socket-4': [['always', 'Socket-5']],
  'Socket-5': [
    ['satisfied', 'Socket-6'],
    ['not_satisfied', 'Socket-4'],
  ],
  'Socket-6': [['always', 'Socket-4']],
};

test('the default loadout has the edges of the picture and no others', () => {
  const { loadouts, activeLoadout } = JSON.parse(readFileSync(BUNDLED, 'utf8'));
  const { sockets, loops } = loadouts[activeLoadout];
  const edges = (id: string) => sockets[id].edges.map(({ when, to }: { when: string; to: string }) => [when, to]);
  expect(Object.fromEntries(Object.keys(PICTURE).map((id) => [id, edges(id)]))).toEqual(PICTURE);
  expect(loops.workItemIteration.sockets).toEqual(Object.keys(PICTURE));
  const { materia, parse, advance } = sockets['Socket-6'];
  expect([materia, parse, advance.when]).toEqual(['Maintain', 'json', 'satisfied']);
});

test('a maintainer of the default loadout that is never satisfied leads back to the builder, within bounds', () => {
  const item = { title: 'One', context: 'Do it.' };
  const agents = {
    'Ignore-Artifacts': [{}],
    'Detect-VCS': [{ state: { vcs: { kind: 'none' } } }],
    'Auto-Plan': [{ workItems: [item] }],
    Build: ['built', '$repeat'],
    'Auto-Eval': [{ satisfied: true }, '$repeat'],
    Maintain: [{ satisfied: false, context: 'no commit' }, '$repeat'],
  };
  const cast = play({ config: loadConfig(BUNDLED).config as never, agents });
  expect([cast.cast.status, cast.cast.code]).toEqual(['failed', 'NO_PROGRESS']);
  const built = cast.path.filter((step) => step.startsWith('Socket-4'));
  expect([built.length > 1, new Set(built)]).toEqual([true, new Set(['Socket-4 WI-1'])]);
});
