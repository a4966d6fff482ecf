// What waits for a person: a person's own turn, and agents that ask or want permission. The cast waits when nothing else of
// it goes on. In a person's own turn the answer is read like any output; otherwise it goes to the agent.
import { type Approval, approvalOf, isUnsettled } from '../approval/state.ts';
import type { Fact } from '../fact.ts';
import { firstEdge } from '../graph/route.ts';
import type { Input } from '../input.ts';
import { scrub } from '../secrets.ts';
import type { Pen } from '../state.ts';
import { collapse, counted, truncate } from '../text.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { takeOutput } from './answer.ts';
import { reclaim, startReady } from './dispatch.ts';
import { isLeftOut, taskOfTurn } from './item.ts';
import { closeConversation } from './report.ts';
import { agentIdOfTurn, chosenMateria, isConversing, materiaOf, reportsStatus, socketOf } from './rules.ts';
import { reopenTurn } from './start.ts';
import { type Cast, type CastStatus, type ExchangeLine, isOver, type OpenQuestion, type Turn } from './state.ts';
import { failTurn, leaveOut } from './stop.ts';

/** Under this name a person's answer is noted. */
function runnerOf(cast: Cast, turn: Turn): string {
  const materia = chosenMateria(cast, turn);
  return materia.type === 'agent' ? materia.runner : '';
}

/** Lets the cast wait when a person has a turn of it and nothing else can go on meanwhile. */
export function waitForPerson(pen: Pen, cast: Cast): void {
  if (cast.status !== 'running') return;
  const turns = Object.values(cast.turns);
  if (turns.some(({ phase }) => GOING_ON.includes(phase))) return;
  const asked = turns.find((turn) => turn.phase === 'asked' && !isDeliveredNow(pen, turn));
  if (!asked) return waitAtEdge(pen, cast, turns);
  const isCutOff = waitsForOutcome(pen, asked);
  const code = isCutOff ? 'OUTCOME_UNKNOWN' : asked.asks?.what === 'approval' ? 'APPROVAL_NEEDED' : 'ANSWER_NEEDED';
  const { until } = asked.asks ?? {};
  const ends = until === undefined ? {} : { until };
  pen.write({ kind: 'cast.waiting', cast: cast.id, code, reason: needed(cast, asked, isCutOff), ...ends });
}

/** Lets the cast wait at an edge that was taken as often as it may be. */
function waitAtEdge(pen: Pen, cast: Cast, turns: readonly Turn[]): void {
  const spent = turns.find(({ phase }) => phase === 'spent');
  const found = spent?.handoff && firstEdge(socketOf(cast, spent.socket), spent.handoff);
  if (!spent || !found) return;
  const { to, maxTraversals } = found.edge;
  const what = spent.item ? ` for ${spent.item.key} (${spent.item.label})` : '';
  const again = `allow ${counted(maxTraversals ?? 0, 'more round')} with: baton continue ${cast.id}`;
  const reason = `the edge ${spent.socket} → ${to} was taken as often as it may be${what}; ${again}`;
  pen.write({ kind: 'cast.waiting', cast: cast.id, code: 'EDGE_BUDGET_EXHAUSTED', reason });
}

/** Whether the command that the turn waits for was allowed, began, and has no known end. */
function waitsForOutcome({ state }: Pen, { asks }: Turn): boolean {
  const approval = approvalOf(state.approvals, asks?.approval ?? '');
  return approval !== null && isUnsettled(approval);
}

/** A decision made before the agent asked is delivered in this same decision, so the cast does not wait. */
function isDeliveredNow(pen: Pen, turn: Turn): boolean {
  return pen.facts.some((fact) => isDecision(fact) && settles(pen, fact, turn));
}

/** Whether the turn waits for just that. */
function settles(pen: Pen, { kind, id }: Decided, turn: Turn): boolean {
  return turn.asks?.approval === id && !(kind === 'approval.finished' && waitsForOutcome(pen, turn));
}

