// Tokens, cost and time a cast may use. A dispatch reserves what its socket used at most before, so that turns in
// flight at the same time cannot overdraw together; the outcome settles it. A turn's own reservation does not count
// against it: a cast must be able to reach its maximum. Time is reserved as a deadline: no attempt may outlive the budget.
import type { Input } from '../input.ts';
import { scrub } from '../secrets.ts';
import type { Day, Pen } from '../state.ts';
import { truncate } from '../text.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { type AgentNote, attemptName, type Cast, type Reserved, type Session, type Turn, type Usage } from './state.ts';

export function tokensOf(cast: Cast): number {
  return cast.usage.input + cast.usage.output;
}

export function elapsedOf(cast: Cast, at: number): number {
  const { elapsedMs, runningSince } = cast.clock;
  return elapsedMs + (runningSince === null ? 0 : Math.max(0, at - runningSince));
}

/** Whether the allowance is used up, counting what is settled. */
export function exhausted(cast: Cast, at: number): Denied | null {
  return overdrawn(cast, at, { tokens: 0, cost: 0 });
}

/** Whether another dispatch fits next to the reservations of the turns in flight. */
export function mayDispatch(cast: Cast, at: number): Denied | null {
  const reserved = { tokens: 0, cost: 0 };
  for (const turn of Object.values(cast.turns)) {
    reserved.tokens += turn.reserved;
    if (isInFlight(turn)) reserved.cost += cast.peaks[turn.socket]?.cost ?? 0;
  }
  return overdrawn(cast, at, reserved);
}

const DAY_MS = 86_400_000;

/** Whether the workspace has anything left of its day, by universal time. What is over it waits for the next one. */
export function mayDispatchToday(day: Day, cast: Cast, at: number): Denied | null {
  const { maxTokensPerDay = null, maxCostPerDay = null } = cast.rules.budget;
  if (maxTokensPerDay === null && maxCostPerDay === null) return null;
  const date = new Date(at).toISOString().slice(0, 10);
  if (day.date !== date) return null;
  const { tokens, cost } = day;
  const what =
    maxTokensPerDay !== null && tokens >= maxTokensPerDay
      ? `${tokens} of ${maxTokensPerDay} tokens a day are used`
      : maxCostPerDay !== null && cost >= maxCostPerDay
        ? `${cost} of ${maxCostPerDay} a day is spent`
        : null;
  if (what === null) return null;
  const notBefore = (Math.floor(at / DAY_MS) + 1) * DAY_MS;
  const reason = `${what} in this workspace; it goes on at ${new Date(notBefore).toISOString()}, or after budget.max…PerDay was raised and the cast started again`;
  return deny('DAILY_CAP_REACHED', reason, { date, tokens, cost, notBefore });
}

/** The tokens a dispatch reserves. What it may cost follows from its socket as long as it is in flight. */
export function reservationFor(cast: Cast, socket: string): number {
  return cast.peaks[socket]?.tokens ?? 0;
}

/** How long the attempt that a turn is at may take: its socket's own limit, or what was left of the budget when it began. */
export function timeoutOf(cast: Cast, turn: Pick<Turn, 'ranAtStart'>, limitMs: number): number {
  const { maxDurationMs } = cast.budget;
  if (maxDurationMs === null) return limitMs;
  return Math.max(1, Math.min(limitMs, maxDurationMs - turn.ranAtStart));
}

/**
 * The time that is left of the budget, where the budget and not the socket limits the attempt; else null. An attempt that
 * ran out of time used it up, also while the cast had no driver to measure it.
 */
export function budgetTimeLeft(cast: Cast, turn: Pick<Turn, 'ranAtStart'>, limitMs: number): number | null {
  const { maxDurationMs } = cast.budget;
  if (maxDurationMs === null || maxDurationMs - turn.ranAtStart >= limitMs) return null;
  return Math.max(0, maxDurationMs - cast.clock.elapsedMs);
}

function isInFlight({ phase }: Turn): boolean {
  return phase === 'running' || phase === 'verifying';
}

/** The percentage at which a person is warned, reached for the first time; else null. */
function warningDue(cast: Cast): number | null {
  const { maxTokens, warned } = cast.budget;
  if (warned || maxTokens === null || maxTokens === 0) return null;
  const percent = Math.floor((tokensOf(cast) / maxTokens) * 100);
  return percent >= cast.rules.budget.warnAtPercent ? percent : null;
}

/** When the time allowance runs out, or null. */
export function deadlineOf(cast: Cast): number | null {
  const { maxDurationMs } = cast.budget;
  if (maxDurationMs === null || cast.clock.runningSince === null) return null;
  return cast.clock.runningSince + Math.max(0, maxDurationMs - cast.clock.elapsedMs);
}

/** The limits of a cast that is revived: every one that is used up leaves room for as much as the cast had at first. */
export function refilled(cast: Cast, at: number): Omit<Cast['budget'], 'warned'> {
  const { maxTokens, maxCost, maxDurationMs } = cast.budget;
  const first = cast.rules.budget;
  const more = (limit: number | null, used: number, amount: number | null) =>
    limit === null || used < limit ? limit : used + (amount ?? 0);
  return {
    maxTokens: more(maxTokens, tokensOf(cast), first.maxTokens),
    maxCost: more(maxCost, cast.usage.cost, first.maxCost),
    maxDurationMs: more(maxDurationMs, elapsedOf(cast, at), first.maxDurationMs),
  };
}

