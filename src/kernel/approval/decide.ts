// Requests about approvals become facts and a verdict: asking, deciding, and the one use of an approved command.
import type { Fact } from '../fact.ts';
import type { Input } from '../input.ts';
import type { Pen, State } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { differencesOf, isSameCommand, nearestCommand, spoken } from './difference.ts';
import { isUndelivered, POLICY, undeliveredRefusal } from './outcomes.ts';
import {
  type ApprovalRequest,
  type Difference,
  type Gone,
  leftOutOf,
  NOT_SAID,
  type Origin,
  type Presented,
  type SealedRequest,
  type Words,
} from './request.ts';
import {
  expireDue,
  hasRun,
  isTurnOver,
  nextRound,
  noteUnknown,
  outcomeUnknown,
  pastOf,
  refusalOfClosed,
  rejectApproval,
  runsNow,
  settleOutcome,
} from './settle.ts';
import {
  type Approval,
  approvalOf,
  isDue,
  isGrantSealed,
  isPast,
  isSameExecutor,
  lostUses,
  turnOf,
  unsettledUses,
} from './state.ts';

type Requested = {
  /** Empty where it was refused. */
  readonly id: string;
  /**
   * `approved` or `rejected` where a person decided before the report came; `unknown` where the command began and its end is
   * not known.
   */
  readonly status: 'pending' | 'approved' | 'rejected' | 'unknown' | 'refused';
  readonly refusal: Denied | null;
  readonly facts: readonly Fact[];
};

export function decideApproval(pen: Pen, input: Extract<Input, { kind: ApprovalRequest['kind'] }>): Verdict {
  const expired = expireDue(pen, drivenBy(pen, input));
  switch (input.kind) {
    case 'approval.request': {
      const began = input.sealed.refusal ? [] : unsettledIn(pen, input.sealed);
      const lost = began.find((one) => isLost(one, input.gone));
      const cutOff = lost ?? began[0];
      if (cutOff) {
        const { id } = cutOff.approval;
        return rejectApproval(pen, id, cutOff.approval, lost ? outcomeUnknown(id) : runsNow(id));
      }
      const granted = input.sealed.refusal ? null : grantedTo(pen, input.sealed);
      if (granted) return allow(`${granted.id}: it is approved already`, { approval: granted.id, status: 'approved' });
      const from = known(pen, input.from);
      const no = input.sealed.refusal ? null : undeliveredRefusal(pen.state, input.sealed, from);
      if (no) {
        const because = no.reason === '' ? '' : ` (${no.reason})`;
        const reason = `${no.id} was rejected by a person${because}; do not run it, nor ask for it again. Find another way, or report BLOCKED`;
        return rejectApproval(pen, no.id, { from }, deny('APPROVAL_REJECTED', reason, { approval: no.id }));
      }
      const asked = requestApproval(pen, input.sealed, from);
      if (asked.refusal) return asked.refusal;
      const reason = asked.status === 'approved' ? 'it is approved already' : 'it waits for a person';
      const warnings = leftOutOf(input.sealed);
      const remarks = warnings.length === 0 ? {} : { warnings };
      return allow(`${asked.id}: ${reason}`, { approval: asked.id, status: asked.status, ...remarks });
    }
    case 'approval.decide':
      return settleOutcome(pen, input, expired);
    case 'approval.use':
      return use(pen, input, expired);
    case 'approval.finish':
      return finishUse(pen, input);
    case 'approval.sweep':
      return allow(expired.size === 0 ? 'nothing has expired' : `expired: ${[...expired].join(', ')}`, {
        expired: [...expired],
      });
  }
}

/**
 * Asks for an approval. The same open request is not written again. A report that names an approval given while the agent
 * worked is tied to it. Where the command began and its end is not known, no other approval is made: the asker waits until a
 * person settles the first.
 */
