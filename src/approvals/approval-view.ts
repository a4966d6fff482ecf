// An approval as people and scripts see it: exactly what will run, and everything a person needs to decide.
import { hash } from 'node:crypto';
import { exactly, inWords } from '../kernel/approval/difference.ts';
import { leftOutOf, type SealedCommand } from '../kernel/approval/request.ts';
import { type Approval, type ApprovalView, endOf, isDue, isPast, type ShownCommand } from '../kernel/approval/state.ts';
import { canonicalJson, type Json } from '../kernel/json.ts';

/** After this time a pending approval is marked as stale. */
const STALE_MS = 3_600_000;

/** A digest of the sealed request, the decision and the uses. */
export function revisionOf({ id, sealed, grant, uses }: Approval): string {
  return hash('sha256', canonicalJson({ id, sealed, grant, uses } as unknown as Json));
}

/** What the log does not say: the time, which commands run, and whether the turn is over. */
export type ViewContext = {
  readonly now: number;
  readonly running: readonly number[];
  readonly isTurnOver: boolean;
  /** Variables that had another value at the request. */
  readonly envOther: readonly string[];
  /** Folders in which programs are looked for, and not here. */
  readonly pathOther: readonly string[];
};

export function approvalView(approval: Approval, around: ViewContext): ApprovalView {
  const { now } = around;
  const { id, sealed, from, grant, since } = approval;
  const { operation, scope, riskLevel, rationale, rollback, verification, requester, files, env, cwd } = sealed;
  const commands = sealed.commands.map((command, index) => commandView(command, approval, index, around));
  const isUnknown = commands.some(({ status }) => status === 'unknown');
  return {
    id,
    revision: revisionOf(approval),
    status: isUnknown ? 'unknown' : isDue(approval, now) ? 'expired' : grant ? 'approved' : 'pending',
    operation,
    commands,
    folder: cwd,
    scope,
    risk: riskLevel,
    rationale,
    rollback,
    verification,
    requester,
    cast: from?.cast ?? null,
    turn: from?.turn ?? null,
    turnOver: around.isTurnOver,
    since: new Date(since).toISOString(),
    until: new Date(endOf(approval)).toISOString(),
    stale: grant === null && now - since >= STALE_MS && !isDue(approval, now),
    approvedBy: grant?.by ?? null,
    files,
    env,
    envOther: env.filter((name) => around.envOther.includes(name)),
    pathOther: around.pathOther,
    ...(sealed.leftOut ? { leftOut: leftOutOf(sealed) } : {}),
  };
}

function commandView(
  { display, tier, because, digest }: SealedCommand,
  approval: Approval,
  index: number,
  { now, running, isTurnOver }: ViewContext,
): ShownCommand {
  const { uses, grant } = approval;
  const phase = uses[index]?.phase;
  const common = { command: display, tier, because, digest };
  if (phase === 'finished') return { ...common, status: 'finished' };
  if (phase === 'unknown' || phase === 'started') {
    return { ...common, status: running.includes(index) ? 'runs' : 'unknown' };
  }
  if (isPast(approval, now)) return { ...common, status: 'expired' };
  // After its turn has ended, a list only shows what had begun.
  if (isTurnOver) return { ...common, status: 'withdrawn' };
  return { ...common, status: grant ? 'may run' : 'waits' };
}

/** The lines for a person who decides. Nothing is summarized or omitted. */
export function linesOf(view: ApprovalView, baton: string): readonly string[] {
  const { id, status, stale, since, until, risk, rationale, rollback, verification, cast, turn, requester } = view;
  const asking = inWords(requester);
  const where = cast === null ? asking : `${asking}, turn ${turn} of cast ${inWords(cast)}`;
  const commands = view.commands.map(
    ({ command, tier, status: its }) => `  command       ${exactly(command)}  (${tier}, ${its})`,
  );
  const files = Object.entries(view.files).map(
    ([path, digest]) => `  file          ${exactly(path)}  ${digest.slice(0, 19)}`,
  );
  const variables = view.env.map((name) => (view.envOther.includes(name) ? `${name} (another value here)` : name));
  const folders = view.pathOther.map((folder) => `  programs in   ${exactly(folder)} (not in your search path)`);
  const leftOut = (view.leftOut ?? []).map((line) => `  left out      ${line}`);
  return [
    `${id}  ${status}${stale ? ', stale' : ''}`,
    `  operation     ${inWords(view.operation)}`,
    ...(commands.length === 0 ? ['  command       none: permission in words'] : commands),
    ...leftOut,
    `  folder        ${exactly(view.folder)}`,
    `  scope         ${inWords(view.scope)}`,
    `  risk          ${risk}: ${inWords(rationale)}`,
    `  rollback      ${inWords(rollback ?? 'not reversible')}`,
    ...(verification === null ? [] : [`  verification  ${inWords(verification)}`]),
    ...files,
    ...(variables.length === 0 ? [] : [`  variables     ${variables.map(inWords).join(', ')}`]),
    ...folders,
    `  asked by      ${where}, since ${since}, until ${until}`,
    ...(view.approvedBy === null ? [] : [`  approved by   ${inWords(view.approvedBy)}`]),
    ...waysOn(view, baton),
  ];
}

function waysOn({ id, status, cast, turnOver }: ApprovalView, baton: string): readonly string[] {
  if (status === 'expired') {
    const next = cast === null ? 'it must be requested again' : `${baton} continue ${cast} tells the agent`;
    return [`  it has expired: ${next}`];
  }
  if (status === 'unknown') {
    const leave = `${baton} reject ${id} --reason …`;
    return turnOver
      ? [`  it was interrupted, and its turn is over: find out what it did, then ${leave}`]
      : [`  it was interrupted: find out what it did, then ${baton} approve ${id} --again, or ${leave}`];
  }
  return status === 'pending' ? [`  ${baton} approve ${id}   or   ${baton} reject ${id} --reason …`] : [];
}