function overdrawn(cast: Cast, at: number, reserved: Reserved): Denied | null {
  const { maxTokens, maxCost, maxDurationMs } = cast.budget;
  const tokens = tokensOf(cast);
  if (maxTokens !== null && tokens + reserved.tokens >= maxTokens) {
    const what = `${tokens} of ${maxTokens} tokens are used${besides(reserved.tokens)}`;
    return refuse(what, { tokens, reserved: reserved.tokens, maxTokens });
  }
  const { cost } = cast.usage;
  if (maxCost !== null && cost + reserved.cost >= maxCost) {
    const what = `${cost} of ${maxCost} is spent${besides(reserved.cost)}`;
    return refuse(what, { cost, reserved: reserved.cost, maxCost });
  }
  const elapsedMs = elapsedOf(cast, at);
  if (maxDurationMs !== null && elapsedMs >= maxDurationMs) {
    return refuse(`${elapsedMs} of ${maxDurationMs} ms are over`, { elapsedMs, maxDurationMs });
  }
  return null;
}

function besides(reserved: number): string {
  return reserved > 0 ? `, and turns in flight may need ${reserved}` : '';
}

function refuse(what: string, details: Record<string, number>): Denied {
  return deny('BUDGET_EXHAUSTED', `the budget of the cast is exhausted: ${what}`, details);
}

/** The usage of an attempt that has no outcome: it was stopped, or its cast was over before the answer was taken. */
export type AttemptUsage = { readonly usage?: Usage; readonly agent?: AgentNote };

/**
 * The runner reports what a stopped attempt had used. The turn may be gone by then or at another attempt, and several
 * processes may report the same usage.
 */
export function takeUsage(pen: Pen, cast: Cast, input: Extract<Input, { kind: 'attempt.spent' }>): Verdict {
  const { turn: id, attempt } = input;
  const turn = cast.turns[id];
  if (turn && (attempt > turn.attempt || (attempt === turn.attempt && hasItsEndAhead(cast, turn)))) {
    return deny('NOT_ALLOWED_NOW', `attempt ${attempt} of turn ${id} is not over; its outcome tells what it used`);
  }
  if (cast.spent?.includes(attemptName(id, attempt))) {
    return deny('NOT_ALLOWED_NOW', `what attempt ${attempt} of turn ${id} used is counted already`);
  }
  recordUsage(pen, cast, { id, attempt }, input);
  return allow(`what attempt ${attempt} of turn ${id} used is counted`);
}

export function recordUsage(
  pen: Pen,
  cast: Cast,
  { id, attempt }: Pick<Turn, 'id' | 'attempt'>,
  { usage, agent }: AttemptUsage,
): void {
  if (!usage || usage.input + usage.output + usage.cost === 0) return;
  const note = cleanNote(agent);
  pen.write({ kind: 'attempt.spent', cast: cast.id, turn: id, attempt, usage, ...(note ? { agent: note } : {}) });
  warn(pen, cast);
}

/** A cast that ends while answers are being verified takes none of them any more. */
export function recordUntaken(pen: Pen, cast: Cast): void {
  for (const turn of Object.values(cast.turns)) {
    if (turn.phase === 'verifying' && turn.answered) recordUsage(pen, cast, turn, turn.answered);
  }
}

function hasItsEndAhead({ status }: Cast, { phase }: Turn): boolean {
  return phase === 'verifying' || (phase === 'running' && status === 'running');
}

/** Warns once that the budget is nearly used up. */
export function warn(pen: Pen, cast: Cast): void {
  const percent = warningDue(cast);
  if (percent !== null) pen.write({ kind: 'budget.warned', cast: cast.id, usage: cast.usage, percent });
}

const NAMES_MAX = 50;

const NAME_CHARS_MAX = 200;

const WARNING_CHARS_MAX = 500;

/** A conversation's name becomes an argument; one that begins with a dash would be taken for an option. */
const SESSION_ID = /^[A-Za-z0-9][\w.-]{0,199}$/;

/** Undefined when nothing is left to note. */
export function cleanNote(note: AgentNote | undefined): AgentNote | undefined {
  if (!note) return undefined;
  const { runner, model, unpriced, session, denials = [], warnings = [], commands, unapproved = [] } = note;
  const kept: AgentNote = {
    ...(runner === undefined ? {} : { runner: line(runner, NAME_CHARS_MAX) }),
    ...(model === undefined ? {} : { model: line(model, NAME_CHARS_MAX) }),
    ...(unpriced ? { unpriced } : {}),
    ...(session && isUsable(session) ? { session } : {}),
    ...(denials.length > 0 ? { denials: listed(denials, NAMES_MAX, NAME_CHARS_MAX) } : {}),
    ...(warnings.length > 0 ? { warnings: listed(warnings, NAMES_MAX, WARNING_CHARS_MAX) } : {}),
    ...(commands === undefined ? {} : { commands: listed(commands, COMMANDS_MAX, COMMAND_CHARS_MAX) }),
    ...(unapproved.length > 0 ? { unapproved: listed(unapproved, COMMANDS_MAX, COMMAND_CHARS_MAX) } : {}),
  };
  return Object.keys(kept).length > 0 ? kept : undefined;
}

function isUsable({ id }: Session): boolean {
  return SESSION_ID.test(id);
}

function listed(texts: readonly string[], max: number, charsMax: number): readonly string[] {
  return [...new Set(texts)].slice(0, max).map((text) => line(text, charsMax));
}

function line(text: string, charsMax: number): string {
  return truncate(scrub(text).text, charsMax);
}

export const COMMANDS_MAX = 50;

export const COMMAND_CHARS_MAX = 300;
