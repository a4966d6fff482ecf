// Contracts: payloads, configurations and codes.
import { KINDS } from '../../kernel/capabilities.ts';
import type { OperationEntry } from '../operation.ts';

export const CONTRACTS = {
  check: {
    name: 'check',
    group: 'contracts',
    act: 'look',
    means: 'look for static mistakes of loadouts and materia, all at once',
    example: 'baton check .baton/config.json --strict',
    fields: {
      file: {
        type: 'path',
        word: 'FILE',
        means: 'the configuration; without it .baton/config.json, or what comes with baton where there is none',
        example: '.baton/config.json',
      },
      strict: { type: 'flag', means: 'warnings count as errors' },
    },
    mcp: { leftOut: 'people write configurations, and an agent may not change them' },
  },
  'loadout.list': {
    name: 'loadout.list',
    group: 'contracts',
    act: 'look',
    means: 'list the loadouts that a cast can run here, each with its steps and its first mistake',
    example: '',
    fields: {},
    cli: { leftOut: 'check tells the mistakes, and graph draws a loadout' },
    mcp: { leftOut: 'people choose the loadout, and write configurations' },
  },
  compile: {
    name: 'compile',
    group: 'contracts',
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
    name: 'graph',
    group: 'contracts',
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
    name: 'validate',
    group: 'contracts',
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
    name: 'explain',
    group: 'contracts',
    act: 'look',
    means: 'say what a code means and what to do about it',
    example: 'baton explain LOCK_CONFLICT',
    fields: {
      code: { type: 'text', word: 'CODE', means: 'the code; without it, all of them', example: 'LOCK_CONFLICT' },
    },
    mcp: { leftOut: 'every refusal says in words what to do' },
  },
} as const satisfies Readonly<Record<string, OperationEntry>>;
