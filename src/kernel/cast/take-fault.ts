// An attempt that gave no answer: what is tried next, or how it ends.
import type { Fault } from '../fact.ts';
import type { Input } from '../input.ts';
import { isSpent } from '../ledger/move.ts';
import type { Task } from '../ledger/state.ts';
import { scrub } from '../secrets.ts';
import { type Cast, FREE, type Turn } from '../state.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import { cleanNote } from './agent-note.ts';
import { newest, wellFormed } from './cut.ts';
import { fail, materiaOf, type Pen } from './pen.ts';
import { isScripted, scriptedTurn } from './script.ts';
import { secondTry } from './second-try.ts';
import { block, taskOfTurn } from './task.ts';
import { runsOnce, waitIfUnknown } from './unknown.ts';
import { warn } from './warn.ts';

export function takeFault(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  input: Extract<Input, { kind: 'attempt.failed' }>,
): Verdict {
  const { fault, code: cause } = input;
  const tries = Number.isSafeInteger(input.tries) ? Math.max(1, input.tries ?? 1) : 1;
  const isAgent = materiaOf(cast, turn.socket).type === 'agent';
  const task = taskOfTurn(pen.state, cast, turn);
  const isUnknown = runsOnce(cast, turn) && mayHaveWorked(input);
  const { next, told } = isUnknown
    ? { next: { again: true, isUnknown: true as const }, told: '' }
    : fault === 'timeout'
      ? { next: { again: isAgent && mayTryAgain(cast, turn, task) }, told: '' }
      : isAgent || isScripted(cast, turn.socket)
        ? secondTry(pen, cast, turn, { ...input, tries })
        : { next: { again: false }, told: '' };
  const { again } = next;
  const usage = input.usage ?? FREE;
  const { id, attempt } = turn;
  const code = codeOf(fault, isAgent);
  const agent = cleanNote(input.agent);
  const why = scrub(input.reason).text;
  const reason = told === '' || cause === undefined ? why : `${why}; ${told}`;
  pen.write({
    ...{ kind: 'attempt.failed', cast: cast.id, turn: id, attempt, fault, code, reason, usage, ...next },
    ...(cause === undefined ? {} : { cause }),
    ...(agent ? { agent } : {}),
    ...lastWords(input.said),
    ...(tries > 1 ? { tries } : {}),
  });
  warn(pen, cast);
  if (isUnknown) {
    pen.write({ kind: 'turn.unknown', cast: cast.id, turn: id, attempt, reason });
    waitIfUnknown(pen, cast);
    return allow(`turn ${id} waits for a person`);
  }
  if (fault === 'timeout' && task) block(pen, task, 'TASK_TIMEOUT', reason, { turn: id, attempt });
  if (again) return allow(`turn ${id} is tried once more`);
  const details = { fault, socket: turn.socket, ...(cause === undefined ? {} : { cause }) };
  const verdict = deny(code, `${turn.socket}: ${reason}`, details);
  fail(pen, cast, verdict, id);
  return verdict;
}

const SAID_CHARS_MAX = 4_000;

/** The end of what it said, because the end says what went wrong. A secret is found whole before anything is cut. */
function lastWords(said = ''): { readonly said?: string } {
  const words = newest(wellFormed(scrub(said).text).trim(), SAID_CHARS_MAX);
  return words === '' ? {} : { said: words };
}

/** Cut off in the middle: nobody knows what it did before. A program that ended by itself, or never began, is another matter. */
function mayHaveWorked({ fault, code }: Extract<Input, { kind: 'attempt.failed' }>): boolean {
  return code === undefined && (fault === 'timeout' || fault === 'crash' || fault === 'transport');
}

/** A silent agent's task is handed out again while its retries last, if there is anybody to hand it to. */
function mayTryAgain(cast: Cast, turn: Turn, task: Task | null): boolean {
  if (!turn.item || !task || isSpent(task)) return false;
  return !turn.script || scriptedTurn(cast, { ...turn.script, index: turn.script.index + 1 }) !== undefined;
}

function codeOf(fault: Fault, isAgent: boolean): 'AGENT_FAILED' | 'AGENT_TIMEOUT' | 'UTILITY_FAILED' {
  if (fault === 'unscripted' || fault === 'refused') return 'AGENT_FAILED';
  if (!isAgent) return 'UTILITY_FAILED';
  return fault === 'timeout' ? 'AGENT_TIMEOUT' : 'AGENT_FAILED';
}
