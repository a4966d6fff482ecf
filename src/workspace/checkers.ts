// Runs the declared checkers and gives one line for each result. A program starts without a shell, with bounded
// output and time, in a process group that ends with it. Passes are sealed and remembered.
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants as files,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { delimiter, isAbsolute, join, relative, resolve as resolvePath, sep } from 'node:path';
import { isDeepStrictEqual, stripVTControlCharacters } from 'node:util';
import { belowCheckerParent } from '../agents/inside-attempt.ts';
import { parseJsonText } from '../dialects/json-text.ts';
import type { TurnCheck } from '../kernel/cast/state.ts';
import { knownValues, ValueFilter, withoutValues } from '../kernel/credential.ts';
import { type Checker, readChecker } from '../kernel/graph/config.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { Check } from '../kernel/ledger/fact.ts';
import { coverOf, normalPath } from '../kernel/ledger/path.ts';
import { scrub } from '../kernel/secrets.ts';

/** The folder of a checker, and the changes in it. */
type CheckContext = {
  readonly root: string;
  readonly changes: readonly string[];
  /** Ends a program that runs. */
  readonly signal?: AbortSignal;
  /** Called with a line when a checker starts and when it ends. */
  readonly say?: (line: string) => void;
};

/** `output` is the end of what a program printed. */
type Finding = Check & { readonly output?: string; readonly exit?: number };

const FILE_BYTES_MAX = 16 * 1024 * 1024;
const OUTPUT_BYTES_KEPT = 8 * 1024;
const FOUND_CHARS_MAX = 300;
const PIPES_OPEN_MS_MAX = 2_000;
const SAY_EVERY_MS = 30_000;

/** Runs the named checkers, one after the other. Returns whether each criterion holds. An undeclared name fails. */
export async function runCheckers(
  wanted: Readonly<Record<string, string>>,
  declared: JsonObject,
  context: CheckContext,
): Promise<Record<string, Check>> {
  const checks: Record<string, Check> = {};
  const done = new Map<string, Check>();
  for (const [criterion, name] of Object.entries(wanted)) {
    const checker = readChecker(Object.hasOwn(declared, name) ? declared[name] : undefined);
    const undeclared = { pass: false, found: `no checker ${JSON.stringify(name)} is declared in config.json` };
    const check = done.get(name) ?? (checker ? await runChecker(name, checker, context) : undeclared);
    done.set(name, check);
    checks[criterion] = check;
  }
  return checks;
}

/** Runs a command once, as a checker is run. `exit` is its exit code, where it ended by itself. */
export async function runOnce(command: readonly string[], timeoutMs: number, context: CheckContext): Promise<Finding> {
  const { pass, found, exit } = await runCommand(
    { kind: 'command', command, exitCode: 0, timeoutMs } as Of<'command'>,
    context,
  );
  return { pass, found: inOneLine(found), ...(exit === undefined ? {} : { exit }) };
}

export async function runChecker(name: string, checker: Checker, context: CheckContext): Promise<Check> {
  const { pass, found } = await checkAndReport(name, checker, context);
  return { pass, found: inOneLine(found) };
}

/**
 * Runs the named checkers of a project. A failed check keeps the end of its output. A command that passed on the same files is
 * not repeated. Checks that the signal stopped are left out.
 */
export async function checkProject(
  names: readonly string[],
  declared: JsonObject,
  context: CheckContext,
  checked: Checked | null = null,
): Promise<readonly TurnCheck[]> {
  const checks: TurnCheck[] = [];
  for (const name of names) {
    const checker = readChecker(declared[name]);
    if (!checker || context.signal?.aborted) continue;
    const what = checked && checker.kind === 'command' ? JSON.stringify([checked.about, declared[name] ?? null]) : null;
    if (what !== null && checked?.passes.has(what)) {
      checks.push({ name, ok: true, found: 'passed before on the same files' });
      continue;
    }
    const { pass, found, output = '' } = await checkAndReport(name, checker, context);
    if (context.signal?.aborted) break;
    if (pass && what !== null) checked?.passes.add(what);
    const printed = pass || output.trim() === '' ? {} : { output: printable(output) };
    checks.push({ name, ok: pass, found: inOneLine(found), ...printed });
  }
  return checks;
}

/** A checker may run for minutes, so a line is printed when it starts, while it runs, and when it ends. */
async function checkAndReport(name: string, checker: Checker, context: CheckContext): Promise<Finding> {
  const [label, begun] = [inOneLine(name), performance.now()];
  const seconds = () => ((performance.now() - begun) / 1000).toFixed(1);
  context.say?.(`  check ${label} starts`);
  const timer = setInterval(() => context.say?.(`  check ${label} still runs after ${seconds()} s`), SAY_EVERY_MS);
  const finding = await Promise.resolve(findingOf(checker, context)).finally(() => clearInterval(timer));
  const outcome = context.signal?.aborted ? 'stopped' : finding.pass ? 'passed' : 'failed';
  context.say?.(`  check ${label} ${outcome} after ${seconds()} s`);
  return finding;
}

