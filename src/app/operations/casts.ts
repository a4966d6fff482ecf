// The casts of a workspace, and what they did to files: look at them, take their work over, take it back, clear it away.
import { entriesOf, FOREIGN } from '../operation.ts';

const CAST = {
  type: 'text',
  value: 'CAST',
  mayBeEmpty: true,
  means: 'the id of the cast, a beginning that only one has, or latest',
  example: 'latest',
} as const;

export const CAST_ROWS = entriesOf('casts', {
  'cast.list': {
    act: 'look',
    means: 'list the casts of the workspace, newest first',
    example: 'baton casts',
    fields: {
      limit: {
        type: 'count',
        means: 'at most this many; all without it. Up to 200, each has its items, its step and its cost too',
        example: 20,
      },
      before: {
        type: 'text',
        value: 'CAST',
        means: 'only those that began before this cast',
        example: '20260131-093000-0c2f81',
      },
      status: {
        type: 'choice',
        value: 'STATUS',
        of: ['open', 'running', 'waiting', 'paused', 'completed', 'failed', 'aborted'],
        means: 'only those with this status; open are those that run, wait or are paused',
        example: 'open',
      },
      text: {
        type: 'text',
        value: 'WORDS',
        charsMax: 200,
        means: 'only those with these words in request, loadout or id',
        example: 'parser',
      },
    },
    cli: 'casts',
    mcp: {
      name: 'cast_list',
      audience: 'person',
      description: `List the casts of the workspace, newest first; without a limit the newest 20. ${FOREIGN}`,
      defaults: { limit: 20 },
    },
  },
  'cast.show': {
    act: 'look',
    means: 'show a cast as it is now',
    example: 'baton show latest',
    fields: {
      cast: { ...CAST, word: 'CAST' },
      turns: { type: 'flag', means: 'also the brief and the answer of each attempt; on the command line with --json' },
    },
    cli: 'show',
    mcp: {
      name: 'cast_show',
      audience: 'person',
      description: `Look at a cast: its status, where it went, its data and what it used; with turns also the brief and the answer of each attempt. ${FOREIGN}`,
    },
  },
  'cast.turn': {
    act: 'look',
    means: 'show one turn in full: INPUT, briefs, reports, questions and answers, evidence, what it wrote for others',
    example: 'baton show latest --turn 7',
    fields: {
      cast: { ...CAST, word: 'CAST' },
      turn: { type: 'count', min: 1, required: true, means: 'the number of the turn', example: 7 },
    },
    cli: 'show',
    mcp: { leftOut: 'cast_show with turns has the brief and the answer of each attempt' },
  },
  'cast.why': {
    act: 'look',
    means: 'say why a cast is where it is, since when, and the commands that carry it on',
    example: 'baton why latest',
    fields: { cast: { ...CAST, word: 'CAST' } },
    cli: 'why',
    mcp: {
      name: 'cast_why',
      audience: 'person',
      description: `Say why a cast is where it is: what it waits for or failed on, since when, and the commands that carry it on. ${FOREIGN}`,
    },
  },
  'cast.watch': {
    act: 'look',
    means: 'follow a cast that another process drives, from its first entry on, until it stops',
    example: 'baton watch latest',
    fields: {
      cast: { ...CAST, word: 'CAST' },
      turns: { type: 'flag', means: 'at the end, also the brief and the answer of each attempt' },
    },
    cli: 'watch',
    mcp: { leftOut: 'a tool answers once; cast_wait tells what the agents do as progress' },
  },
  'cast.wait': {
    act: 'look',
    means: 'wait until a cast completes, fails or needs a person, or the time is over',
    example: '',
    fields: {
      cast: CAST,
      timeout_seconds: { type: 'number', means: 'answer after so many seconds at the latest', example: 45 },
    },
    cli: { leftOut: 'watch waits, and shows the cast meanwhile' },
    mcp: {
      name: 'cast_wait',
      audience: 'person',
      description: `Wait until a cast completes, fails or needs a person, or the time is over; then call again, nothing is lost. details.stands says which. Asked for progress, it tells what the agents do meanwhile. ${FOREIGN}`,
      schemas: { timeout_seconds: { type: 'integer', minimum: 1, maximum: 600, default: 45 } },
      defaults: { timeout_seconds: 45 },
    },
  },
  'cast.trace': {
    group: 'history',
    act: 'look',
    means: 'find what is behind a file, a result, a handoff or a text, and what came of it',
    example: 'baton trace src/api.ts',
    fields: {
      what: {
        type: 'text',
        word: 'FILE|CAST|DIGEST|HANDOFF',
        required: true,
        mayBeEmpty: true,
        means: 'a file, a cast, a digest or the id of a handoff',
        example: 'src/api.ts',
      },
    },
    cli: 'trace',
    mcp: { leftOut: 'a person or a script looks into the history, by the command line or the library' },
  },
  inbox: {
    act: 'look',
    means: 'list everything that waits for a person, oldest first',
    example: 'baton inbox',
    fields: {},
    mcp: { leftOut: 'approvals_list and cast_why say what waits; a person decides' },
  },
  status: {
    act: 'look',
    means: 'say what runs, waits and ended last in the workspace',
    example: 'baton status',
    fields: {},
    mcp: { leftOut: 'cast_list and cast_why say it cast by cast' },
  },
  metrics: {
    group: 'ledger',
    act: 'look',
    means: 'show how the runs of the ledger went, one by one and over time, next to the levels aimed at',
    example: 'baton status --metrics',
    fields: {},
    cli: 'status --metrics',
    mcp: { leftOut: 'a person or a script reads the numbers, by the command line or the library' },
  },
});

/** The cast whose work is meant. */
const OF_CAST = { ...CAST, word: 'CAST', means: `${CAST.means}; without it the latest one` } as const;

export const WORK_ROWS = entriesOf('work', {
  'cast.diff': {
    act: 'look',
    means: 'show what a cast changed, also while it runs',
    example: 'baton diff latest --stat',
    fields: {
      cast: OF_CAST,
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
    act: 'decide',
    peopleOnly: 'merge what a cast did',
    means: 'merge what a cast did into the current branch, and remove its worktree',
    example: 'baton merge latest',
    fields: {
      cast: OF_CAST,
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
    act: 'decide',
    peopleOnly: 'take back what a cast did',
    means: 'take back what a cast did: its worktree and branch, or the files it changed in place',
    example: 'baton undo latest',
    fields: { cast: OF_CAST, yes: { type: 'flag', means: 'without asking, also where work would be lost' } },
    cli: 'undo',
    mcp: { leftOut: 'work can be lost, so a person looks and decides at a terminal' },
  },
  gc: {
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
        means: 'only worktrees, of any age unless an age is given; one with work that is nowhere else stays',
      },
      force: { type: 'flag', means: 'with --worktrees: also where unmerged commits or uncommitted files are lost' },
      dryRun: { type: 'flag', means: 'say what would go, and let it be' },
    },
    mcp: { leftOut: 'what is erased cannot come back, so a person decides at a terminal' },
  },
});
