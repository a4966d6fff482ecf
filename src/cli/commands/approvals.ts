// `baton approvals`: what waits for a person or was granted and not used.

import { hasLog } from '../../app/state-folder.ts';
import { type ApprovalView, approvalView, linesOf } from '../../approvals/approval-view.ts';
import { marksOf } from '../../approvals/bound-variables.ts';
import { approvalsIn, runningIn } from '../../approvals/open-approvals.ts';
import { findSealKey, type SealKey } from '../../approvals/seal-key.ts';
import type { Door } from '../../engine/door.ts';
import type { Log } from '../../engine/ports.ts';
import type { Approval } from '../../kernel/approval/state.ts';
import { isTurnOver } from '../../kernel/approval/withdraw.ts';
import { again, type Call, EXIT, out, outJson, UsageError } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { withLedger } from '../ledger-session.ts';

export async function run(call: Call): Promise<number> {
  const [verb, file] = call.words;
  if (verb === undefined) return list(call);
  if (verb !== 'request' || file === undefined)
    throw new UsageError('say: baton approvals, or: baton approvals request FILE');
  // Sealing takes much that a list does not need.
  const { run: ask } = await import('./approvals-request.ts');
  return ask(call, file);
}

async function list(call: Call): Promise<number> {
  const now = Date.now();
  const views = hasLog(workspaceOf(call))
    ? // Whoever looks notes nothing down, not even what is over.
      await withLedger(call, ({ log, door }) => viewsIn(log, door, now, call.env))
    : [];
  if (call.json) outJson(views);
  else if (views.length === 0) out('Nothing waits for a person, and nothing that was approved is left.');
  else for (const view of views) for (const line of linesOf(view, again(call))) out(line);
  return EXIT.ok;
}

async function viewsIn(log: Log, door: Door, now: number, env: Call['env']): Promise<readonly ApprovalView[]> {
  const open = Object.values(await approvalsIn(log)).toSorted((a, b) => a.since - b.since);
  const views: ApprovalView[] = [];
  const key = open.length > 0 ? findSealKey(env) : null;
  for (const approval of open) {
    const cast = approval.from ? await door.cast(approval.from.cast) : null;
    const envOther = otherHere(approval, env, key);
    const around = { now, running: runningIn(approval), isTurnOver: isTurnOver(cast, approval), envOther };
    views.push(approvalView(approval, around));
  }
  return views;
}

/** Values are compared by their marks; under another key they cannot be. */
function otherHere({ sealed }: Approval, env: Call['env'], key: SealKey | null): readonly string[] {
  if (key?.id !== sealed.keyId) return [];
  const here = marksOf(sealed.env, env, key);
  return sealed.env.filter((name) => here[name] !== sealed.envMarks[name]);
}
