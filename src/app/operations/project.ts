// The project and the machine: set a workspace up, see what casts need, connect the programs of agents.
import { DEFAULT_RUNNER, runnersThat } from '../../kernel/capabilities.ts';
import { entriesOf } from '../operation.ts';

const PROGRAMS = runnersThat('isProgram');
const HOSTS = runnersThat('hostsBaton');
const TESTED = [...PROGRAMS, ...runnersThat('isModelApi')];
/** It costs a few tokens, so a person says it. */
export const PROBE = {
  type: 'flag',
  means: 'ask each agent for one word first: proves the sign-in and the model, and costs a few tokens',
} as const;
const UNDO = {
  type: 'flag',
  means: 'take everything back: files that were not touched since become what they were',
} as const;

/** The teams that come with the product, each a folder of `src/bundled/templates`. */
export const TEMPLATES = ['software', 'bugfix', 'feature', 'review'] as const;
export const DEFAULT_TEMPLATE = TEMPLATES[0];
/** The loadouts of `src/bundled/config.json`. */
export const BUNDLED_LOADOUTS = [
  'Full-Auto',
  'Plan-Together',
  'Architect-First',
  'Review-Only',
  'Parallel-Build',
] as const;

export const PROJECT_ROWS = entriesOf('project', {
  init: {
    act: 'govern',
    peopleOnly: 'set a workspace up',
    means: 'write a team into .baton/: a loadout, its prompts and a configuration',
    example: 'baton init --template bugfix',
    makesWorkspace: true,
    fields: {
      template: {
        type: 'choice',
        of: [...TEMPLATES, ...BUNDLED_LOADOUTS],
        noun: 'template',
        value: 'NAME',
        means: `the team: ${TEMPLATES.join(', ')} in the short form, or a copy of a bundled loadout: ${BUNDLED_LOADOUTS.join(', ')}`,
        example: 'bugfix',
      },
      agent: {
        type: 'choice',
        of: PROGRAMS,
        noun: 'agent',
        value: 'NAME',
        means: 'the program that the agents run on; without it the one on this machine that is signed in',
        example: DEFAULT_RUNNER,
      },
      force: { type: 'flag', means: 'replace config.json; a copy of the old one stays' },
    },
    mcp: {
      name: 'init',
      audience: 'person',
      description:
        'Set the folder up: write .baton/ with a team: a loadout, its prompts and a configuration. details.written lists the files. Refused where several agents would do: name one then.',
    },
  },
  doctor: {
    act: 'look',
    means: 'check everything a cast needs, and say how to repair it',
    example: 'baton doctor',
    fields: { probe: PROBE },
    mcp: {
      name: 'doctor',
      audience: 'person',
      description:
        'Check what a cast needs of this machine: Node, git, the agents, disk, state folder, clock, configuration and limits. details.findings says what is wrong and how to repair it.',
      without: ['probe'],
    },
  },
  notify: {
    act: 'steer',
    peopleOnly: 'try the notifications',
    means: 'try every way in which `notify` of the configuration tells you of a cast',
    example: 'baton notify',
    fields: {},
    mcp: { leftOut: 'it is for the person who gets the notifications' },
  },
  'agents.list': {
    act: 'look',
    means: 'say which agents are installed and signed in; no network is asked',
    example: 'baton agents',
    fields: {},
    cli: 'agents',
    mcp: {
      name: 'agents_list',
      audience: 'person',
      description: 'Say which programs of agents are installed and signed in, and for which models a key is set.',
    },
  },
  'agents.test': {
    act: 'steer',
    peopleOnly: 'ask agents outside of a cast',
    means: 'send one prompt to each installed agent, or to NAME, and see whether it answers; costs a few tokens',
    example: 'baton agents test claude',
    fields: {
      name: {
        type: 'choice',
        word: 'NAME',
        of: TESTED,
        noun: 'agent',
        means: `one of ${TESTED.join(', ')}`,
        example: DEFAULT_RUNNER,
      },
      model: { type: 'text', value: 'MODEL', means: 'the model to ask; anthropic and openai need one' },
      baseUrl: { type: 'text', value: 'URL', means: 'where the model is, when it is not the provider’s own place' },
    },
    mcp: {
      name: 'agents_test',
      audience: 'person',
      description:
        'Send one short prompt to each installed agent, or to one, and see whether it answers. It costs a few tokens and may take two minutes for each.',
    },
  },
  install: {
    act: 'govern',
    peopleOnly: 'change how agents are set up',
    means: 'write the hooks and the MCP server into the settings of an agent, after showing what changes',
    example: 'baton install claude',
    fields: {
      agent: {
        type: 'choice',
        word: HOSTS.join('|'),
        of: HOSTS,
        noun: 'agent',
        required: true,
        means: 'the program whose settings are written',
        example: DEFAULT_RUNNER,
      },
      shared: { type: 'flag', means: 'claude: write the settings of the project for the whole team, not yours alone' },
      reportOnly: {
        type: 'flag',
        means: 'hooks that let everything through and write down what they would have refused',
      },
      skill: {
        type: 'flag',
        means:
          'claude: instead, two skill files that teach how to report with an agent_contract_handoff and how to read one',
      },
      undo: UNDO,
      yes: { type: 'flag', means: 'write without asking; without a terminal nothing is written otherwise' },
    },
    mcp: {
      name: 'install',
      audience: 'person',
      description:
        'Write the hooks and the MCP server into the settings of an agent. Without yes nothing is written: it is refused, and details.diff shows what would change.',
    },
  },
  hook: {
    act: 'steer',
    means: 'decide one event of an agent program: locks, scopes, contracts and dangerous commands, without a cast',
    example: 'baton hook PreToolUse < event.json',
    fields: {
      event: {
        type: 'text',
        word: 'EVENT',
        required: true,
        means: 'PreToolUse, PostToolUse, UserPromptSubmit, Stop, SubagentStop, SessionStart, …',
        example: 'PreToolUse',
      },
      reportOnly: {
        type: 'flag',
        means: 'let everything through, and write to state/hooks.jsonl what would have been refused',
      },
      input: {
        type: 'json',
        required: true,
        isStandardInput: true,
        means: 'the event, as the agent program tells it',
        example: { tool_name: 'Bash', tool_input: { command: 'npm test' } },
      },
    },
    mcp: { leftOut: 'the agent program calls it; an agent that could leave the call out would not be bound by it' },
  },
  'hooks.verify': {
    act: 'govern',
    peopleOnly: 'change how agents are set up',
    means: 'start Claude Code, try one forbidden write, and report whether the hook refused it',
    example: 'baton install claude --verify',
    fields: {},
    cli: 'install claude --verify',
    mcp: { leftOut: 'it starts the program that would ask for it' },
  },
});
