// Uses an approval: compares everything it is bound to, and marks it used before the command runs. So it runs at most once.
import type { Input } from '../input.ts';
import type { Pen } from '../pen.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { differencesOf, isSameCommand, nearestCommand, spoken } from './difference.ts';
import { hasRun, nextRound, pastOf } from './once.ts';
import type { Difference, Gone, Presented } from './request.ts';
import { isTurnOver, noteUnknown, outcomeUnknown, refusalOfClosed, refuse, runsNow } from './settle.ts';
import {
  type Approval,
  approvalOf,
  isGrantSealed,
  isPast,
  isSameExecutor,
  lostUses,
  turnOf,
  unsettledUses,
} from './state.ts';

type UseInput = Extract<Input, { kind: 'approval.use' }>;

export function use(pen: Pen, input: UseInput, expired: ReadonlySet<string>): Verdict {
  const { id, presented, requester, around = [] } = input;
  const approval = approvalOf(pen.state.approvals, id);
  if (!approval || !(presented || around.length > 0) || expired.has(id)) {
    const past = expired.has(id) ? 'expired' : pastOf(id, input.used);
    return refuse(pen, id, approval, refusalOfClosed(id, past));
  }
  // What is over stays over, also where a script appends its request and its yes to the log a second time.
  const past = pastOf(id, input.used);
  if (past !== 'used' && past !== 'unknown') return refuse(pen, id, approval, refusalOfClosed(id, past));
  if (!approval.grant) {
    const reason = `${id} waits for a person; \`baton approve ${id}\` is theirs to say. Report APPROVAL_REQUEST with this approval_id and end your turn`;
    return refuse(pen, id, approval, deny('APPROVAL_PENDING', reason, { approval: id }));
  }
  const { sealed } = approval;
  if (sealed.requester !== requester) {
    const who = { part: 'requester', name: 'requester', approved: sealed.requester, given: requester } as const;
    return mismatch(pen, approval, [who]);
  }
  if (!presented || around.length > 0) return mismatch(pen, approval, around);
  if (sealed.commands.length === 0) {
    const reason = `${id} is a permission in words and covers no command; ask for the command itself, word for word, in exact_content`;
    return refuse(pen, id, approval, deny('APPROVAL_IN_WORDS', reason, { approval: id, operation: sealed.operation }));
  }
  const matching = [...sealed.commands.keys()].filter((index) => {
    const command = sealed.commands[index];
    return command !== undefined && isSameCommand(command, presented);
  });
  if (matching.length === 0)
    return mismatch(pen, approval, differencesAt(approval, nearestCommand(sealed, presented), presented));
  const index = matching.find((at) => isFree(approval, at) && !hasRun(approval, at, input.used));
  if (index === undefined) return refusalOfRepeat(pen, approval, matching, input.gone);
  const over = overFor(pen, approval);
  if (over) return refuse(pen, id, approval, refusalOfClosed(id, over));
  const differences = differencesAt(approval, index, presented);
  if (differences.length > 0) return mismatch(pen, approval, differences);
  if (!isGrantSealed(approval, presented.decision)) return refuse(pen, id, approval, unsealed(id));
  return input.dry ? allow(`${id} allows it`, { approval: id, index }) : begin(pen, approval, index, input);
}

function begin(pen: Pen, approval: Approval, index: number, { requester, executor }: UseInput): Verdict {
  const { id, from } = approval;
  const round = nextRound(approval, index);
  pen.write({ kind: 'approval.used', id, ...turnOf(from), index, round, requester, executor });
  return allow(`${id} is used`, { approval: id, index });
}

function unsealed(id: string): Denied {
  const reason = `the yes to ${id} in the log is not sealed with the key of this user: it was given to an older version, or a person did not give it. A person looks at it and says \`baton approve ${id}\` again; an agent reports APPROVAL_REQUEST with this approval_id and ends its turn`;
  return deny('DECISION_UNSEALED', reason, { approval: id });
}

/** A list stays open for the command whose end nobody knows, and for that one only: the others are over in their time. */
function overFor({ state, at }: Pen, approval: Approval): 'expired' | 'withdrawn' | null {
  if (isPast(approval, at)) return 'expired';
  return isTurnOver(state.casts[approval.from?.cast ?? ''], approval) ? 'withdrawn' : null;
}

function isFree({ uses }: Approval, index: number): boolean {
  const phase = uses[index]?.phase;
  return phase === undefined || phase === 'again';
}

/** It ran, runs, or may have run. */
function refusalOfRepeat(pen: Pen, approval: Approval, matching: readonly number[], gone: Gone | undefined): Denied {
  const { id } = approval;
  const isOne = (index: number) => matching.includes(index);
  const lost = lostUses(approval, gone).find(isOne);
  if (lost === undefined) {
    const isRunning = unsettledUses(approval).some(isOne);
    return refuse(pen, id, approval, isRunning ? runsNow(id) : refusalOfClosed(id, 'used'));
  }
  noteUnknown(pen, approval, [lost]);
  return refuse(pen, id, approval, outcomeUnknown(id, { command: lost }));
}

function differencesAt({ sealed }: Approval, index: number, presented: Presented): readonly Difference[] {
  const command = sealed.commands[index];
  return command ? differencesOf(sealed, command, presented) : [];
}

function mismatch(pen: Pen, { id, from }: Approval, differences: readonly Difference[]): Denied {
  const reason = `what is to be run is not what was approved as ${id}; ${differences.map(spoken).join('; ')}. Run exactly what was approved, or ask anew`;
  const isEnvironment = differences.length > 0 && differences.every(({ part }) => part === 'environment');
  const code = isEnvironment ? 'ENVIRONMENT_CHANGED' : 'APPROVAL_MISMATCH';
  pen.write({ kind: 'approval.refused', id, ...turnOf(from), code, reason, differences });
  return deny(code, reason, { approval: id, differences });
}

export function finish(pen: Pen, input: Extract<Input, { kind: 'approval.finish' }>): Verdict {
  const { id, index, exit, note, executor } = input;
  const approval = approvalOf(pen.state.approvals, id);
  const use = approval?.uses[index];
  const isOpen = (use?.phase === 'started' || use?.phase === 'unknown') && isSameExecutor(use.executor, executor);
  // A run that a person has given up on may still come to its end; what the person said stays.
  if (!approval || !isOpen) {
    return deny('NOT_ALLOWED_NOW', `command ${index} of ${id} does not run`, { approval: id });
  }
  const told = note === undefined ? {} : { note };
  pen.write({ kind: 'approval.finished', id, ...turnOf(approval.from), index, exit, ...told });
  return allow(`${id} is finished`, { approval: id, index, exit });
}
