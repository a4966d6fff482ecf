// An attempt that gave no answer: what is tried next, and how the turn ends when nothing helps. A process that takes over a
// cast judges its attempts here as well.
import { runnerCan } from '../capabilities.ts';
import type { Code } from '../codes.ts';
import type { Input } from '../input.ts';
import { isObject, isText, type Json } from '../json.ts';
import { take } from '../ledger/claim.ts';
import { expireTask, isSpent, lastSign } from '../ledger/move.ts';
import { type Task, tasksOf } from '../ledger/state.ts';
import { scrub } from '../secrets.ts';
import type { Pen } from '../state.ts';
import { lastChars, utf8Length, wellFormed } from '../text.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import { bytesThatStay } from './brief.ts';
import { type AttemptUsage, cleanNote, recordUsage, warn } from './budget.ts';
import type { CastFact, Fault, Judged } from './fact.ts';
import { taskOfTurn } from './item.ts';
import {
  choiceName,
  choicesOf,
  chosenMateria,
  isScripted,
  materiaOf,
  nextChoice,
  runsOnce,
  scriptedTurn,
} from './rules.ts';
import { type Cast, FREE, type Turn, turnOn } from './state.ts';
import { failTurn, giveUp } from './stop.ts';
import { blockTask } from './task.ts';

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
  const { next, words } = isUnknown
    ? { next: { again: true, isUnknown: true as const }, words: '' }
    : fault === 'timeout'
      ? { next: { again: isAgent && mayTryAgain(cast, turn, task) }, words: '' }
      : isAgent || isScripted(cast, turn.socket)
        ? secondTry(pen, cast, turn, { ...input, tries })
        : { next: { again: false }, words: '' };
  const { again } = next;
  const usage = input.usage ?? FREE;
  const { id, attempt } = turn;
  const code = codeOf(fault, isAgent);
  const agent = cleanNote(input.agent);
  const why = scrub(input.reason).text;
  const reason = words === '' || cause === undefined ? why : `${why}; ${words}`;
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
  if (fault === 'timeout' && task) blockTask(pen, task, 'TASK_TIMEOUT', reason, { turn: id, attempt });
  if (again) return allow(`turn ${id} is tried once more`);
  const details = { fault, socket: turn.socket, ...(cause === undefined ? {} : { cause }) };
  const verdict = deny(code, `${turn.socket}: ${reason}`, details);
  failTurn(pen, cast, turn, verdict);
  return verdict;
}

const SAID_CHARS_MAX = 4_000;

/** The last words, because the end says what went wrong. Secrets are removed before the text is cut. */
function lastWords(said = ''): { readonly said?: string } {
  const words = lastChars(wellFormed(scrub(said).text).trim(), SAID_CHARS_MAX);
  return words === '' ? {} : { said: words };
}

/** The attempt was cut off, so its effects are unknown. A program that ended by itself, or never began, is different. */
function mayHaveWorked({ fault, code }: Extract<Input, { kind: 'attempt.failed' }>): boolean {
  return code === undefined && (fault === 'timeout' || fault === 'crash' || fault === 'transport');
}

/** A silent agent's task is given out again while its retries last and a script has another turn. */
function mayTryAgain(cast: Cast, turn: Turn, task: Task | null): boolean {
  if (!turn.item || !task || isSpent(task)) return false;
  return !turn.script || scriptedTurn(cast, { ...turn.script, index: turn.script.index + 1 }) !== undefined;
}

function codeOf(fault: Fault, isAgent: boolean): 'AGENT_FAILED' | 'AGENT_TIMEOUT' | 'UTILITY_FAILED' {
  if (fault === 'unscripted' || fault === 'refused') return 'AGENT_FAILED';
  if (!isAgent) return 'UTILITY_FAILED';
  return fault === 'timeout' ? 'AGENT_TIMEOUT' : 'AGENT_FAILED';
}

