// A call of `baton exec` that is not understood and names approvals: it is refused like any other that is not what was
// approved, and that is in the log. Nothing runs, and nothing is used up.

import { hasLog } from '../app/state-folder.ts';
import { requesterOf } from '../approvals/requester.ts';
import { shellLine } from '../approvals/shell-words.ts';
import { refuseChanged } from '../approvals/use-approval.ts';
import { approvalsNamed, around } from '../hooks/exec-call.ts';
import type { Difference } from '../kernel/approval/request.ts';
import type { Approval } from '../kernel/approval/state.ts';
import { type Call, note, UsageError } from './command.ts';
import { workspaceOf } from './find-workspace.ts';
import { withLedger } from './ledger-session.ts';
import { atHome } from './own-workspace.ts';

const NOT_UNDERSTOOD: Difference = {
  part: 'line',
  name: 'line',
  approved: 'a call that is understood',
  given: 'another one',
};

/** `words` are those after the name of the command, as they were given. */
export async function noteMisused(given: Call, words: readonly string[]): Promise<void> {
  const ids = [...new Set(approvalsNamed(words))];
  if (ids.length === 0) return;
  const call = atHome(given);
  const line = shellLine(['baton', 'exec', ...withoutJson(words)]);
  try {
    if (!hasLog(workspaceOf(call))) return;
    await withLedger(call, async ({ workspace, door, log, actor }) => {
      const { name: requester } = await requesterOf(call.env, workspace.stateDir, (id) => door.cast(id), actor);
      const differencesTo = (approval: Approval) => {
        const told = around(line, 'baton', approval);
        return told.length > 0 ? told : [NOT_UNDERSTOOD];
      };
      await refuseChanged({ door, log }, ids, differencesTo, { requester, by: actor.name });
    });
  } catch (error) {
    // It is refused all the same. Where there is no workspace, that is what the person is told.
    if (!(error instanceof UsageError)) note(`it could not be noted that it was refused: ${(error as Error).message}`);
  }
}

function withoutJson(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  return words.filter((word, at) => word !== '--json' || (end !== -1 && at > end));
}
