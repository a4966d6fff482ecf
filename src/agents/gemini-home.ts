// Starts Gemini CLI in a home folder of one attempt: the user's own, with other settings, rules for its tools, and the brief as a
// command. Its settings count only where they lie in the home folder. What it reads from standard input may name files and commands of
// its own; a brief may not. With `hook` it is what Gemini CLI asks before it uses a tool.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import jsonc from 'jsonc-parser';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { askGuard, type GuardCall } from './pi-guard.ts';

/** Holds what the home is made of, as JSON. */
export const GEMINI_VARIABLE = 'BATON_GEMINI';

export type GeminiHome = {
  /** The folder's name. It tells the model where it is, so that it has to be the same in a conversation that goes on. */
  readonly name: string;
  /** What replaces the user's own settings, member by member. */
  readonly settings: JsonObject;
  /** Which tools it may use, in the words of its rules. */
  readonly policy: string;
  readonly system: string | null;
  /** Who is asked before a tool that writes. */
  readonly guard: GuardCall | null;
};

/** Of these the attempt has its own. */
const OWN = new Set(['settings.json', 'commands', 'extensions', 'projects.json', 'policies']);
/** Its conversations and what belongs to them. They have to outlive the attempt. */
const KEPT = ['tmp', 'history'];
const WRITERS = 'run_shell_command|write_file|replace';
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

function start(program: string, args: readonly string[]): void {
  const home = JSON.parse(process.env[GEMINI_VARIABLE] ?? '{}') as GeminiHome;
  const root = folderNamed(`baton-gemini-${home.name}`);
  const below = join(root, '.gemini');
  const userHome = process.env.GEMINI_CLI_HOME || homedir();
  mkdirSync(below);
  linkAll(join(userHome, '.gemini'), below);
  write(below, 'settings.json', JSON.stringify(settingsOf(join(userHome, '.gemini', 'settings.json'), home)));
  write(root, 'tools.toml', home.policy);
  if (home.system !== null) write(root, 'system.md', home.system);
  const { stdin, asked } = briefIn(below, readFileSync(0, 'utf8'));
  const { [GEMINI_VARIABLE]: _made, ...inherited } = process.env;
  const env = {
    ...inherited,
    GEMINI_CLI_HOME: root,
    // It writes the whole conversation there when its provider fails.
    TMPDIR: join(root, 'tmp'),
    ...(home.system === null ? {} : { GEMINI_SYSTEM_MD: join(root, 'system.md') }),
    ...(home.guard ? { [GEMINI_VARIABLE]: JSON.stringify(home.guard) } : {}),
  };
  mkdirSync(env.TMPDIR);
  const child = spawn(program, ['--admin-policy', join(root, 'tools.toml'), ...args, ...asked], {
    env,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 127;
  });
  child.once('close', (code, signal) => {
    rmSync(root, { recursive: true, force: true });
    process.exitCode = code ?? (signal === null ? 1 : 143);
  });
}

/** What a killed attempt of the same turn left is taken away. */
function folderNamed(name: string): string {
  const folder = join(tmpdir(), name);
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  } catch {
    return mkdtempSync(`${folder}-`);
  }
}

/** The sign-in and whatever else the user keeps there, where it really lies. */
function linkAll(from: string, to: string): void {
  for (const folder of KEPT) mkdirSync(join(from, folder), { recursive: true, mode: 0o700 });
  for (const name of readdirSync(from)) if (!OWN.has(name)) symlinkSync(join(from, name), join(to, name));
}

function settingsOf(file: string, { settings, guard }: GeminiHome): JsonObject {
  const merged = over(userSettings(file), settings);
  // Servers of the user would widen what the attempt may do.
  const own: JsonObject = { ...merged, mcpServers: settings.mcpServers ?? {}, mcp: settings.mcp ?? {} };
  if (!guard) return own;
  const command = [process.execPath, fileURLToPath(import.meta.url), 'hook'].map(shellWord).join(' ');
  const hooks = isObject(own.hooks) ? own.hooks : {};
  const before = Array.isArray(hooks.BeforeTool) ? hooks.BeforeTool : [];
  const ours = { matcher: WRITERS, hooks: [{ type: 'command', name: 'baton', command, timeout: 900_000 }] };
  return { ...own, hooks: { ...hooks, BeforeTool: [...before, ours] } };
}

/** They may hold comments. */
function userSettings(file: string): JsonObject {
  try {
    const value: unknown = jsonc.parse(readFileSync(file, 'utf8'));
    return isObject(value) ? value : {};
  } catch {
    return {}; // There are none yet.
  }
}

function over(before: JsonObject, after: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...before };
  for (const [key, value] of Object.entries(after)) {
    const known = merged[key];
    merged[key] = isObject(known) && isObject(value) ? over(known, value) : value;
  }
  return merged;
}

/** What a command of Gemini CLI replaces in its own text. */
const SLOTS = /[!@]\{|\{\{args\}\}/;

/**
 * A command hands its text on as it is. Where it would replace a part of it, the brief goes in on standard input instead, with what
 * would name a file marked as text.
 */
function briefIn(folder: string, text: string): { readonly stdin: string; readonly asked: readonly string[] } {
  if (SLOTS.test(text)) return { stdin: `\n${text.replaceAll(/(?<!\\)@/g, '\\@')}`, asked: [] };
  const name = `brief-${process.pid}`;
  mkdirSync(join(folder, 'commands'));
  write(join(folder, 'commands'), `${name}.toml`, `prompt = ${tomlText(text)}\n`);
  return { stdin: '', asked: ['--prompt', `/${name}`] };
}

/** A TOML string: like JSON's, except that the delete character must be escaped too. */
function tomlText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\x7f', '\\u007f');
}

function shellWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function write(folder: string, name: string, text: string): void {
  writeFileSync(join(folder, name), text, { mode: 0o600 });
}

/** What it calls its tools that write, in the words of our hook. */
const HOOK_NAMES: Readonly<Record<string, string>> = {
  run_shell_command: 'Bash',
  write_file: 'Write',
  replace: 'Edit',
};

/** Exit code 2 refuses the call, and the agent is given what is on standard error. */
async function answerHook(): Promise<void> {
  const event = JSON.parse(readFileSync(0, 'utf8')) as JsonObject;
  const name = HOOK_NAMES[String(event.tool_name)];
  if (name === undefined) return;
  const guard = JSON.parse(process.env[GEMINI_VARIABLE] ?? '{}') as GuardCall;
  // By its own name of the event the hook would take itself for one of another program.
  const { session_id, cwd, tool_input } = event;
  const reason = await askGuard(guard, { session_id, cwd, tool_name: name, tool_input });
  if (reason === undefined) return;
  process.stderr.write(`${reason}\n`);
  process.exitCode = 2;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [first, ...rest] = process.argv.slice(2);
  // Not awaited here: the library is required, and a module that waits at its top cannot be.
  if (first === 'hook') void answerHook();
  else if (first !== undefined) start(first, rest);
}
