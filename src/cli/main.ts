// The command line: finds the command, reads its options, and turns whatever comes out into an exit code.
import { resolve } from 'node:path';
import { shownToken } from '../access/actor.ts';
import { StorageError } from '../engine/ports.ts';
import { nearestName } from '../kernel/text.ts';
import {
  type Call,
  type Command,
  calledWith,
  commandName,
  EXIT_CODE,
  exitOf,
  note,
  out,
  outJson,
  Refused,
  UsageError,
  version,
} from './command.ts';
import { COMMANDS } from './commands.ts';
import { oneLine } from './terminal-text.ts';

// Not by an import, which would make every function of the module ready, with all that they need: a tenth of Node's start.
const { parseArgs } = process.getBuiltinModule('node:util');

/** Set by a server of ours for the caller that showed it a token. Named here, because loading the module that knows it is slow. */
const ACTS_FOR = 'BATON_ACTS_FOR';

const GLOBAL = {
  directory: { type: 'string', short: 'C' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  verbose: { type: 'boolean', short: 'v' },
} as const;

/** The process of a command: it ends with the command's exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  const wantsJson = wantsJsonOf(argv);
  let lost: NodeJS.ErrnoException | null = null;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that goes away (`baton log | head`) ends nothing: a cast that is driven goes on without a listener.
    if (error.code !== 'EPIPE') lost ??= error;
  });
  process.stderr.on('error', () => undefined);
  process.on('uncaughtException', (error) => process.exit(report(error, wantsJson)));
  const code = await carryOut(argv);
  await Promise.all([process.stdout, process.stderr].map(drained));
  // Not by running out of work: something that failed to start may still hold the process open.
  process.exit(lost === null ? code : report(unsaid(lost), false));
}

/** Carries a command line out, whatever comes of it, and answers its exit code. */
export function carryOut(argv: readonly string[]): Promise<number> {
  return dispatch(argv).catch((error: unknown) => report(error, wantsJsonOf(argv)));
}

function wantsJsonOf(argv: readonly string[]): boolean {
  return ownWords(argv).includes('--json');
}

/** Who asked for an answer and did not get all of it must not take the rest for it. */
function unsaid({ message }: Error): StorageError {
  const reason = `the answer could not be written (${message}); free some space or write it elsewhere, nothing else was lost`;
  return new StorageError('STORAGE_FAILED', reason);
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((done) => {
    stream.write('', () => done());
  });
}

/** The words that are ours to read; what follows `--` is the person's own text. */
function ownWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end === -1 ? argv : argv.slice(0, end);
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const { name, rest } = split(argv);
  if (name === null) return withoutCommand(rest);
  if (name === 'help') return showHelp(split(rest).name ?? undefined, rest.includes('--all'));
  const command = named(name);
  return carriedThrough(command, rest).catch((error: unknown) => notUnderstood(command, rest, error));
}

async function carriedThrough(command: Command, rest: readonly string[]): Promise<number> {
  const call = await read(command, rest);
  if (call.values.help === true) return showHelp(command.name);
  try {
    countWords(command, call.words);
    await refuseLowRole(call);
    const run = await command.load();
    return await run(call);
  } catch (error) {
    // A caller without the right learns that first, before any mistake in the words.
    if (error instanceof UsageError) await command.refuseBefore?.(call);
    throw error;
  }
}

/** Who names an approval and is not understood was refused its use all the same, and that is in the log. */
async function notUnderstood(command: Command, rest: readonly string[], error: unknown): Promise<never> {
  if (command.name === 'exec' && error instanceof UsageError) {
    const call = await read(command, rest, false);
    await refuseLowRole(call);
    await noteMisused(call, rest);
    const form = `baton exec ${command.args}`;
    if (!error.message.includes(form))
      throw new UsageError(`${error.message}; say: ${form}`, error.code, error.details);
  }
  throw error;
}

/** The refusal holds even where it cannot be noted. Without a workspace the person gets that message. */
async function noteMisused(call: Call, words: readonly string[]): Promise<void> {
  const [{ noteMisused: noteIn, ownWorkspace }, { withWorkspace, workspaceOf }, { actorHere }] = await Promise.all([
    import('../app/operations/exec.ts'),
    import('./command.ts'),
    import('../access/who-acts.ts'),
  ]);
  try {
    const located = ownWorkspace(call.env) ?? workspaceOf(call);
    await withWorkspace(call, (workspace) => noteIn(workspace, words, actorHere(workspace)), located);
  } catch (error) {
    if (!(error instanceof UsageError)) note(`it could not be noted that it was refused: ${(error as Error).message}`);
  }
}

/** A caller without a token acts as itself, and does not wait for a look. */
async function refuseLowRole(call: Call): Promise<void> {
  const { command, words, env } = call;
  const shown = shownToken();
  if (!env[ACTS_FOR] && shown === null) return;
  const [{ refusalOfRole }, { withWorkspace }] = await Promise.all([
    import('../app/refusals.ts'),
    import('./command.ts'),
  ]);
  const form = { command: command.name, act: command.act, word: words[0] };
  const refusal = await withWorkspace(call, (workspace) => refusalOfRole(workspace, form, shown, note));
  if (refusal) throw new Refused(refusal);
}

/** The call that a command line makes. Throws a `UsageError` for a wrong one. */
export async function callOf(argv: readonly string[]): Promise<Call> {
  const { name, rest } = split(argv);
  const call = await read(named(name ?? ''), rest);
  countWords(call.command, call.words);
  return call;
}

