// The first hour of a new user, timed, on an empty home folder: `npm run first-hour`. It clones this checkout, installs what is
// packed into a prefix of its own, and lets a real agent program work for a model on loopback. The programs are installed by
// `npm install --no-save --prefix test/agents/cli`. It prints the table of docs/first-hour.md, and ends with 1 at the first step that fails.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertInstalled } from '../test/agents/contenders.ts';
import { PROJECT, programEnv, STORIES, storyModel } from '../test/agents/template-runs.ts';

const CHECKOUT = fileURLToPath(new URL('..', import.meta.url));
const REQUEST = STORIES.bugfix?.request ?? '';

assertInstalled();
const top = realpathSync(mkdtempSync(join(tmpdir(), 'baton-first-hour-')));
const [clone, prefix, project, home] = ['baton', 'prefix', 'stats', 'home'].map((name) => join(top, name)) as [
  ...[string, string, string, string],
];
const model = await storyModel('bugfix');
const own = programEnv(model.url);
const who = { NAME: 'You', EMAIL: 'you@example.com' };
// How the machine reaches the registry of packages stays as it is.
const env = {
  ...process.env,
  npm_config_userconfig: join(homedir(), '.npmrc'),
  ...own,
  PATH: [join(prefix, 'bin'), dirname(process.execPath), own.PATH].join(':'),
  HOME: home,
  npm_config_loglevel: 'error',
  ...Object.fromEntries(
    Object.entries(who).flatMap(([key, value]) => [
      [`GIT_AUTHOR_${key}`, value],
      [`GIT_COMMITTER_${key}`, value],
    ]),
  ),
};

type Step = readonly [shown: string, cwd: string, command: readonly [string, ...string[]]];

const STEPS: readonly Step[] = [
  ['git clone … && cd baton', top, ['git', 'clone', '-q', CHECKOUT, clone]],
  ['npm install', clone, ['npm', 'install']],
  ['npm run demo', clone, ['npm', 'run', 'demo']],
  ['npm pack', clone, ['npm', 'pack', '--pack-destination', top]],
  ['npm i -g baton-run', top, ['sh', '-c', `npm i -g --prefix ${prefix} ${top}/baton-run-*.tgz`]],
  ['baton init --template bugfix', project, ['baton', 'init', '--template', 'bugfix']],
  ['baton doctor', project, ['baton', 'doctor']],
  ['baton check', project, ['baton', 'check']],
  [`baton cast "${REQUEST}"`, project, ['baton', 'cast', REQUEST]],
  ['baton diff latest', project, ['baton', 'diff', 'latest']],
  ['baton merge latest', project, ['baton', 'merge', 'latest']],
  ['npm test', project, ['npm', 'test']],
];

function run([program, ...args]: Step[2], cwd: string): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, text }));
  });
}

try {
  for (const folder of [home, project]) mkdirSync(folder);
  for (const [name, text] of Object.entries(PROJECT)) writeFileSync(join(project, name), text);
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    ['commit', '-qm', 'A small project'],
  ])
    await run(['git', ...args], project);
  console.log('| step | took | last line |\n|---|---|---|');
  for (const [shown, cwd, command] of STEPS) {
    const begun = performance.now();
    const { code, text } = await run(command, cwd);
    const seconds = (performance.now() - begun) / 1_000;
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${text}`);
    const last = text.trimEnd().split('\n').at(-1)?.trim().replaceAll(top, '~').replaceAll('|', '\\|') ?? '';
    console.log(`| \`${shown}\` | ${seconds.toFixed(seconds < 10 ? 1 : 0)} s | ${last} |`);
  }
} finally {
  await model.close();
  rmSync(top, { recursive: true, force: true, maxRetries: 5 });
}
