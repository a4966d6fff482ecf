// What a command is, and what it gets to work with.
import type { ParseArgsConfig } from 'node:util';

export type Options = NonNullable<ParseArgsConfig['options']>;

export type Command = {
  readonly name: string;
  readonly group: 'everyday' | 'casts' | 'contracts' | 'history';
  readonly args: string;
  readonly summary: string;
  readonly help?: string;
  readonly example: string;
  readonly options: Options;
  load(): Promise<{ run(call: Call): Promise<number> }>;
};

export type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

export type Call = {
  readonly command: Command;
  readonly values: Values;
  readonly words: readonly string[];
  readonly json: boolean;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
};

export const EXIT = { ok: 0, denied: 1, usage: 2, fault: 3, waiting: 4 } as const;

/** The command was used wrongly: one line, and the way to `--help`. */
export class UsageError extends Error {}

export function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export function flag(values: Values, name: string): boolean {
  return values[name] === true;
}

export function out(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function outJson(value: unknown): void {
  out(JSON.stringify(value));
}
