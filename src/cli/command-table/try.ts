// Commands for whoever tries Baton out.
import type { Command } from '../command.ts';

export const TRY_COMMANDS: readonly Command[] = [
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
    help: 'Looks at Node, git, the agents, the disk, the state folder, the clock and the configuration. Exit: 0 nothing is broken, else 1.',
    example: 'baton doctor',
    options: {},
    load: () => import('../commands/doctor.ts'),
  },
];
