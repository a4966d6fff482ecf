// A person's decision about an approval, and the end of what nobody decided or used in time.
import type { Pen } from '../cast/pen.ts';
import type { Input } from '../input.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { type Past, pastOf } from './once.ts';
import { type Approval, approvalOf, isDue, turnOf } from './state.ts';

type Decision = Extract<Input, { kind: 'approval.decide' }>;

/** Ends what is over by now, and answers which ones. */
export function expireDue(pen: Pen): ReadonlySet<string> {
  const due = Object.values(pen.state.approvals).filter((approval) => isDue(approval, pen.at));
  for (const { id, from, grant } of due) {
    pen.write({ kind: 'approval.expired', id, ...turnOf(from), what: grant ? 'grant' : 'request' });
  }
  return new Set(due.map(({ id }) => id));
}

export function settle(pen: Pen, input: Decision, expired: ReadonlySet<string>): Verdict {
  const { id, choice, isAgent } = input;
  const approval = approvalOf(pen.state.approvals, id);
  if (isAgent) {
    const reason = `only a person may ${choice} what an agent asks for; this process was started by an agent`;
    return refuse(pen, id, approval, deny('APPROVER_IS_AGENT', reason, { approval: id }));
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
        `${id} was rejected by a person; do not run it. Ask anew only for something else`,
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
export function refuse(pen: Pen, id: string, approval: Approval | null, refusal: Denied): Denied {
  const { code, reason } = refusal;
  pen.write({ kind: 'approval.refused', id, ...turnOf(approval?.from ?? null), code, reason, differences: [] });
  return refusal;
}

function approve(pen: Pen, approval: Approval, { again = false, running = [], reason, ...input }: Decision): Verdict {
  const { id, sealed, grant, uses, from } = approval;
  const open = Object.entries(uses).filter(([, { phase }]) => phase === 'started' || phase === 'unknown');
  const lost = open.map(([index]) => Number(index)).filter((index) => !running.includes(index));
  const until = pen.at + sealed.grantMs;
  const granted = { kind: 'approval.approved', id, ...turnOf(from), by: input.by, reason, until } as const;
  if (!grant) {
    pen.write(granted);
    return allow(`${id} is approved until ${new Date(until).toISOString()}`, { approval: id, until });
  }
  if (lost.length === 0) {
    const why = open.length > 0 ? 'it runs at this moment' : 'it is approved already';
    return deny('NOT_ALLOWED_NOW', `${id}: ${why}`, { approval: id });
  }
  if (!again) return deny('OUTCOME_UNKNOWN', unknownReason(id), { approval: id, commands: lost });
  for (const index of lost) {
    if (uses[index]?.phase === 'started') pen.write({ kind: 'approval.unknown', id, ...turnOf(from), index });
  }
  pen.write({ ...granted, again: lost });
  return allow(`${id} may run once more until ${new Date(until).toISOString()}`, { approval: id, until, again: lost });
}

export function unknownReason(id: string): string {
  return `${id} began to run and was cut off; nobody knows whether it did its work. Find out, then a person says \`baton approve ${id} --again\` to let it run once more, or \`baton reject ${id} --reason …\` to leave it`;
}

/** What is approved and not used can be taken back; what nobody knows the end of is left at that. */
function reject(pen: Pen, { id, from }: Approval, { by, reason }: Decision): Verdict {
  pen.write({ kind: 'approval.rejected', id, ...turnOf(from), by, reason });
  return allow(`${id} is rejected`, { approval: id });
}
