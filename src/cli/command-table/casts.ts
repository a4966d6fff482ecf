// Commands of every day and on casts: start, follow, steer, answer, decide, merge.
import type { Command } from '../command.ts';
import { driveBy, EXITS, MANY, oneOperation, operationCommand, showBy } from '../operation-command.ts';

export const EVERYDAY_COMMANDS: readonly Command[] = [
  oneOperation('init', {
    group: 'everyday',
    shownBy: () => import('../commands/setup.ts').then((file) => file.initCommand),
  }),
  {
    ...oneOperation('cast.start', {
      group: 'everyday',
      summary: 'run a loadout on a request, with live progress',
      note: `--dry-run       show the first briefs and what would run, start nothing
--ui            show it in the page as well, and keep the page open until Ctrl-C
--request-file  read the request from a file; - reads it from standard input (at most 1 MiB)
The request follows -- when it begins with a dash. ${EXITS}`,
      options: { 'dry-run': { type: 'boolean' }, 'request-file': { type: 'string' }, ui: { type: 'boolean' } },
      shownBy: () => import('../commands/cast.ts').then((file) => file.castCommand),
    }),
    args: '[-l LOADOUT | --materia NAME | --link TARGETS] [--from CAST] [--file CONFIG] [--agents SCRIPT] [--runner NAME] [--model NAME] [--input NAME=VALUE …] [--input-file FILE] [--set KEY=VALUE …] [--in-place] [--detach] [--dry-run] [--ui] [--turns] REQUEST… | - | --request-file FILE',
    words: [0, MANY],
  },
  oneOperation('status', {
    group: 'everyday',
    note: '--metrics       how the runs of the ledger went, one by one and over time, next to the levels aimed at',
    options: { metrics: { type: 'boolean' } },
    shownBy: showBy(({ values }) => ({ name: values.metrics === true ? 'metrics' : 'status' })),
  }),
  oneOperation('cast.continue', {
    group: 'everyday',
    note: `A crashed or paused cast is resumed, a failed or aborted one is recast; at a spent allowance you are asked first.
Without CAST: the newest that runs no more, is paused or waits, else the latest one.
${EXITS}`,
    shownBy: driveBy('cast.continue'),
  }),
  oneOperation('approve', {
    group: 'everyday',
    note: `An agent cannot approve anything.\n${EXITS}`,
    shownBy: driveBy('approve'),
  }),
  {
    name: 'ui',
    group: 'everyday',
    act: 'govern',
    args: '[--port N] [--no-open]',
    words: [0, 0],
    summary: 'open the page of the workspace: see what runs, steer it, decide',
    help: `--port          the port; without it 4187, or a free one where that is taken
--no-open       print the address and open no browser
A server of the workspace that runs already is used. Else this process serves the page until Ctrl-C; casts go on without it.
In the page you act as yourself. An agent of a cast is refused.`,
    example: 'baton ui',
    options: { port: { type: 'string' }, 'no-open': { type: 'boolean' } },
    load: () => import('../page.ts').then((file) => file.uiCommand),
  },
  {
    ...oneOperation('loadout.draft', {
      group: 'try',
      note: `--apply FILE    write a draft that \`new --json\` printed; - is standard input
--yes           write without asking; without a terminal nothing is written otherwise
--replace       with --yes: also replace files that are there with another text
The agent gets no tools and sees no file. A draft with mistakes goes back to it once. It holds no commands, programs or models.
Exit: 0 written, or shown with --json; 1 refused; 2 not written.`,
      options: { apply: { type: 'string' }, yes: { type: 'boolean' }, replace: { type: 'boolean' } },
      shownBy: () => import('../commands/propose.ts').then((file) => file.newCommand),
    }),
    args: 'SENTENCE… | --apply FILE  [--name NAME] [--runner NAME] [--model NAME] [--agents SCRIPT] [--yes] [--replace]',
    words: [0, MANY],
  },
  oneOperation('trust', {
    group: 'try',
    note: `Set-up steps of worktrees, checkers, and filters and merge drivers of .git/config, run only in a folder that a person trusts. At
a terminal \`cast\` asks; \`init\` trusts the folder too, but not its filters. Filters run only while .git/config and info/attributes stay as they are now.`,
  }),
  {
    name: 'demo',
    group: 'try',
    act: 'steer',
    args: '[--fast] [--ui]',
    words: [0, 0],
    summary: 'a whole workflow on scripted agents, in a temporary workspace; no key, no network',
    help: `--fast          without the pauses that make it pleasant to watch
--ui            show it in the page as well, and keep the page open until Ctrl-C`,
    example: 'baton demo',
    options: { fast: { type: 'boolean' }, ui: { type: 'boolean' } },
    load: () => import('../commands/demo.ts').then((file) => file.demoCommand),
  },
  oneOperation('notify', {
    group: 'try',
    note: 'Exit: 0 all worked, 1 one failed.',
  }),
  operationCommand(
    {
      name: 'agents',
      group: 'try',
      summary: 'which agents are installed and signed in; with test, whether they answer',
      note: 'Exit of test: 0 when all answered, else 1.',
    },
    ['agents.list', 'agents.test'],
  ),
  oneOperation('doctor', {
    group: 'try',
    note: 'Looks at Node, git, the agents, the disk, the state folder, the clock, the configuration and your own limits. Exit: 0 when nothing is broken, else 1.',
  }),
];

