// Runs a command that a person approved, exactly as it was approved, once. What it prints goes to the streams of the caller;
// without them its end is in the answer.
import { resolve } from 'node:path';
import { environmentOf } from '../../approvals/bound-parts.ts';
import { requesterOf } from '../../approvals/open-approvals.ts';
import { readPolicy } from '../../approvals/risk.ts';
import { logIdentity, openSealKey } from '../../approvals/seal.ts';
import {
  type CommandEnd,
  isUnchanged,
  keptStreams,
  presentedAs,
  runApproved,
  useApproval,
} from '../../approvals/use-approval.ts';
import { thisDriver } from '../../engine/lease.ts';
import type { Approval } from '../../kernel/approval/state.ts';
import { allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import type { Context } from '../operation.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

export const execApproved: Operation<'exec'> = async (workspace, { approval: word, argv, folder = '.' }, context) => {
  if (argv[0] === '') throw new UsageError('say the command after --: baton exec --approval ID -- ARGV…');
  if (!workspace.hasLog()) return deny('UNKNOWN_APPROVAL', `there is no approval ${word} here`);
  const granted = await granting(workspace, resolve(workspace.cwd, folder), word, argv, context);
  return 'allow' in granted ? granted : carryOut(workspace, argv, granted, context);
};

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
  const policy = readPolicy(workspace.configFile);
  if ('allow' in policy) return policy;
  const key = openSealKey(env);
  if ('allow' in key) return key;
  const store = workspace.ledgerStore();
  const at = { store, log: store.log };
  const { name: requester } = await requesterOf(env, stateDir, (id) => store.view('cast', id), actor);
  const scene = { cwd, env, policy, key, requester, log: logIdentity(stateDir) };
  const { verdict, approval } = await useApproval(at, word, argv, scene, { actor, dry: false });
  if (!verdict.allow) return verdict;
  const index = Number(verdict.details.index);
  if (!approval) return deny('INTERNAL', 'the approval was used and cannot be found');
  if (isUnchanged(approval, argv, scene, index)) return { approval, index };
  // Something was changed between the look and the use: it is used up, and nothing is run.
  const { programs } = presentedAs(approval, argv, scene);
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
    // It stands in the log as begun, and nobody says that it is done: a person finds out how far it came.
    tell(`${id}: ${said}; nobody knows how far it came, and a person has to settle it`);
    return allow(`it was ended (${said})`, details);
  }
  const told = { exit, ...(said === undefined ? {} : { note: said }) };
  const finish = { kind: 'approval.finish', id, index, executor: thisDriver(), ...told } as const;
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
