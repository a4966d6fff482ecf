// What a program changes is noted whatever its tools are; an agent that may change nothing is refused for it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/engine/view.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, flow, json, put, read } from './baton.ts';
import { git, repository, row, worktreesOf } from './repository.ts';

const sh = (line: string, more: JsonObject = {}): JsonObject => ({
  prompt: 'Say.',
  runner: 'command',
  command: ['sh', '-c', line],
  ...more,
});
const tool = (line: string, more: JsonObject = {}): JsonObject => ({
  type: 'utility',
  command: ['sh', '-c', line],
  parse: 'text',
  ...more,
});
const W = sh('echo w > w; echo k', { tools: 'coding' });
const EVIL = 'echo b >> a.txt; echo evil > e; echo k';

async function run(dir: string, config: JsonObject, ...more: string[]): Promise<CastView> {
  put(dir, { 'cast.json': config });
  return json<CastView>(await baton(dir, ['cast', '--file', 'cast.json', '--json', '--turns', ...more, 'hi']));
}

async function touched(dir: string, kind: string): Promise<string[][]> {
  const facts = json<JsonObject[]>(await baton(dir, ['log', '--json']));
  return facts.filter((fact) => fact.kind === kind).map((fact) => Object.keys(fact.touched ?? {}));
}

test.each<[string, JsonObject, string]>([
  ['tools that only read', sh(EVIL, { tools: 'readOnly' }), 'its tools are readOnly'],
  ['no tools', sh(EVIL, { tools: 'none' }), 'its tools are none'],
  ['an empty scope', sh(EVIL, { tools: 'coding', lockScope: [] }), 'its lockScope is empty'],
  [
    'commits of its own',
    sh(`${EVIL}; git add -A; git -c user.name=x -c user.email=x@y commit -qm x`, { tools: 'readOnly' }),
    'readOnly',
  ],
])('with %s, what an agent changes is refused, and neither committed nor merged', async (_what, M, why) => {
  const dir = repository();
  const view = await run(dir, row({ W, M }, ['W', 'M']));
  expect([view.status, view.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
  expect(view.reason).toContain('Socket-2 changed "a.txt"');
  expect(view.reason).toContain(why);
  expect(await touched(dir, 'turn.accepted')).toEqual([['w']]);
  expect(await touched(dir, 'attempt.refused')).toEqual([
    ['a.txt', 'e'],
    ['a.txt', 'e'],
  ]);
  expect(git(dir, 'diff', '--name-only', `main..baton/${view.cast}`)).toBe('w');
  expect((await baton(dir, ['merge', '--yes'])).code).toBe(0);
  expect([read(dir, 'a.txt'), existsSync(join(dir, 'e')), read(dir, 'w')]).toEqual(['one\n', false, 'w\n']);
});

test('an agent that takes its change back in the repair turn is accepted, and nothing of it is left', async () => {
  const dir = repository();
  const line = 'if [ -e e ]; then rm e; else echo evil > e; fi; echo k';
  const view = await run(dir, row({ W, M: sh(line, { tools: 'readOnly' }) }, ['W', 'M']));
  expect(view.status).toBe('completed');
  expect(git(dir, 'diff', '--name-only', `main..baton/${view.cast}`)).toBe('w');
  expect(await touched(dir, 'turn.accepted')).toEqual([['w'], []]);
});

test('what a utility changes is noted and committed; where its scope is written it is held to it', async () => {
  const dir = repository();
  const free = await run(dir, row({ W, U: tool('echo u > u; echo k') }, ['W', 'U']));
  expect(free.status).toBe('completed');
  expect(await touched(dir, 'turn.accepted')).toEqual([['w'], ['u']]);
  expect(git(dir, 'diff', '--name-only', `main..baton/${free.cast}`).split('\n')).toEqual(['u', 'w']);
  const bound = await run(dir, row({ W, U: tool('echo u > u; echo k', { lockScope: [] }) }, ['W', 'U']));
  expect([bound.status, bound.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
  expect(git(dir, 'diff', '--name-only', `main..baton/${bound.cast}`)).toBe('w');
});

test('in a loop an agent that only reads is not covered by the scope of those who write', async () => {
  const dir = repository();
  const P = tool(`echo '{"workItems":[{"title":"one","context":"c"}]}'`, { parse: 'json', generator: true });
  const advance = { cursor: 'i', items: 'state.workItems', when: 'always' };
  const config = (M: JsonObject) => ({
    materia: { P, W, M },
    loadouts: {
      L: {
        entry: 'Socket-1',
        sockets: {
          'Socket-1': { materia: 'P', edges: [{ when: 'always', to: 'Socket-2' }] },
          'Socket-2': { materia: 'W', edges: [{ when: 'always', to: 'Socket-3' }] },
          'Socket-3': { materia: 'M', advance, edges: [{ when: 'always', to: 'Socket-2' }] },
        },
        loops: { l: { sockets: ['Socket-2', 'Socket-3'], consumes: { from: 'Socket-1' } } },
      },
    },
  });
  const reader = await run(dir, config(sh(EVIL, { tools: 'readOnly' })));
  expect([reader.status, reader.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
  expect(git(dir, 'diff', '--name-only', `main..baton/${reader.cast}`)).toBe('w');
  const utility = await run(dir, config(tool('echo u > u; echo k')));
  expect(utility.status).toBe('completed');
  expect(git(dir, 'diff', '--name-only', `main..baton/${utility.cast}`).split('\n')).toEqual(['u', 'w']);
});

test('in place diff shows what a refused turn and a utility left, and undo takes it back', async () => {
  const dir = repository();
  const view = await run(dir, flow({ M: sh(EVIL, { tools: 'readOnly' }) }, { 'Socket-1': { materia: 'M' } }));
  expect([view.status, view.code, worktreesOf(dir)]).toEqual(['failed', 'SCOPE_VIOLATION', []]);
  expect(view.reason).toContain('If it was you: `baton recast`');
  const files = async () =>
    json<{ files: { path: string; status: string }[] }>(await baton(dir, ['diff', '--json'])).files;
  expect((await files()).map(({ path, status }) => `${status} ${path}`)).toEqual(['modified a.txt', 'added e']);
  expect(json(await baton(dir, ['undo', '--yes', '--json'])).details).toMatchObject({
    restored: ['a.txt'],
    removed: ['e'],
    left: [],
  });
  expect(git(dir, 'status', '--short')).toBe('');
  await run(dir, flow({ U: tool('echo u > u; echo k') }, { 'Socket-1': { materia: 'U' } }));
  expect((await files()).map(({ path, status }) => `${status} ${path}`)).toEqual(['added u']);
  await baton(dir, ['undo', '--yes']);
  expect(git(dir, 'status', '--short')).toBe('');
});

test('what a refused attempt took back itself is nothing to undo', async () => {
  const dir = repository();
  const line = 'if [ -e e ]; then rm e; else echo evil > e; fi; echo k';
  const view = await run(dir, flow({ M: sh(line, { tools: 'readOnly' }) }, { 'Socket-1': { materia: 'M' } }));
  expect(view.status).toBe('completed');
  expect(json(await baton(dir, ['diff', '--json'])).files).toEqual([]);
  expect(json(await baton(dir, ['undo', '--yes', '--json'])).details).toMatchObject({ removed: [], left: [] });
});