export function requestApproval(pen: Pen, sealed: SealedRequest, from: Origin | null): Requested {
  const before = pen.facts.length;
  const asked = (id: string, status: Requested['status'], refusal: Denied | null = null): Requested => ({
    id,
    status,
    refusal,
    facts: pen.facts.slice(before),
  });
  if (sealed.refusal) {
    // It is over at once, so a caller that waits for a decision gets one.
    const { code, reason } = sealed.refusal;
    ask(pen, sealed, from);
    pen.write({
      kind: 'approval.rejected',
      id: sealed.id,
      ...turnOf(from),
      by: POLICY,
      reason: `${code}: ${reason}`,
    });
    return asked(sealed.id, 'refused', sealed.refusal);
  }
  const cutOff = unsettledIn(pen, sealed)[0]?.approval ?? null;
  const no = cutOff ? null : undeliveredRefusal(pen.state, sealed, from);
  if (no) {
    // A person decided before the report came. Its turn gets the decision, and no second request is made.
    const { id, by, reason } = no;
    pen.write({ kind: 'approval.rejected', id, ...turnOf(from), by, reason, relayed: true });
    return asked(id, 'rejected');
  }
  const open = cutOff ?? relayed(pen, sealed, from) ?? sameRequest(pen, sealed, from);
  if (!open) {
    for (const { id } of grantedBefore(pen, sealed, from)) {
      const reason = 'its agent asks for the same again';
      pen.write({ kind: 'approval.withdrawn', id, ...turnOf(from), what: 'grant', reason });
    }
    ask(pen, sealed, from);
    return asked(sealed.id, 'pending');
  }
  const isLinked = open.from?.cast === from?.cast && open.from?.turn === from?.turn;
  const words = newWords(open.sealed, sealed);
  if (from && (!isLinked || words)) {
    pen.write({ kind: 'approval.linked', id: open.id, ...from, ...(words ? { words } : {}) });
  }
  if (cutOff) {
    noteUnknown(pen, cutOff, unsettledUses(cutOff));
    return asked(cutOff.id, 'unknown');
  }
  if (from && open.grant) {
    // A person decided before the report came. The turn that begins to wait gets the decision too.
    const { by, reason, until, mac } = open.grant;
    const sealed = mac === undefined ? {} : { mac };
    pen.write({ kind: 'approval.approved', id: open.id, ...turnOf(from), by, reason, until, ...sealed, relayed: true });
  }
  return asked(open.id, open.grant ? 'approved' : 'pending');
}

function ask(pen: Pen, sealed: SealedRequest, from: Origin | null): void {
  const attempt = from ? { attempt: from.attempt } : {};
  pen.write({ kind: 'approval.requested', id: sealed.id, ...turnOf(from), ...attempt, sealed });
}

/**
 * What a report says about an approval that was sealed without it: a hook knows the command and nothing else, and a person
 * decides by how it is undone and how its success is seen.
 */
function newWords(known: SealedRequest, { operation, scope, rollback, verification }: SealedRequest): Words | null {
  const words: Words = {
    ...(operation === NOT_SAID || operation === known.operation ? {} : { operation }),
    ...(scope === NOT_SAID || scope === known.scope ? {} : { scope }),
    ...(rollback === null || rollback === known.rollback ? {} : { rollback }),
    ...(verification === null || verification === known.verification ? {} : { verification }),
  };
  return Object.keys(words).length > 0 ? words : null;
}

type Began = { readonly approval: Approval; readonly uses: readonly number[] };

/**
 * The approvals under which one of these commands began for the same requester and is not known to have ended, and which
 * ones of theirs that are. The one that is named comes first; any other counts in the same folder only. A command with a
 * secret can only be named.
 */
