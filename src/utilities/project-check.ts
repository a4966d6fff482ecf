// Project-Check: runs the checks that a project has, or those that `params.commands` lists, one after the other and without a
// shell. It is satisfied when all of them pass, and otherwise says how each one failed.
import { spawn } from 'node:child_process';
import { isText, type Json } from '../kernel/json.ts';
import { lastChars } from '../kernel/text.ts';
import { detectProject } from './detect-project.ts';
import { type ShippedInput, type UtilityOutcome, utilityFault, utilityResult } from './utility.ts';

type Check = { readonly name: string; readonly command: readonly string[] };
type Ran = Check & {
  readonly ok: boolean;
  readonly exitCode: number | null;
  readonly seconds: number;
  readonly end: string;
};

const CHECKS_MAX = 20;
/** The end of an output says what went wrong. */
const OUTPUT_CHARS_MAX = 2_000;

export async function projectCheck({ cwd, params }: ShippedInput): Promise<UtilityOutcome> {
  const checks = params.commands === undefined ? detectProject(cwd).checks : listed(params.commands);
  if (typeof checks === 'string') return utilityFault(checks);
  const ran: Ran[] = [];
  for (const check of checks) ran.push(await run(cwd, check));
  const failed = ran.filter(({ ok }) => !ok);
  const state = { ok: true, checks: ran.map(({ end: _end, ...rest }) => rest) };
  return utilityResult({
    satisfied: failed.length === 0,
    context: wordsFor(ran, failed),
    state: { projectCheck: state },
  });
}

function wordsFor(ran: readonly Ran[], failed: readonly Ran[]): string {
  if (ran.length === 0) return 'No checks were found in this project; name some in params.commands.';
  if (failed.length === 0) return `All checks pass: ${ran.map(({ name }) => name).join(', ')}.`;
  return failed
    .map(({ command, exitCode, end }) => {
      const how = exitCode === null ? 'could not be run' : `ended with exit code ${exitCode}`;
      return `\`${command.join(' ')}\` ${how}${end === '' ? '.' : `:\n${end}`}`;
    })
    .join('\n\n');
}

/** The commands of the parameters, each a list of words, or what is wrong with them. */
function listed(value: Json): readonly Check[] | string {
  const isCommand = (one: Json): one is readonly string[] => Array.isArray(one) && one.length > 0 && one.every(isText);
  if (!Array.isArray(value) || !value.every(isCommand))
    return 'params.commands must be a list of commands, each a list of words such as ["npm", "test"]';
  if (value.length > CHECKS_MAX) return `params.commands has ${value.length} commands; at most ${CHECKS_MAX} are run`;
  return value.map((command) => ({ name: command.join(' '), command }));
}

function run(cwd: string, check: Check): Promise<Ran> {
  const { promise, resolve } = Promise.withResolvers<Ran>();
  const [program = '', ...args] = check.command;
  const began = Date.now();
  let text = '';
  const end = (exitCode: number | null, why = '') => {
    const seconds = Math.round((Date.now() - began) / 100) / 10;
    const end = lastChars(`${text}${why}`.trim(), OUTPUT_CHARS_MAX);
    resolve({ ...check, ok: exitCode === 0, exitCode, seconds, end: end });
  };
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const take = (part: Buffer) => {
    text = lastChars(text + part.toString('utf8'), OUTPUT_CHARS_MAX * 2);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  child.on('error', (error) => end(null, error.message));
  child.on('close', (code) => end(code ?? 1));
  return promise;
}
