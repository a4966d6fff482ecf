// An agent asks for paths beyond the scope of its task. A claim has its locks from the assignment, all at once, so that no
// two tasks wait for each other's; it never gets more. The answer says who holds them, or how the task gets them.
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { MAIN_ROOT } from '../../kernel/ledger/lock-tree.ts';
import { spokenPath } from '../../kernel/ledger/path.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { requireNames, withOwnClaim } from '../claims.ts';
import { ledgerSession, rootNamed } from '../ledger-session.ts';
import type { Run } from '../operation.ts';
import { checkLocks } from './lock-check.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'lock.request'>> = async (workspace, { paths }, context) => {
  const session = ledgerSession(workspace, context);
  const claim = await withOwnClaim(session, { task: undefined });
  requireNames(claim, ['task', 'fence']);
  const root = claim.root === undefined ? MAIN_ROOT : rootNamed(workspace, claim.root);
  const held = await checkLocks(session, paths, root, undefined);
  if (!held.allow && held.code !== 'LOCK_CONFLICT') return held;
  const conflicts = Array.isArray(held.details.conflicts) ? held.details.conflicts.filter(isObject) : [];
  const isOwn = ({ holder }: JsonObject) => isObject(holder) && holder.fence === claim.fence;
  const [rival, ...others] = conflicts.filter((conflict) => !isOwn(conflict));
  if (rival && isObject(rival.holder)) {
    const { task, owner, path } = rival.holder;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    const reason = `${String(task)} (${String(owner)}) holds ${spokenPath(String(path))}${more}; work on what is yours, and report what is missing`;
    return deny('LOCK_CONFLICT', reason, { paths, conflicts: [rival, ...others] });
  }
  const own = await checkLocks(session, paths, MAIN_ROOT, claim.fence);
  if (own.allow) return allow('these paths are yours already', { paths });
  const way =
    'report what you need in your handoff and end the turn: the planner widens lock_scope in the next assignment, or a person does in the configuration';
  const reason = `nobody holds these paths, and the scope of ${String(claim.task)} is fixed by its assignment: ${own.reason} To get them, ${way}`;
  return deny('SCOPE_VIOLATION', reason, { ...own.details, paths });
};