function unsettledIn({ state }: Pen, { relays, requester, cwd, commands }: SealedRequest): readonly Began[] {
  const began = Object.values(state.approvals).flatMap((approval): readonly Began[] => {
    const isNamed = approval.id === relays;
    if (approval.sealed.requester !== requester || !(isNamed || approval.sealed.cwd === cwd)) return [];
    const uses = unsettledUses(approval).filter((index) => {
      const use = approval.sealed.commands[index];
      const isSame = use !== undefined && commands.some((command) => isSameCommand(use, command));
      return isSame || (isNamed && commands.length === 0);
    });
    return uses.length > 0 ? [{ approval, uses }] : [];
  });
  return began.toSorted((a, b) => Number(b.approval.id === relays) - Number(a.approval.id === relays));
}

/** Whether all processes that could report the end of one of them are gone. */
function isLost({ approval, uses }: Began, gone: Gone | undefined): boolean {
  return lostUses(approval, gone).some((index) => uses.includes(index));
}

/** The approval that the request names, if it is the same requester's and about the same commands. */
function relayed({ state }: Pen, { relays, requester, commands }: SealedRequest, from: Origin | null): Approval | null {
  const open = relays === null ? null : approvalOf(state.approvals, relays);
  if (!open || open.sealed.requester !== requester || Object.keys(open.uses).length > 0) return null;
  if (open.grant && wasDelivered(state, open, from)) return null;
  const isSame = commands.every((command) => open.sealed.commands.some((other) => isSameCommand(other, command)));
  return isSame ? open : null;
}

/** An agent that was allowed and asks again waits for a person as usual. */
function wasDelivered(state: State, open: Approval, from: Origin | null): boolean {
  if (open.from?.cast !== from?.cast || open.from?.turn !== from?.turn) return false;
  return !from || !isUndelivered(state, open.id, from);
}

/** What this turn was granted for commands that it asks for again, and has not used: nothing is granted twice. */
function grantedBefore({ state }: Pen, { commands, cwd, requester }: SealedRequest, from: Origin | null): Approval[] {
  return Object.values(state.approvals).filter(({ from: its, grant, uses, sealed }) => {
    const isIts = from !== null && its?.cast === from.cast && its.turn === from.turn && sealed.requester === requester;
    const isUnused = grant !== null && Object.keys(uses).length === 0 && sealed.cwd === cwd;
    const isIn = sealed.commands.every((one) => commands.some((other) => isSameCommand(one, other)));
    return isIts && isUnused && isIn && sealed.commands.length > 0;
  });
}

/** What was granted for the same request and not used. */
function grantedTo({ state }: Pen, { fingerprint }: SealedRequest): Approval | null {
  const same = Object.values(state.approvals).filter(({ sealed }) => sealed.fingerprint === fingerprint);
  return same.find(({ grant, uses }) => grant !== null && Object.keys(uses).length === 0) ?? null;
}

/** Another turn's open request does not count. A granted one counts only while its turn does not know of the grant. */
function sameRequest({ state, at }: Pen, { fingerprint }: SealedRequest, from: Origin | null): Approval | null {
  const all = Object.values(state.approvals);
  const same = all.filter((one) => one.sealed.fingerprint === fingerprint && !isDue(one, at));
  const isFree = (one: Approval) => !from || !one.from || (one.from.cast === from.cast && one.from.turn === from.turn);
  const isNews = ({ id, uses }: Approval) =>
    from !== null && Object.keys(uses).length === 0 && isUndelivered(state, id, from);
  return same.find((one) => (one.grant === null ? isFree(one) : isNews(one))) ?? null;
}

/** A decision of a person carries on the cast that waits for it. Other callers drive nothing. */
function drivenBy({ state }: Pen, input: Extract<Input, { kind: ApprovalRequest['kind'] }>): string | null {
  if (input.kind !== 'approval.decide' || input.isAgent) return null;
  return approvalOf(state.approvals, input.id)?.from?.cast ?? null;
}

/** A turn that is not open waits for nothing. */
function known({ state }: Pen, from: Origin | null): Origin | null {
  if (!from || !Object.hasOwn(state.casts, from.cast)) return null;
  return state.casts[from.cast]?.turns[from.turn] ? from : null;
}

/** Compares everything an approval is bound to, and marks it used before the command runs. So it runs at most once. */
type UseInput = Extract<Input, { kind: 'approval.use' }>;

