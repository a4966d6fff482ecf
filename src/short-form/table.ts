// What may be written in a loadout of the short form, as field tables. Steps themselves are read by `compile.ts`, because a
// step is a name, one name with options, or a loop.
import type { Field, ValueOf } from '../kernel/fields.ts';

/** The name of a step or of an agent of the file. */
export const NAME = /^[a-z][a-z0-9-]*$/;

export const RESERVED = ['end', 'skip', 'each', 'do', 'item'] as const;

export const TOOL_NAMES = { none: 'none', read: 'readOnly', run: 'readAndRun', write: 'coding' } as const;
const DURATION = '^[1-9][0-9]{0,8}(ms|s|m|h)$';

const tools = {
  type: 'choice',
  of: Object.keys(TOOL_NAMES) as (keyof typeof TOOL_NAMES)[],
  means: 'what the agent may use; read where nothing is written',
} as const;
const runner = { type: 'text', means: 'the program or model service the agent runs on', example: 'claude' } as const;
const model = { type: 'text', means: 'the model the agent uses' } as const;
const timeout = {
  type: 'text',
  form: DURATION,
  wants: 'a duration such as 90s, 10m or 2h',
  means: 'how long one turn may take',
  example: '10m',
} as const;
const once = { type: 'flag', means: 'never run a second time without asking, also after a crash' } as const;
const talk = { type: 'flag', means: 'a person talks with the agent before it answers' } as const;
const prompt = { type: 'text', means: 'the prompt itself', example: 'Fix the bug.' } as const;
const promptFile = {
  type: 'path',
  means: 'the file of the prompt; prompts/NAME.md where nothing is written',
  example: 'prompts/fix.md',
} as const;

const word = { type: 'text', mayBeEmpty: true } as const;
const run = {
  type: 'list',
  of: word,
  itemsMin: 1,
  means: 'a command instead of an agent',
  example: ['npm', 'test'],
} as const;
const use = {
  type: 'text',
  means: 'a utility that comes with Baton, instead of an agent',
  example: 'vcs.detect',
} as const;
const check = { type: 'list', itemsMin: 1, means: 'the checkers that run after the step', example: ['test'] } as const;
const lock = { type: 'list', itemsMin: 1, means: 'the paths the step may change', example: ['src'] } as const;

/** What makes an agent. Steps that share an agent write it once under `agents`. */
export const AGENT_FIELDS = {
  type: 'object',
  extensions: true,
  fields: { prompt, promptFile, run, use, tools, runner, model, once, talk, timeout, check, lock },
} as const satisfies Field;

const target = { type: 'text', means: 'the name of a step, or end' } as const;

export const OPTIONS = {
  type: 'object',
  extensions: true,
  fields: {
    agent: { type: 'text', means: 'an agent under `agents`, of another step, or a materia of config.json' },
    prompt,
    promptFile,
    run,
    use,
    makes: { type: 'choice', of: ['items'], means: 'the step plans a list of work items' },
    answers: {
      type: 'choice',
      of: ['text', 'verdict', 'gaia', 'operator'],
      means: 'how the step answers; verdict where it has `reject` or is the last of a loop, else text',
    },
    tools,
    runner,
    model,
    timeout,
    check,
    lock,
    once,
    talk,
    next: { ...target, means: 'the step that follows, where it is not the next one' },
    reject: {
      type: 'oneOf',
      of: [
        { ...target, means: 'where a rejected item goes; skip leaves the item' },
        {
          type: 'object',
          fields: {
            to: { ...target, required: true },
            max: { type: 'count', min: 1, means: 'how often for one item' },
            then: { type: 'choice', of: ['fail', 'park', 'ask'], means: 'what happens after that' },
          },
        },
      ],
      wants: 'a step, skip, or { to: STEP, max: COUNT, then: fail | park | ask }',
      means: 'where work that the step rejects goes',
    },
  },
} as const satisfies Field;

export const LOOP_FIELDS = {
  type: 'object',
  fields: {
    each: { type: 'text', required: true, means: 'the earlier step whose items are walked over' },
    do: { type: 'list', of: { type: 'json' }, required: true, itemsMin: 1, means: 'the steps for each item' },
    parallel: { type: 'count', min: 1, means: 'how many items at the same time', example: 3 },
  },
} as const satisfies Field;

export const FILE = {
  type: 'object',
  fields: {
    description: { type: 'text', mayBeEmpty: true, means: 'for people: what the team does' },
    inputs: { type: 'json', means: 'values that a cast is started with' },
    defaults: { type: 'object', fields: { runner, model, timeout, tools }, means: 'for all agents of the file' },
    budget: { type: 'json', means: 'the budget of a cast, as in config.json' },
    steps: { type: 'list', of: { type: 'json' }, required: true, itemsMin: 1, means: 'the steps, in order' },
    agents: {
      type: 'map',
      of: AGENT_FIELDS,
      names: { type: 'text', form: NAME.source, wants: 'a name of small letters, digits and hyphens' },
      means: 'agents that several steps share',
    },
    layout: {
      type: 'map',
      of: { type: 'object', fields: { x: { type: 'number', required: true }, y: { type: 'number', required: true } } },
      means: 'where steps are on the canvas of the editor, by name; it changes nothing else',
    },
  },
} as const satisfies Field;

export type StepOptions = ValueOf<typeof OPTIONS>;
export type AgentOptions = ValueOf<typeof AGENT_FIELDS>;
export type LoopOptions = ValueOf<typeof LOOP_FIELDS>;
export type ShortForm = ValueOf<typeof FILE>;

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

export function millisecondsOf(duration: string): number {
  const [, count = '0', unit = 's'] = /^([0-9]+)(ms|s|m|h)$/.exec(duration) ?? [];
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}
