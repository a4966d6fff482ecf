// Contracts: payloads, configurations and codes; the registry, which says who exists and which prompts are pinned; and handoffs of
// others, judged by it.
import { KINDS } from '../../kernel/capabilities.ts';
import { OUTCOMES } from '../../kernel/trust/state.ts';
import { entriesOf, FOREIGN } from '../operation.ts';

const NOT_FOR_AGENTS = { leftOut: 'people write configurations, and an agent may not change them' } as const;

const LAYER = {
  type: 'choice',
  of: ['project', 'user'],
  means: 'where a new loadout goes: the project (the default), or your own configuration for every workspace',
} as const;

const DOCUMENT = {
  type: 'json',
  word: 'FILE',
  required: true,
  means: 'the document, as `loadout open` answers it',
} as const;

export const CONTRACT_ROWS = entriesOf('contracts', {
  check: {
    act: 'look',
    means: 'look for static mistakes of loadouts and materia, all at once',
    example: 'baton check .baton/config.json --strict',
    fields: {
      file: {
        type: 'path',
        word: 'FILE',
        means:
          'the configuration, or the name of a loadout in the short form; without it all of .baton, or what comes with baton where there is none',
        example: '.baton/config.json',
      },
      strict: { type: 'flag', means: 'warnings count as errors' },
    },
    mcp: { leftOut: 'people write configurations, and an agent may not change them' },
  },
  'loadout.list': {
    act: 'look',
    means: 'list the loadouts that a cast can run here, each with its steps and its first mistake',
    example: 'baton loadouts',
    fields: {},
    cli: 'loadouts',
    mcp: { leftOut: 'people choose the loadout, and write configurations' },
  },
  'loadout.open': {
    act: 'look',
    means: 'read a loadout for editing: its document, its text, and the digests of its files',
    example: 'baton loadout open bugfix',
    fields: {
      name: { type: 'text', word: 'NAME', required: true, means: 'the loadout', example: 'bugfix' },
      blank: { type: 'flag', means: 'an empty one of that name, which is nowhere yet' },
      layer: LAYER,
    },
    mcp: NOT_FOR_AGENTS,
  },
  'loadout.check': {
    act: 'look',
    means:
      'check a document that is not saved: each issue with its place and, where that is mechanical, an edit that repairs it',
    example: 'baton loadout check draft.json',
    fields: { document: DOCUMENT },
    mcp: NOT_FOR_AGENTS,
  },
  'loadout.print': {
    act: 'look',
    means: 'print a document that is not saved: as JSON, in the short form, or as a drawing',
    example: 'baton loadout print draft.json --format short',
    fields: {
      document: DOCUMENT,
      format: {
        type: 'choice',
        of: ['json', 'short', 'text', 'mermaid', 'svg'],
        means: 'json (the default), short, text, mermaid or svg',
      },
    },
    mcp: NOT_FOR_AGENTS,
  },
  'loadout.save': {
    act: 'govern',
    peopleOnly: 'change a loadout',
    means: 'write a document to the files of its loadout; a file that changed meanwhile is a conflict and stays',
    example: 'baton loadout save draft.json --preview',
    fields: {
      document: DOCUMENT,
      base: { type: 'json', isInFile: true, means: 'the document as it was opened, to merge a conflict' },
      as: {
        type: 'choice',
        of: ['config', 'short'],
        means: 'where a new loadout goes: config.json (the default), or a file of the short form',
      },
      layer: LAYER,
      preview: { type: 'flag', means: 'say what would be written, and write nothing' },
    },
    mcp: NOT_FOR_AGENTS,
  },
  'loadout.duplicate': {
    act: 'govern',
    peopleOnly: 'make a loadout',
    means: 'copy a loadout into the project under another name, with the materia and prompts that it uses',
    example: 'baton loadout duplicate Full-Auto --as Ours',
    fields: {
      name: { type: 'text', word: 'NAME', required: true, means: 'the loadout', example: 'Full-Auto' },
      as: { type: 'text', required: true, value: 'NAME', means: 'the name of the copy', example: 'Ours' },
      layer: LAYER,
      preview: { type: 'flag', means: 'say what would be written, and write nothing' },
    },
    mcp: NOT_FOR_AGENTS,
  },
  'loadout.test': {
    act: 'look',
    means: 'play the recorded trials of .baton/tests again: each must take the same path to the same end',
    example: 'baton test --loadout bugfix',
    fields: {
      loadout: { type: 'text', means: 'only the tests of this loadout', value: 'NAME', example: 'bugfix' },
    },
    cli: 'test',
    mcp: {
      name: 'test_loadouts',
      audience: 'person',
      description: `Play the recorded trials of the loadouts again, in memory. details.tests says of each whether it took the same path, and where it parted. ${FOREIGN}`,
    },
  },
  'loadout.record': {
    act: 'govern',
    peopleOnly: 'save a test of a loadout',
    means: 'keep a trial as a test in .baton/tests',
    example: 'baton test save trial.json',
    fields: {
      test: { type: 'json', word: 'FILE', required: true, means: 'the trial, with a name: what the editor records' },
      force: { type: 'flag', means: 'replace a test of the same name' },
    },
    cli: 'test save',
    mcp: NOT_FOR_AGENTS,
  },
  'loadout.try': {
    act: 'look',
    means: 'play a draft of a loadout in memory with answers given by hand; nothing is started and nothing is kept',
    example: '',
    fields: {
      document: {
        type: 'json',
        required: true,
        means: 'the draft: {"name", "config", "files"}, with its loadout in config.loadouts',
        example: { name: 'Tidy', config: { materia: {}, loadouts: { Tidy: { sockets: {} } } }, files: {} },
      },
      request: { type: 'text', charsMax: 20_000, means: 'what the cast is asked to do', example: 'Add a login' },
      answers: {
        type: 'json',
        means: 'what was answered at each step: [{"socket", "text"}]; without a text the attempt failed',
        example: [{ socket: 'Socket-1', text: 'done' }],
      },
      toEnd: { type: 'flag', means: 'go on with answers that lead on, until the cast ends or waits' },
      brief: {
        type: 'text',
        means: 'instead, only the brief that the agent of this socket would read',
        example: 'Socket-2',
      },
    },
    cli: { leftOut: 'the editor of the page tries a draft' },
    mcp: NOT_FOR_AGENTS,
  },
  compile: {
    act: 'look',
    means: 'print the long form of a loadout in the short form',
    example: 'baton compile .baton/loadouts/bugfix.yaml',
    fields: {
      loadout: {
        type: 'text',
        word: 'LOADOUT|FILE',
        means: 'a loadout by name, or a file; without it the one that `cast` would use',
        example: 'bugfix',
      },
    },
    mcp: { leftOut: 'people write configurations, and an agent may not change them' },
  },
  graph: {
    act: 'look',
    means: 'draw a loadout, or a cast with the way that it took',
    example: 'baton graph latest',
    fields: {
      of: {
        type: 'text',
        word: 'LOADOUT|CAST',
        means: 'a loadout or a cast; without it the loadout that `cast` would use',
        example: 'latest',
      },
      format: {
        type: 'choice',
        of: ['text', 'mermaid', 'svg'],
        means: 'text for a terminal (the default), mermaid, or svg',
      },
      file: { type: 'path', means: 'the configuration of the loadout', example: '.baton/config.json' },
    },
    mcp: {
      name: 'graph',
      audience: 'person',
      description: 'Draw a loadout, or a cast with where it is and how often it went where: as text, Mermaid or SVG.',
    },
  },
  validate: {
    act: 'look',
    means: 'check one payload against a contract',
    example: 'baton validate materia answer.txt',
    fields: {
      kind: {
        type: 'choice',
        word: 'KIND',
        of: KINDS,
        noun: 'kind',
        required: true,
        means: `which contract: ${KINDS.join(', ')}`,
        example: 'materia',
      },
      payload: {
        type: 'json',
        word: 'FILE',
        orStandardInput: true,
        bytesField: 'bytes',
        means: 'the payload: a value, or its text',
      },
      bytes: { type: 'text', hidden: true, means: 'the payload as base64, where it is no UTF-8' },
      lines: {
        type: 'json',
        hidden: true,
        means:
          'instead of a payload: lines {"id", "input" | "input_raw", "options"?}, or {"base64"} of one; a value for each',
        schema: { type: 'array' },
      },
      strict: {
        type: 'flag',
        means: 'operator/*: refuse unknown fields without x_; governed/handoff: refuse unknown members',
      },
      registry: {
        type: 'path',
        means: 'the folder of the registry, for governed/handoff',
        example: '.baton',
      },
      options: {
        type: 'json',
        means: 'the options of the kind, as a JSON object; a line of --jsonl may say its own',
        schema: { type: ['object', 'string'] },
      },
    },
    mcp: { leftOut: 'what an agent hands in is checked when it hands it in' },
  },
  explain: {
    act: 'look',
    means: 'say what a code means and what to do about it',
    example: 'baton explain LOCK_CONFLICT',
    fields: {
      code: { type: 'text', word: 'CODE', means: 'the code; without it, all of them', example: 'LOCK_CONFLICT' },
    },
    mcp: { leftOut: 'every refusal says in words what to do' },
  },
});

