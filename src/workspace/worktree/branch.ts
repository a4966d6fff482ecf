// The name of the branch on which a cast works.

/** Branches of casts begin so. */
export const BRANCHES = 'baton';

export function branchOf(cast: string): string {
  return `${BRANCHES}/${cast}`;
}
