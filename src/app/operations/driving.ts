// Casts: start them, carry them on, decide what they ask, stop them.
import { DEFAULT_RUNNER } from '../../kernel/capabilities.ts';
import { entriesOf } from '../operation.ts';
import { SET } from './configuring.ts';
import { PROBE } from './project.ts';

const CAST = {
  type: 'text',
  word: 'CAST',
  mayBeEmpty: true,
  means: 'the id of the cast, a beginning that only one has, or latest',
  example: 'latest',
} as const;
const TURNS = { type: 'flag', means: 'with --json: add every attempt with its brief, output and verdict' } as const;
const DETACH = { type: 'flag', means: 'give the cast to a background process and return' } as const;
const ITEM = {
  type: 'text',
  word: 'CAST:ITEM',
  required: true,
  means: 'the parked item, as CAST:ITEM: its key, its number, or the beginning of a title that only one has',
  example: 'latest:WI-2',
} as const;
const REASON = { type: 'text', mayBeEmpty: true, means: 'why, for the log', example: 'looked at it' } as const;
const BY_TOOL = { without: ['detach', 'turns'], defaults: { detach: true } } as const;
const THEN_WAIT = 'The cast is carried on; use cast_wait then.';
const EXACT = { leftOut: 'cast_continue does what fits' } as const;
const BY_PERSON = { leftOut: 'a person decides it, and not by the argument of a tool' } as const;
const REVISION = {
  type: 'text',
  hidden: true,
  means: 'the revision that was shown, as the list of approvals has it; a request that changed since then is refused',
} as const;
const BY_FORM = { without: ['detach', 'turns', 'reason', 'again', 'revision'], defaults: { detach: true } } as const;
const FORM =
  'The client shows the sealed command to the person, whose answer decides; no argument does. Call it only when the person wants to decide.';

const FROM = {
  type: 'text',
  value: 'CAST',
  means: 'an earlier cast: the new cast gets its results as data, and the first agent reads them',
  example: 'latest',
} as const;

export const START = {
  request: {
    type: 'text',
    word: 'REQUEST…',
    required: true,
    charsMax: 1_048_576,
    means: 'what the cast shall do',
    example: 'Add a --version flag',
  },
  loadout: {
    type: 'text',
    short: 'l',
    value: 'LOADOUT',
    means: 'which loadout (default: activeLoadout of the configuration)',
    example: 'Full-Auto',
  },
  materia: { type: 'text', value: 'NAME', means: 'one materia alone, in the place of a loadout', example: 'Build' },
  link: {
    type: 'text',
    value: 'TARGETS',
    charsMax: 4_096,
    means: 'loadouts and materia one after the other, in one cast; `baton link` says the same',
    example: 'Architect-First materia:Project-Check',
  },
  from: FROM,
  file: {
    type: 'path',
    value: 'CONFIG',
    means: 'a configuration file instead of .baton/config.json',
    example: 'team.json',
  },
  agents: {
    type: 'path',
    value: 'SCRIPT',
    means: "a script of agents' turns, for a cast without a model",
    example: 'agents.json',
  },
  runner: {
    type: 'text',
    value: 'NAME',
    means:
      'the runner of every agent that asks a model. It counts before the runner of the agent, then before defaults.runner of the configuration',
    example: DEFAULT_RUNNER,
  },
  model: {
    type: 'text',
    value: 'NAME',
    means: 'the model of every agent that asks one; it counts before the model of the agent and defaults.model',
    example: 'NAME',
  },
  input: {
    type: 'list',
    value: 'NAME=VALUE',
    itemsMax: 64,
    means:
      'a value that the loadout declares under `inputs`: a text, or JSON where a text does not fit; may be repeated',
    example: ['severity=high'],
  },
  inputFile: {
    type: 'text',
    isInFile: true,
    value: 'FILE',
    charsMax: 262_144,
    means: 'inputs as a JSON object; the command line reads it from a file, and --input counts before it',
    example: '{"severity": "high"}',
  },
  inputs: {
    type: 'json',
    hidden: true,
    means: 'inputs as an object from names to values',
    example: { severity: 'high' },
  },
  set: SET,
} as const;

