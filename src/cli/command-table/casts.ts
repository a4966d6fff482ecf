// Commands on casts: following, steering, answering, deciding, merging.
import type { Command } from '../command.ts';
import { driveBy, EXITS, MANY, operationCommand } from '../operation-command.ts';

export const CASTS_COMMANDS: readonly Command[] = [
  operationCommand({ name: 'casts', summary: 'list the casts of this workspace, newest first' }, ['cast.list']),
  operationCommand({ name: 'inbox', summary: 'everything that waits for a person, oldest first' }, ['inbox']),
  operationCommand(
    {
      name: 'show',
      summary: 'one cast: what it produced, its steps, what it used; or one turn in full',
      note: `--turn          one turn in full: INPUT, briefs, reports, questions and answers, evidence, what it wrote for others
--data          also the data of the cast (its \`state.*\` values)
Without CAST: the latest one. With --json: the same object as \`baton cast --json\`, also while it runs.`,
      options: { turn: { type: 'string' }, data: { type: 'boolean' } },
      shownBy: () => import('../commands/show.ts').then((file) => file.showCommand),
    },
    ['cast.show'],
  ),
  operationCommand(
    {
      name: 'why',
      summary: 'why a cast is where it is, since when, and the commands that carry it on',
      note: 'Without CAST: the latest one. It looks, and changes nothing.',
    },
    ['cast.why'],
  ),
  operationCommand(
    {
      name: 'watch',
      summary: 'follow a cast that another process drives',
      note: `--jsonl         a JSON line for each word, tool call, refused tool or pause of an agent, as it happens:
                {"turn", "attempt", "socket", "event"}; some may be missed. The last line is the cast, as with --json
--facts         with --jsonl: also a line for each entry of the log, from the first one on, as \`baton log --json\` has it
Without CAST: the latest one. It ends when the cast stops, or when no process drives it any more (exit 1).
${EXITS}`,
      options: { jsonl: { type: 'boolean' }, facts: { type: 'boolean' } },
      shownBy: () => import('../commands/cast.ts').then((file) => file.watchCommand),
    },
    ['cast.watch'],
  ),
  operationCommand(
    {
      name: 'pause',
      summary: 'pause a cast that runs; `continue` carries it on',
      note: 'Without CAST: the latest one. Exit: 0 paused, 1 denied.',
    },
    ['cast.pause'],
  ),
  operationCommand(
    {
      name: 'resume',
      summary: 'carry on a cast after a crash or a pause',
      note: `Without CAST: the newest one that was cut off or paused.\n${EXITS}`,
      shownBy: driveBy('cast.resume'),
    },
    ['cast.resume'],
  ),
  operationCommand(
    {
      name: 'recast',
      summary: 'carry on a failed or aborted cast from where it stopped',
      note: `Without CAST: the newest one that failed or was aborted.\n${EXITS}`,
      shownBy: driveBy('cast.recast'),
    },
    ['cast.recast'],
  ),
  operationCommand(
    {
      name: 'revive',
      summary: 'like recast; a used up edge or budget gets as much again',
      note: `Without CAST: the newest one that stopped at a used up edge.\n${EXITS}`,
      shownBy: driveBy('cast.revive'),
    },
    ['cast.revive'],
  ),
  operationCommand(
    {
      name: 'budget',
      summary: 'show or change what a cast may use',
      note: 'Without a limit: what is used, and of how much. Each is the new limit, not an addition.',
    },
    ['cast.budget'],
  ),
  operationCommand(
    {
      name: 'decide',
      summary: 'decide about a turn whose outcome is unknown, or whose agent asks or is blocked',
      note: EXITS,
      shownBy: driveBy('cast.decide'),
    },
    ['cast.decide'],
  ),
  operationCommand(
    {
      name: 'retry',
      summary: 'work on a parked item again',
      note: EXITS,
      shownBy: driveBy('cast.retry'),
    },
    ['cast.retry'],
  ),
  operationCommand(
    {
      name: 'drop',
      summary: 'leave a parked item out',
      note: EXITS,
      shownBy: driveBy('cast.drop'),
    },
    ['cast.drop'],
  ),
  operationCommand(
    {
      name: 'abort',
      summary: 'stop a cast and its running agents',
      note: 'Without CAST: the one that is open, if it is the only one.',
    },
    ['cast.abort'],
  ),
  {
    ...operationCommand(
      {
        name: 'answer',
        summary: 'answer an agent that asks or is blocked, or do a step of your own',
        note: `--file          the file with the answer; - is standard input
Without TEXT and --file: standard input; in a terminal the brief is shown first. The answer is read like an agent's:
one that does not keep the contract is refused with what is wrong, and the turn waits again. An empty answer is wrong usage.
${EXITS}`,
        options: { file: { type: 'string' } },
        shownBy: () => import('../commands/cast.ts').then((file) => file.answerCommand),
      },
      ['cast.answer'],
    ),
    args: 'CAST [--turn N] [TEXT… | --file FILE] [--detach] [--turns]',
    words: [1, MANY],
  },
  operationCommand(
    {
      name: 'approvals',
      group: 'casts',
      summary: 'requests that wait for a person: the exact command, scope, risk, and how to undo it',
      note: `request answers with one verdict, as JSON.
What has waited for an hour is marked stale. What expired is said in the log, and whoever asked is told.`,
    },
    ['approvals.list', 'approvals.request'],
  ),
  operationCommand(
    {
      name: 'reject',
      summary: 'refuse what an agent asks for, or take back an unused approval, with a reason',
      note: EXITS,
      shownBy: driveBy('reject'),
    },
    ['reject'],
  ),
  operationCommand(
    {
      name: 'exec',
      group: 'casts',
      summary: 'run a command that a person approved, exactly as it was approved, once',
      note: `Arguments, folder, programs, files, variables, policy and requester are compared with what was sealed; what differs is
refused and told. It runs without a shell. Exit: that of the command; 1 refused; 127 it could not be started.`,
      shownBy: () => import('../commands/streams.ts').then((file) => file.execCommand),
    },
    ['exec'],
  ),
  operationCommand(
    {
      name: 'diff',
      group: 'casts',
      summary: 'what a cast changed, also while it runs',
      note: `--stat          the files and how much of each, instead of the patch
The patch can be given to \`git apply\`.`,
      options: { stat: { type: 'boolean' } },
      shownBy: () => import('../commands/streams.ts').then((file) => file.diffCommand),
    },
    ['cast.diff'],
  ),
  operationCommand(
    {
      name: 'merge',
      group: 'casts',
      summary: 'merge what a cast did into the current branch, and remove its worktree',
      note: 'Where git finds a conflict nothing is changed and the files are named. Exit: 0 merged, 1 not.',
    },
    ['cast.merge'],
  ),
  operationCommand(
    {
      name: 'undo',
      group: 'casts',
      summary: 'take back what a cast did: its worktree and branch, or files changed in place',
      note: `Files that were changed again since, or of which nobody kept what they were, stay.
What was merged is taken back as a new commit, unless a file of it was changed since.`,
    },
    ['cast.undo'],
  ),
];
