// Permissions from the side of agents and scripts: asks for one, and runs a command that a person approved, exactly as it was approved,
// once. An agent may go to any folder: its approvals are in the workspace of its cast.

import { realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Actor } from '../../access/actor.ts';
import { attemptAbove } from '../../access/attempt.ts';
import { environmentOf } from '../../approvals/bound-parts.ts';
import { goneExecutors, requesterOf } from '../../approvals/open-approvals.ts';
import { readPolicy } from '../../approvals/risk.ts';
import { logIdentity, openSealKey } from '../../approvals/seal.ts';
import { sealRequest } from '../../approvals/seal-request.ts';
import {
  type CommandEnd,
  isUnchanged,
  keptStreams,
  presentedAs,
  refuseChanged,
  runApproved,
  useApproval,
} from '../../approvals/use-approval.ts';
import { checkBlocking } from '../../dialects/gaia/checks.ts';
import { asDetails } from '../../dialects/gaia/contract.ts';
import { parseJsonText } from '../../dialects/json-text.ts';
import { thisDriver } from '../../engine/lease.ts';
import { approvalsNamed, around } from '../../hooks/exec-call.ts';
import type { Difference } from '../../kernel/approval/request.ts';
import type { Approval } from '../../kernel/approval/state.ts';
import { isObject, isText } from '../../kernel/json.ts';
import { allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { projectAreaAt } from '../../shell/dangerous.ts';
import { shellLine } from '../../shell/programs.ts';
import { type LocatedWorkspace as Located, locate, UsageError } from '../../workspace/locate.ts';
import { workRoot } from '../../workspace/worktree/record.ts';
import { jsonText } from '../ledger-session.ts';
import type { Context } from '../operation.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

const REQUEST_BYTES_MAX = 1_048_576;

/** An agent or a script asks for a permission. The request is sealed under the name of the caller, and waits from then on. */
export const approvalsRequest: Operation<'approvals.request'> = async (workspace, { request }, { actor }) => {
  const store = workspace.ledgerStore({ begins: true });
  const { env, stateDir } = workspace;
  const parsed = parseJsonText(jsonText(request), { maxBytes: REQUEST_BYTES_MAX });
  if (!parsed.ok || !isObject(parsed.value)) {
    return deny(
      'BAD_USAGE',
      'the request must be one JSON object: {"operation", "exact_content", "scope", "risk_level", "rollback", "verification"}',
    );
  }
  const asked = parsed.value;
  const lacking = checkBlocking(asked);
  if (lacking.length > 0) {
    const { issues, missing } = asDetails(lacking);
    const reason = `the request breaks its contract: ${lacking.map(({ message }) => message).join('; ')}`;
    return deny('CONTRACT_VIOLATION', reason, { missing, issues });
  }
  const policy = readPolicy(workspace);
  if ('allow' in policy) return policy;
  const key = openSealKey(env);
  if ('allow' in key) return key;
  const { name: requester, from, handed } = await requesterOf(env, stateDir, (id) => store.view('cast', id), actor);
  const cwd = isText(asked.x_cwd) ? asked.x_cwd : workspace.cwd;
  const area = projectAreaAt(workRoot(cwd, workspace), cwd, env.HOME);
  const sealed = sealRequest(asked, {
    requester,
    cwd: workspace.cwd,
    env,
    handed,
    policy,
    key,
    now: Date.now(),
    area,
    log: logIdentity(stateDir),
  });
  const gone = goneExecutors(Object.values(await store.view('approvals')));
  return store.submit({ kind: 'approval.request', sealed, from, gone }, actor);
};

/** Runs an approved command. It prints to the streams of the caller; without them the answer holds what it printed. */
export const execApproved: Operation<'exec'> = async (workspace, { approval: word, argv, folder = '.' }, context) => {
  if (argv[0] === '') throw new UsageError('say the command after --: baton exec --approval ID -- ARGV…');
  if (!workspace.hasLog()) return deny('UNKNOWN_APPROVAL', `there is no approval ${word} here`);
  const granted = await granting(workspace, resolve(workspace.cwd, folder), word, argv, context);
  return 'allow' in granted ? granted : carryOut(workspace, argv, granted, context);
};

/** The workspace of the attempt that this process belongs to. Null outside of an attempt, or where it cannot be found. */
export function ownWorkspace(env: NodeJS.ProcessEnv): Located | null {
  const above = attemptAbove();
  if (!above) return null;
  // The environment may be made up: the workspace has to be the one whose state holds the attempt above.
  const named = [env.BATON_WORKSPACE ?? '', dirname(dirname(above.stateDir))].filter((dir) => dir.startsWith('/'));
  const found = named.map((dir) => locate(dir, env, dir));
  return found.find((one) => one !== null && isSameFolder(one.stateDir, above.stateDir)) ?? null;
}

/** Notes that a call with approvals in it was refused. Nothing runs, and nothing is used up. `words` are those of the call. */
export async function noteMisused(workspace: Workspace, words: readonly string[], actor: Actor): Promise<void> {
  const ids = [...new Set(approvalsNamed(words))];
  if (ids.length === 0 || !workspace.hasLog()) return;
  const store = workspace.ledgerStore();
  const line = shellLine(['baton', 'exec', ...withoutJson(words)]);
  const { name: requester } = await requesterOf(
    workspace.env,
    workspace.stateDir,
    (id) => store.view('cast', id),
    actor,
  );
  const differencesTo = (approval: Approval) => {
    const found = around(line, 'baton', approval);
    return found.length > 0 ? found : [NOT_UNDERSTOOD];
  };
  await refuseChanged(store, ids, differencesTo, { requester, actor });
}

type Granted = { readonly approval: Approval; readonly index: number };

/** Compares, and uses the approval up; what comes back may run. */
async function granting(
  workspace: Workspace,
  cwd: string,
  word: string,
  argv: readonly string[],
  { actor }: Context,
): Promise<Granted | Denied> {
  const { env, stateDir } = workspace;
  const policy = readPolicy(workspace);
  if ('allow' in policy) return policy;
  const key = openSealKey(env);
  if ('allow' in key) return key;
  const store = workspace.ledgerStore();
  const { name: requester } = await requesterOf(env, stateDir, (id) => store.view('cast', id), actor);
  const presented = { cwd, env, policy, key, requester, log: logIdentity(stateDir) };
  const { verdict, approval } = await useApproval(store, word, argv, presented, { actor, dry: false });
  if (!verdict.allow) return verdict;
  const index = Number(verdict.details.index);
  if (!approval) return deny('INTERNAL', 'the approval was used and cannot be found');
  if (isUnchanged(approval, argv, presented, index)) return { approval, index };
  // Something was changed between the look and the use: it is used up, and nothing is run.
  const { programs } = presentedAs(approval, argv, presented);
  await store.submit(
    { kind: 'approval.finish', id: approval.id, index, executor: thisDriver(), exit: null, note: CHANGED },
    actor,
  );
  return deny('APPROVAL_MISMATCH', `${approval.id}: ${CHANGED}; nothing was run, and the approval is used up`, {
    approval: approval.id,
    programs: Object.keys(programs),
  });
}

const CHANGED = 'what it is bound to was changed while it was being looked at';

async function carryOut(
  workspace: Workspace,
  argv: readonly string[],
  { approval, index }: Granted,
  { actor, onEvent, streams }: Context,
): Promise<Verdict> {
  const { id, sealed } = approval;
  const tell = (text: string) => onEvent({ kind: 'note', text: `baton: ${text}` });
  const program = sealed.commands[index]?.programs[argv[0] ?? ''];
  const kept = keptStreams();
  const env = environmentOf(sealed, workspace.env);
  const ended: CommandEnd = program
    ? await runApproved({ file: program.path, argv, cwd: sealed.cwd, env }, streams ?? kept)
    : { code: 127, exit: null, note: 'there is no such program' };
  const { exit, code, note: said, isCut } = ended;
  const details = { approval: id, exit, code, ...(streams ? {} : kept.printed()) };
  if (isCut) {
    // The log keeps it as begun and not finished: a person finds out how far it came.
    tell(`${id}: ${said}; how far it came is unknown, and a person has to settle it`);
    return allow(`it was ended (${said})`, details);
  }
  const end = { exit, ...(said === undefined ? {} : { note: said }) };
  const finish = { kind: 'approval.finish', id, index, executor: thisDriver(), ...end } as const;
  try {
    const verdict = await workspace.ledgerStore().submit(finish, actor);
    if (!verdict.allow) tell(`${verdict.code}: ${verdict.reason}`);
  } catch (error) {
    // It ran; that this could not be written down leaves the approval unknown, and a person looks into it.
    tell(`how ${id} ended could not be written down: ${(error as Error).message}`);
  }
  if (said !== undefined) tell(`${id}: ${said}`);
  return allow(`it ran, and ended with exit code ${code}`, details);
}

function isSameFolder(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

const NOT_UNDERSTOOD: Difference = {
  part: 'line',
  name: 'line',
  approved: 'a call that is understood',
  given: 'another one',
};

function withoutJson(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  return words.filter((word, at) => word !== '--json' || (end !== -1 && at > end));
}