/** A crash or a dropped connection is tried once more. */
const FAULT_RETRIES_MAX = 1;
/** How often a turn asks again in all: its programs and adapters within an attempt, and the engine with another attempt. */
const RETRIES_MAX = 4;
const WAITS_MAX = 3;
/** Providers that name no time get this long. */
const WAIT_MS = 60_000;
/** A longer wait than this is a person's to decide. */
const WAIT_MS_MAX = 3_600_000;
/** What has to stay is not cut to less than this. */
const BRIEF_BYTES_MIN = 1_024;

type Next = Pick<
  Extract<CastFact, { kind: 'attempt.failed' }>,
  'again' | 'choice' | 'briefBytesMax' | 'forgetsSession' | 'until'
>;

/** The next attempt, and the words about it for people. */
type SecondTry = { readonly next: Next; readonly words: string };

const NONE: SecondTry = { next: { again: false }, words: '' };

/** How often the next attempt of the turn may ask its provider again by itself. */
export function retriesLeft({ faults, retries = 0 }: Pick<Turn, 'faults' | 'retries'>): number {
  return Math.max(0, RETRIES_MAX - faults - retries);
}

function secondTry(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  {
    fault,
    code: cause,
    retryAfterMs,
    tries = 1,
  }: Pick<Extract<Input, { kind: 'attempt.failed' }>, 'fault' | 'code' | 'retryAfterMs' | 'tries'>,
): SecondTry {
  const mayRepeat = turn.faults < FAULT_RETRIES_MAX && retriesLeft(turn) >= tries;
  const found = cause === undefined ? null : byCause(pen, cast, turn, cause, retryAfterMs, mayRepeat);
  if (found) return found;
  if (fault !== 'crash' && fault !== 'transport') return NONE;
  if (mayRepeat) return { next: { again: true }, words: 'tried once more' };
  if (fault === 'crash' && tries === 1) return NONE;
  const asked = turn.faults + (turn.retries ?? 0) + tries;
  return asked > 1 ? { ...NONE, words: `asked ${asked} times in all` } : NONE;
}

function byCause(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  cause: Code,
  retryAfterMs: number | undefined,
  mayRepeat: boolean,
): SecondTry | null {
  const other = otherChoice(cast, turn, cause, mayRepeat);
  if (other) return other;
  switch (cause) {
    case 'SESSION_LOST':
      if (turn.session === null) return null;
      return { next: { again: true, forgetsSession: true }, words: 'tried again in a new conversation' };
    case 'CONTEXT_OVERFLOW':
      return shortened(pen, cast, turn);
    case 'RATE_LIMITED':
      return patience(turn, retryAfterMs ?? WAIT_MS, pen.at) ?? NONE;
    default:
      return null;
  }
}

function otherChoice(cast: Cast, turn: Turn, cause: Code, mayRepeat: boolean): SecondTry | null {
  const materia = materiaOf(cast, turn.socket);
  if (materia.type === 'utility') return null;
  const choice = nextChoice(cast.rules, materia, turn.choice, cause, !mayRepeat);
  const named = choice === null ? undefined : choicesOf(cast.rules, materia)[choice];
  if (choice === null || !named) return null;
  const words = runnerCan(cast.rules, named.runner, 'isPerson')
    ? 'a person is asked instead'
    : `${choiceName(named)} is tried instead`;
  return { next: { again: true, choice }, words };
}

