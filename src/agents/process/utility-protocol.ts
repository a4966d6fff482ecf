// How a utility is spoken to: one JSON object on its standard input, its result on standard output, diagnostics on
// standard error, and exit code 0 for success. The command is an argument list and never goes through a shell.
import path from 'node:path';
import type { UtilityInput } from '../../kernel/cast/packet.ts';
import type { Code } from '../../kernel/codes.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { withoutTrace } from '../fault.ts';
import type { AttemptEnd } from './attempt.ts';

/** Where a utility runs, and the data that belongs to that place. */
type UtilityScope = {
  readonly id: string;
  readonly cwd: string;
  readonly state: JsonObject;
  readonly exports: JsonObject;
};

export type UtilityCall = UtilityInput & {
  readonly cwd: string;
  /** A folder for the utility's own files. */
  readonly runDir: string;
  readonly castId: string;
  readonly socketId: string;
  readonly materiaId: string;
  readonly materiaLabel: string;
  readonly params: JsonObject;
  /** Without one, the cast's own place: `cwd` with nothing in it. */
  readonly baseScope?: UtilityScope;
  /** Without one, the base scope. */
  readonly executionScope?: UtilityScope;
};

/** What a utility reads from its standard input. */
export type UtilityMessage = Required<UtilityCall>;

type UtilityResult =
  | { readonly ok: true; readonly output: string; readonly truncated: boolean }
  | { readonly ok: false; readonly code: Code; readonly reason: string };

/** Of each stream, from its end. */
const TOLD_CHARS_MAX = 800;

export function utilityMessage(call: UtilityCall): UtilityMessage {
  const baseScope = call.baseScope ?? { id: 'base', cwd: call.cwd, state: {}, exports: {} };
  return {
    cwd: call.cwd,
    executionScope: call.executionScope ?? baseScope,
    baseScope,
    runDir: call.runDir,
    request: call.request,
    castId: call.castId,
    socketId: call.socketId,
    materiaId: call.materiaId,
    materiaLabel: call.materiaLabel,
    params: call.params,
    state: call.state,
    item: call.item,
    itemKey: call.itemKey,
    itemLabel: call.itemLabel,
    cursor: call.cursor,
    cursors: call.cursors,
    rework: call.rework,
  };
}

/** The bytes of a message: one line, then the end of the input. */
export function utilityStdin(call: UtilityCall): string {
  return `${JSON.stringify(utilityMessage(call))}\n`;
}

/**
 * The argument list to run. A script named relative to the configuration (`./x.mjs`, alone or after `node`) is looked
 * up next to the configuration that declared it, wherever the utility runs; alone, it is run by our own Node.
 */
export function resolveCommand(command: readonly string[], baseDir: string): string[] {
  const [program = '', first = '', ...rest] = command;
  if (isRelativeScript(program)) return [process.execPath, path.resolve(baseDir, program), ...command.slice(1)];
  if (program === 'node' && isRelativeScript(first)) return [program, path.resolve(baseDir, first), ...rest];
  return [...command];
}

/** What an ended process means. Output counts only after exit code 0, however well-formed it is. */
export function readUtility(end: AttemptEnd, timeoutMs: number): UtilityResult {
  const fail = (code: Code, what: string): UtilityResult => ({
    ok: false,
    code,
    reason: withStdout(withStderr(what, end.stderr), end),
  });
  if (end.lost) return fail('OUTCOME_UNKNOWN', 'the utility was cut off and may have run');
  if (end.aborted) return fail('ABORTED', 'the utility was stopped');
  if (end.timedOut) return fail('UTILITY_FAILED', lateWords(end, timeoutMs));
  if (end.error !== undefined) return fail('UTILITY_FAILED', end.error);
  if (end.signal !== null) return fail('UTILITY_FAILED', `the utility was ended by ${end.signal}`);
  if (end.code !== 0) return fail('UTILITY_FAILED', `the utility ended with exit code ${end.code}`);
  return { ok: true, output: end.stdout, truncated: end.stdoutTruncated };
}

function isRelativeScript(argument: string): boolean {
  return argument.startsWith('./') && /\.[mc]?js$/.test(argument);
}

// The end of the diagnostics, because that is where programs say what went wrong.
function withStderr(what: string, stderr: string): string {
  const printed = withoutTrace(stderr).trim();
  return printed === '' ? what : `${what}: ${lastOf(printed)}`;
}

/** An interrupted utility has no result, but its output may show how far it came. */
function withStdout(what: string, { timedOut, signal, stdout }: AttemptEnd): string {
  const printed = stdout.trim();
  return printed === '' || (!timedOut && signal === null)
    ? what
    : `${what}; until then it had written ${lastOf(printed)}`;
}

/** A pair cut in two would leave its second half in front. */
function lastOf(printed: string): string {
  return printed.slice(-TOLD_CHARS_MAX).replace(/^[\uDC00-\uDFFF]/, '');
}

function lateWords({ silent, signs }: Pick<AttemptEnd, 'silent' | 'signs'>, timeoutMs: number): string {
  const what = silent ? 'the utility gave no sign of life' : `the utility did not end within ${timeoutMs} ms`;
  return `${what} and was stopped${signs === undefined ? '' : `: ${signs}`}`;
}
