// All casts of the workspace, newest first.
import { allow } from '../../kernel/verdict.ts';
import { branchOf, worktreeStates } from '../../workspace/worktree/record.ts';
import { type Listed, listCasts } from '../name-cast.ts';
import type { Run } from '../operation.ts';
import type { WorkspaceStore } from '../store.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'cast.list'>> = async (workspace, { limit }) => {
  const store = workspace.hasLog() ? workspace.castStore() : null;
  const listed = store ? await driven(store, limit) : [];
  const count = store ? await store.view('castCount') : 0;
  const casts = withBranches(listed, workspace.stateDir);
  return allow(`${casts.length} of ${count} casts`, { casts: casts.map((cast) => ({ ...cast })), count });
};

/** Newest first. Whether somebody drives it is told of those that should be driven. */
async function driven(store: WorkspaceStore, limit: number | undefined): Promise<readonly Driven[]> {
  const casts = await Promise.all(
    (await listCasts(store, Date.now(), limit === undefined ? {} : { limit })).map(async (cast): Promise<Driven> => {
      if (cast.status !== 'running') return cast;
      return { ...cast, driven: (await store.view('driver', cast.cast)) !== null };
    }),
  );
  return casts.reverse();
}

type Driven = Listed & { readonly driven?: boolean };
export type Shown = Driven & { readonly worktree?: { readonly branch: string; readonly state: string } };

/** A cast that works on a branch of its own is shown with it, and with what became of it. */
function withBranches(casts: readonly Driven[], stateDir: string): readonly Shown[] {
  if (casts.every(({ root }) => root === undefined)) return casts;
  const states = worktreeStates(stateDir);
  return casts.map((cast) => {
    if (cast.root === undefined) return cast;
    return { ...cast, worktree: { branch: branchOf(cast.cast), state: states.get(cast.cast) ?? 'making' } };
  });
}