export const CASTS_COMMANDS: readonly Command[] = [
  oneOperation('cast.link', {
    summary: 'several loadouts and materia one after the other, in one cast',
    note: `The joined loadout is frozen in the cast and written to no file. ${EXITS}`,
    shownBy: () => import('../commands/cast.ts').then((file) => file.linkCommand),
  }),
  oneOperation('cast.list'),
  oneOperation('inbox'),
  oneOperation('cast.show', {
    summary: 'one cast: what it produced, its steps, what it used; or one turn in full',
    note: `--turn          one turn in full: INPUT, briefs, reports, questions and answers, evidence, what it wrote for others
--data          also the data of the cast (its \`state.*\` values)
Without CAST: the latest one. With --json: the same object as \`baton cast --json\`, also while it runs.`,
    options: { turn: { type: 'string' }, data: { type: 'boolean' } },
    shownBy: () => import('../commands/show.ts').then((file) => file.showCommand),
  }),
  oneOperation('cast.why', {
    note: 'Without CAST: the latest one. It looks, and changes nothing.',
  }),
  oneOperation('cast.watch', {
    note: `--jsonl         a JSON line for each word, tool call, refused tool or pause of an agent, as it happens:
                {"turn", "attempt", "socket", "event"}; some may be missed. The last line is the cast, as with --json
--facts         with --jsonl: also a line for each entry of the log, from the first one on, as \`baton log --json\` has it
Without CAST: the latest one. It ends when the cast stops, or when no process drives it any more (exit 1).
${EXITS}`,
    options: { jsonl: { type: 'boolean' }, facts: { type: 'boolean' } },
    shownBy: () => import('../commands/cast.ts').then((file) => file.watchCommand),
  }),
  oneOperation('cast.pause', {
    note: 'Without CAST: the latest one. Exit: 0 paused, 1 denied.',
  }),
  oneOperation('cast.resume', {
    note: `Without CAST: the newest one that was cut off or paused.\n${EXITS}`,
    shownBy: driveBy('cast.resume'),
  }),
  oneOperation('cast.recast', {
    note: `Without CAST: the newest one that failed or was aborted.\n${EXITS}`,
    shownBy: driveBy('cast.recast'),
  }),
  oneOperation('cast.revive', {
    note: `Without CAST: the newest one that stopped at a used up edge.\n${EXITS}`,
    shownBy: driveBy('cast.revive'),
  }),
  oneOperation('cast.budget', {
    note: 'Without a limit: what is used, and of how much. Each is the new limit, not an addition.',
  }),
  oneOperation('cast.decide', {
    note: EXITS,
    shownBy: driveBy('cast.decide'),
  }),
  oneOperation('cast.retry', {
    note: EXITS,
    shownBy: driveBy('cast.retry'),
  }),
  oneOperation('cast.drop', {
    note: EXITS,
    shownBy: driveBy('cast.drop'),
  }),
  oneOperation('cast.abort', {
    note: 'Without CAST: the one that is open, if it is the only one.',
  }),
  {
    ...oneOperation('cast.answer', {
      summary: 'answer an agent that asks or is blocked, or do a step of your own',
      note: `--file          the file with the answer; - is standard input
Without TEXT and --file: standard input; in a terminal the brief is shown first. The answer is read like an agent's:
one that does not keep the contract is refused with what is wrong, and the turn waits again. An empty answer is wrong usage.
${EXITS}`,
      options: { file: { type: 'string' } },
      shownBy: () => import('../commands/cast.ts').then((file) => file.answerCommand),
    }),
    args: 'CAST [--turn N] [TEXT… | --file FILE] [--detach] [--turns]',
    words: [1, MANY],
  },
  {
    ...operationCommand(
      {
        name: 'talk',
        summary: 'talk with an agent before it answers',
        note: `In a terminal without TEXT: a prompt with the conversation so far. A line says something, /continue ends the conversation
and asks for the final answer, /quit leaves the cast as it is. Elsewhere without TEXT: what was said so far.
${EXITS}`,
        shownBy: () => import('../commands/talk.ts').then((file) => file.talkCommand),
      },
      ['cast.talk'],
    ),
    args: 'CAST [--turn N] [TEXT…] [--detach] [--turns]',
    words: [1, MANY],
  },
  {
    ...operationCommand(
      {
        name: 'say',
        summary: 'say something to a cast that goes on',
        note: `The agent at work goes on; the next brief of the cast, or of that item, holds it. With --interrupt it is ended and goes
on at once, in the same conversation where its runner keeps one; where that is impossible, the answer says when the agent gets it.`,
      },
      ['cast.say'],
    ),
    words: [2, MANY],
  },
  operationCommand(
    {
      name: 'quest',
      summary: 'a queue of work: add quests, order them, let processes do them one after the other',
      note: `Without a word: the list. A quest is done by a cast; the process that runs it drives that cast. Several processes may
run the queue; what a killed one was at is carried on. A quest fails with its cast. One that waits for a person leaves its place to others.
Exit of run and runonce: 0 when no quest failed here, 1 otherwise.`,
      otherwise: 'quest.list',
      shownBy: () => import('../commands/quest.ts').then((file) => file.questCommand),
    },
    [
      ...(['quest.add', 'quest.list', 'quest.reorder', 'quest.run', 'quest.runonce'] as const),
      ...(['quest.stop', 'quest.requeue', 'quest.remove'] as const),
    ],
  ),
  operationCommand(
    {
      name: 'approvals',
      group: 'casts',
      summary: 'requests that wait for a person: the exact command, scope, risk, and how to undo it',
      note: `request answers with one verdict, as JSON.
What has waited for an hour is marked stale. The log says what expired, and the agent that asked learns it.`,
    },
    ['approvals.list', 'approvals.request'],
  ),
  oneOperation('reject', {
    note: EXITS,
    shownBy: driveBy('reject'),
  }),
  oneOperation('exec', {
    group: 'casts',
    note: `Arguments, folder, programs, files, variables, policy and requester are compared with what was sealed; what differs is
refused and told. It runs without a shell. Exit: that of the command; 1 refused; 127 it could not be started.`,
    shownBy: () => import('../commands/streams.ts').then((file) => file.execCommand),
  }),
  oneOperation('cast.diff', {
    group: 'casts',
    note: `--stat          the files and how much of each, instead of the patch
The patch can be given to \`git apply\`.`,
    options: { stat: { type: 'boolean' } },
    shownBy: () => import('../commands/streams.ts').then((file) => file.diffCommand),
  }),
  oneOperation('cast.merge', {
    group: 'casts',
    note: 'Where git finds a conflict nothing is changed and the files are named. Exit: 0 merged, 1 not.',
  }),
  oneOperation('cast.undo', {
    group: 'casts',
    note: `Files that were changed again since, or without a kept copy, stay.
What was merged is taken back as a new commit, unless a file of it was changed since.`,
  }),
];
