// `.ci/run` on machines that lack something: what it installs, what it leaves out, and when that is a failure.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from './sources.ts';

const NEEDED = ['bash', 'sh', 'dirname', 'env'];
const WHOLE = ['npm install', 'npm view', 'npm run check', 'npm test', 'npm run test:agents'];
const NO_REGISTRY = 'case "$1" in view) exit 1;; esac';

type Row = { there?: readonly string[]; user?: string; npm?: string; ci?: string; apt?: string };

test.each<[string, Row, { code: number; says: readonly string[]; calls: readonly string[] }]>([
  ['everything is there', { ci: 'true' }, { code: 0, says: [], calls: WHOLE }],
  ['another browser will do', { there: ['bwrap', 'google-chrome'] }, { code: 0, says: [], calls: WHOLE }],
  [
    'root with apt-get installs what is missing',
    {
      there: [],
      ci: 'true',
      apt: '[ "$1" = update ] || { : > "$BIN/bwrap"; : > "$BIN/chromium"; chmod +x "$BIN/bwrap" "$BIN/chromium"; }',
    },
    { code: 0, says: [], calls: ['npm install', 'apt-get update', 'apt-get install', ...WHOLE.slice(1)] },
  ],
  [
    'what cannot be installed is left out, and said',
    { there: [], user: '1000' },
    { code: 0, says: ['tests of the sandbox are left out', 'tests of the page are left out'], calls: WHOLE },
  ],
  [
    'on a build server that is a failure',
    { there: ['bwrap'], user: '1000', ci: 'true' },
    { code: 1, says: ['tests of the page are left out', 'this counts as a failure'], calls: ['npm install'] },
  ],
  [
    'without the registry the agents are left out',
    { npm: NO_REGISTRY },
    { code: 0, says: ['npm run test:agents is left out'], calls: WHOLE.slice(0, 4) },
  ],
  [
    'on a build server that is a failure, too',
    { npm: NO_REGISTRY, ci: 'true' },
    { code: 1, says: ['npm run test:agents is left out', 'this counts as a failure'], calls: WHOLE.slice(0, 2) },
  ],
])('%s', (_, { there = ['bwrap', 'chromium'], user = '0', npm = '', ci = '', apt = '' }, { code, says, calls }) => {
  const dir = mkdtempSync(join(tmpdir(), 'ci-run-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const bin = join(dir, 'bin');
  for (const folder of ['.ci', 'bin']) mkdirSync(join(dir, folder));
  cpSync(join(ROOT, '.ci/run'), join(dir, '.ci/run'));
  const program = (name: string, body: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  for (const name of NEEDED)
    symlinkSync(execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(), join(bin, name));
  for (const name of there) program(name, 'exit 0');
  program('id', `echo ${user}`);
  // The last words of a call differ from row to row; two tell it apart.
  const noted = (name: string) =>
    `case "$2" in test:agents|check) echo "${name} $1 $2";; *) echo "${name} $1";; esac >> "$CALLS"`;
  program('npm', `${noted('npm')}\n${npm}`);
  program('apt-get', `${noted('apt-get')}\n${apt}`);
  program('chmod', `exec /bin/chmod "$@"`);
  const env = { PATH: bin, CI: ci, BIN: bin, CALLS: join(dir, 'calls') };
  const ran = spawnSync('bash', [join(dir, '.ci/run')], { env, encoding: 'utf8' });
  const called = readFileSync(join(dir, 'calls'), 'utf8').trim().split('\n');
  expect([ran.status, [...new Set(called)]]).toEqual([code, calls]);
  for (const words of says) expect(ran.stdout).toContain(words);
  if (says.length === 0) expect(ran.stdout + ran.stderr).toBe('');
});
