// What the agent of a turn asks for is sealed with the environment of that agent, or not at all.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sealForTurn } from './seal-request.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-seal-turn-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const VARIABLES = { PATH: '/usr/bin:/bin', HOME: '/h', LISTED: 'x', OTHER: 'y' };
let made = 0;

type Scene = { readonly config?: string; readonly isKeyOpen?: boolean };

/** A turn in a workspace of its own whose materia lets LISTED through, and whose agent asks to list a folder. */
function seal({ config, isKeyOpen = false }: Scene = {}) {
  made += 1;
  const dir = join(root, String(made));
  const keys = join(dir, 'keys');
  mkdirSync(join(dir, '.baton'), { recursive: true });
  mkdirSync(keys, { mode: 0o700 });
  if (isKeyOpen) chmodSync(keys, 0o755);
  if (config !== undefined) writeFileSync(join(dir, '.baton', 'config.json'), config);
  const asks = { request: { exact_content: 'ls -l' }, requester: 'a1', env: ['LISTED'] };
  const sealed = sealForTurn(asks, { dir, stateDir: dir }, dir, { ...VARIABLES, BATON_CONFIG: keys });
  return { sealed, dir };
}

test.each<[string, boolean, Scene]>([
  ['no policy of its own', true, {}],
  ['a policy', true, { config: '{"approvals":{"grantMinutes":5}}' }],
  ['a policy that cannot be understood', false, { config: '{' }],
  ['a key that others can read', false, { isKeyOpen: true }],
])('with %s (sealed: %s)', (_name, isSealed, scene) => {
  expect(seal(scene).sealed !== null).toBe(isSealed);
});

test('it is sealed for its agent, in its folder, under the policy of the workspace', () => {
  const { sealed, dir } = seal({ config: '{"approvals":{"grantMinutes":5}}' });
  expect(sealed).toMatchObject({ requester: 'a1', cwd: dir, path: '/usr/bin:/bin', grantMs: 300_000, refusal: null });
  expect(sealed?.commands.map(({ display }) => display)).toEqual(['ls -l']);
});

test('it is bound to the variables that the agent is given, and to no other', () => {
  const { sealed } = seal({ config: '{"approvals":{"env":["OTHER"]}}' });
  expect(sealed?.env).toEqual(['HOME', 'LISTED']);
  expect(sealed?.envMarks).toMatchObject({ OTHER: null });
});
