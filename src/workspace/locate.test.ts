import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { locate } from './locate.ts';

let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-locate-')));
  for (const project of ['one', 'two']) mkdirSync(join(dir, project, '.baton', 'state'), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test.each([
  ['without a home the state lies in the project', '', 'one', /^one\/\.baton\/state$/],
  ['a home has a folder for each workspace', 'home', 'one', /^home\/one-[0-9a-f]{8}$/],
  ['the state folder of a workspace is its home', 'one/.baton/state', 'one', /^one\/\.baton\/state$/],
  [
    'and for another workspace a home like any other',
    'one/.baton/state',
    'two',
    /^one\/\.baton\/state\/two-[0-9a-f]{8}$/,
  ],
])('%s', (_rule, home, project, stateDir) => {
  const env = home === '' ? {} : { BATON_HOME: join(dir, home) };
  expect(locate(undefined, env, join(dir, project))?.stateDir.slice(dir.length + 1)).toMatch(stateDir);
});
