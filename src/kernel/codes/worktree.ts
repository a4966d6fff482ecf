// Codes of the worktrees in which casts work.
import type { CodeRow } from './row.ts';

export const WORKTREE_CODES = {
  WORKTREE_UNUSABLE: {
    http: 409,
    retry: 'person',
    means: 'the worktree of a cast cannot be made, found or set up',
    cause: 'git refused, the set-up step failed, or the folder or its branch was removed by hand',
    fix: 'the reason says what is wrong; mend it and `baton continue CAST`, drop the cast with `baton undo CAST`, or cast with --in-place',
  },
  MERGE_CONFLICT: {
    http: 409,
    retry: 'person',
    means: 'what a cast did and what happened since cannot be joined without a person',
    cause:
      'the files named in details were changed both by the cast and in the branch it is merged into; or by an item beside others and by those that were finished since it began',
    fix: 'of a cast nothing was changed: merge with `git merge baton/CAST` and resolve the conflicts, then `baton undo CAST` clears the rest away; an item gets it back as rework, and where it stays blocked `baton diff CAST --lane N` shows it: mend it there, then `baton continue CAST`',
  },
  UNDO_INCOMPLETE: {
    http: 409,
    retry: 'person',
    means: 'a cast could not be taken back whole',
    cause: 'files that it changed were changed again since, or nobody kept what they were',
    fix: 'details.left names the files that stay as they are; put them back by hand. The others are taken back',
  },
  CHECKS_FAILED: {
    http: 422,
    retry: 'repaired',
    means: 'a checker of the project is red',
    cause: 'an agent handed in work, or a cast is to be merged, on which a checker of the configuration fails',
    fix: 'repair what details.checks names; an agent may submit again without a change, and `baton merge CAST --unchecked` merges all the same',
  },
  FOLDER_UNTRUSTED: {
    http: 403,
    retry: 'person',
    means: 'the folder brings commands along, and no person has said that it is trusted',
    cause:
      'worktree.setup or checkers of its configuration, or filters or merge drivers in its .git/config, would run; or .git/config changed since the folder was trusted',
    fix: 'look at the commands in details; then `baton trust` in the folder lets them run',
  },
} as const satisfies Record<string, CodeRow>;