const GOING_ON: readonly Turn['phase'][] = ['owed', 'held', 'running', 'awaiting', 'verifying', 'merging', 'parking'];

function needed(cast: Cast, turn: Turn, isCutOff: boolean): string {
  const { label } = materiaOf(cast, turn.socket);
  if (turn.asks) return questionText(cast, turn, label, turn.asks, isCutOff);
  const again = turn.refusal ? `the last answer was refused (${turn.refusal.verdict.reason}); ` : '';
  return `${turn.socket} (${label}) is a person's turn; ${again}answer with: baton answer ${cast.id} --turn ${turn.id}`;
}

const QUESTION_CHARS_MAX = 300;

/** An agent's question, and the command with which a person answers it. */
function questionText(
  cast: Cast,
  turn: Turn,
  label: string,
  { what, question, approval }: OpenQuestion,
  isCutOff: boolean,
): string {
  const whole = collapse(question);
  const shown = truncate(whole, QUESTION_CHARS_MAX);
  if (what === 'approval') {
    // A person must see a command to its end before approving it.
    const isWhole = shown === whole && !whole.endsWith('…');
    const yes = `baton approve ${approval}${isCutOff ? ' --again' : ''}`;
    const then = isWhole
      ? `, then: ${yes} or baton reject ${approval}`
      : ` (it is ${approval}; to refuse it: baton reject ${approval})`;
    if (isCutOff) {
      return `${turn.socket} (${label}) was allowed to run this, it began, and its end is unknown: ${shown}; find out whether it did its work, look with: baton approvals${then}`;
    }
    return `${turn.socket} (${label}) asks for permission: ${shown}; look with: baton approvals${then}`;
  }
  if (isConversing(cast, turn)) {
    return `${turn.socket} (${label}) says: ${shown}; answer with: baton talk ${cast.id}; when you agree, go on with: baton continue ${cast.id}`;
  }
  return `${turn.socket} (${label}) asks: ${shown}; answer with: baton answer ${cast.id} --turn ${turn.id} "…"`;
}

/** The turns that a person may say something to: those that ask, and those whose agent is blocked and listens. */
function answerable(cast: Cast): readonly Turn[] {
  return Object.values(cast.turns).filter((turn) => turn.phase === 'asked' || isAnswerableWhenBlocked(cast, turn));
}

/** The one turn that is answered; `number` names it where several wait. */
export function turnToAnswer(cast: Cast, number: number | undefined): Turn | Denied {
  const turns = answerable(cast);
  const [turn, ...others] = number === undefined ? turns : turns.filter(({ id }) => id === number);
  if (turn && others.length === 0) return turn;
  const ids = turns.map(({ id }) => id);
  const reason = turn
    ? `turns ${ids.join(', ')} of cast ${cast.id} wait for an answer; name one with --turn`
    : `${number === undefined ? 'no turn' : `turn ${number}`} of cast ${cast.id} ${number === undefined ? 'waits' : 'does not wait'} for an answer`;
  return deny('NOT_ALLOWED_NOW', reason, { waiting: ids });
}

/** Whether the cast waits for this very permission. */
export function waitsForApproval(cast: Cast | null, turn: number, approval: string): boolean {
  return cast?.status === 'waiting' && cast.turns[turn]?.asks?.approval === approval;
}

