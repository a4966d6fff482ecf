// A cast works in a worktree outside the project. What it writes into the user's own checkout is noticed and refused; what a
// person does there in ordinary ways is not.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { BATON, baton, type How, json, put, read, start, until } from './baton.ts';
import { packet, RUN } from './ledger-story.ts';
import { git, repository, row, worktreesOf } from './repository.ts';

const sh = (line: string, more: JsonObject = {}): JsonObject => ({
  ...{ prompt: 'Do it.', tools: 'coding', runner: 'command', command: ['sh', '-c', line] },
  ...more,
});

async function run(dir: string, config: JsonObject, ...more: string[]): Promise<CastView> {
  put(dir, { 'cast.json': config });
  return json<CastView>(await baton(dir, ['cast', '--file', 'cast.json', '--json', '--turns', ...more, 'hi']));
}

const FILES = { 'src/x.js': 'x\n', 'src/y.js': 'y\n' };
const RELATIVE = `$(node -p 'require("path").relative(process.cwd(), process.argv[1])' `;

test('a worktree lies outside the project, and baton inside of it acts on the workspace', async () => {
  const dir = repository();
  const view = await run(dir, row({ W: sh('pwd > where.txt; echo k') }, ['W']));
  const [tree = ''] = worktreesOf(dir);
  expect([view.status, view.root, git(dir, 'show', `baton/${view.cast}:where.txt`)]).toEqual(['completed', tree, tree]);
  expect(relative(dir, tree).startsWith('../')).toBe(true);
  expect([existsSync(join(tree, 'a.txt')), existsSync(join(dir, '.baton/state/worktrees', view.cast))]).toEqual([
    true,
    false,
  ]);
  const [inside, below] = [await baton(tree, ['casts', '--json']), await baton(join(tree, '.git', '..'), ['show'])];
  expect([inside.stdout, below.stdout]).toEqual([
    (await baton(dir, ['casts', '--json'])).stdout,
    expect.stringContaining(view.cast ?? ''),
  ]);
  expect((await baton(tree, ['merge'])).code).toBe(0);
  expect([worktreesOf(dir), existsSync(tree), existsSync(dirname(tree))]).toEqual([[], false, false]);
});

test('an agent that changes the checkout of the user is refused, and the files are named', async () => {
  const dir = repository(FILES);
  put(dir, { 'src/y.js': 'half done\n' });
  const line = `echo w > w; echo z > ${RELATIVE}${dir})/src/x.js; echo z > ${dir}/src/y.js; echo k`;
  const view = await run(dir, row({ W: sh(line) }, ['W']));
  expect([view.status, view.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
  expect(view.reason).toContain(`"src/x.js" (and 1 more) changed in ${dir}`);
  const facts = json<JsonObject[]>(await baton(dir, ['log', '--json']));
  const refused = facts.filter(({ kind }) => kind === 'attempt.refused');
  const details = { outside: ['src/x.js', 'src/y.js'], checkout: dir };
  expect(refused).toMatchObject([
    { repair: true, verdict: { details } },
    { repair: false, verdict: { details } },
  ]);
  expect(git(dir, 'diff', '--name-only', `main..baton/${view.cast}`)).toBe('');
});

test('an agent that commits what it changed in the checkout of the user is refused too', async () => {
  const dir = repository(FILES);
  const commit = `git -C ${dir} -c user.name=x -c user.email=x@y commit -qam theirs`;
  const view = await run(dir, row({ W: sh(`echo w > w; echo z$$ > ${dir}/src/x.js; ${commit}; echo k`) }, ['W']));
  expect([view.status, view.code, git(dir, 'status', '--short', '-uno')]).toEqual(['failed', 'SCOPE_VIOLATION', '']);
  expect(view.reason).toContain(`"src/x.js" changed in ${dir}`);
});

test('a commit in the checkout of what was there before is not mentioned', async () => {
  const dir = repository(FILES);
  put(dir, { 'src/y.js': 'half done\n' });
  const commit = `git -C ${dir} -c user.name=x -c user.email=x@y commit -qam mine`;
  put(dir, { 'cast.json': row({ W: sh(`echo w > w; ${commit}; echo k`) }, ['W']) });
  const { code, stderr } = await baton(dir, ['cast', '--file', 'cast.json', 'hi']);
  expect([code, git(dir, 'log', '-1', '--format=%s')]).toEqual([0, 'mine']);
  expect(stderr).not.toContain(`in ${dir} while`);
  expect(stderr).not.toContain('last commit');
});

test('an agent that puts back what it changed is accepted', async () => {
  const dir = repository(FILES);
  const line = `if [ -e w ]; then echo x > ${dir}/src/x.js; else echo w > w; echo z > ${dir}/src/x.js; fi; echo k`;
  const view = await run(dir, row({ W: sh(line) }, ['W']));
  expect([view.status, git(dir, 'status', '--short')]).toEqual(['completed', '']);
});

test('where changes of the checkout are only reported, the turn is accepted', async () => {
  const dir = repository(FILES);
  const worktree = { mainCheckout: 'warn' };
  put(dir, { 'cast.json': row({ W: sh(`echo w > w; echo z > ${dir}/src/x.js; echo k`) }, ['W'], { worktree }) });
  const { code, stderr } = await baton(dir, ['cast', '--file', 'cast.json', 'hi']);
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining(`src/x.js changed in ${dir} while Socket-1 ran; who changed it is not known`),
  ]);
});