function findingOf(checker: Checker, context: CheckContext): Finding | Promise<Finding> {
  switch (checker.kind) {
    case 'command':
      return runCommand(checker, context);
    case 'file':
      return checkFile(checker, context);
    case 'json':
      return checkJson(checker, context);
    case 'diff':
      return checkChanges(checker, context);
  }
}

type Of<K extends Checker['kind']> = Extract<Checker, { kind: K }>;

function runCommand({ command, exitCode, timeoutMs }: Of<'command'>, { root, signal }: CheckContext): Promise<Finding> {
  const [program = ''] = command;
  const missing = whyNotStartable(program, root);
  if (missing !== null) return Promise.resolve({ pass: false, found: `${program} could not be started: ${missing}` });
  // A program of a checker counts as an agent, because it may run code of agents.
  const [shell = '', ...args] = belowCheckerParent(command);
  return new Promise((resolve) => {
    const child = spawn(shell, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let tail = Buffer.alloc(0);
    let isLate = false;
    let pipes: NodeJS.Timeout | undefined;
    const end = () => endGroup(child.pid);
    // It must not outlive this process.
    process.once('exit', end);
    signal?.addEventListener('abort', end);
    const keep = (text: string) => {
      tail = Buffer.concat([tail, Buffer.from(text, 'latin1')]).subarray(-OUTPUT_BYTES_KEPT);
    };
    // Secrets are removed before the output is truncated, because half of one would not be found.
    const secrets = knownValues(process.env).map((value) => Buffer.from(value).toString('latin1'));
    const filters = [child.stdout, child.stderr].map((stream) => {
      const filter = new ValueFilter(secrets);
      stream.on('data', (chunk: Buffer) => keep(filter.take(chunk.toString('latin1'))));
      return filter;
    });
    const timer = setTimeout(() => {
      isLate = true;
      end();
    }, timeoutMs);
    child.on('error', (error) => {
      clearTimeout(timer);
      process.off('exit', end);
      signal?.removeEventListener('abort', end);
      resolve({ pass: false, found: `${program} could not be started: ${error.message}` });
    });
    // Child processes that keep the output open end with the program.
    child.on('exit', () => {
      clearTimeout(timer);
      process.off('exit', end);
      signal?.removeEventListener('abort', end);
      end();
      pipes = setTimeout(() => child.stdout.destroy() && child.stderr.destroy(), PIPES_OPEN_MS_MAX);
    });
    child.on('close', (code, signal) => {
      clearTimeout(pipes);
      for (const filter of filters) keep(filter.end());
      const output = tail.toString('utf8');
      const printed = lastLine(output);
      const ended = signal ?? (code === exitCode ? undefined : signalOf(code));
      const ending = ended === undefined ? `exit code ${code}` : `it was ended by ${ended}`;
      if (isLate) resolve({ pass: false, found: `${program} did not end within ${timeoutMs} ms${printed}`, output });
      else if (code === exitCode) resolve({ pass: true, found: ending });
      else
        resolve({
          pass: false,
          found: `${ending} instead of ${exitCode}${printed}`,
          output,
          ...(code === null ? {} : { exit: code }),
        });
    });
  });
}

/** The exit code of a shell shows which signal ended a program. */
function signalOf(code: number | null): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => code === 128 + number)?.[0];
}

/** Null for a program that can be started, by its path or by a name on the PATH. */
function whyNotStartable(program: string, root: string): string | null {
  const folders = program.includes('/') ? [''] : (process.env.PATH ?? '').split(delimiter);
  const isThere = folders.some((folder) => {
    try {
      accessSync(resolvePath(root, folder, program), files.X_OK);
      return true;
    } catch {
      return false; // It may be in another folder.
    }
  });
  return isThere ? null : 'there is no such program';
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function checkFile({ file, exists, contains }: Of<'file'>, { root }: CheckContext): Check {
  const read = readInside(root, file);
  if (!read.ok) {
    if (read.isAbsent && !exists) return { pass: true, found: `${file} does not exist` };
    return { pass: false, found: read.why };
  }
  if (!exists) return { pass: false, found: `${file} exists` };
  if (contains === null || read.text.includes(contains)) return { pass: true, found: `${file} is as expected` };
  return { pass: false, found: `${file} does not contain the text ${JSON.stringify(contains)}` };
}

function checkJson({ file, at, equals }: Of<'json'>, { root }: CheckContext): Check {
  const read = readInside(root, file);
  if (!read.ok) return { pass: false, found: read.why };
  const parsed = parseJsonText(read.text, { maxBytes: FILE_BYTES_MAX });
  if (!parsed.ok) return { pass: false, found: `${file} is not JSON: ${parsed.message}` };
  const value = valueAt(parsed.value, at);
  const place = at.length === 0 ? file : `${at.join('.')} of ${file}`;
  if (value === undefined) return { pass: false, found: `there is no ${place}` };
  if (isDeepStrictEqual(value, equals)) return { pass: true, found: `${place} is as expected` };
  return { pass: false, found: `${place} is ${JSON.stringify(value)} instead of ${JSON.stringify(equals)}` };
}

function valueAt(value: Json, steps: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const step of steps) {
    if (Array.isArray(at)) at = /^(?:0|[1-9]\d*)$/.test(step) ? (at[Number(step)] as Json | undefined) : undefined;
    else if (isObject(at)) at = Object.hasOwn(at, step) ? at[step] : undefined;
    else return undefined;
  }
  return at;
}

