// What a command is, and what it gets to work with: the words of its call, the workspace, and the outputs.
import type { ParseArgsConfig } from 'node:util';
import type { Act } from '../access/rights.ts';
import type { Workspace } from '../app/workspace.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { type LocatedWorkspace as Located, locate, UsageError } from '../workspace/locate.ts';
import { commandName } from './command-name.ts';
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
  /** The fewest and the most words that may stand beside its options. */
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
  readonly json: boolean;
  /** The folder that relative names start from: the one of `-C`, else the current one. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** All commands, for one that is about the others. */
  readonly commands: readonly Command[];
};

export const EXIT_CODE = { ok: 0, denied: 1, usage: 2, fault: 3, waiting: 4 } as const;

/** The exit that goes with a verdict: whoever was not understood is told so in the same way wherever it is found out. */
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