/** Redirects `baton` into a file, as a shell does. */
const into = (redirect: string): How => ({ program: ['sh', '-c', `exec "$0" "$@" ${redirect} 2>&1`, BATON] });

test.each<[what: string, agent: string, code: number]>([
  ['grows', ':', 0],
  ['is emptied by an agent', ': > OUT', 1],
  ['is overwritten by an agent', 'head -c 9999 /dev/zero > OUT', 1],
  ['is replaced by an agent', 'cp OUT OUT.new; mv OUT.new OUT', 1],
  ['becomes a program', 'chmod +x OUT', 1],
])('a file of the checkout that receives the output of the command %s', async (_what, agent, code) => {
  for (const more of [[], ['--in-place']]) {
    const dir = repository();
    const W = sh(`echo w > w; ${agent.replaceAll('OUT', `${dir}/out.txt`)}; echo k`, { lockScope: ['w'] });
    put(dir, { 'cast.json': row({ W }, ['W']) });
    const args = ['cast', '--file', 'cast.json', ...more, 'hi'];
    expect([more, (await baton(dir, args, into('> out.txt'))).code]).toEqual([more, code]);
    if (code === 1) expect((await baton(dir, ['why', 'latest'])).stdout).toContain('out.txt');
  }
});

test.each([[['cast']], [['cast', '--in-place']]])(
  'no output of a killed driver, of a later one or of another cast counts: %s',
  async (command) => {
    const dir = repository();
    const waiting = 'touch started.log; until [ -e go.log ] || [ -e ../go.log ]; do sleep 0.1; done';
    const W = sh(`echo w > w; ${waiting.replaceAll('../go', `${dir}/go`)}; echo k`, { lockScope: ['w'] });
    put(dir, { 'cast.json': row({ W }, ['W']), 'agents.json': { 'Socket-1': ['k'] } });
    const first = start(dir, [...command, '--file', 'cast.json', 'hi'], into('> one.txt'));
    const tree = () => (command.length > 1 ? dir : worktreesOf(dir)[0]);
    await until('the agent', () => tree() !== undefined && existsSync(join(tree() ?? '', 'started.log')));
    first.child.kill('SIGKILL');
    await first.ended;
    const second = start(dir, ['resume', 'latest'], into('> two.txt'));
    await until('the second driver', () => readdirSync(join(dir, '.baton/state/outputs')).length === 2);
    second.child.kill('SIGKILL');
    await second.ended;
    const other = ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'other'];
    if (command.length === 1) expect((await baton(dir, other, into('> three.txt'))).code).toBe(0);
    const cast =
      json<CastView[]>(await baton(dir, ['casts', '--json'])).find(({ request }) => request === 'hi')?.cast ?? '';
    const last = start(dir, ['resume', cast], into('> one.txt'));
    put(dir, { 'go.log': 'x' });
    expect([(await last.ended).code, read(dir, 'one.txt')]).toEqual([0, expect.stringContaining('completed')]);
  },
);