async function withoutCommand(rest: readonly string[]): Promise<number> {
  if (rest.includes('--version')) {
    out(version());
    return EXIT_CODE.ok;
  }
  const odd = rest.find((word) => !['--help', '-h', '--all'].includes(word));
  if (odd !== undefined) throw new UsageError(`name a command with ${odd}; \`${commandName()} --help\` lists them`);
  return showHelp(undefined, rest.includes('--all'));
}

async function showHelp(name: string | undefined, isAll = false): Promise<number> {
  const { everyCommand, helpOf, overview } = await import('./help.ts');
  out(name !== undefined ? helpOf(named(name)) : isAll ? everyCommand(COMMANDS) : overview(COMMANDS));
  return EXIT_CODE.ok;
}

/** What other programs call it. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  ...{ run: 'cast', start: 'cast', exec: 'cast', list: 'casts', ls: 'casts', ps: 'status', logs: 'log', stop: 'abort' },
  ...{ kill: 'abort', cancel: 'abort', new: 'init', create: 'init', lint: 'check', tail: 'watch', restart: 'recast' },
};

function named(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command) return command;
  const near =
    OTHER_NAMES[name.toLowerCase()] ??
    nearestName(
      name,
      COMMANDS.map((each) => each.name),
    );
  const guess = near === null ? '' : `; did you mean \`${commandName()} ${near}\`?`;
  throw new UsageError(
    `there is no command ${name}${guess} \`${commandName()} --help\` lists them`.replace(`${name} \``, `${name}; \``),
  );
}

/** The first word that is neither an option nor the value of `-C` names the command. */
function split(argv: readonly string[]): { name: string | null; rest: readonly string[] } {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (word === '-C' || word === '--directory') {
      index++;
      calledWith(argv[index]);
    } else if (!word.startsWith('-')) return { name: word, rest: [...argv.slice(0, index), ...argv.slice(index + 1)] };
  }
  return { name: null, rest: argv };
}

/** With `strict` false, as much of it as can be read. */
async function read(command: Command, rest: readonly string[], strict = true): Promise<Call> {
  const { values, positionals, ...ends } = await parsed(command, rest, strict);
  if (typeof values.directory === 'string') calledWith(values.directory);
  const directory = typeof values.directory === 'string' ? values.directory : '.';
  const cwd = resolve(currentFolder(), directory);
  const json = values.json === true;
  return { command, values, words: positionals, ...ends, json, cwd, env: process.env, commands: COMMANDS };
}

async function parsed(command: Command, rest: readonly string[], strict: boolean) {
  const options = { ...GLOBAL, ...command.options };
  try {
    const { tokens, ...read } = parseArgs({ args: [...rest], options, allowPositionals: true, strict, tokens: true });
    const twice = strict ? saidTwice(command, tokens) : undefined;
    const end = tokens.find(({ kind }) => kind === 'option-terminator');
    const before = tokens.filter(({ kind, index }) => kind === 'positional' && end && index < end.index).length;
    if (twice === undefined) return { ...read, ...(end ? { wordsBefore: before } : {}) };
    throw new Error(`--${twice} is given more than once; give it once`);
  } catch (error) {
    const [what] = (error as Error).message.split(/\. |\n/);
    const meant = await meantBy(what ?? '', Object.keys(options));
    throw new UsageError(`${what}${meant} (\`${commandName()} ${command.name} --help\`)`);
  }
}

/** An option of which only one value counts, and which has several: none of them is dropped without a word. */
function saidTwice({ options }: Command, tokens: readonly { readonly kind: string; readonly name?: string }[]) {
  const named = tokens.flatMap(({ kind, name = '' }) => (kind === 'option' ? [name] : []));
  return named.find((name, at) => {
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    return option?.type === 'string' && option.multiple !== true && named.indexOf(name) < at;
  });
}

/** The option that a misspelt one most likely means, in words. */
async function meantBy(what: string, known: readonly string[]): Promise<string> {
  const given = /^Unknown option '--([^']*)'/.exec(what)?.[1];
  if (given === undefined) return '';
  const { nearestName } = await import('../kernel/text.ts');
  const near = nearestName(given, known);
  return near === null ? '' : `; did you mean --${near}?`;
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('the current folder does not exist any more; change to another one, or name one with -C');
  }
}

function countWords({ name, args, words: [min, max] }: Command, { length }: readonly string[]): void {
  if (length >= min && length <= max) return;
  throw new UsageError(`say: baton ${name}${args ? ` ${args}` : ''} (\`${commandName()} ${name} --help\`)`);
}

/** One clear line for people; where JSON was asked for, the same as a verdict. */
function report(error: unknown, json: boolean): number {
  const { code, exit, reason, details } = describeError(error);
  note(`baton: ${oneLine(reason)}`);
  if (exit === EXIT_CODE.fault && process.env.BATON_DEBUG) note((error as Error)?.stack ?? '');
  if (json) outJson({ allow: false, code, reason, details });
  return exit;
}

function describeError(error: unknown) {
  if (error instanceof UsageError) {
    return { code: error.code, exit: EXIT_CODE.usage, reason: error.message, details: error.details };
  }
  if (error instanceof Refused) return { ...error.verdict, exit: exitOf(error.verdict) };
  if (error instanceof StorageError) {
    return { code: error.code, exit: EXIT_CODE.fault, reason: error.message, details: {} };
  }
  const { message, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (syscall !== undefined) {
    return { code: 'STORAGE_FAILED', exit: EXIT_CODE.fault, reason: `${message}; check that path`, details: {} };
  }
  const reason = `an internal fault: ${message ?? String(error)} (BATON_DEBUG=1 shows where)`;
  return { code: 'INTERNAL', exit: EXIT_CODE.fault, reason, details: {} };
}
