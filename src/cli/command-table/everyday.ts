// The commands of every day, and those for whoever tries Baton out.
import type { Command } from '../command.ts';
import { driveBy, EXITS, MANY, operationCommand, showBy } from '../operation-command.ts';

export const EVERYDAY_COMMANDS: readonly Command[] = [
  operationCommand(
    {
      name: 'init',
      group: 'everyday',
      summary: 'write a team into .baton/: a loadout, its prompts and a configuration',
      shownBy: () => import('../commands/setup.ts').then((file) => file.initCommand),
    },
    ['init'],
  ),
  {
    ...operationCommand(
      {
        name: 'cast',
        group: 'everyday',
        summary: 'run a loadout on a request, with live progress',
        note: `--dry-run       show the first briefs and what would run, start nothing
--ui            show it in the page as well, and keep the page open until Ctrl-C
--request-file  read the request from a file; - reads it from standard input (at most 1 MiB)
The request follows -- when it begins with a dash. ${EXITS}`,
        options: { 'dry-run': { type: 'boolean' }, 'request-file': { type: 'string' }, ui: { type: 'boolean' } },
        shownBy: () => import('../commands/cast.ts').then((file) => file.castCommand),
      },
      ['cast.start'],
    ),
    args: '[-l LOADOUT] [--file CONFIG] [--agents SCRIPT] [--runner NAME] [--model NAME] [--in-place] [--detach] [--dry-run] [--ui] [--turns] REQUEST… | - | --request-file FILE',
    words: [0, MANY],
  },
  operationCommand(
    {
      name: 'status',
      group: 'everyday',
      summary: 'what runs, waits and ended last in this workspace',
      note: '--metrics       how the runs of the ledger went, one by one and over time, next to the levels aimed at',
      options: { metrics: { type: 'boolean' } },
      shownBy: showBy(({ values }) => ({ name: values.metrics === true ? 'metrics' : 'status' })),
    },
    ['status'],
  ),
  operationCommand(
    {
      name: 'continue',
      group: 'everyday',
      summary: 'carry on a cast that stopped',
      note: `A crashed or paused cast is resumed, a failed or aborted one is recast; at a spent allowance you are asked first.
Without CAST: the newest that runs no more, is paused or waits, else the latest one.
${EXITS}`,
      shownBy: driveBy('cast.continue'),
    },
    ['cast.continue'],
  ),
  operationCommand(
    {
      name: 'approve',
      group: 'everyday',
      summary: 'allow once, exactly as sealed, what an agent asks for, and carry its cast on',
      note: `An agent cannot approve anything.\n${EXITS}`,
      shownBy: driveBy('approve'),
    },
    ['approve'],
  ),
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
  operationCommand(
    {
      name: 'trust',
      group: 'try',
      summary: 'let the commands run that this folder brings along',
      note: `Set-up steps of worktrees, checkers, and filters and merge drivers of .git/config, run only in a folder that a person trusts. At
a terminal \`cast\` asks; \`init\` trusts the folder too, but not its filters. Filters run only while .git/config and info/attributes stay as they are now.`,
    },
    ['trust'],
  ),
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
  operationCommand(
    {
      name: 'notify',
      group: 'try',
      summary: 'try the notifications of the configuration: bell, desktop, webhook, program',
      note: 'Exit: 0 all worked, 1 one failed.',
    },
    ['notify'],
  ),
  operationCommand(
    {
      name: 'agents',
      group: 'try',
      summary: 'which agents are installed and signed in; with test, whether they answer',
      note: 'Exit of test: 0 when all answered, else 1.',
    },
    ['agents.list', 'agents.test'],
  ),
  operationCommand(
    {
      name: 'doctor',
      group: 'try',
      summary: 'check everything a cast needs, and say how to repair it',
      note: 'Looks at Node, git, the agents, the disk, the state folder, the clock, the configuration and your own limits. Exit: 0 when nothing is broken, else 1.',
    },
    ['doctor'],
  ),
];