export function takeAnswer(pen: Pen, cast: Cast, input: Extract<Input, { kind: 'turn.answer' }>): Verdict {
  if (isOver(cast.status) || cast.status === 'paused') {
    const way = cast.status === 'paused' ? 'resume' : 'recast';
    return deny('NOT_ALLOWED_NOW', `cast ${cast.id} is ${cast.status}; \`baton ${way} ${cast.id}\` comes first`);
  }
  const asked = answerable(cast);
  const turn = input.turn === undefined ? asked[0] : asked.find(({ id }) => id === input.turn);
  if (!turn) {
    const which = input.turn === undefined ? 'no turn' : `turn ${input.turn}`;
    const how = input.turn === undefined ? 'waits for an answer' : 'does not wait for an answer';
    return deny('NOT_ALLOWED_NOW', `${which} of cast ${cast.id} ${how}`, { waiting: asked.map(({ id }) => id) });
  }
  if (input.turn === undefined && asked.length > 1) {
    const ids = asked.map(({ id }) => id);
    return deny('NOT_ALLOWED_NOW', `turns ${ids.join(', ')} wait; name one with --turn`, { waiting: ids });
  }
  if (turn.asks?.what === 'approval') {
    const { approval } = turn.asks;
    const late = refusalOfLate(pen, cast, turn);
    if (late) return late;
    const yes = `baton approve ${approval}${waitsForOutcome(pen, turn) ? ' --again' : ''}`;
    const reason = `turn ${turn.id} waits for a decision about ${approval}; use: ${yes} or baton reject ${approval}`;
    return deny('NOT_ALLOWED_NOW', reason, { approval });
  }
  const task = taskOfTurn(pen.state, cast, turn);
  if (turn.item !== null && isLeftOut(task)) {
    const reason = `turn ${turn.id} is left out, because ${turn.task} is ${task?.status}; go on without it: baton continue ${cast.id}`;
    return deny('NOT_ALLOWED_NOW', reason, { turn: turn.id, task: turn.task });
  }
  const isOwn = turn.phase === 'asked' && !turn.asks;
  // A person's answer is not lost because its paths were released meanwhile, unless another task holds them now.
  const unowned = isOwn ? reclaim(pen, cast, turn) : null;
  if (unowned) return unowned;
  if (cast.status === 'waiting') {
    pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `turn ${turn.id} was answered` });
  }
  if (turn.phase === 'blocked') return answerBlocked(pen, cast, turn, input.output);
  if (turn.asks) return tell(pen, cast, turn, 'person', input.output);
  const { at, by, output } = input;
  const where = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  const answer = { kind: 'attempt.output', at, by, ...where, output, agent: { runner: runnerOf(cast, turn) } } as const;
  return takeOutput(pen, cast, turn, answer, true);
}

/** The turns in which an agent talks with a person; `pending` are those in which it has not answered yet. */
export function conversationsIn(cast: Cast): { readonly waiting: readonly Turn[]; readonly pending: readonly Turn[] } {
  const turns = Object.values(cast.turns).filter((turn) => isConversing(cast, turn) && turn.phase !== 'failed');
  const isWaiting = ({ phase }: Turn) => phase === 'asked';
  return { waiting: turns.filter(isWaiting), pending: turns.filter((turn) => !isWaiting(turn)) };
}

/** The conversation that is ended; `number` names its turn where there are several. */
export function conversationToEnd(cast: Cast, number: number | undefined): Turn | Denied {
  const { waiting, pending } = conversationsIn(cast);
  const [turn, ...others] = number === undefined ? waiting : waiting.filter(({ id }) => id === number);
  if (turn && others.length === 0) return turn;
  const ids = waiting.map(({ id }) => id);
  if (turn) {
    const reason = `turns ${ids.join(', ')} of cast ${cast.id} are in a conversation; name one with --turn`;
    return deny('NOT_ALLOWED_NOW', reason, { waiting: ids });
  }
  const [late] = pending.filter(({ id }) => number === undefined || id === number);
  const reason = late
    ? `turn ${late.id} of cast ${cast.id} has not answered yet; continue when it has: baton talk ${cast.id} shows it`
    : `cast ${cast.id} is in no conversation that could be ended`;
  return deny('NOT_ALLOWED_NOW', reason, { waiting: ids });
}

