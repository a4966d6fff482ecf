// Runs the real command line in folders of its own. Whatever a test starts is ended, and whatever it wrote is removed,
// when the test is over.
import { AsyncLocalStorage } from 'node:async_hooks';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { proofFor } from '../../src/access/rights.ts';
import { createToken } from '../../src/access/tokens.ts';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { callBaton } from './in-process.ts';

export const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
export const BATON = join(CHECKOUT, 'bin', 'baton');

/** How long a test waits for something that must come; only a failure takes so long. */
const PATIENCE_MS = 30_000;

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
export type How = {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string | Buffer;
  readonly program?: readonly string[];
};

export type Started = {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
  stderr(): string;
};

/** A project folder with the given files, `.baton` among them; JSON is written as its text. */
export function project(files: Readonly<Record<string, Json>> = {}): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-cli-')));
  const others = new Set(processes());
  onTestFinished(() => removeProject(dir, others));
  mkdirSync(join(dir, '.baton'));
  put(dir, files);
  return dir;
}

/** Ends whatever works in the folder, and removes it. `others` are processes that are older than the folder. */
export function removeProject(dir: string, others: ReadonlySet<number> = new Set()): void {
  for (const pid of leftIn(dir, others)) endProcess(pid);
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}

/** The team that ships, as a project's own: its configuration, its prompts, and the lock that pins them, in force. */
export async function pinTeam(dir: string): Promise<void> {
  const bundled = join(CHECKOUT, 'src', 'bundled');
  for (const part of ['prompts', 'versions'])
    cpSync(join(bundled, part), join(dir, '.baton', part), { recursive: true });
  const { $schema: _elsewhere, ...config } = JSON.parse(readFileSync(join(bundled, 'config.json'), 'utf8'));
  put(dir, { '.baton/config.json': config, '.baton/.gitignore': 'state/\n' });
  const { code, stderr } = await baton(dir, ['registry', 'lock']);
  expect([code, stderr]).toEqual([0, '']);
}

export function put(dir: string, files: Readonly<Record<string, Json>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

export function read(dir: string, name: string): string {
  return readFileSync(join(dir, name), 'utf8');
}

const apart = new AsyncLocalStorage<true>();

/** Every `baton` that `work` runs is a process of its own: for what several of them do at the same time. */
export function asProcesses<T>(work: () => Promise<T>): Promise<T> {
  return apart.run(true, work);
}

/** Runs `baton` to its end, as a call of this process; under another program, as a process. */
export function baton(dir: string, args: readonly string[], how: How = {}): Promise<Ran> {
  if (how.program !== undefined || apart.getStore()) return batonProcess(dir, args, how);
  return callBaton(args, { cwd: dir, env: environmentFor(dir, args, how), input: how.input ?? '' });
}

/** Runs `baton` to its end as a process: for what its start, its parents, its end or its streams are to show. */
export function batonProcess(dir: string, args: readonly string[], how: How = {}): Promise<Ran> {
  return start(dir, args, how).ended;
}

/** Starts `baton` and leaves it running. */
export function start(dir: string, args: readonly string[], how: How = {}): Started {
  const [program = BATON, ...before] = how.program ?? [BATON];
  const env = environmentFor(dir, args, how);
  const child = spawn(program, [...before, ...args], { cwd: dir, env, stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(how.input ?? '');
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, ended, stderr: () => stderr };
}

/** Runs a module in every thread of baton before anything else. `bin/baton` keeps such variables away, so it is left out. */
export function importing(module: string): How {
  const node = join(CHECKOUT, 'node_modules/.bin/node');
  const program = [node, '--disable-warning=ExperimentalWarning', join(CHECKOUT, 'bin/main.cjs')];
  return { program, env: { NODE_OPTIONS: `--import=${module}` } };
}

export function injecting(code: string): How {
  return importing(`data:text/javascript,${encodeURIComponent(code)}`);
}

/** The one JSON value on standard output. More than that fails to parse. */
export function json<T = JsonObject>({ stdout }: Ran): T {
  return JSON.parse(stdout) as T;
}

/** Casts with a script and answers what `cast --json --turns` says. */
export async function cast(dir: string, config: JsonObject, agents: JsonObject, ...more: string[]): Promise<CastView> {
  put(dir, { 'cast.json': config, 'agents.json': agents });
  const args = ['cast', '--file', 'cast.json', '--agents', 'agents.json', '--json', '--turns', ...more, 'do it'];
  return json<CastView>(await baton(dir, args));
}

/** A configuration with one loadout `L` that begins at Socket-1. */
export function flow(materia: JsonObject, sockets: JsonObject, more: JsonObject = {}): JsonObject {
  return { materia, loadouts: { L: { entry: 'Socket-1', sockets } }, ...more };
}

export const agent: JsonObject = { tools: 'none', prompt: 'Do it.' };

/** A utility that runs the named script with our Node. */
export function script(name: string, more: JsonObject = {}): JsonObject {
  return { type: 'utility', command: ['node', `./${name}`], parse: 'json', ...more };
}

export function always(to: string): JsonObject {
  return { when: 'always', to };
}

type Look<T> = T | undefined | null | false;

/** Waits until `look` gives something, and answers it. */
export async function until<T>(what: string, look: () => Look<T> | Promise<Look<T>>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await sleep(20);
  }
}

/** The content of a file once it is there and not empty. */
export function untilWritten(dir: string, name: string): Promise<string> {
  return until(name, () => {
    try {
      return read(dir, name) || undefined;
    } catch {
      return undefined;
    }
  });
}

export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

/** The supervisor of the attempt that runs in the folder. */
export function supervisorIn(dir: string): Promise<number> {
  const attempts = join(dir, '.baton', 'state', 'attempts');
  return until('a supervisor', () => {
    const [claim] = globSync(join(attempts, '*', 'claim'));
    return claim === undefined ? undefined : (JSON.parse(readFileSync(claim, 'utf8')) as { pid: number }).pid;
  });
}

/** What a user has outside of his projects: the key that signs, and copies of what was signed. Every test file has its own. */
const users = new Map<string, string>();
process.on('exit', () => {
  for (const folder of users.values()) rmSync(folder, { recursive: true, force: true });
});

function userFolder(): string {
  const file = expect.getState().testPath ?? '';
  const known = users.get(file);
  if (known !== undefined) return known;
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'baton-user-')));
  users.set(file, made);
  mkdirSync(join(made, 'config'), { mode: 0o700 });
  // Tests set their own projects up: commands that such a project brings along may run.
  const trusted = { [realpathSync(tmpdir())]: { at: new Date().toISOString() } };
  writeFileSync(join(made, 'config/trusted-folders.json'), JSON.stringify(trusted), { mode: 0o600 });
  return made;
}

