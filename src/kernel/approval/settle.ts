// The end of approvals: decided, expired, used, or withdrawn with the turn that asked. A command that began and has no known
// end stays open until a person settles it. The once-keys are here too.
import { type Cast, isOver } from '../cast/state.ts';
import type { Fact } from '../fact.ts';
import type { Input, Request } from '../input.ts';
import type { Pen } from '../state.ts';
import { allow, type Denied, type Details, deny, type Verdict } from '../verdict.ts';
import {
  type Approval,
  type Approvals,
  approvalOf,
  decisionText,
  isDue,
  isUnsettled,
  lastRounds,
  lostUses,
  turnOf,
  unsettledUses,
} from './state.ts';

type Decision = Extract<Input, { kind: 'approval.decide' }>;

/**
 * Ends approvals that are over by now, and answers which. Ending one carries on the cast that waits for it, so only the
 * driver of that cast, `driven`, notes it.
 */
export function expireDue(pen: Pen, driven: string | null): ReadonlySet<string> {
  const due = Object.values(pen.state.approvals).filter((approval) => isDue(approval, pen.at));
  for (const approval of due) {
    const { id, from, grant } = approval;
    if (from?.cast !== driven && isStoodStillFor(pen, approval)) continue;
    pen.write({ kind: 'approval.expired', id, ...turnOf(from), what: grant ? 'grant' : 'request' });
  }
  return new Set(due.map(({ id }) => id));
}

function isStoodStillFor({ state }: Pen, { id, from }: Approval): boolean {
  const cast = from ? state.casts[from.cast] : undefined;
  return cast?.status === 'waiting' && cast.turns[from?.turn ?? 0]?.asks?.approval === id;
}

export function settleOutcome(pen: Pen, input: Decision, expired: ReadonlySet<string>): Verdict {
  const { id, choice, isAgent } = input;
  const approval = approvalOf(pen.state.approvals, id);
  if (isAgent) {
    const reason = `only a person may ${choice} what an agent asks for; this process was started by an agent`;
    return rejectApproval(pen, id, approval, deny('APPROVER_IS_AGENT', reason, { approval: id }));
  }
  if (!approval) return refusalOfClosed(id, expired.has(id) ? 'expired' : pastOf(id, input.used));
  return choice === 'approve' ? approve(pen, approval, input) : reject(pen, approval, input);
}

/** Why an approval that is not open cannot be decided or used. */
export function refusalOfClosed(id: string, past: Past): Denied {
  switch (past) {
    case 'rejected':
      return deny(
        'APPROVAL_REJECTED',
        `${id} was rejected by a person; do not run it. Ask again only for something else`,
        {
          approval: id,
        },
      );
    case 'expired':
      return deny('APPROVAL_EXPIRED', `${id} has expired; ask again, and a new one is made`, { approval: id });
    case 'withdrawn':
      return deny(
        'APPROVAL_WITHDRAWN',
        `${id} was withdrawn: the turn or the cast that asked for it ended, or went on without it; \`baton log\` says when and why. If it is still wanted, it is asked for again`,
        { approval: id },
      );
    case 'used':
      return deny(
        'APPROVAL_USED',
        `${id} is used up: each command of an approval runs once. Ask again for another run`,
        {
          approval: id,
        },
      );
    case 'unknown':
      return deny('UNKNOWN_APPROVAL', `there is no approval ${id}; \`baton approvals\` lists what is open`, {
        approval: id,
      });
  }
}

/** A refusal is written down with the turn it is about. */
export function rejectApproval(pen: Pen, id: string, approval: Pick<Approval, 'from'> | null, refusal: Denied): Denied {
  const { code, reason } = refusal;
  pen.write({ kind: 'approval.refused', id, ...turnOf(approval?.from ?? null), code, reason, differences: [] });
  return refusal;
}

function approve(pen: Pen, approval: Approval, input: Decision): Verdict {
  const { id, grant, from } = approval;
  const { again = false, gone, isUnsealed = false } = input;
  const open = unsettledUses(approval);
  const lost = lostUses(approval, gone);
  if (!grant || (isUnsealed && open.length === 0)) return grantUse(pen, approval, input, null);
  if (lost.length === 0) {
    const why = open.length > 0 ? 'it runs at this moment' : 'it is approved already';
    return deny('NOT_ALLOWED_NOW', `${id}: ${why}`, { approval: id });
  }
  if (!again) {
    const reason = `${id} ${UNKNOWN}. Find out whether it did its work: ${settledBy(id)}`;
    return deny('OUTCOME_UNKNOWN', reason, { approval: id, commands: lost });
  }
  if (isTurnOver(pen.state.casts[from?.cast ?? ''], approval)) {
    const why = `${id}: the turn that asked for it is over, and it cannot run again; find out whether it did its work, then \`baton reject ${id} --reason …\` settles it`;
    return deny('NOT_ALLOWED_NOW', why, { approval: id });
  }
  noteUnknown(pen, approval, lost);
  return grantUse(pen, approval, input, lost);
}

