import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CODES, type Code } from '../kernel/codes.ts';
import { allow, deny } from '../kernel/verdict.ts';
import { EXIT_CODE, exitOf, nameFor } from './command.ts';

test('every code of the table has its exit', () => {
  expect(exitOf(allow())).toBe(EXIT_CODE.ok);
  const wrong = (Object.keys(CODES) as Code[]).filter((code) => exitOf(deny(code, 'x')) === EXIT_CODE.usage);
  expect(wrong).toEqual(['BAD_USAGE']);
  expect(new Set((Object.keys(CODES) as Code[]).map((code) => exitOf(deny(code, 'x'))))).toEqual(
    new Set([EXIT_CODE.denied, EXIT_CODE.usage]),
  );
});

test('no command makes up an exit for a verdict of its own', () => {
  const folder = fileURLToPath(new URL('./', import.meta.url));
  const files = globSync('**/*.ts', { cwd: folder }).filter((name) => !name.endsWith('.test.ts'));
  const odd = files.filter((name) => /allow \? EXIT\.ok : EXIT\./.test(readFileSync(`${folder}${name}`, 'utf8')));
  expect(odd).toEqual([]);
});

let root = '';
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-name-')));
  for (const home of [
    'checkout',
    'my checkout',
    'project/node_modules/baton-run',
    'global/lib/node_modules/baton-run',
  ]) {
    mkdirSync(join(root, home, 'bin'), { recursive: true });
    writeFileSync(join(root, home, 'bin', 'baton'), '');
  }
  for (const folder of ['global/bin', 'project/node_modules/.bin', 'other']) mkdirSync(join(root, folder));
  symlinkSync('../lib/node_modules/baton-run/bin/baton', join(root, 'global/bin/baton'));
  symlinkSync('../baton-run/bin/baton', join(root, 'project/node_modules/.bin/baton'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const npx = { npm_lifecycle_event: 'npx', npm_lifecycle_script: 'baton' };
const npmRun = { npm_lifecycle_event: 'demo', npm_lifecycle_script: 'bin/baton demo' };

test.each([
  ['a checkout, from its root', 'checkout', 'checkout', {}, 'bin/baton'],
  ['a checkout, by an npm script', 'checkout', 'checkout', npmRun, 'bin/baton'],
  ['a checkout, from its own folder', 'checkout', 'checkout/bin', {}, './baton'],
  ['a checkout, from elsewhere', 'checkout', 'other', {}, 'ROOT/checkout/bin/baton'],
  ['a checkout with a blank in its name', 'my checkout', 'other', {}, "'ROOT/my checkout/bin/baton'"],
  ['installed in the project', 'project/node_modules/baton-run', 'project', {}, 'npx baton'],
  ['installed in the project, by npx', 'project/node_modules/baton-run', 'project', npx, 'npx baton'],
  [
    'installed in the project, by an npm script, which lends its PATH',
    'project/node_modules/baton-run',
    'project',
    { ...npmRun, PATH: 'ROOT/project/node_modules/.bin' },
    'npx baton',
  ],
  ['fetched by npx', 'global/lib/node_modules/baton-run', 'other', npx, 'npx baton-run'],
  ['on the PATH', 'global/lib/node_modules/baton-run', 'other', { PATH: '/usr/bin:ROOT/global/bin' }, 'baton'],
  ['another one on the PATH', 'checkout', 'checkout', { PATH: 'ROOT/global/bin' }, 'bin/baton'],
  [
    'below another program that npx runs',
    'checkout',
    'checkout',
    { ...npx, npm_lifecycle_script: 'vitest' },
    'bin/baton',
  ],
])('%s', (_where, packageDir, cwd, env, name) => {
  const filled = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, value.replaceAll('ROOT', root)]));
  const caller = { packageDir: join(root, packageDir), cwd: join(root, cwd), env: filled };
  expect(nameFor(caller)).toBe(name.replaceAll('ROOT', root));
});
