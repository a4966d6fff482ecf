// An approval as people and scripts see it: what is to be done, exactly, and everything they need to decide.
import { exactly, inWords } from '../kernel/approval/difference.ts';
import { leftOutOf, type SealedCommand } from '../kernel/approval/request.ts';
import { type Approval, endOf, isDue, isPast } from '../kernel/approval/state.ts';
import { canonicalJson, type Json } from '../kernel/json.ts';
import { sha256 } from './look.ts';

/** After this time it is marked: whoever asked has been waiting. */
const STALE_MS = 3_600_000;

type CommandView = Pick<SealedCommand, 'tier' | 'because' | 'digest'> & {
  readonly command: string;
  readonly status: 'waits' | 'may run' | 'runs' | 'finished' | 'unknown' | 'expired' | 'withdrawn';
};

export type ApprovalView = {
  readonly id: string;
  /** Another one as soon as anything changes that a person decides by. */
  readonly revision: string;
  readonly status: 'pending' | 'approved' | 'unknown' | 'expired';
  readonly operation: string;
  readonly commands: readonly CommandView[];
  readonly folder: string;
  readonly scope: string;
  readonly risk: string;
  readonly rationale: string;
  /** Null where nobody said how to undo it. */
  readonly rollback: string | null;
  readonly verification: string | null;
  readonly requester: string;
  readonly cast: string | null;
  readonly turn: number | null;
  /** Whether the turn that asked is over: then nothing of it begins any more. */
  readonly turnOver: boolean;
  readonly since: string;
  readonly until: string;
  readonly stale: boolean;
  readonly approvedBy: string | null;
  readonly files: Readonly<Record<string, string>>;
  /** The variables that the commands are handed and that are set. */
  readonly env: readonly string[];
  /** Those of them that have another value for whoever looks. An agent that asks by itself sets its own. */
  readonly envOther: readonly string[];
  /** What of the list that was asked for names no command. */
  readonly leftOut?: readonly string[];
};

/** Over the sealed request, what was decided and what began. */
export function revisionOf({ id, sealed, grant, uses }: Approval): string {
  return sha256(canonicalJson({ id, sealed, grant, uses } as unknown as Json));
}

/** What is known of an approval besides the log: when it is looked at, what of it runs, and whether its turn is over. */
export type Around = {
  readonly now: number;
  readonly running: readonly number[];
  readonly isTurnOver: boolean;
  /** Variables that have another value here than when it was asked for. */
  readonly envOther: readonly string[];
};

export function approvalView(approval: Approval, around: Around): ApprovalView {
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
    ...(sealed.leftOut ? { leftOut: leftOutOf(sealed) } : {}),
  };
}

function commandView(
  { display, tier, because, digest }: SealedCommand,
  approval: Approval,
  index: number,
  { now, running, isTurnOver }: Around,
): CommandView {
  const { uses, grant } = approval;
  const phase = uses[index]?.phase;
  const common = { command: display, tier, because, digest };
  if (phase === 'finished') return { ...common, status: 'finished' };
  if (phase === 'unknown' || phase === 'started') {
    return { ...common, status: running.includes(index) ? 'runs' : 'unknown' };
  }
  if (isPast(approval, now)) return { ...common, status: 'expired' };
  // A list whose turn is over stays for what began, and only for that.
  if (isTurnOver) return { ...common, status: 'withdrawn' };
  return { ...common, status: grant ? 'may run' : 'waits' };
}

/** The lines a person decides by. Nothing is summed up or left out. */
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
  const variables = view.env.map((name) => (view.envOther.includes(name) ? `${name} (another value than here)` : name));
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
    `  asked by      ${where}, since ${since}, until ${until}`,
    ...(view.approvedBy === null ? [] : [`  approved by   ${inWords(view.approvedBy)}`]),
    ...waysOn(view, baton),
  ];
}

function waysOn({ id, status, cast, turnOver }: ApprovalView, baton: string): readonly string[] {
  if (status === 'expired') {
    const told = cast === null ? 'it has to be asked for again' : `${baton} continue ${cast} lets the agent know`;
    return [`  its time is over: ${told}`];
  }
  if (status === 'unknown') {
    const leave = `${baton} reject ${id} --reason …`;
    return turnOver
      ? [`  it was cut off, and its turn is over: find out what it did, then ${leave}`]
      : [`  it was cut off: find out what it did, then ${baton} approve ${id} --again, or ${leave}`];
  }
  return status === 'pending' ? [`  ${baton} approve ${id}   or   ${baton} reject ${id} --reason …`] : [];
}
