// `baton exec`: runs a command that a person approved, exactly as it was approved, once.

import { hasLog } from '../../app/state-folder.ts';
import { environmentOf } from '../../approvals/bound-variables.ts';
import { logIdentity } from '../../approvals/log-identity.ts';
import { readPolicy } from '../../approvals/policy-file.ts';
import { presentedAs } from '../../approvals/present.ts';
import { requesterOf } from '../../approvals/requester.ts';
import { type CommandEnd, runCommand } from '../../approvals/run-command.ts';
import { openSealKey } from '../../approvals/seal-key.ts';
import { isUnchanged, useApproval } from '../../approvals/use-approval.ts';
import { thisDriver } from '../../engine/driver.ts';
import type { Approval } from '../../kernel/approval/state.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { type Call, EXIT, note, outJson, UsageError } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { type LedgerSession, needed, withLedger } from '../ledger-session.ts';
import { atHome } from '../own-workspace.ts';

export async function run(call: Call): Promise<number> {
  const word = needed(call, 'approval');
  const argv = call.words;
  if (argv.length === 0 || argv[0] === '')
    throw new UsageError('say the command after --: baton exec --approval ID -- ARGV…');
  const home = atHome(call);
  if (!hasLog(workspaceOf(home))) return refused(call, deny('UNKNOWN_APPROVAL', `there is no approval ${word} here`));
  const granted = await withLedger(home, (session) => granting(session, call.cwd, word, argv));
  return 'allow' in granted ? refused(call, granted) : carryOut(home, argv, granted);
}

type Granted = { readonly approval: Approval; readonly index: number; readonly requester: string };

/** Compares, and uses the approval up; what comes back may run. */
async function granting(
  { call, workspace, door, log, actor }: LedgerSession,
  cwd: string,
  word: string,
  argv: readonly string[],
): Promise<Granted | Denied> {
  const policy = readPolicy(workspace.configFile);
  if ('allow' in policy) return policy;
  const key = openSealKey(call.env);
  if ('allow' in key) return key;
  const { name: requester } = await requesterOf(call.env, workspace.stateDir, (id) => door.cast(id), actor);
  const scene = { cwd, env: call.env, policy, key, requester, log: logIdentity(workspace.stateDir) };
  const { verdict, approval } = await useApproval({ door, log }, word, argv, scene, { by: actor.name, dry: false });
  if (!verdict.allow) return verdict;
  const index = Number(verdict.details.index);
  if (!approval) return deny('INTERNAL', 'the approval was used and cannot be found');
  if (isUnchanged(approval, argv, scene, index)) return { approval, index, requester };
  // Something was changed between the look and the use: it is used up, and nothing is run.
  const { programs } = presentedAs(approval, argv, scene);
  await door.submit(
    { kind: 'approval.finish', id: approval.id, index, executor: thisDriver(), exit: null, note: CHANGED },
    actor.name,
  );
  return deny('APPROVAL_MISMATCH', `${approval.id}: ${CHANGED}; nothing was run, and the approval is used up`, {
    approval: approval.id,
    programs: Object.keys(programs),
  });
}

const CHANGED = 'what it is bound to was changed while it was being looked at';

async function carryOut(call: Call, argv: readonly string[], { approval, index }: Granted): Promise<number> {
  const { id, sealed } = approval;
  const program = sealed.commands[index]?.programs[argv[0] ?? ''];
  const ended: CommandEnd = program
    ? await runCommand({
        file: program.path,
        argv,
        cwd: sealed.cwd,
        env: environmentOf(sealed, call.env),
      })
    : { code: 127, exit: null, note: 'there is no such program' };
  const { exit, note: said, isCut } = ended;
  if (isCut) {
    // It stands in the log as begun, and nobody says that it is done: a person finds out how far it came.
    note(`baton: ${id}: ${said}; nobody knows how far it came, and a person has to settle it`);
    return ended.code;
  }
  const told = { exit, ...(said === undefined ? {} : { note: said }) };
  const finish = { kind: 'approval.finish', id, index, executor: thisDriver(), ...told } as const;
  try {
    const verdict = await withLedger(call, ({ door, actor }) => door.submit(finish, actor.name));
    if (!verdict.allow) note(`baton: ${verdict.code}: ${verdict.reason}`);
  } catch (error) {
    // It ran; that this could not be written down leaves the approval unknown, and a person looks into it.
    note(`baton: how ${id} ended could not be written down: ${(error as Error).message}`);
  }
  if (said !== undefined) note(`baton: ${id}: ${said}`);
  return ended.code;
}

/** Standard output is the command's; without one it is the verdict's, where it is asked for. */
function refused(call: Call, verdict: Denied): number {
  note(`baton: ${verdict.code}: ${verdict.reason}`);
  if (call.json) outJson(verdict);
  return EXIT.denied;
}