const IN_PLACE = {
  type: 'flag',
  means: 'work in the directory itself; in a git repository agents otherwise get a worktree on a branch of their own',
} as const;

const { from, agents, runner, model } = START;
const LINKED = { from, agents, runner, model } as const;

export const DRIVING_ROWS = entriesOf('casts', {
  'cast.start': {
    act: 'steer',
    peopleOnly: 'start a cast',
    means: 'run a loadout on a request',
    example: 'baton cast -l Full-Auto "Add a --version flag"',
    fields: {
      ...START,
      inPlace: IN_PLACE,
      probe: PROBE,
      detach: DETACH,
      turns: TURNS,
    },
    cli: 'cast',
    mcp: {
      name: 'cast_start',
      audience: 'person',
      description:
        'Start a cast: a team of agents works on the request, step by step. inputs are the values that the loadout declares. It runs in the background; details.cast is its id. Use cast_wait then.',
      without: [...BY_TOOL.without, 'file', 'inPlace', 'probe', 'set', 'input', 'inputFile'],
      defaults: BY_TOOL.defaults,
    },
  },
  'cast.link': {
    act: 'steer',
    peopleOnly: 'start a cast',
    means: 'run several loadouts and materia one after the other, in one cast',
    example: 'baton link Architect-First materia:Project-Check -- "Add a search box"',
    fields: {
      targets: {
        type: 'list',
        of: { type: 'text' },
        word: 'TARGET…',
        required: true,
        itemsMin: 1,
        itemsMax: 12,
        means: 'loadout:NAME, materia:NAME, or a NAME that only one of them has, in their order',
        example: ['Architect-First', 'materia:Project-Check'],
      },
      request: { ...START.request, word: '-- REQUEST…' },
      ...LINKED,
      inPlace: IN_PLACE,
      detach: DETACH,
      turns: TURNS,
    },
    cli: 'link',
    mcp: {
      name: 'cast_link',
      audience: 'person',
      description:
        'Start a cast of several loadouts and materia one after the other. It runs in the background; details.cast is its id. Use cast_wait then.',
      without: [...BY_TOOL.without, 'inPlace'],
      defaults: BY_TOOL.defaults,
    },
  },
  'cast.plan': {
    act: 'steer',
    means: 'show the first briefs of a cast and what would run, start nothing',
    example: 'baton cast --dry-run "Add a --version flag"',
    fields: START,
    cli: 'cast --dry-run',
    mcp: { leftOut: 'a client starts a cast, or lets it be' },
  },
  'cast.resume': {
    act: 'steer',
    peopleOnly: 'carry a cast on',
    means: 'carry on a cast after a crash or a pause',
    example: 'baton resume',
    fields: {
      cast: CAST,
      takeOver: {
        type: 'flag',
        means:
          'take the cast from a process that still has it, one that is stopped or that cannot be seen from here; that process can commit nothing more',
      },
      detach: DETACH,
      turns: TURNS,
    },
    cli: 'resume',
    mcp: EXACT,
  },
  'cast.recast': {
    act: 'steer',
    peopleOnly: 'carry a cast on',
    means: 'carry on a failed or aborted cast from where it stopped',
    example: 'baton recast latest',
    fields: { cast: CAST, detach: DETACH, turns: TURNS },
    cli: 'recast',
    mcp: EXACT,
  },
  'cast.revive': {
    act: 'steer',
    peopleOnly: 'carry a cast on',
    means: 'like recast; a used up edge or budget gets as much again',
    example: 'baton revive latest',
    fields: { cast: CAST, detach: DETACH, turns: TURNS },
    cli: 'revive',
    mcp: EXACT,
  },
  'cast.continue': {
    act: 'steer',
    peopleOnly: 'carry a cast on',
    means: 'carry on a cast that has stopped, in the way that fits',
    example: 'baton continue latest',
    fields: {
      cast: CAST,
      extend: { type: 'flag', means: 'give a spent allowance as much again; at a terminal you are asked' },
      detach: DETACH,
      turns: TURNS,
    },
    cli: 'continue',
    mcp: {
      name: 'cast_continue',
      audience: 'person',
      description: `Carry on a cast that has stopped, in the way that fits: one that was cut off or paused is resumed, one that failed or was aborted is recast. ${THEN_WAIT}`,
      without: [...BY_TOOL.without, 'extend'],
      defaults: { ...BY_TOOL.defaults, extend: false },
    },
  },
  'cast.answer': {
    act: 'decide',
    peopleOnly: 'answer for a person',
    means: 'answer in a turn of your own, or an agent that asks or is blocked, and carry the cast on',
    example: 'baton answer latest \'{"satisfied": true}\'',
    fields: {
      cast: { ...CAST, required: true },
      answer: {
        type: 'text',
        word: 'TEXT…',
        mayBeEmpty: true,
        means: 'the answer; without it, shows the turn that waits for one',
        example: '{"satisfied": true}',
      },
      turn: { type: 'count', means: 'which turn, where several wait', example: 7 },
      detach: DETACH,
      turns: TURNS,
    },
    cli: 'answer',
    mcp: {
      name: 'cast_answer',
      audience: 'person',
      description: `Answer a turn of a waiting cast that a person takes; cast_show says what it asks. ${THEN_WAIT}`,
      ...BY_TOOL,
      required: ['answer'],
    },
  },
  'cast.talk': {
    name: 'cast.talk',
    group: 'casts',
    act: 'decide',
    peopleOnly: 'talk for a person',
    means: 'talk with an agent before it answers; continue ends the conversation',
    example: 'baton talk latest "use tabs"',
    fields: {
      cast: { ...CAST, required: true },
      text: {
        type: 'text',
        word: 'TEXT…',
        mayBeEmpty: true,
        means: 'what you say; without it the conversation so far is shown',
        example: 'use tabs',
      },
      turn: { type: 'count', means: 'which turn, where several talk', example: 7 },
      detach: DETACH,
      turns: TURNS,
    },
    cli: 'talk',
    mcp: {
      name: 'cast_talk',
      audience: 'person',
      description: `Say something in the conversation of an agent with a person, or read it so far; cast_continue ends it. ${THEN_WAIT}`,
      ...BY_TOOL,
    },
  },
  'cast.say': {
    name: 'cast.say',
    group: 'casts',
    act: 'decide',
    peopleOnly: 'speak for a person',
    means: 'say something to a cast that goes on: the next brief of an agent holds it, or its agents are interrupted',
    example: 'baton say latest:WI-2 "the tests are in test/unit"',
    fields: {
      cast: {
        type: 'text',
        word: 'CAST[:ITEM]',
        required: true,
        means: 'the cast, or one item of it such as latest:WI-2',
        example: 'latest:WI-2',
      },
      text: {
        type: 'text',
        word: 'TEXT…',
        required: true,
        means: 'what you say',
        example: 'the tests are in test/unit',
      },
      interrupt: {
        type: 'flag',
        means:
          'at once: the agents at work are interrupted and go on with it, in the same conversation where they keep one; where that cannot be, the answer says when they are told',
        example: true,
      },
    },
    cli: 'say',
    mcp: {
      name: 'cast_say',
      audience: 'person',
      description:
        'Say something to a cast that goes on, or to the agents of one of its items: the next brief holds it. With interrupt it reaches the agents at work at once.',
    },
  },
  'cast.decide': {
    act: 'decide',
    peopleOnly: 'decide what became of a turn',
    means: 'decide about a turn of unknown outcome, or whose agent asks or is blocked',
    example: 'baton decide latest:7 rerun',
    fields: {
      turn: { type: 'text', word: 'TURN', required: true, means: 'the turn, as CAST:NUMBER', example: 'latest:7' },
      choice: {
        type: 'choice',
        word: 'rerun|accept|fail',
        of: ['rerun', 'accept', 'fail'],
        required: true,
        means:
          'rerun: it did not happen, or may happen twice: dispatch it again; accept: it happened: go on as if it had answered; fail: it went wrong: fail the cast',
        example: 'rerun',
      },
      output: {
        type: 'text',
        mayBeEmpty: true,
        value: 'FILE',
        isInFile: true,
        means: 'with accept: what it answered; the command line reads it from a file',
        example: '{"satisfied": true}',
      },
      reason: REASON,
      detach: DETACH,
      turns: TURNS,
    },
    cli: 'decide',
    mcp: BY_PERSON,
  },
  'cast.retry': {
    act: 'decide',
    peopleOnly: 'decide about a parked item',
    means: 'work on a parked item again: its kept work is merged back, and its edge gets its traversals again',
    example: 'baton retry latest:WI-2 --note "use the old parser"',
    fields: {
      item: ITEM,
      note: { type: 'text', means: 'a note for its next agent', example: 'use the old parser' },
      detach: DETACH,
      turns: TURNS,
    },
    cli: 'retry',
    mcp: BY_PERSON,
  },
  'cast.drop': {
    act: 'decide',
    peopleOnly: 'decide about a parked item',
    means: 'leave a parked item out; what depends on it is named, and left out with it',
    example: 'baton drop latest:WI-2 --reason "not needed"',
    fields: {
      item: ITEM,
      reason: { type: 'text', required: true, means: 'why, for the log', example: 'not needed' },
      yes: { type: 'flag', means: 'also the tasks that depend on it, without asking' },
      detach: DETACH,
      turns: TURNS,
    },
    cli: 'drop',
    mcp: BY_PERSON,
  },
  approve: {
    act: 'decide',
    means: 'allow once, exactly as sealed, what an agent asks for, and carry its cast on',
    example: 'baton approve P-0c2f81d4',
    fields: {
      id: {
        type: 'text',
        word: 'ID',
        required: true,
        mayBeEmpty: true,
        means: 'the approval; 8 digits or more that only one has are enough',
        example: 'P-0c2f81d4',
      },
      reason: REASON,
      again: {
        type: 'flag',
        means: 'it was cut off and may have run: let it run once more',
      },
      revision: REVISION,
      detach: DETACH,
      turns: TURNS,
    },
    mcp: {
      name: 'approval_approve',
      audience: 'person',
      choice: 'approve',
      description: `Ask the person to approve what an agent asks for. ${FORM}`,
      ...BY_FORM,
    },
  },
  reject: {
    act: 'decide',
    means: 'refuse what an agent asks for, or take back an unused approval; the agent learns the reason',
    example: 'baton reject P-0c2f81d4 --reason "not on a Friday"',
    fields: {
      id: {
        type: 'text',
        word: 'ID',
        required: true,
        mayBeEmpty: true,
        means: 'the approval; 8 digits or more that only one has are enough',
        example: 'P-0c2f81d4',
      },
      reason: { ...REASON, means: 'why, for the log and for the agent; without it, that a person rejected it' },
      revision: REVISION,
      detach: DETACH,
      turns: TURNS,
    },
    mcp: {
      name: 'approval_reject',
      audience: 'person',
      choice: 'reject',
      description: `Ask the person to reject what an agent asks for, or to take back what was approved and not used. ${FORM}`,
      ...BY_FORM,
    },
  },
  'cast.abort': {
    act: 'steer',
    peopleOnly: 'stop a cast',
    means: 'stop a cast and its running agents; without CAST the one that is open, if it is the only one',
    example: 'baton abort --all',
    fields: {
      cast: CAST,
      all: { type: 'flag', means: 'every cast that runs, is paused or waits' },
      reason: REASON,
    },
    cli: 'abort',
    mcp: {
      name: 'cast_abort',
      audience: 'person',
      description: 'Stop a cast and its running agents; it answers when nothing of the cast runs any more.',
      without: ['all'],
    },
  },
  'cast.pause': {
    act: 'steer',
    peopleOnly: 'stop a cast',
    means: 'pause a cast that runs: its running agents are stopped, and `continue` carries it on',
    example: 'baton pause latest',
    fields: { cast: CAST, reason: REASON },
    cli: 'pause',
    mcp: { leftOut: 'a client waits for a cast, or stops it with cast_abort' },
  },
  'cast.budget': {
    act: 'decide',
    means: 'show or change what a cast may use; each is the new limit, not an addition',
    example: 'baton budget latest --tokens 500000',
    fields: {
      cast: CAST,
      tokens: { type: 'number', means: 'input and output tokens together', example: 500_000 },
      cost: { type: 'number', value: 'X', means: 'in the currency of the usage that agents report', example: 5 },
      minutes: { type: 'number', means: 'running time', example: 60 },
    },
    cli: 'budget',
    mcp: BY_PERSON,
  },
});