/** Writes the yes down, with its seal. `again` are the commands that may run once more; null for a first yes. */
function grantUse(
  pen: Pen,
  approval: Approval,
  { by, reason, sealing }: Decision,
  again: readonly number[] | null,
): Verdict {
  const { id, sealed, from } = approval;
  const latest = pen.at + sealed.grantMs;
  const until = sealing?.until ?? latest;
  const rounds = again ? { again: lastRounds(approval, again) } : {};
  const text = decisionText(approval, { verdict: 'approved', by, until, ...rounds });
  if (until <= pen.at || until > latest || (sealing && sealing.decision.text !== text)) {
    const why = `${id} changed while it was decided; look at it and decide again`;
    return deny('NOT_ALLOWED_NOW', why, { approval: id });
  }
  const more = { ...(sealing ? { mac: sealing.decision.mac } : {}), ...(again ? { again } : {}) };
  pen.write({ kind: 'approval.approved', id, ...turnOf(from), by, reason, until, ...more });
  const what = again ? 'may run once more' : 'is approved';
  const details = { approval: id, until, ...(again ? { again } : {}) };
  return allow(`${id} ${what} until ${new Date(until).toISOString()}`, details);
}

/** Writes down, once, that the end of these commands is not known. */
export function noteUnknown(pen: Pen, { id, from, uses }: Approval, lost: readonly number[]): void {
  for (const index of lost) {
    if (uses[index]?.phase === 'started') pen.write({ kind: 'approval.unknown', id, ...turnOf(from), index });
  }
}

const UNKNOWN = 'began to run, and its end is unknown';

function settledBy(id: string): string {
  return `\`baton approve ${id} --again\` lets it run once more, \`baton reject ${id} --reason …\` leaves it`;
}

/** The refusal for an agent that would run it again: only a person can settle it. */
export function outcomeUnknown(id: string, details: Details = {}): Denied {
  const report = `Do not run it another way: report APPROVAL_REQUEST with approval_request.approval_id "${id}" and the same command, and end your turn`;
  const reason = `${id} ${UNKNOWN}. ${report}. A person finds out whether it did its work: ${settledBy(id)}`;
  return deny('OUTCOME_UNKNOWN', reason, { approval: id, ...details });
}

/** The refusal for a second run while the first goes on. */
export function runsNow(id: string): Denied {
  const reason = `${id} runs at this moment, and each command of an approval runs once. Wait until it has ended; then ask again if another run is needed`;
  return deny('APPROVAL_USED', reason, { approval: id });
}