/** Less than was too long, once: half of a long brief, a short one without what came before, or the same in a new conversation. */
function shortened(pen: Pen, cast: Cast, turn: Turn): SecondTry {
  const { maxBriefBytes } = cast.rules.limits;
  if (turn.briefBytesMax !== null) {
    const had = turn.briefBytesMax < maxBriefBytes ? 'it had been shortened' : 'it had a new conversation';
    return { ...NONE, words: `${had} already, and is not tried again` };
  }
  if (turn.session !== null) {
    // The brief was short and the conversation was not: a new one gets the whole brief.
    const next = { again: true, briefBytesMax: maxBriefBytes, forgetsSession: true };
    return { next, words: 'tried again in a new conversation' };
  }
  const size = Math.min(maxBriefBytes, utf8Length(turn.brief ?? ''));
  const half = Math.floor(size / 2);
  const briefBytesMax = half < BRIEF_BYTES_MIN ? Math.min(size, bytesThatStay(pen, cast, turn)) : half;
  if (briefBytesMax < size) {
    const words = `tried once more with a brief of at most ${briefBytesMax} bytes instead of ${size}`;
    return { next: { again: true, briefBytesMax }, words };
  }
  const short = `of its brief of ${size} bytes nothing can be left out`;
  const materia = chosenMateria(cast, turn);
  if (materia.type === 'utility' || !runnerCan(cast.rules, materia.runner, 'keepsSession'))
    return { ...NONE, words: `${short}, so it is not tried again` };
  const words = `${short}, so it is tried once more in a new conversation, without what it had read in this one`;
  // As much as any brief may measure: nothing of it is left out.
  return { next: { again: true, briefBytesMax: maxBriefBytes }, words };
}

function patience({ waits }: Turn, waitMs: number, at: number): SecondTry | null {
  if (waits >= WAITS_MAX || !(waitMs <= WAIT_MS_MAX)) return null;
  const until = at + Math.max(1_000, Math.ceil(waitMs));
  return { next: { again: true, until }, words: `tried again at ${new Date(until).toISOString()}` };
}

/**
 * A crash cut an attempt off. A turn that must not run twice waits for a person. Any other runs again under a larger fence,
 * so the old attempt can neither answer nor write.
 */
export function loseAttempt(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  mayHaveRun: boolean,
  reason: string,
  spending: AttemptUsage = {},
): Verdict {
  recordUsage(pen, cast, turn, spending);
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt, reason };
  if (!runsOnce(cast, turn) || !mayHaveRun) {
    pen.write({ kind: 'attempt.lost', ...common });
    renewClaim(pen, cast, turn);
    return allow(`turn ${turn.id} runs again`);
  }
  pen.write({ kind: 'turn.unknown', ...common });
  waitIfUnknown(pen, cast);
  return allow(`turn ${turn.id} waits for a person`);
}

function renewClaim(pen: Pen, cast: Cast, turn: Turn): void {
  const task = taskOfTurn(pen.state, cast, turn);
  if (task?.status === 'in_progress' && task.fence === turn.fence) take(pen, task, task.owner);
}

/** Marks the running turns that may not be repeated, before whatever stops them. */
export function markUnknown(pen: Pen, cast: Cast, reason: string): void {
  for (const turn of Object.values(cast.turns)) {
    if (turn.phase !== 'running' || !runsOnce(cast, turn)) continue;
    pen.write({ kind: 'turn.unknown', cast: cast.id, turn: turn.id, attempt: turn.attempt, reason });
  }
}

/** Lets the cast wait when one of its turns needs a decision; answers whether it does. */
export function waitIfUnknown(pen: Pen, cast: Cast): boolean {
  const turn = Object.values(cast.turns).find(({ phase }) => phase === 'unknown');
  if (!turn) return false;
  const { label } = materiaOf(cast, turn.socket);
  const how = `decide with: baton decide ${cast.id}:${turn.id} rerun|accept|fail`;
  const reason = `${turn.socket} (${label}) may have run before it was cut off; ${how}`;
  pen.write({ kind: 'cast.waiting', cast: cast.id, code: 'OUTCOME_UNKNOWN', reason });
  return true;
}

/**
 * Why a utility's result is a failure of its tools, or null for an ordinary result. It is a failure when `satisfied` is
 * false and a part of its state says `ok: false`. The first such part gives the reason.
 */
export function infrastructureFailure(payload: Json): string | null {
  if (!isObject(payload) || payload.satisfied !== false || !isObject(payload.state)) return null;
  for (const [name, part] of Object.entries(payload.state)) {
    if (!isObject(part) || part.ok !== false) continue;
    const words = [part.error, payload.context, part.message, payload.message].find(isText);
    return words ?? `the utility reported ok: false in state.${name} and gave no reason`;
  }
  return null;
}