/** A person ends the conversation of a turn: its agent is asked for its final answer. */
export function finishConversation(pen: Pen, cast: Cast, input: Extract<Input, { kind: 'turn.finish' }>): Verdict {
  if (isOver(cast.status) || cast.status === 'paused') {
    const way = cast.status === 'paused' ? 'resume' : 'recast';
    return deny('NOT_ALLOWED_NOW', `cast ${cast.id} is ${cast.status}; \`baton ${way} ${cast.id}\` comes first`);
  }
  const turn = conversationToEnd(cast, input.turn);
  if ('allow' in turn) return turn;
  if (cast.status === 'waiting')
    pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `the conversation of turn ${turn.id} is over` });
  closeConversation(pen, cast, turn);
  return allow(`turn ${turn.id} gives its final answer`, { turn: turn.id });
}

/** Sets an agent that asked to work again, with this text. */
function tell(pen: Pen, cast: Cast, turn: Turn, from: Exclude<ExchangeLine['from'], 'agent'>, text: string): Verdict {
  pen.write({ kind: 'turn.answered', cast: cast.id, turn: turn.id, from, text: scrub(text).text });
  return allow(`turn ${turn.id} goes on`);
}

/**
 * A person decided about a permission, it expired, or a command of unknown end ended. The agent that waits for it gets the
 * outcome and goes on.
 */
export function takeDecisions(pen: Pen, facts: readonly Fact[]): void {
  for (const fact of facts) {
    if (!isDecision(fact)) continue;
    const cast = fact.cast === undefined ? undefined : pen.state.casts[fact.cast];
    const turn = cast?.turns[fact.turn ?? 0];
    if (!cast || !turn || !settles(pen, fact, turn) || isOver(cast.status)) continue;
    if (cast.status === 'waiting') pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `${fact.id} was decided` });
    leaveOut(pen, cast);
    if (cast.turns[turn.id]) tell(pen, cast, turn, 'runtime', decided(fact, approvalOf(pen.state.approvals, fact.id)));
    if (cast.status === 'running') startReady(pen, cast);
    waitForPerson(pen, cast);
  }
}

const DECISIONS = ['approval.approved', 'approval.rejected', 'approval.expired', 'approval.finished'] as const;
type Decided = Extract<Fact, { kind: (typeof DECISIONS)[number] }>;

function isDecision(fact: Fact): fact is Decided {
  return DECISIONS.some((kind) => kind === fact.kind);
}

function decided(fact: Decided, approval: Approval | null): string {
  switch (fact.kind) {
    case 'approval.approved':
      if (approval?.sealed.commands.length === 0) return agreed(fact.id, approval.sealed.operation);
      return `${fact.id} is approved${fact.again ? ' once more' : ''}. Run exactly what was approved, once, with: baton exec --approval ${fact.id} -- followed by the command's words. Anything else is refused.`;
    case 'approval.rejected':
      return `${fact.id} was rejected${fact.reason === '' ? '' : `: ${fact.reason}`}. Do not run it, nor again what of it began. Find another way, or report BLOCKED.`;
    case 'approval.expired':
      return `${fact.id} expired before it was used. Do not run it; if it is still needed, ask again with a new APPROVAL_REQUEST.`;
    case 'approval.finished':
      return `${fact.id} has come to its end: ${fact.exit === null ? 'without an exit code' : `exit ${fact.exit}`}. Do not run it again; go on from there.`;
  }
}

/** Nothing was sealed that could be run. */
function agreed(id: string, operation: string): string {
  const what = truncate(collapse(operation), QUESTION_CHARS_MAX);
  return `${id} is approved. It is a permission in words and covers no command: a person agrees to this: ${what}. Go on with that. Do not use baton exec for it; a command that changes state needs an approval of its own, with exact_content.`;
}

/** Whether a person may say something to the agent of a blocked turn. */
export function isAnswerableWhenBlocked(cast: Cast, { phase, socket }: Turn): boolean {
  return phase === 'blocked' && reportsStatus(cast, socket);
}

