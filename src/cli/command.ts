// What a command is, and what it gets to work with: the words of its call, the workspace, the outputs, and how a person calls this program
// again: `bin/baton` in a checkout, `npx baton` where it is installed in the project, `baton` where that is on the PATH.

import { readFileSync, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ParseArgsConfig } from 'node:util';
import type { Act } from '../access/rights.ts';
import type { OperationName } from '../app/operations/table.ts';
import type { Workspace } from '../app/workspace.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { type LocatedWorkspace as Located, locate, UsageError } from '../workspace/locate.ts';
import { isSmart, Ready, type ShownLine } from './paint.ts';
import { safe, wrap } from './terminal-text.ts';

export { Refused } from '../app/refused.ts';
export { UsageError } from '../workspace/locate.ts';

export type Options = NonNullable<ParseArgsConfig['options']>;

export type Command = {
  readonly name: string;
  readonly group: 'everyday' | 'try' | 'casts' | 'ledger' | 'contracts' | 'history';
  /** What it does; where its forms differ, by its first word, and under no word for every other form. */
  readonly act: Act | Readonly<Record<string, Act>>;
  readonly args: string;
  readonly summary: string;
  readonly help?: string;
  readonly example: string;
  readonly options: Options;
  /** Those that it calls; what a shell offers for their fields is made from them. */
  readonly operations?: readonly OperationName[];
  /** The fewest and the most words next to its options. */
  readonly words: readonly [number, number];
  /** Throws the refusal of a caller who may not do it at all. */
  refuseBefore?(call: Call): Promise<void>;
  /** Its function, which is loaded when it is called. */
  load(): Promise<(call: Call) => Promise<number>>;
};

export type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

export type Call = {
  readonly command: Command;
  readonly values: Values;
  readonly words: readonly string[];
  /** How many of the words come before `--`; absent where there is none. */
  readonly wordsBefore?: number;
  readonly json: boolean;
  /** The folder that relative names start from: the one of `-C`, else the current one. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** All commands, for one that is about the others. */
  readonly commands: readonly Command[];
};

export const EXIT_CODE = { ok: 0, denied: 1, usage: 2, fault: 3, waiting: 4 } as const;

/** The exit code of a verdict. Wrong usage has one code, wherever it is noticed. */
export function exitOf({ allow, code }: Verdict): number {
  if (allow) return EXIT_CODE.ok;
  return code === 'BAD_USAGE' ? EXIT_CODE.usage : EXIT_CODE.denied;
}

export function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export function flag(values: Values, name: string): boolean {
  return values[name] === true;
}

/** How the person who made this call makes another one in the same workspace. */
export function again(call: Call): string {
  return commandName(text(call.values, 'directory'));
}

export function out(line: ShownLine): void {
  print(process.stdout, line);
}

export function note(line: ShownLine): void {
  print(process.stderr, line);
}

/** In a terminal a text is wrapped between words; anywhere else it is printed as it is. */
function print(screen: NodeJS.WriteStream, line: ShownLine): void {
  const text = line instanceof Ready ? line.text : safe(line);
  const { columns } = screen;
  const isWrapped = !(line instanceof Ready) && columns !== undefined && isSmart(screen);
  const pieces = isWrapped ? text.split('\n').flatMap((each) => wrap(each, columns)) : [text];
  for (const piece of pieces) screen.write(`${piece}\n`);
}

/** The bell of the terminal. */
export function ring(): void {
  if (process.stderr.isTTY) process.stderr.write('\x07');
}

/** The outputs that have their JSON value. */
const answered = new WeakSet<NodeJS.WriteStream>();

/** The one JSON value of a command; a second one, of a fault that comes after it, is not printed. */
export function outJson(value: unknown): void {
  if (answered.has(process.stdout)) return;
  answered.add(process.stdout);
  outJsonLine(value);
}

/** One of several JSON values, for a command whose output is a stream of them. */
export function outJsonLine(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export async function withWorkspace<T>(
  call: Call,
  work: (workspace: Workspace) => Promise<T>,
  located: Located = workspaceOf(call),
): Promise<T> {
  // Loaded here: a hook only needs to know where the workspace is.
  const { Workspace: Opened } = await import('../app/workspace.ts');
  const workspace = new Opened(located, { env: call.env, cwd: call.cwd, program: again(call) });
  try {
    return await work(workspace);
  } finally {
    await workspace.close();
  }
}

/** The workspace of `-C`; without it that of the current folder, or of the nearest one above that has `.baton`. */
export function workspaceOf(call: Call): Located {
  return workspaceAt(call, text(call.values, 'directory') === undefined ? undefined : call.cwd);
}

/** The workspace of the very folder, whatever workspace lies above it. */
export function workspaceHere(call: Call): Located {
  return workspaceAt(call, call.cwd);
}

function workspaceAt(call: Call, dir: string | undefined): Located {
  const workspace = locate(dir, call.env, call.cwd);
  if (!workspace) throw new UsageError(`there is no folder ${call.cwd}; -C names an existing one`);
  return workspace;
}

type Caller = {
  readonly packageDir: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** How the program was called and which workspace was named, for each environment it is called in. */
const names = new WeakMap<NodeJS.ProcessEnv, string>();
const workspaces = new WeakMap<NodeJS.ProcessEnv, string>();

/** A workspace named with `-C` is named in every command that we print. */
export function calledWith(directory: string | undefined): void {
  if (directory !== undefined) workspaces.set(process.env, directory);
}

/** The program as this process was called, with the workspace that was named: the words before a command. */
export function commandName(directory: string | undefined = workspaces.get(process.env)): string {
  const { env } = process;
  const packageDir = fileURLToPath(new URL('../..', import.meta.url));
  const name = names.get(env) ?? nameFor({ packageDir, cwd: here(), env });
  names.set(env, name);
  return directory === undefined ? name : `${name} -C ${quoted(directory)}`;
}

export function nameFor({ packageDir, cwd, env }: Caller): string {
  const program = join(resolve(packageDir), 'bin', 'baton');
  const [owner, inside] = resolve(packageDir).split(`${sep}node_modules${sep}`);
  const isInProject = inside !== undefined && owner !== undefined && isBelow(owner, cwd);
  // Where the project has no copy, npx looks the word up as the name of a package.
  if (env.npm_lifecycle_event === 'npx' && /\bbaton\b/.test(env.npm_lifecycle_script ?? ''))
    return isInProject ? 'npx baton' : 'npx baton-run';
  if (foldersOnPath(env).some((folder) => isSameFile(join(folder, 'baton'), program))) return 'baton';
  if (isInProject) return 'npx baton';
  if (!isBelow(cwd, program)) return quoted(program);
  const near = relative(cwd, program);
  return quoted(near.includes(sep) ? near : `.${sep}${near}`);
}

/** npm lends its scripts folders that the person's own shell does not look into. */
function foldersOnPath({ PATH = '', npm_lifecycle_event }: Caller['env']): readonly string[] {
  const folders = PATH.split(delimiter).filter(isAbsolute);
  return npm_lifecycle_event === undefined
    ? folders
    : folders.filter((folder) => !folder.endsWith(join('node_modules', '.bin')));
}

function isSameFile(file: string, program: string): boolean {
  try {
    return realpathSync(file) === realpathSync(program);
  } catch {
    return false;
  }
}

function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** As a shell takes it for one word. */
export function quoted(word: string): string {
  return /^[\w./:@%+=,~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function here(): string {
  try {
    return process.cwd();
  } catch {
    return sep;
  }
}

/** The version of the package. */
export function version(): string {
  return String(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version);
}