function checkChanges({ paths }: Of<'diff'>, { changes }: CheckContext): Check {
  const isInside = coverOf(
    paths.flatMap((path) => {
      const normal = normalPath(path);
      return normal.ok ? [normal.path.normalize('NFC')] : [];
    }),
  );
  const outside = changes.filter((change) => !isInside(change.normalize('NFC')));
  if (outside.length === 0) return { pass: true, found: `${changes.length} changes, all inside` };
  const more = outside.length > 1 ? ` and ${outside.length - 1} more` : '';
  return { pass: false, found: `${outside[0]}${more} was changed outside ${paths.slice(0, 5).join(', ')}` };
}

type Read =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string; readonly isAbsent: boolean };

/** A regular file inside the root, wherever its links lead. */
function readInside(root: string, name: string): Read {
  const no = (why: string, isAbsent = false): Read => ({ ok: false, why: `${name} ${why}`, isAbsent });
  let handle: number | null = null;
  try {
    const file = realpathSync(join(root, name));
    const below = relative(realpathSync(root), file);
    if (below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)) return no('leads out of the workspace');
    handle = openSync(file, files.O_RDONLY | files.O_NOFOLLOW | files.O_NONBLOCK);
    const stat = fstatSync(handle);
    const { size } = stat;
    if (!stat.isFile()) return no('is no file');
    if (size > FILE_BYTES_MAX) return no(`is larger than ${FILE_BYTES_MAX} bytes`);
    const bytes = Buffer.alloc(size);
    const length = readSync(handle, bytes, 0, size, 0);
    return { ok: true, text: bytes.subarray(0, length).toString('utf8') };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? no('does not exist', true) : no(`cannot be read: ${message}`);
  } finally {
    if (handle !== null) closeSync(handle);
  }
}

function lastLine(output: string): string {
  const line = output
    .split(/\r?\n/)
    .map((each) => each.trim())
    .findLast((each) => each !== '');
  return line === undefined ? '' : `; it printed: ${line}`;
}

/** Without secrets and terminal control characters. */
function printable(output: string): string {
  return withoutSecrets(stripVTControlCharacters(output))
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .trim();
}

export function withoutSecrets(text: string): string {
  return scrub(withoutValues(text, knownValues(process.env))).text;
}

/** One line, bounded and without secrets: it goes into the log and back to the agent. */
function inOneLine(found: string): string {
  const line = withoutSecrets(found)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length > FOUND_CHARS_MAX ? `${line.slice(0, FOUND_CHARS_MAX - 1)}…` : line;
}

// Passed checks, so that a command is not repeated on the same files. Agents can write to the state folder, so each pass is
// sealed with a key of the user.
export type Passes = { has(what: string): boolean; add(what: string): void };

/** The checked state, and its passes so far. */
type Checked = { readonly about: string; readonly passes: Passes };

const KEPT_MAX = 500;

export function passesIn(stateDir: string, seal: (text: string) => string): Passes {
  const file = join(stateDir, 'check-passes.json');
  return {
    has: (what) => sealsIn(file).includes(seal(what)),
    add(what) {
      const own = seal(what);
      const seals = [...sealsIn(file).filter((each) => each !== own), own].slice(-KEPT_MAX);
      mkdirSync(stateDir, { recursive: true, mode: 0o700 });
      const draft = `${file}.${process.pid}`;
      writeFileSync(draft, JSON.stringify(seals), { mode: 0o600 });
      renameSync(draft, file);
    },
  };
}

/** Identifies the changes of a turn. Its start is the same for the whole turn. */
export function aboutTurn(cast: string, turn: number, changes: Readonly<Record<string, string | null>>): string {
  const sorted = Object.keys(changes)
    .sort()
    .map((path) => [path, changes[path]]);
  return `turn ${cast} ${turn} ${hash('sha256', JSON.stringify(sorted), 'hex')}`;
}

function sealsIn(file: string): readonly unknown[] {
  try {
    const seals: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(seals) ? seals : [];
  } catch {
    return [];
  }
}
