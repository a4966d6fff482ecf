// What waits for a person, or was approved and not used.
import { type ApprovalView, approvalView } from '../../approvals/approval-view.ts';
import { marksOf } from '../../approvals/bound-parts.ts';
import { approvalsIn, runningIn } from '../../approvals/open-approvals.ts';
import { findSealKey, type SealKey } from '../../approvals/seal.ts';
import { isTurnOver } from '../../kernel/approval/settle.ts';
import type { Approval } from '../../kernel/approval/state.ts';
import { allow } from '../../kernel/verdict.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

export const approvalsList: Operation<'approvals.list'> = async (workspace) => {
  // Whoever looks notes nothing down, not even what is over.
  const approvals = workspace.hasLog() ? await approvalViews(workspace) : [];
  return allow(`${approvals.length} approvals`, { approvals });
};

export async function approvalViews(workspace: Workspace): Promise<readonly ApprovalView[]> {
  const { env } = workspace;
  const [store, now] = [workspace.ledgerStore(), Date.now()];
  const open = Object.values(await approvalsIn(store.log)).toSorted((a, b) => a.since - b.since);
  const views: ApprovalView[] = [];
  const key = open.length > 0 ? findSealKey(env) : null;
  for (const approval of open) {
    const cast = approval.from ? await store.view('cast', approval.from.cast) : null;
    const envOther = otherHere(approval, env, key);
    const around = { now, running: runningIn(approval), isTurnOver: isTurnOver(cast, approval), envOther };
    views.push(approvalView(approval, around));
  }
  return views;
}

/** Values are compared by their marks; under another key they cannot be. */
function otherHere({ sealed }: Approval, env: NodeJS.ProcessEnv, key: SealKey | null): readonly string[] {
  if (key?.id !== sealed.keyId) return [];
  const here = marksOf(sealed.env, env, key);
  return sealed.env.filter((name) => here[name] !== sealed.envMarks[name]);
}