test.each<[what: string, path: string, more: readonly string[]]>([
  ['the checkout of the user', 'src/x.js', []],
  ['a file that programs obey', '.mcp.json', ['--in-place']],
  ['a file outside its paths', 'docs/x.md', ['--in-place']],
])('an agent does not excuse what it changes by a task that it claims itself: %s', async (_, path, more) => {
  const dir = repository({ ...FILES, '.baton/packet.json': packet('T-9', { lock_scope: [path] }) });
  const started = packet('T-8', { lock_scope: [path] });
  put(dir, { '.baton/other.json': started, 'deltas.json': [{ ...DELTA, delta_id: 'd-1' }] });
  for (const file of ['packet.json', 'other.json']) {
    expect((await baton(dir, ['task', 'create', `.baton/${file}`])).code).toBe(0);
  }
  const ledger = [
    ['task', 'claim', 'T-9', '--owner', 'bob'],
    ['task', 'next', '--owner', 'bob'],
    ['task', 'move', 'T-9', 'in_progress', '--owner', 'bob', '--reason', 'x'],
    ['task', 'apply', `${dir}/deltas.json`, '--run', RUN],
  ];
  const asks = ledger.map((words) => `${BATON} ${words.join(' ')} >> ${dir}/.baton/state/said`);
  const act = `mkdir -p ${dir}/docs; echo z > ${dir}/${path}`;
  const agent = sh([...asks, act, 'echo k'].join('; '), { lockScope: ['src/y.js'] });
  const view = await run(dir, row({ W: agent }, ['W']), ...more);
  expect([view.status, view.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
  expect(view.reason).toContain(path);
  const answers = read(dir, '.baton/state/said').trim().split('\n').slice(0, ledger.length);
  expect(answers.map((line) => [JSON.parse(line).allow, JSON.parse(line).code])).toEqual(
    ledger.map(() => [false, 'NOT_ALLOWED_NOW']),
  );
  const rows = json<JsonObject[]>(await baton(dir, ['task', 'list', '--json', '--run', RUN]));
  expect(rows.map(({ status }) => status)).toEqual(['todo', 'todo']);
});

const DELTA = { task_id: 'T-8', status: 'in_progress', owner: 'bob', reason: 'x' };

test.each([
  ['one that writes', 'coding', 'echo z > ../../top.txt'],
  [
    'one that adds a file and commits it',
    'coding',
    'echo z > ../new.txt; git add -A; git -c user.name=x -c user.email=x@x commit -qm m',
  ],
  ['one that only runs checks', 'readAndRun', 'echo z > ../../top.txt'],
])('below the top of a repository, an agent is held to the folder of the workspace: %s', async (_who, tools, line) => {
  const dir = repository({ 'top.txt': 'top\n', 'packages/one/x.txt': 'x\n' });
  const below = join(dir, 'packages/one');
  const W = { ...sh(`if [ -e seen.log ]; then cat ../../top.txt; else touch seen.log; ${line}; echo k; fi`), tools };
  put(below, { '.baton/.gitignore': 'state/\n', 'cast.json': row({ B: sh('echo b > b.txt; echo k'), W }, ['B', 'W']) });
  const view = json<CastView>(await baton(below, ['cast', '--file', 'cast.json', '--json', '--turns', 'hi']));
  expect(view.turns?.[1]?.verdict).toMatchObject({ code: 'SCOPE_VIOLATION' });
  // What an evaluator changed is put back, so that it can go on. One that writes has to take it back itself.
  expect([view.status, view.turns?.at(-1)?.output]).toEqual(
    tools === 'readAndRun' ? ['completed', 'top\n'] : ['failed', expect.anything()],
  );
  expect(git(dir, 'diff', '--name-only', `main..baton/${view.cast}`)).toBe('packages/one/b.txt');
});

test('below the top of a repository, an install may rewrite the lock file of the packages there', async () => {
  const dir = repository({ 'package-lock.json': '{}\n', 'packages/one/x.txt': 'x\n' });
  const below = join(dir, 'packages/one');
  const W = sh('echo y > y.txt; echo [] > ../../package-lock.json; echo k');
  put(below, { '.baton/.gitignore': 'state/\n', 'cast.json': row({ W }, ['W']) });
  const view = json<CastView>(await baton(below, ['cast', '--file', 'cast.json', '--json', 'hi']));
  expect(view.status).toBe('completed');
  const shown = await baton(below, ['diff', 'latest', '--stat']);
  expect(shown.stdout).toContain('package-lock.json');
  expect((await baton(below, ['merge', 'latest'])).code).toBe(0);
  expect([read(dir, 'package-lock.json'), read(below, 'y.txt')]).toEqual(['[]\n', 'y\n']);
});
