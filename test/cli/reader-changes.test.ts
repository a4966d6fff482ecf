// What a program changes is noted whatever its tools are. An agent that may change nothing is refused for it in a worktree; in the
// directory itself, where it may have been anybody, it is only told.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { BATON, baton, flow, json, put, read } from './baton.ts';
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
  // What the next program obeys is nobody's without its name, and ignoring it hides nothing; there is no second attempt under it.
  const orders = 'mkdir -p .claude; echo "{}" > .claude/settings.local.json; exit 1';
  writeFileSync(join(dir, '.git/info/exclude'), '.claude\n');
  const ruled = await run(dir, row({ W, M: sh(orders, { tools: 'coding' }) }, ['M', 'W']));
  expect([ruled.status, ruled.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
  expect(ruled.reason).toContain('changed ".claude/settings.local.json", by which agent programs take orders');
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

type Told = { path: string; status: string; remark?: string };

/** What `diff` lists: what the cast left, and what changed beside it. */
async function listed(dir: string): Promise<[string[], string[]]> {
  const { files, beside } = json<{ files: Told[]; beside: Told[] }>(await baton(dir, ['diff', '--json']));
  const lines = (told: Told[]) =>
    told.map(({ path, status, remark }) => [status, path, ...(remark ? [remark] : [])].join(' '));
  return [lines(files), lines(beside)];
}

test.each<[string, JsonObject, string]>([
  ['tools that only read', sh(EVIL, { tools: 'readOnly' }), ', which may change nothing'],
  ['no tools', sh(EVIL, { tools: 'none' }), ', which may change nothing'],
  ['an empty scope', sh(EVIL, { tools: 'none', lockScope: [] }), ', which may change nothing'],
  ['a utility', tool(EVIL), ''],
])('in place, with %s, what changes is told, held against nobody and left alone', async (_what, M, may) => {
  const dir = repository();
  put(dir, { 'cast.json': flow({ M }, { 'Socket-1': { materia: 'M' } }) });
  const cast = await baton(dir, ['cast', '--file', 'cast.json', 'hi']);
  const remark = `changed while M ran${may}; who changed it is not known`;
  expect([cast.code, worktreesOf(dir)]).toEqual([0, []]);
  expect(cast.stderr.match(/is not known/g)).toHaveLength(1);
  expect(cast.stderr).toContain(`! a.txt (and 1 more) ${remark}`);
  expect(await touched(dir, 'turn.accepted')).toEqual([['a.txt', 'e']]);
  for (const command of ['show', 'log']) {
    expect((await baton(dir, [command])).stdout).toContain(`a.txt (and 1 more) ${remark}`);
  }
  expect((await baton(dir, ['show', '--turn', '1'])).stdout).toContain(remark);
  expect(await listed(dir)).toEqual([[], [`modified a.txt ${remark}`, `added e ${remark}`]]);
  expect((await baton(dir, ['diff', '--stat'])).stdout).toContain(`added     e  (${remark})`);
  expect((await baton(dir, ['diff'])).stderr).toContain(`e ${remark}`);
  const undo = await baton(dir, ['undo', '--yes', '--json']);
  expect(json(undo).details).toMatchObject({ restored: [], removed: [], left: ['a.txt', 'e'] });
  expect(undo.stderr).toContain(`stays  e: ${remark}`);
  expect([read(dir, 'a.txt'), read(dir, 'e')]).toEqual(['one\nb\n', 'evil\n']);
});

test('in place a person may write, and Baton may be sent to a file, while a reader and a utility run', async () => {
  const dir = repository();
  const until = (file: string) => `while [ ! -s ${file} ]; do sleep 0.05; done; echo k`;
  const materia = { R: sh(until('note.txt'), { tools: 'none' }), U: tool(until('note.txt')) };
  put(dir, { 'cast.json': row(materia, ['R', 'U']) });
  const program = ['sh', '-c', 'exec "$0" "$@" > baton.log 2>&1', BATON];
  const running = baton(dir, ['cast', '--file', 'cast.json', 'hi'], { program });
  setTimeout(() => put(dir, { 'note.txt': 'mine\n', 'a.txt': 'mine too\n' }), 1_500);
  expect((await running).code).toBe(0);
  expect((await baton(dir, ['undo', '--yes'])).code).toBe(0);
  expect([read(dir, 'note.txt'), read(dir, 'a.txt')]).toEqual(['mine\n', 'mine too\n']);
  expect(read(dir, 'baton.log')).toContain('completed');
});

test('in place one who has paths is held to them, and undo takes back what is its own and nothing else', async () => {
  const dir = repository();
  const materia = { U: tool('echo u > u; echo k'), W: sh('echo w > w; echo w >> u; echo k', { tools: 'coding' }) };
  const view = await run(dir, row(materia, ['U', 'W']), '--in-place');
  expect([view.status, await listed(dir)]).toEqual(['completed', [['modified u', 'added w'], []]]);
  // It goes back to what the other one found when it began: that may have been a person's.
  const { details } = json(await baton(dir, ['undo', '--yes', '--json']));
  expect(details).toMatchObject({ removed: ['w'], restored: ['u'], left: [] });
  expect([existsSync(join(dir, 'w')), read(dir, 'u')]).toEqual([false, 'u\n']);
  const bound = { M: sh(EVIL, { tools: 'coding', lockScope: ['docs'] }) };
  const stray = await run(dir, flow(bound, { 'Socket-1': { materia: 'M' } }), '--in-place');
  expect([stray.status, stray.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
});

test('what changed beside a turn and is gone again is nothing to tell', async () => {
  const dir = repository();
  const view = await run(
    dir,
    flow({ M: sh('echo x > e; rm e; echo k', { tools: 'none' }) }, { 'Socket-1': { materia: 'M' } }),
  );
  expect([view.status, await listed(dir)]).toEqual(['completed', [[], []]]);
  expect(json(await baton(dir, ['undo', '--yes', '--json'])).details).toMatchObject({ removed: [], left: [] });
});

test.each([
  ['before it runs', (dir: string) => put(dir, { '.git/index': 'no index' }), 'echo k'],
  ['after it ran', () => undefined, 'mv .git gone; echo k'],
])('where nobody can tell what changed, %s, only who is held to it cannot go on', async (_when, spoil, line) => {
  const cast = async (M: JsonObject) => {
    const dir = repository();
    const config = row({ M, N: { ...M, command: ['sh', '-c', 'echo k'] } }, ['M', 'N']);
    put(dir, { 'cast.json': config });
    spoil(dir);
    const ended = await baton(dir, ['cast', '--file', 'cast.json', '--in-place', '--json', 'hi']);
    return { view: json<CastView>(ended), err: ended.stderr };
  };
  const free = await cast(tool(line));
  expect(free.view.status).toBe('completed');
  expect(free.err.match(/what changes is not noted/g)).toHaveLength(1);
  const held = await cast(sh(line, { tools: 'coding' }));
  expect([held.view.status, held.view.code]).toEqual(['failed', 'MISSING_VALIDATOR']);
  expect(held.view.reason).toContain('the changes of Socket-1 cannot be inspected');
});