// A temporary folder of its own, so that what a command leaves there goes with the test.
export function environment(dir: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG } = process.env;
  const folder = userFolder();
  const user = {
    BATON_CONFIG: join(folder, 'config'),
    BATON_CHECKPOINTS: join(folder, 'checkpoints'),
    XDG_STATE_HOME: join(folder, 'state'),
  };
  return { PATH, HOME, LANG, TMPDIR: dir, ...user, ...more };
}

function environmentFor(dir: string, args: readonly string[], how: How): NodeJS.ProcessEnv {
  return { ...environment(dir, how.env), ...tokenFor(args, how) };
}

/** Tests have no terminal, so they decide with a token, as scripts of people do. */
function tokenFor(args: readonly string[], how: How): NodeJS.ProcessEnv {
  const [command = '', word = ''] = args.filter((arg, at) => !arg.startsWith('-') && args[at - 1] !== '-C');
  const proof = proofFor(command) ?? proofFor(`${command} ${word}`);
  return proof?.needsTerminal === true && !isSomebody(how.env ?? {})
    ? { BATON_TOKEN: personToken(how.env?.BATON_CONFIG) }
    : {};
}

/** Who is named already, or is to have no token at all. */
function isSomebody(env: NodeJS.ProcessEnv): boolean {
  return ['BATON_TOKEN', 'BATON_ACTS_FOR', 'BATON_ATTEMPT'].some((name) => Object.hasOwn(env, name));
}

const tokens = new Map<string, string>();

/** The token of the person who runs the tests, in the given folder of the user. */
export function personToken(config = join(userFolder(), 'config')): string {
  const known = tokens.get(config);
  if (known !== undefined) return known;
  const made = createToken({ BATON_CONFIG: config }, { role: 'admin', name: null, expires: null }, Date.now());
  const secret = made.ok ? made.value.secret : '';
  tokens.set(config, secret);
  return secret;
}

/** Processes that work in the folder or carry its name in their command line or environment. */
function leftIn(dir: string, others: ReadonlySet<number>): number[] {
  return processes().filter((pid) => {
    if (pid === process.pid || others.has(pid)) return false;
    try {
      return ['cmdline', 'environ'].some((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(dir));
    } catch {
      return false;
    }
  });
}

function processes(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isSafeInteger);
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
