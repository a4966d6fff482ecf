// The first hour of a new user, timed, on an empty home folder: `npm run first-hour`. It clones this checkout, offers what is packed in
// a registry on loopback, tries and installs it from there with an empty cache and a prefix of its own, and lets a real agent program
// work for a model on loopback. The programs are installed by
// `npm install --no-save --prefix test/agents/cli`. It prints the table of docs/first-hour.md, and ends with 1 at the first step that fails.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertInstalled } from '../test/agents/contenders.ts';
import { PROJECT, programEnv, STORIES, storyModel } from '../test/agents/template-runs.ts';

const CHECKOUT = fileURLToPath(new URL('..', import.meta.url));
const REQUEST = STORIES.bugfix?.request ?? '';

assertInstalled();
const top = realpathSync(mkdtempSync(join(tmpdir(), 'baton-first-hour-')));
const [clone, prefix, project, home, cache] = ['baton', 'prefix', 'stats', 'home', 'cache'].map((name) =>
  join(top, name),
) as [string, string, string, string, string];
const model = await storyModel('bugfix');
const packages = await registry();
const own = programEnv(model.url);
const who = { NAME: 'You', EMAIL: 'you@example.com' };
// How the machine reaches the registry of packages stays as it is.
const env = {
  ...process.env,
  npm_config_userconfig: join(homedir(), '.npmrc'),
  ...own,
  PATH: [join(prefix, 'bin'), dirname(process.execPath), own.PATH].join(':'),
  HOME: home,
  npm_config_cache: cache,
  npm_config_prefix: prefix,
  // A person at a terminal says yes to npx.
  npm_config_yes: 'true',
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
  ['npx baton-run demo', home, ['npx', 'baton-run', 'demo']],
  ['npm i -g baton-run', home, ['npm', 'i', '-g', 'baton-run']],
  ['baton init --template bugfix', project, ['baton', 'init', '--template', 'bugfix']],
  ['baton doctor', project, ['baton', 'doctor']],
  ['baton check', project, ['baton', 'check']],
  [`baton cast "${REQUEST}"`, project, ['baton', 'cast', REQUEST]],
  ['baton diff latest', project, ['baton', 'diff', 'latest']],
  ['baton merge latest', project, ['baton', 'merge', 'latest']],
  ['npm test', project, ['npm', 'test']],
];

/** Offers the packed package. Whatever else is asked for is asked of the registry that this machine uses. */
async function registry() {
  const others = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', cwd: homedir() }).trim();
  const server = createServer((request, response) => {
    const [file] = globSync('baton-run-*.tgz', { cwd: top });
    const path = request.url ?? '/';
    if (file === undefined || !path.startsWith('/baton-run')) {
      response.writeHead(302, { location: new URL(path.slice(1), others).href }).end();
      return;
    }
    const bytes = readFileSync(join(top, file));
    if (path.endsWith('.tgz')) {
      response.end(bytes);
      return;
    }
    const manifest = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    const version = { ...manifest, dist: { tarball: `http://${request.headers.host}/baton-run/-/${file}`, integrity } };
    const versions = { [manifest.version]: version };
    response.end(JSON.stringify({ name: manifest.name, 'dist-tags': { latest: manifest.version }, versions }));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}

/** The package comes from the registry on loopback once it is packed; the checkout is installed as anybody would. */
const fromRegistry = (cwd: string) => (cwd === home ? { npm_config_registry: packages.url } : {});

function run([program, ...args]: Step[2], cwd: string): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...env, ...fromRegistry(cwd) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
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
  packages.close();
  rmSync(top, { recursive: true, force: true, maxRetries: 5 });
}
