// What casts did to files: look at it, take it over, take it back, clear it away.
import { FOREIGN, type OperationEntry } from '../operation.ts';

const CAST = {
  type: 'text',
  word: 'CAST',
  mayBeEmpty: true,
  means: 'the id of the cast, a beginning that only one has, or latest; without it the latest one',
  example: 'latest',
} as const;

export const WORK = {
  'cast.diff': {
    name: 'cast.diff',
    group: 'work',
    act: 'look',
    means: 'show what a cast changed, also while it runs',
    example: 'baton diff latest --stat',
    fields: {
      cast: CAST,
      lane: { type: 'count', means: 'what an item did that has a worktree of its own, while it is not merged' },
      patch: { type: 'flag', hidden: true, means: 'also the patch, which `git apply` takes' },
    },
    cli: 'diff',
    mcp: {
      name: 'cast_diff',
      audience: 'person',
      description: `What a cast changed: its files, and with patch the patch of them. ${FOREIGN}`,
    },
  },
  'cast.merge': {
    name: 'cast.merge',
    group: 'work',
    act: 'decide',
    peopleOnly: 'merge what a cast did',
    means: 'take what a cast did over into the current branch, and clear its worktree away',
    example: 'baton merge latest',
    fields: {
      cast: CAST,
      yes: {
        type: 'flag',
        means: 'also of a cast that is not completed: what was accepted so far, and its worktree stays',
      },
      unchecked: {
        type: 'flag',
        means:
          'without the checkers with "when": "merge", which run on the whole work first; a red one refuses the merge',
      },
      squash: { type: 'flag', means: 'as one commit of yours, whatever commits the cast made' },
      message: {
        type: 'text',
        short: 'm',
        means: 'with squash: the message of that commit; without it one made of the request and the items',
        example: 'Add a --version flag',
      },
    },
    cli: 'merge',
    mcp: {
      name: 'cast_merge',
      audience: 'person',
      description:
        'Take what a cast did over into the branch that is checked out. Refused with the files where git finds a conflict, and with the checks that are red.',
    },
  },
  'cast.undo': {
    name: 'cast.undo',
    group: 'work',
    act: 'decide',
    peopleOnly: 'take back what a cast did',
    means: 'take back what a cast did: its worktree and branch, or the files it changed in place',
    example: 'baton undo latest',
    fields: { cast: CAST, yes: { type: 'flag', means: 'without asking, also where work would be lost' } },
    cli: 'undo',
    mcp: { leftOut: 'work can be lost, so a person looks and decides at a terminal' },
  },
  gc: {
    name: 'gc',
    group: 'work',
    act: 'govern',
    peopleOnly: 'erase texts',
    means: 'erase old texts of casts that are over, without breaking any proof, and clear their worktrees away',
    example: 'baton gc --older-than 90d --dry-run',
    fields: {
      olderThan: {
        type: 'text',
        value: 'AGE',
        means: 'casts that ended before, such as 12h, 30d (the default) or 8w',
        example: '90d',
      },
      stopped: { type: 'flag', means: 'failed and aborted casts too; they cannot be carried on afterwards' },
      digest: {
        type: 'list',
        itemsMin: 1,
        value: 'DIGEST',
        means:
          'this text, wherever what it belongs to is over, whatever its age. Refused where it is nowhere, or only where something is not over',
      },
      worktrees: {
        type: 'flag',
        means: 'only worktrees, of any age unless it is said; one with work that is nowhere else stays',
      },
      force: { type: 'flag', means: 'with --worktrees: also where unmerged commits or uncommitted files are lost' },
      dryRun: { type: 'flag', means: 'say what would go, and let it be' },
    },
    mcp: { leftOut: 'what is erased cannot come back, so a person decides at a terminal' },
  },
} as const satisfies Readonly<Record<string, OperationEntry>>;
