// What waits for a person, or was approved and not used; and the yes or no to it, which carries the waiting cast on.
import { delimiter, dirname, resolve } from 'node:path';
import { OWN_PROGRAM } from '../../agents/environment.ts';
import { approvalView, revisionOf } from '../../approvals/approval-view.ts';
import { marksOf } from '../../approvals/bound-parts.ts';
import { approvalNamed, goneExecutors, runningIn } from '../../approvals/open-approvals.ts';
import { findSealKey, openSealKey, type SealKey, sealDecision } from '../../approvals/seal.ts';
import type { Submitter } from '../../engine/store.ts';
import type { ApprovalRequest } from '../../kernel/approval/request.ts';
import { isTurnOver } from '../../kernel/approval/settle.ts';
import type { Approval, ApprovalView } from '../../kernel/approval/state.ts';
import { allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import type { Context } from '../operation.ts';
import { refusalOfDecision } from '../refusals.ts';
import { Refused } from '../refused.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

export const approvalsList: Operation<'approvals.list'> = async (workspace) => {
  // Listing writes nothing, not even that an approval has expired.
  const approvals = workspace.hasLog() ? await approvalViews(workspace) : [];
  return allow(`${approvals.length} approvals`, { approvals });
};

export async function approvalViews(workspace: Workspace): Promise<readonly ApprovalView[]> {
  const { env } = workspace;
  const [store, now] = [workspace.ledgerStore(), Date.now()];
  const open = Object.values(await store.view('approvals')).toSorted((a, b) => a.since - b.since);
  const views: ApprovalView[] = [];
  const key = open.length > 0 ? findSealKey(env) : null;
  for (const approval of open) {
    const cast = approval.from ? await store.view('cast', approval.from.cast) : null;
    const envOther = otherHere(approval, env, key);
    const pathOther = foldersElsewhere(approval, env.PATH ?? '');
    const around = { now, running: runningIn(approval), isTurnOver: isTurnOver(cast, approval), envOther, pathOther };
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

/** Baton brings its own program and the Node that runs it. */
function foldersElsewhere({ sealed }: Approval, here: string): readonly string[] {
  const inFolders = (path: string) => path.split(delimiter).map((folder) => resolve(sealed.cwd, folder));
  const known = [...inFolders(here), dirname(OWN_PROGRAM), dirname(process.execPath)];
  return [...new Set(inFolders(sealed.path))].filter((folder) => !known.includes(folder));
}

type Choice = Pick<Extract<ApprovalRequest, { kind: 'approval.decide' }>, 'choice' | 'reason' | 'again'>;
type How = {
  readonly detach?: boolean | undefined;
  readonly turns?: boolean | undefined;
  readonly revision?: string | undefined;
};

export const approve: Operation<'approve'> = (workspace, { id, reason = '', again, ...how }, context) =>
  settle(workspace, id, { choice: 'approve', reason, ...(again ? { again } : {}) }, how, context);

export const reject: Operation<'reject'> = (workspace, { id, reason, ...how }, context) =>
  settle(workspace, id, { choice: 'reject', reason: reason || 'a person rejected it' }, how, context);

async function settle(workspace: Workspace, word: string, choice: Choice, { revision, ...how }: How, context: Context) {
  const { actor } = context;
  if (!workspace.hasLog())
    throw new Refused(deny('UNKNOWN_APPROVAL', `there is no approval ${word} in ${workspace.dir}`));
  const store = workspace.castStore();
  const found = approvalNamed(await store.view('approvals'), word);
  const approval = 'allow' in found ? null : found;
  if (approval && revision !== undefined && revision !== revisionOf(approval)) {
    const reason = `${approval.id} changed after it was shown, and nothing was decided; look at it again`;
    return deny('CONCURRENCY_CONFLICT', reason, { approval: approval.id });
  }
  const cast = approval?.from?.cast ?? null;
  const may = `${choice.choice} what an agent asks for`;
  const refusal = refusalOfDecision(workspace, choice.choice, actor, cast, may);
  const decide = (store: Pick<WorkspaceStore, 'submit'>) =>
    decided(store, workspace, { word, found, choice, refusal }, actor);
  const { waitsForApproval } = await import('../../kernel/cast/asked.ts');
  const waiting = approval?.from ? await store.view('cast', approval.from.cast) : null;
  if (!approval?.from || refusal || !waitsForApproval(waiting, approval.from.turn, approval.id)) {
    const verdict = await decide(store);
    // Its refusal is in the log already.
    if (verdict.code === 'APPROVER_IS_AGENT') throw new Refused(verdict as Denied);
    return verdict;
  }
  const { sayToCast } = await import('../driving/carry-on.ts');
  return sayToCast(
    workspace,
    { cast: approval.from.cast, submit: decide, ends: () => true, isTold: true, ...how },
    context,
  );
}

type Asked = {
  readonly word: string;
  readonly found: Approval | Denied;
  readonly choice: Choice;
  readonly refusal: Denied | null;
};

async function decided(
  store: Pick<WorkspaceStore, 'submit'>,
  { env }: Workspace,
  { word, found, choice, refusal }: Asked,
  actor: Submitter,
): Promise<Verdict> {
  const isAgent = refusal !== null;
  const id = 'allow' in found ? word.slice(0, 64) : found.id;
  const gone = 'allow' in found ? [] : goneExecutors([found]);
  const sealing = 'allow' in found || isAgent ? {} : sealingFor(env, found, { ...choice, gone }, actor);
  if ('allow' in sealing) return sealing;
  const verdict = await store.submit({ kind: 'approval.decide', id, ...choice, isAgent, gone, ...sealing }, actor);
  if (verdict.code === 'APPROVER_IS_AGENT' && refusal) return { ...verdict, reason: refusal.reason };
  return verdict.code === 'UNKNOWN_APPROVAL' && 'allow' in found ? found : verdict;
}

/** The seal of the decision. A no is not kept back by a key that cannot be used. */
function sealingFor(
  env: NodeJS.ProcessEnv,
  approval: Approval,
  choice: Parameters<typeof sealDecision>[1],
  actor: Submitter,
) {
  const key = openSealKey(env);
  if ('allow' in key) return choice.choice === 'reject' ? {} : key;
  return sealDecision(approval, choice, { by: actor.name, now: Date.now(), key });
}