type RecoverInput = Extract<Input, { kind: 'cast.recover' }>;

export function recover(pen: Pen, cast: Cast, input: RecoverInput): Verdict {
  if (cast.status !== 'running') return allow(`cast ${cast.id} is ${cast.status}; nothing of it was cut off`);
  const { driver } = input;
  const tasks = tasksOf(pen.ledger, cast.id).filter(({ status }) => status === 'in_progress');
  const judged = tasks.map((task) => judge(pen, cast, task, input));
  pen.write({ kind: 'cast.recovered', cast: cast.id, driver, tasks: judged });
  const late = judged.filter((each) => each.judged === 'timed_out');
  for (const { task, lastHeartbeatAt } of late) expire(pen, cast, task, lastHeartbeatAt);
  const details = { cast: cast.id, in_progress: judged.length, timed_out: late.map(({ task }) => task) };
  return allow(`cast ${cast.id} is taken over`, details);
}

/** Why the silence of a task's agent is no fault; null where the agent should report. */
export function silenceReason(cast: Cast, task: string): string | null {
  const phase = turnOn(cast, task)?.phase ?? 'owed';
  if (phase === 'owed' || phase === 'held' || phase === 'running') return null;
  if (phase === 'awaiting') return 'it waits, and no agent is at work';
  return phase === 'verifying' || phase === 'accepted' || phase === 'merging' || phase === 'parking'
    ? 'its agent has answered'
    : 'it waits for a person';
}

function judge(pen: Pen, cast: Cast, task: Task, { heard: lastSigns = {}, seen = {} }: RecoverInput): Judged {
  const { id, owner, fence, claimedAt, timeoutS } = task;
  const turn = turnOn(cast, id);
  const lastHeartbeatAt = lastSign(Object.hasOwn(lastSigns, id) ? (lastSigns[id] ?? null) : null, claimedAt, pen.at);
  const silentS = Math.floor(pen.at / 1000) - Math.floor(lastHeartbeatAt / 1000);
  const row = { task: id, owner, fence, turn: turn?.id ?? null, lastHeartbeatAt, timeoutS, silentS };
  const quiet = silenceReason(cast, id) ?? SEEN[(turn?.phase === 'running' && seen[turn.id]) || 'nothing'];
  if (quiet !== null) return { ...row, judged: 'alive', why: quiet };
  const why = `it was heard of ${silentS} s ago and has ${timeoutS} s`;
  return { ...row, judged: silentS > timeoutS ? 'timed_out' : 'alive', why };
}

/** A program that still runs is watched by its own supervisor, and an answer that lies ready is no silence. */
const SEEN = {
  running: 'its program still runs',
  answered: 'its answer lies ready',
  nothing: null,
} as const;

/**
 * What must not run twice is left to a person, who is asked when the attempt is given up. Where the retries are used up, a
 * person decides as well.
 */
function expire(pen: Pen, cast: Cast, id: string, lastHeartbeatAt: number): void {
  const task = tasksOf(pen.ledger, cast.id).find((each) => each.id === id);
  if (!task) return;
  const turn = turnOn(cast, id);
  const isLast = isSpent(task);
  const observed = 'no process drove its cast';
  expireTask(pen, { kind: 'task.expire', run: cast.id, task: id, lastHeartbeatAt, why: 'silent', observed });
  if (!isLast || !turn || runsOnce(cast, turn)) return;
  const [code, { reason }] = ['TASK_TIMEOUT', task] as const;
  const usage = { input: 0, output: 0, cost: 0 };
  pen.write({
    ...{ kind: 'turn.blocked', cast: cast.id, turn: turn.id, attempt: turn.attempt },
    ...{ output: '', usage, code, reason },
  });
  giveUp(pen, cast, turn, deny(code, reason, { socket: turn.socket }), {});
}