/** Sets the agent to work again with what it reported and what a person says to that. */
function answerBlocked(pen: Pen, cast: Cast, turn: Turn, text: string): Verdict {
  const to = gapOf(cast, turn);
  reopenTurn(pen, cast, turn);
  const line = { from: 'person', text: scrub(text).text, ...(to === null ? {} : { to }) } as const;
  pen.write({ kind: 'turn.answered', cast: cast.id, turn: turn.id, ...line });
  return allow(`turn ${turn.id} goes on`);
}

/** Null where the turn is blocked by something else than the agent's own report. */
function gapOf(cast: Cast, turn: Turn): string | null {
  const id = agentIdOfTurn(cast, turn);
  const last = cast.reports.find(({ agentId }) => agentId === id);
  if (last?.status !== 'BLOCKED') return null;
  return last.openGaps.length > 0 ? `BLOCKED: ${last.openGaps.join('; ')}` : 'BLOCKED, without a gap';
}

/** A person tries a blocked turn again as it is, or gives its agent up. */
export function decideBlocked(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  { choice, reason = '' }: Extract<Input, { kind: 'turn.decide' }>,
): Verdict {
  if (isOver(cast.status)) return deny('NOT_ALLOWED_NOW', `cast ${cast.id} has ${cast.status} already`);
  if (choice === 'accept') {
    const how = `baton continue ${cast.id}, or baton answer ${cast.id} --turn ${turn.id}`;
    return deny('NOT_ALLOWED_NOW', `turn ${turn.id} is blocked and has handed nothing in; it waits for: ${how}`);
  }
  if (cast.status !== 'running')
    pen.write({ kind: 'cast.resumed', cast: cast.id, reason: `turn ${turn.id}: ${choice}` });
  pen.write({ kind: 'turn.decided', cast: cast.id, turn: turn.id, choice, reason });
  if (choice === 'rerun') {
    reopenTurn(pen, cast, turn);
    return allow(`turn ${turn.id} runs again`);
  }
  const why = `${turn.socket}: a person gave up on its agent${reason ? `: ${reason}` : ''}`;
  failTurn(pen, cast, turn, deny('AGENT_FAILED', why, { socket: turn.socket }));
  return allow(`turn ${turn.id} failed`);
}

/** The status of a cast in words; `until` is the end of the permission it waits for. */
export type StatusText = {
  readonly status: CastStatus;
  readonly code: string | null;
  readonly reason: string;
  readonly until?: number;
};

/** Whether a cast waits for a permission whose time is over. */
export function isExpired({ status, code, until }: StatusText, now: number): boolean {
  return status === 'waiting' && code === 'APPROVAL_NEEDED' && until !== undefined && now >= until;
}

/** What a cast says of itself now: its own words, until the permission that they speak of is over. */
export function reasonNow(cast: string, current: StatusText, now: number): Pick<StatusText, 'code' | 'reason'> {
  const { code, reason, until = 0 } = current;
  if (!isExpired(current, now)) return { code, reason };
  const when = new Date(until).toISOString();
  const why = `no decision came in time: the permission it asked for expired at ${when}; the agent is told when you carry on with: baton continue ${cast}`;
  return { code: 'APPROVAL_EXPIRED', reason: why };
}

/**
 * Why a turn takes no decision any more about the permission it waits for; null while it does. A command that began and has
 * no known end does not expire.
 */
export function refusalOfLate({ state, at }: Pen, cast: Cast, { id, asks }: Turn): Denied | null {
  const { approval, until = at + 1 } = asks ?? {};
  const stored = approvalOf(state.approvals, approval ?? '');
  if (!approval || at < until || (stored && isUnsettled(stored))) return null;
  const reason = `the permission ${approval} that turn ${id} asked for has expired. Its agent learns that and goes on; if the cast does not move, carry it on with: baton continue ${cast.id}`;
  return deny('APPROVAL_EXPIRED', reason, { approval });
}
