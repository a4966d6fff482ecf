// What people write for their teams: drafts of loadouts, the layers of the configuration, and files of other programs.
import { DEFAULT_RUNNER, runnersThat } from '../../kernel/capabilities.ts';
import { entriesOf } from '../operation.ts';

const RUNNERS = [...runnersThat('isProgram'), ...runnersThat('isModelApi')];

const YES = { type: 'flag', means: 'write without asking; without a terminal nothing is written otherwise' } as const;
const REPLACE = { type: 'flag', means: 'with --yes: also replace files that are there with another text' } as const;

/** The highest layer. Also a field of what starts a cast. */
export const SET = {
  type: 'list',
  value: 'KEY=VALUE',
  itemsMax: 64,
  means: 'set a key of the configuration for this call, before all layers: a value of JSON, or a text; may be repeated',
  example: ['budget.maxTokens=500000'],
} as const;

export const CONFIGURING_ROWS = entriesOf('project', {
  'config.explain': {
    act: 'look',
    means:
      'print the configuration of all layers together, or explain one key: its value, every layer that has it, and why it won',
    example: 'baton config --explain budget.maxTokens',
    fields: {
      explain: {
        type: 'text',
        value: 'KEY',
        charsMax: 400,
        means: 'the key, such as budget.maxTokens or materia.Build.model',
        example: 'budget.maxTokens',
      },
      loadout: {
        type: 'text',
        short: 'l',
        value: 'LOADOUT',
        means: 'as a cast of this loadout reads it',
        example: 'bugfix',
      },
      file: {
        type: 'path',
        value: 'CONFIG',
        means: 'with this file on top, as `cast --file` reads it',
        example: 'team.json',
      },
      set: SET,
    },
    cli: 'config',
    mcp: {
      name: 'config_explain',
      audience: 'person',
      description:
        'Say what the configuration of all layers comes to, or for one key its value, every layer that has it, and why it won.',
      without: ['file'],
    },
  },
  'loadout.draft': {
    // It costs tokens, like a cast.
    act: 'steer',
    peopleOnly: 'ask agents outside of a cast',
    means:
      'draft a loadout and its prompts from one sentence with your own agent, and show it; nothing is written before a yes',
    example: 'baton new "two reviewers judge each change, one of them for security"',
    fields: {
      sentence: {
        type: 'text',
        word: 'SENTENCE…',
        required: true,
        charsMax: 4_000,
        means: 'what the team is for',
        example: 'review a change for security and for style',
      },
      name: {
        type: 'text',
        value: 'NAME',
        form: '^[a-z][a-z0-9-]{0,39}$',
        wants: 'small letters, digits and hyphens, at most 40',
        means: 'the name of the loadout; without it the agent names it',
        example: 'two-reviews',
      },
      runner: {
        type: 'choice',
        of: RUNNERS,
        noun: 'runner',
        value: 'NAME',
        means: 'who drafts it; without it defaults.runner of the configuration, else a program that is signed in',
        example: DEFAULT_RUNNER,
      },
      model: { type: 'text', value: 'NAME', means: 'with which model; without it defaults.model of the configuration' },
      baseUrl: { type: 'text', value: 'URL', means: 'where the model is, when it is not the provider’s own place' },
      agents: {
        type: 'path',
        value: 'SCRIPT',
        means: 'a script whose entry `draft` answers in the place of an agent',
        example: 'agents.json',
      },
    },
    cli: 'new',
    mcp: {
      name: 'loadout_draft',
      audience: 'person',
      description:
        'Draft a loadout and its prompts from one sentence. It asks an agent, which costs tokens and may take minutes. Nothing is written: details.draft holds the files, and a person writes them with `baton new`.',
      without: ['agents'],
    },
  },
  'import.materia': {
    act: 'govern',
    peopleOnly: 'write a configuration',
    means: 'take a configuration of Materia over, with a report of what could not be carried over',
    example: 'baton import materia materia.json',
    fields: {
      config: {
        type: 'json',
        word: 'FILE',
        required: true,
        means: 'the configuration of Materia: its materia and loadouts',
        example: { materia: {}, loadouts: {} },
      },
      yes: YES,
      replace: REPLACE,
    },
    mcp: { leftOut: 'a person looks at what becomes of a configuration before it is written' },
  },
  'loadout.apply': {
    act: 'govern',
    peopleOnly: 'write a loadout',
    means: 'check a draft of a loadout again and write its files',
    example: 'baton new --apply draft.json --yes',
    fields: {
      draft: {
        type: 'json',
        word: 'FILE',
        required: true,
        means: 'the draft: {"name", "files": [{"path", "text"}]}, or the whole answer of `new --json`',
        example: { name: 'tidy', files: [{ path: 'loadouts/tidy.yaml', text: 'steps: [tidy]\n' }] },
      },
      yes: YES,
      replace: REPLACE,
    },
    cli: 'new --apply',
    mcp: { leftOut: 'a person looks at a draft before it is written' },
  },
});
