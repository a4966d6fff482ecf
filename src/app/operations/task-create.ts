// One assignment packet becomes a row of the ledger.
import { isAbsolute } from 'node:path';
import { takeAssignment } from '../../dialects/operator/read.ts';
import { isGoverning } from '../../kernel/ledger/scope.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { realPath } from '../../shell/project-area.ts';
import { insideRoot, placedIn } from '../claims.ts';
import { declaredCheckers, folderOf, ledgerSession, refusePayload, rootNamed, textOf } from '../ledger-session.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'task.create'>> = async (workspace, input, context) => {
  const session = ledgerSession(workspace, context, { begins: true });
  const taken = takeAssignment(textOf(input.packet), { checkers: declaredCheckers(workspace).names });
  if (!taken.ok) return refusePayload(session, 'create', taken);
  const root = rootNamed(workspace, input.root);
  // Below the state lie the worktrees of casts, which are folders to work in.
  if (isGoverning(root) && !root.startsWith('.baton/state/'))
    return deny('SCOPE_VIOLATION', `${root} governs the work; no task can have it for its folder.`, { root });
  if (isAbove(root, workspace.dir)) {
    const reason = `${root} holds this workspace, whose files would have two names; work in a folder inside it or apart from it.`;
    return deny('SCOPE_VIOLATION', reason, { root });
  }
  const placed = placedIn(folderOf({ root }, workspace), taken.payload);
  if (!placed.ok) return placed.refusal;
  const { packet } = placed;
  const retries = input.retries === undefined ? {} : { retriesMax: input.retries };
  const { store, actor } = session;
  const isAgent = actor.kind === 'agent';
  const verdict = await store.submit({ kind: 'task.create', packet, root, ...retries, isAgent }, actor);
  if (!verdict.allow || taken.warnings.length === 0) return verdict;
  return allow(verdict.reason, { ...verdict.details, warnings: taken.warnings });
};

function isAbove(root: string, dir: string): boolean {
  return isAbsolute(root) && insideRoot(root, realPath(dir)) !== null;
}