export function use(pen: Pen, input: UseInput, expired: ReadonlySet<string>): Verdict {
  const { id, presented, requester, around = [] } = input;
  const approval = approvalOf(pen.state.approvals, id);
  if (!approval || !(presented || around.length > 0) || expired.has(id)) {
    const past = expired.has(id) ? 'expired' : pastOf(id, input.used);
    return rejectApproval(pen, id, approval, refusalOfClosed(id, past));
  }
  // What is over stays over, also where a script appends its request and its yes to the log a second time.
  const past = pastOf(id, input.used);
  if (past !== 'used' && past !== 'unknown') return rejectApproval(pen, id, approval, refusalOfClosed(id, past));
  if (!approval.grant) {
    const reason = `${id} waits for a person; \`baton approve ${id}\` is theirs to say. Report APPROVAL_REQUEST with this approval_id and end your turn`;
    return rejectApproval(pen, id, approval, deny('APPROVAL_PENDING', reason, { approval: id }));
  }
  const { sealed } = approval;
  if (sealed.requester !== requester) {
    const who = { part: 'requester', name: 'requester', approved: sealed.requester, given: requester } as const;
    return mismatch(pen, approval, [who]);
  }
  if (!presented || around.length > 0) return mismatch(pen, approval, around);
  if (sealed.commands.length === 0) {
    const reason = `${id} is a permission in words and covers no command; ask for the command itself, word for word, in exact_content`;
    return rejectApproval(
      pen,
      id,
      approval,
      deny('APPROVAL_IN_WORDS', reason, { approval: id, operation: sealed.operation }),
    );
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
  if (over) return rejectApproval(pen, id, approval, refusalOfClosed(id, over));
  const differences = differencesAt(approval, index, presented);
  if (differences.length > 0) return mismatch(pen, approval, differences);
  if (!isGrantSealed(approval, presented.decision)) return rejectApproval(pen, id, approval, unsealed(id));
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

/** A list stays open only for a command whose end is not known. The others expire in their time. */
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
    return rejectApproval(pen, id, approval, isRunning ? runsNow(id) : refusalOfClosed(id, 'used'));
  }
  noteUnknown(pen, approval, [lost]);
  return rejectApproval(pen, id, approval, outcomeUnknown(id, { command: lost }));
}

function differencesAt({ sealed }: Approval, index: number, presented: Presented): readonly Difference[] {
  const command = sealed.commands[index];
  return command ? differencesOf(sealed, command, presented) : [];
}

function mismatch(pen: Pen, { id, from }: Approval, differences: readonly Difference[]): Denied {
  const reason = `what is to be run is not what was approved as ${id}; ${differences.map(spoken).join('; ')}. Run exactly what was approved, or ask again`;
  const isEnvironment = differences.length > 0 && differences.every(({ part }) => part === 'environment');
  const code = isEnvironment ? 'ENVIRONMENT_CHANGED' : 'APPROVAL_MISMATCH';
  pen.write({ kind: 'approval.refused', id, ...turnOf(from), code, reason, differences });
  return deny(code, reason, { approval: id, differences });
}

function finishUse(pen: Pen, input: Extract<Input, { kind: 'approval.finish' }>): Verdict {
  const { id, index, exit, note, executor } = input;
  const approval = approvalOf(pen.state.approvals, id);
  const use = approval?.uses[index];
  const isOpen = (use?.phase === 'started' || use?.phase === 'unknown') && isSameExecutor(use.executor, executor);
  // A run that a person has given up may still end later. The person's decision stays.
  if (!approval || !isOpen) {
    return deny('NOT_ALLOWED_NOW', `command ${index} of ${id} does not run`, { approval: id });
  }
  const remark = note === undefined ? {} : { note };
  pen.write({ kind: 'approval.finished', id, ...turnOf(approval.from), index, exit, ...remark });
  return allow(`${id} is finished`, { approval: id, index, exit });
}
