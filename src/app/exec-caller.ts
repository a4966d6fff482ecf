// Where `exec` finds what was approved, and the note in the log of a call of it that is not understood. An agent may go to any
// folder: its approvals are in the workspace of its cast.
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Actor } from '../access/actor.ts';
import { attemptAbove } from '../access/attempt.ts';
import { requesterOf } from '../approvals/open-approvals.ts';
import { refuseChanged } from '../approvals/use-approval.ts';
import { approvalsNamed, around } from '../hooks/exec-call.ts';
import type { Difference } from '../kernel/approval/request.ts';
import type { Approval } from '../kernel/approval/state.ts';
import { shellLine } from '../shell/programs.ts';
import { type LocatedWorkspace as Located, locate } from '../workspace/locate.ts';
import type { Workspace } from './workspace.ts';

/** The workspace of the attempt that this process belongs to. Null outside of an attempt, or where it cannot be found. */
export function ownWorkspace(env: NodeJS.ProcessEnv): Located | null {
  const above = attemptAbove();
  if (!above) return null;
  // The environment may be made up: the workspace has to be the one whose state holds the attempt above.
  const named = [env.BATON_WORKSPACE ?? '', dirname(dirname(above.stateDir))].filter((dir) => dir.startsWith('/'));
  const found = named.map((dir) => locate(dir, env, dir));
  return found.find((one) => one !== null && isSameFolder(one.stateDir, above.stateDir)) ?? null;
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
  await refuseChanged({ store, log: store.log }, ids, differencesTo, { requester, actor });
}

function withoutJson(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  return words.filter((word, at) => word !== '--json' || (end !== -1 && at > end));
}
