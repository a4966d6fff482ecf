// The commands of every day, and those for whoever tries Baton out.
import type { Command } from '../command.ts';
import { operationCommand } from '../operation-command.ts';
import { driveBy, EXITS, MANY } from './shared-options.ts';

export const EVERYDAY_COMMANDS: readonly Command[] = [
  {
    name: 'init',
    group: 'everyday',
    act: 'govern',
    args: '[--force]',
    words: [0, 0],
    summary: 'scaffold .baton/ with an example loadout, prompts and lock',
    help: '--force         replace config.json; the old one is kept beside it',
    example: 'baton init',
    options: { force: { type: 'boolean' } },
    load: () => import('../commands/init.ts'),
  },
  {
    ...operationCommand(
      {
        name: 'cast',
        group: 'everyday',
        summary: 'run a loadout on a request, with live progress',
        note: `--dry-run       show the first briefs and what would run, start nothing
--request-file  read the request from a file; - reads it from standard input (at most 1 MiB)
The request follows -- when it begins with a dash. ${EXITS}`,
        options: { 'dry-run': { type: 'boolean' }, 'request-file': { type: 'string' } },
        shownBy: () => import('../commands/cast.ts'),
      },
      ['cast.start'],
    ),
    args: '[-l LOADOUT] [--file CONFIG] [--agents SCRIPT] [--in-place] [--detach] [--dry-run] [--turns] REQUEST… | - | --request-file FILE',
    words: [0, MANY],
  },
  {
    name: 'status',
    group: 'everyday',
    act: 'look',
    args: '[--metrics]',
    words: [0, 0],
    summary: 'what runs, waits and ended last in this workspace',
    help: '--metrics       how the runs of the ledger went, one by one and over time, beside the levels aimed at',
    example: 'baton status',
    options: { metrics: { type: 'boolean' } },
    load: () => import('../commands/status.ts'),
  },
  operationCommand(
    {
      name: 'continue',
      group: 'everyday',
      summary: 'do the obvious thing for a cast that stands',
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
      summary: 'say yes to what an agent asks for, once and exactly as it is sealed, and carry its cast on',
      note: `An agent cannot approve anything.\n${EXITS}`,
      shownBy: driveBy('approve'),
    },
    ['approve'],
  ),
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
    args: '[--fast]',
    words: [0, 0],
    summary: 'a whole workflow on scripted agents, in a temporary workspace; no key, no network',
    help: '--fast          without the pauses that make it pleasant to watch',
    example: 'baton demo',
    options: { fast: { type: 'boolean' } },
    load: () => import('../commands/demo.ts'),
  },
  {
    name: 'agents',
    group: 'try',
    act: { '': 'look', test: 'steer' },
    args: '[test [NAME]] [--model MODEL] [--base-url URL]',
    words: [0, 2],
    summary: 'which agents are installed and signed in; with test, whether they answer',
    help: `test            one prompt to each installed agent, or to NAME: claude, codex, pi, anthropic, openai
--model         with test: the model to ask; anthropic and openai need one
--base-url      with test: where the model is, when it is not the provider's own place
Looking asks no network; test does, and costs a few tokens. Exit of test: 0 when all answered, else 1.`,
    example: 'baton agents test claude',
    options: { model: { type: 'string' }, 'base-url': { type: 'string' } },
    load: () => import('../commands/agents.ts'),
  },
  {
    name: 'doctor',
    group: 'try',
    act: 'look',
    args: '',
    words: [0, 0],
    summary: 'check everything a cast needs, and say how to mend it',
    help: 'Looks at Node, git, the agents, the disk, the state folder, the clock, the configuration and your own limits. Exit: 0 nothing is broken, else 1.',
    example: 'baton doctor',
    options: {},
    load: () => import('../commands/doctor.ts'),
  },
];