const REASON = { type: 'text', means: 'why, for the log', example: 'prompt restored from git' } as const;
const BY_PEOPLE = { leftOut: 'people look after the registry, by the command line or the library' } as const;

export const REGISTRY_ROWS = entriesOf('registry', {
  'registry.lock': {
    act: 'govern',
    peopleOnly: 'lock a registry',
    means:
      'pin every prompt to the bytes it has now, and what each agent runs with; agents that the registry does not know get an id and a record in the manifest',
    example: 'baton registry lock --reason "reviewed"',
    fields: { reason: REASON },
    mcp: BY_PEOPLE,
  },
  'registry.accept': {
    act: 'govern',
    peopleOnly: 'accept an edited prompt',
    means:
      'accept edited prompts: show what changed, raise their versions, pin them, and release what the edit blocked',
    example: 'baton registry accept build --reason "shorter answers"',
    fields: {
      agent: {
        type: 'text',
        word: 'AGENT',
        means: 'the agent; without it every agent whose prompt was edited',
        example: 'build',
      },
      reason: REASON,
    },
    mcp: BY_PEOPLE,
  },
  'registry.verify': {
    act: 'look',
    means: 'compare manifest, lock and prompts; report what differs from what was approved',
    example: 'baton registry verify --strict',
    fields: { strict: { type: 'flag', means: 'warnings deny, too' } },
    mcp: BY_PEOPLE,
  },
  'registry.list': {
    act: 'look',
    means: 'every agent with version, prompt, model, and whether the model is one exact release',
    example: 'baton registry list',
    fields: {},
    mcp: BY_PEOPLE,
  },
  'registry.quarantine': {
    act: 'look',
    means: 'what is blocked, since when and why, with the locked prompt and the present one',
    example: 'baton registry quarantine',
    fields: {},
    mcp: BY_PEOPLE,
  },
  'registry.release': {
    act: 'decide',
    means: 'let go what was blocked, once everything agrees again; only a person can',
    example: 'baton registry release domain-02-build --reason "prompt restored from git"',
    fields: {
      id: { type: 'text', word: 'ID', required: true, means: 'what is blocked', example: 'domain-02-build' },
      reason: { ...REASON, required: true },
      outcome: {
        type: 'choice',
        of: OUTCOMES,
        noun: 'outcome',
        value: 'OUTCOME',
        means: 'what was found: tampering, stale_sender, legitimate_change, checkout_artifact or harmless',
      },
    },
    mcp: BY_PEOPLE,
  },
  'registry.import': {
    act: 'govern',
    peopleOnly: 'import a registry',
    means: 'take over a registry from another folder, in any of the known shapes, and lock it',
    example: 'baton registry import ../agents',
    fields: { dir: { type: 'path', word: 'DIR', required: true, means: 'the folder of the registry' } },
    mcp: BY_PEOPLE,
  },
  'handoff.verify': {
    act: 'steer',
    means: 'judge a foreign handoff envelope, once; the verdict is written to the log',
    example: 'baton handoff verify envelope.json',
    fields: {
      envelope: {
        type: 'json',
        word: 'FILE',
        required: true,
        bytesField: 'bytes',
        means: 'the envelope, exactly as it came; the same id is judged once only',
      },
      bytes: { type: 'text', hidden: true, means: 'the envelope as base64, where it is no UTF-8' },
      registry: { type: 'path', means: 'the folder of the registry (default: .baton)' },
      maxAgeS: { type: 'count', means: 'how old an envelope may be, in seconds (default 300)' },
      maxSkewS: { type: 'count', means: 'how far ahead of this clock it may be, in seconds (default 60)' },
    },
    mcp: { leftOut: 'envelopes come from other systems, by a script that has the command line or the library' },
  },
});
