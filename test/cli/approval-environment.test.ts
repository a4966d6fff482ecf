// Which variables an approved command of an agent gets, and that none of an agent brings code into baton itself.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ApprovalView } from '../../src/kernel/approval/state.ts';
import { asBlock, reportOf } from '../reports.ts';
import { BATON, baton, flow, json, project, put, read } from './baton.ts';

/** Asks to show its environment; once it may, tries with another value and with another variable, then reports. */
const AGENT = `
import { readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
const brief = readFileSync(0, 'utf8');
const { asks, done } = JSON.parse(readFileSync('reports.json', 'utf8'));
const [id] = /P-[0-9a-f]{32}/.exec(brief) ?? [];
const say = (text) => console.log(text.replace('a0c0ffee', /exactly "(a[0-9a-f]+)"/.exec(brief)[1]));
if (!id) say(asks);
else {
  const exec = (env) => spawnSync('${BATON}', ['exec', '--approval', id, '--', 'env'], { env: { ...process.env, ...env }, encoding: 'utf8' });
  const changed = exec({ DEPLOY_ENV: 'green' });
  const ran = exec({ TAR_OPTIONS: '--to-command=evil', NODE_OPTIONS: '--import=./evil.mjs' });
  writeFileSync('seen.json', JSON.stringify({ changed: changed.stderr, ran: ran.stdout, code: ran.status }));
  say(done);
}
`;

test('a command gets the variables that its agent is handed by name, with the values they had', async () => {
  const dir = project();
  const wish = { operation: 'o', exact_content: 'env', scope: 's', rollback: 'none', verification: 'look' };
  const gaia = { materia: 'A', contract: 'gaia', parse: 'json', edges: [{ when: 'satisfied', to: 'end' }] };
  const runs = { runner: 'command', command: ['node', 'agent.mjs'], env: ['DEPLOY_ENV'] };
  const A = { prompt: 'Do it.', tools: 'none', lockScope: ['seen.json'], ...runs };
  put(dir, {
    ...{ 'agent.mjs': AGENT, 'cast.json': flow({ A }, { 'Socket-1': gaia }) },
    'evil.mjs': "import { writeFileSync } from 'node:fs'; writeFileSync('evil', '');",
    'reports.json': {
      asks: asBlock(reportOf('APPROVAL_REQUEST', { more: { approval_request: wish } })),
      done: asBlock(reportOf('COMPLETE')),
    },
  });
  const env = { DEPLOY_ENV: 'blue', TZ: 'UTC', SECRET_SAUCE: 'x' };
  const waiting = await baton(dir, ['cast', '--file', 'cast.json', '--in-place', '--json', 'do it'], { env });
  expect(json(waiting).code).toBe('APPROVAL_NEEDED');
  const [view] = json<readonly ApprovalView[]>(await baton(dir, ['approvals', '--json']));
  expect(view?.env).toEqual(['DEPLOY_ENV', 'HOME']);
  expect((await baton(dir, ['approvals'])).stdout).toMatch(/variables +DEPLOY_ENV \(another value here\), HOME/);
  expect((await baton(dir, ['approvals'], { env })).stdout).toMatch(/variables +DEPLOY_ENV, HOME\n/);
  await baton(dir, ['approve', view?.id ?? ''], { env });
  const seen = JSON.parse(read(dir, 'seen.json')) as { changed: string; ran: string; code: number };
  expect(seen.changed).toContain('ENVIRONMENT_CHANGED');
  expect(seen.changed).toContain('environment DEPLOY_ENV');
  const names = seen.ran
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0]);
  expect([seen.code, names.toSorted()]).toEqual([
    0,
    ['DEPLOY_ENV', 'HOME', 'LANG', 'PATH', 'TZ'].filter((name) => name !== 'LANG' || process.env.LANG !== undefined),
  ]);
  expect(seen.ran).toContain('DEPLOY_ENV=blue\n');
  expect(existsSync(join(dir, 'evil'))).toBe(false);
});

test('a person sees where an agent put programs in front of those of the system', async () => {
  const dir = project({ '.baton/config.json': { materia: {}, loadouts: {}, approvals: { hook: 'deny' } } });
  const wish = { operation: 'o', exact_content: 'touch made', scope: 's', rollback: 'none', verification: 'look' };
  const asks = async (PATH: string) =>
    baton(dir, ['approvals', 'request', '-'], { input: JSON.stringify(wish), env: { PATH } });
  await asks(`${dir}/bin:${process.env.PATH}`);
  expect((await baton(dir, ['approvals'])).stdout).toContain(`  programs in   ${dir}/bin (not in your search path)\n`);
  const [view] = json<readonly ApprovalView[]>(await baton(dir, ['approvals', '--json']));
  await baton(dir, ['reject', view?.id ?? '']);
  await asks(process.env.PATH ?? '');
  expect((await baton(dir, ['approvals'])).stdout).not.toContain('programs in');
});

test('variables of the caller bring no code into baton, and still reach a utility that it starts', async () => {
  const write = (name: string) => `import { writeFileSync } from 'node:fs'; writeFileSync('${name}', '');`;
  const dir = project({
    'evil.mjs': "import { appendFileSync } from 'node:fs'; appendFileSync('loaded', process.argv[1] + '\\n');",
    'tool.mjs': `${write('ran')} console.log('{}');`,
  });
  const env = { NODE_OPTIONS: `--import=${join(dir, 'evil.mjs')}` };
  expect((await baton(dir, ['--version'], { env })).code).toBe(0);
  expect(existsSync(join(dir, 'loaded'))).toBe(false);
  const tool = { type: 'utility', command: ['node', './tool.mjs'], parse: 'json' };
  put(dir, { 'cast.json': flow({ T: tool }, { 'Socket-1': { materia: 'T' } }) });
  const done = await baton(dir, ['cast', '--file', 'cast.json', '--in-place', '--json', 'x'], { env });
  expect(json(done).status).toBe('completed');
  expect(read(dir, 'loaded').trim().split('\n')).toEqual([expect.stringMatching(/tool\.mjs$/)]);
});
