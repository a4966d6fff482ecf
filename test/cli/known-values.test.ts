// What programs print of our environment: nothing that looks like a credential is stored or handed on, whoever prints it.
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import { baton, flow, json, project, put, start as startBaton, untilWritten } from './baton.ts';
import { ask, create, result, start } from './ledger-story.ts';
import { coder, repository, row } from './repository.ts';

// By its name, by its form, and one that is plain text.
const env = { MY_TOKEN: 'hunter2hunter2', FOO: 'zq8Kd02mXn4vTr7pLs1W', PLAIN: 'plain-text' };
const PRINT = 'echo "$MY_TOKEN $FOO $PLAIN"';
const SECRETS = [env.MY_TOKEN, env.FOO];

/** The files below the folder that hold one of the secrets. */
function leaksIn(dir: string): readonly string[] {
  const files = globSync(join(dir, '**'), { exclude: (name) => name === 'node_modules' });
  const hidden = globSync(join(dir, '.baton/state/**'));
  return [...files, ...hidden].filter((file) => {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
    const bytes = readFileSync(file, 'latin1');
    return SECRETS.some((secret) => bytes.includes(secret));
  });
}

const shell = (line: string, more: object = {}) => ({ type: 'utility', command: ['sh', '-c', line], ...more });

test('what a utility prints is stored without the secrets of its environment', async () => {
  const config = flow(
    { Print: shell(PRINT), Json: shell(`printf '{"context":"%s"}' "$MY_TOKEN"`), Fail: shell(`${PRINT} >&2; exit 3`) },
    {
      'Socket-1': {
        materia: 'Print',
        parse: 'text',
        assign: { said: '$' },
        edges: [{ when: 'always', to: 'Socket-2' }],
      },
      'Socket-2': { materia: 'Json', parse: 'json', edges: [{ when: 'always', to: 'Socket-3' }] },
      'Socket-3': { materia: 'Fail', parse: 'text' },
    },
  );
  const dir = project({ 'c.json': config });
  const ran = await baton(dir, ['cast', '--file', 'c.json', '--json', '--turns', 'x'], { env });
  const view = json<CastView>(ran);
  expect(view.turns?.slice(0, 2).map(({ output }) => output)).toEqual([
    '[secret:env] [secret:env] plain-text\n',
    '{"context":"[secret:env]"}',
  ]);
  expect([view.code, view.reason]).toEqual(['UTILITY_FAILED', expect.stringContaining('[secret:env] plain-text')]);
  const shown = await baton(dir, ['show', 'latest', '--json', '--turns'], { env });
  for (const text of [ran.stdout, ran.stderr, shown.stdout]) {
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  }
  expect(leaksIn(dir)).toEqual([]);
});

test('a utility that lists names gets those variables, the usual ones and no others', async () => {
  const config = flow(
    {
      Print: shell('echo "$MY_TOKEN|$PLAIN|$(test -n "$HOME" && echo home)|$(test -n "$BATON_CAST" && echo cast)"', {
        env: ['PLAIN'],
      }),
    },
    { 'Socket-1': { materia: 'Print', parse: 'text' } },
  );
  const dir = project({ 'c.json': config });
  const ran = await baton(dir, ['cast', '--file', 'c.json', '--json', '--turns', 'x'], { env });
  expect(json<CastView>(ran).turns?.[0]?.output).toBe('|plain-text|home|cast\n');
  put(dir, { 'bad.json': flow({ Print: shell('x', { env: ['A=1'] }) }, { 'Socket-1': { materia: 'Print' } }) });
  const checked = await baton(dir, ['check', 'bad.json', '--json']);
  expect(json(checked)).toMatchObject({
    code: 'INVALID_MATERIA',
    details: { issues: [{ path: 'materia.Print.env' }] },
  });
});

test('a secret that the end of an error cuts in two is hidden whole', async () => {
  // Of what a utility said last, 800 characters are told.
  const line = 'printf %s "$MY_TOKEN" >&2; head -c 790 /dev/zero | tr "\\0" z >&2; exit 3';
  const dir = project({ 'c.json': flow({ Fail: shell(line) }, { 'Socket-1': { materia: 'Fail', parse: 'text' } }) });
  const ran = await baton(dir, ['cast', '--file', 'c.json', '--json', 'x'], { env });
  expect(json<CastView>(ran).reason).toContain('zzz');
  for (const text of [ran.stdout, ran.stderr]) expect(text).not.toContain(env.MY_TOKEN.slice(-10));
  const checked = project({
    '.baton/config.json': {
      ...{ materia: {}, loadouts: {} },
      checkers: {
        t: { command: ['sh', '-c', 'echo; printf %s "$MY_TOKEN"; head -c 8182 /dev/zero | tr "\\0" z; exit 1'] },
      },
    },
  });
  await create(checked, 'T-1', { x_checkers: { 'It works': 't' } });
  const fence = await start(checked, 'T-1');
  const input = JSON.stringify(result('T-1'));
  const refused = await ask(checked, ['task', 'finish', '-', '--fence', String(fence)], { input, env });
  expect([refused.code, JSON.stringify(refused)]).toEqual(['ACCEPTANCE_FAILED', expect.stringContaining('zzz')]);
  expect(JSON.stringify(refused)).not.toContain(env.MY_TOKEN.slice(-10));
});

test('a utility that another process takes over prints nothing of the environment it was started in', async () => {
  const wait = 'echo up > up; while [ ! -e go ]; do sleep 0.05; done; ';
  const dir = project({
    'c.json': flow({ Print: shell(`${wait}${PRINT}`) }, { 'Socket-1': { materia: 'Print', parse: 'text' } }),
  });
  const first = startBaton(dir, ['cast', '--file', 'c.json', 'x'], { env });
  await untilWritten(dir, 'up');
  first.child.kill('SIGKILL');
  await first.ended;
  put(dir, { go: '' });
  const resumed = await baton(dir, ['resume', '--json', '--turns']);
  expect(json<CastView>(resumed).turns?.[0]?.output).toBe('[secret:env] [secret:env] plain-text\n');
  expect(leaksIn(dir)).toEqual([]);
});

test('what a checker and a set-up step print is stored without them', async () => {
  const dir = project({
    '.baton/config.json': {
      materia: {},
      loadouts: {},
      checkers: { t: { command: ['sh', '-c', `${PRINT}; exit 1`] } },
    },
  });
  await create(dir, 'T-1', { x_checkers: { 'It works': 't' } });
  const fence = await start(dir, 'T-1');
  const input = JSON.stringify(result('T-1'));
  const refused = await ask(dir, ['task', 'finish', '-', '--fence', String(fence)], { input, env });
  expect([refused.code, JSON.stringify(refused)]).toEqual([
    'ACCEPTANCE_FAILED',
    expect.stringContaining('[secret:env] [secret:env] plain-text'),
  ]);
  expect(leaksIn(dir)).toEqual([]);
  const repo = repository();
  const config = { ...row({ Build: coder }, ['Build']), worktree: { setup: [['sh', '-c', `${PRINT}; exit 7`]] } };
  put(repo, { 'c.json': config, 'a.json': { Build: ['x'] } });
  const ran = await baton(repo, ['cast', '--file', 'c.json', '--agents', 'a.json', '--json', 'x'], { env });
  expect(json<CastView>(ran)).toMatchObject({
    status: 'paused',
    reason: expect.stringContaining('[secret:env] [secret:env] plain-text'),
  });
  expect([ran.stderr.includes(env.MY_TOKEN), leaksIn(repo)]).toEqual([false, []]);
});
