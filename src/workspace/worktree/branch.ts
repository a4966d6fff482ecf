// The names of a cast's branches and worktrees. Git cannot have a branch below another one, so the name of an item's own
// stands beside that of the cast.

/** Branches of casts begin so. */
export const BRANCHES = 'baton';

/** The branch on which a cast works, or an item of it that has a worktree of its own. */
export function branchOf(cast: string, place: number | null = null): string {
  return `${BRANCHES}/${worktreeName(cast, place)}`;
}

/** The name of a worktree's folder, and of the record beside it. */
export function worktreeName(cast: string, place: number | null): string {
  return place === null ? cast : `${cast}${LANE}${place}`;
}

/** The cast and the place that a worktree is named after. */
export function namedBy(name: string): { readonly cast: string; readonly place: number | null } {
  const at = name.lastIndexOf(LANE);
  const number = at === -1 ? '' : name.slice(at + LANE.length);
  return /^[1-9]\d{0,5}$/.test(number)
    ? { cast: name.slice(0, at), place: Number(number) }
    : { cast: name, place: null };
}

const LANE = '.lane-';