/** An approval that is not used can be taken back. One whose command has no known end cannot. */
function reject(pen: Pen, approval: Approval, { by, reason, gone, sealing }: Decision): Verdict {
  const { id, from, uses } = approval;
  const lost = lostUses(approval, gone);
  const running = unsettledUses(approval).find((index) => !lost.includes(index));
  if (running !== undefined) {
    const { pid, host } = uses[running]?.executor ?? {};
    const stop = `end process ${pid} on ${host}${from ? `, or \`baton abort ${from.cast}\`` : ''}`;
    const why = `${id}: it runs at this moment, and saying no does not stop it; to stop it ${stop}. Say no when it has ended`;
    return deny('NOT_ALLOWED_NOW', why, { approval: id });
  }
  // A rejection runs nothing, so it counts without a seal: a person without the key must be able to reject.
  const text = decisionText(approval, { verdict: 'rejected', by, until: null });
  const mac = sealing?.decision.text === text ? { mac: sealing.decision.mac } : {};
  pen.write({ kind: 'approval.rejected', id, ...turnOf(from), by, reason, ...mac });
  return allow(`${id} is rejected`, { approval: id });
}

/** Which approvals a fact ends, and why. */
type Ended = { readonly of: (approval: Approval) => boolean; readonly reason: string };

export function withdrawOver(pen: Pen, news: readonly Fact[]): void {
  for (const fact of news) {
    const ended = endedBy(fact);
    if (!ended) continue;
    for (const approval of Object.values(pen.state.approvals)) {
      const { id, from, grant } = approval;
      if (!ended.of(approval) || isUnsettled(approval)) continue;
      const what = grant ? 'grant' : 'request';
      pen.write({ kind: 'approval.withdrawn', id, ...turnOf(from), what, reason: ended.reason });
    }
  }
}

/** Whether the turn that asked is over: of a list that stays for what began, nothing else begins from then on. */
export function isTurnOver(cast: Cast | null | undefined, { from }: Pick<Approval, 'from'>): boolean {
  if (!cast || !from) return false;
  const phase = cast.turns[from.turn]?.phase;
  return isOver(cast.status) || phase === undefined || phase === 'accepted' || phase === 'merging';
}

function endedBy(fact: Fact): Ended | null {
  switch (fact.kind) {
    case 'cast.completed':
    case 'cast.failed':
    case 'cast.aborted':
      return { of: ofCast(fact.cast), reason: `its cast is ${fact.kind.slice('cast.'.length)}` };
    case 'turn.accepted':
      return { of: ofTurn(fact), reason: 'its turn was accepted' };
    case 'turn.dropped':
      return { of: ofTurn(fact), reason: 'its turn was dropped' };
    case 'turn.decided':
      return { of: waiting(ofTurn(fact)), reason: `a person decided about its turn: ${fact.choice}` };
    case 'turn.blocked':
      return { of: waiting(ofTurn(fact)), reason: 'its agent reported that it cannot go on' };
    case 'turn.reported': {
      const isOther = ({ id }: Approval) => id !== fact.approval;
      return { of: (one) => waiting(ofTurn(fact))(one) && isOther(one), reason: 'its agent reported without it' };
    }
    default:
      return null;
  }
}

type Test = Ended['of'];

function ofCast(cast: string): Test {
  return ({ from }) => from?.cast === cast;
}

function ofTurn({ cast, turn }: { readonly cast: string; readonly turn: number }): Test {
  return ({ from }) => from?.cast === cast && from.turn === turn;
}

/** An approval that a person gave stays valid while the turn goes on. */
function waiting(isIts: Test): Test {
  return (approval) => approval.grant === null && isIts(approval);
}

/** The once-keys of approvals. An id is used once in the whole log, and so is each run of an approved command. */
const KEYS = {
  known: (id: string) => `approval:${id}`,
  rejected: (id: string) => `approval-rejected:${id}`,
  expired: (id: string) => `approval-expired:${id}`,
  withdrawn: (id: string) => `approval-withdrawn:${id}`,
} as const;

type Past = 'unknown' | 'rejected' | 'expired' | 'withdrawn' | 'used';

/** What became of an approval that is not open any more. */
export function pastOf(id: string, used: Readonly<Record<string, number>> = {}): Past {
  if (Object.hasOwn(used, KEYS.rejected(id))) return 'rejected';
  if (Object.hasOwn(used, KEYS.expired(id))) return 'expired';
  if (Object.hasOwn(used, KEYS.withdrawn(id))) return 'withdrawn';
  return Object.hasOwn(used, KEYS.known(id)) ? 'used' : 'unknown';
}

/** Whether the log has the next run of a command already. Then its request was appended twice. */
export function hasRun(approval: Approval, index: number, used: Readonly<Record<string, number>> = {}): boolean {
  return Object.hasOwn(used, useKey(approval.id, index, nextRound(approval, index)));
}

export function nextRound({ uses }: Approval, index: number): number {
  const last = uses[index];
  return last ? last.round + 1 : 0;
}

function useKey(id: string, index: number, round: number): string {
  return `approval-used:${id}:${index}${round === 0 ? '' : `:${round}`}`;
}

/** Whether a key only records how an approval ended. An approval may end twice where a script appended it again. */
export function isOfEnd(key: string): boolean {
  return /^approval-(?:rejected|expired|withdrawn):/.test(key);
}

export function approvalKeysNeeded(request: Request, approvals: Approvals): readonly string[] {
  switch (request.kind) {
    case 'approval.request':
      return [KEYS.known(request.sealed.id)];
    case 'approval.decide':
    case 'approval.finish':
      return keysOfPast(request.id);
    case 'approval.use': {
      const approval = approvalOf(approvals, request.id);
      const runs = approval?.sealed.commands.map((_, index) => useKey(request.id, index, nextRound(approval, index)));
      return [...keysOfPast(request.id), ...(runs ?? [])];
    }
    default:
      return [];
  }
}

function keysOfPast(id: string): readonly string[] {
  return [KEYS.known(id), ...endKeysOf(id)];
}

/** The keys that say how an approval ended. */
export function endKeysOf(id: string): readonly string[] {
  return [KEYS.rejected(id), KEYS.expired(id), KEYS.withdrawn(id)];
}

export function approvalKeysUsedBy(fact: Fact): readonly string[] {
  switch (fact.kind) {
    case 'approval.requested':
      return [KEYS.known(fact.id)];
    case 'approval.rejected':
      return fact.relayed ? [] : [KEYS.rejected(fact.id)];
    case 'approval.expired':
      return [KEYS.expired(fact.id)];
    case 'approval.withdrawn':
      return [KEYS.withdrawn(fact.id)];
    case 'approval.used':
      return [useKey(fact.id, fact.index, fact.round)];
    default:
      return [];
  }
}
