// The log as history: reading it, proving it, and one cast of it as evidence.
import { entriesOf, FOREIGN } from '../operation.ts';

const BY_HAND = { leftOut: 'a person or a script looks into the history, by the command line or the library' } as const;
const ONE_SINK = {
  type: 'text',
  word: 'SINK',
  charsMax: 64,
  means: 'the sink, by its name in the configuration',
  example: 'log',
} as const;
const SINK = { ...ONE_SINK, required: true } as const;
const KEY = {
  type: 'text',
  value: 'KEY',
  means: 'a public key to trust, besides your own and those of trusted-keys.txt',
} as const;
const CHECKPOINT = {
  type: 'path',
  value: 'FILE',
  means: 'a file with checkpoints that were kept elsewhere, to verify against',
  example: 'checkpoints.txt',
} as const;
const SIZE = { type: 'count', value: 'SIZE', min: 1, noun: 'number of entries', example: 120 } as const;

export const HISTORY_ROWS = entriesOf('history', {
  log: {
    act: 'look',
    means: 'read what happened, entry by entry',
    example: 'baton log --after 0 --json',
    fields: {
      after: {
        type: 'count',
        noun: 'sequence number',
        means: 'the entries after this sequence number; 0 is everything',
        example: 0,
      },
      cast: { type: 'text', value: 'CAST', mayBeEmpty: true, means: 'of one cast only', example: 'latest' },
      last: { type: 'count', hidden: true, means: 'at most this many of the last ones, without `after`', example: 50 },
      before: { type: 'count', min: 1, hidden: true, means: 'with last: of the entries before this one', example: 120 },
      kind: { type: 'text', hidden: true, means: 'only of kinds that begin so', example: 'approval.' },
      short: { type: 'flag', hidden: true, means: 'long texts by their digest, each with how it begins' },
    },
    mcp: BY_HAND,
  },
  'event.list': {
    act: 'look',
    means: 'show the events that agents and utilities emitted; with all, also what happened to casts and quests',
    example: 'baton events list latest',
    fields: {
      cast: { type: 'text', word: 'CAST', mayBeEmpty: true, means: 'of one cast only', example: 'latest' },
      all: { type: 'flag', means: 'also the events of the lifecycle, as sinks get them' },
      type: {
        type: 'text',
        charsMax: 200,
        value: 'GLOB',
        means: 'only of types that fit; * fits any part',
        example: 'result.*',
      },
      after: { type: 'count', noun: 'sequence number', means: 'only those after this entry of the log', example: 120 },
      limit: { type: 'count', min: 1, max: 10_000, means: 'at most so many, the newest (default: 50)', example: 50 },
    },
    cli: 'events list',
    mcp: {
      name: 'events_list',
      audience: 'person',
      description: `Show the events that agents and utilities emitted besides their output. ${FOREIGN}`,
    },
  },
  'event.sinks': {
    act: 'look',
    means: 'show where events go, how many wait for each sink, and why',
    example: 'baton events sinks',
    fields: {},
    cli: 'events sinks',
    mcp: { leftOut: 'it is about programs of the person' },
  },
  'event.deliver': {
    act: 'steer',
    peopleOnly: 'send events',
    means: 'deliver now what waits for the sinks, or for one of them',
    example: 'baton events deliver log',
    fields: { sink: ONE_SINK },
    cli: 'events deliver',
    mcp: { leftOut: 'it is about programs of the person' },
  },
  'event.skip': {
    act: 'decide',
    peopleOnly: 'leave an event out',
    means: 'leave out the event that a sink does not take, so that the next ones reach it; the log says so',
    example: 'baton events skip log --reason "the address changed"',
    fields: {
      sink: SINK,
      reason: {
        type: 'text',
        required: true,
        charsMax: 2_000,
        means: 'why, for the log',
        example: 'the address changed',
      },
    },
    cli: 'events skip',
    mcp: { leftOut: 'it is about programs of the person' },
  },
  'usage.days': {
    act: 'look',
    means: 'count the tokens and the cost of agents, by day, agent and model',
    example: 'baton usage --since 2026-01-01',
    fields: {
      since: {
        type: 'text',
        value: 'DAY',
        form: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
        means: 'from this day on, in UTC',
        example: '2026-01-01',
      },
    },
    cli: 'usage',
    mcp: BY_HAND,
  },
  'audit.verify': {
    act: 'look',
    means: 'check everything: chain, texts, indexes, and every signed checkpoint that is known here',
    example: 'baton audit verify',
    fields: { checkpoint: CHECKPOINT, key: KEY },
    mcp: BY_HAND,
  },
  'audit.prove': {
    act: 'look',
    means:
      'prove that an entry is in the log; with --from, that the log of --to SIZE entries begins with that of --from SIZE',
    example: 'baton audit prove 12',
    fields: {
      seq: { type: 'count', word: 'SEQ', min: 1, means: 'the entry', example: 12 },
      from: { ...SIZE, means: 'the size of the smaller log' },
      to: { ...SIZE, means: 'the size of the log that has it; without it, of the last checkpoint' },
      checkpoint: CHECKPOINT,
      key: KEY,
    },
    mcp: BY_HAND,
  },
  'audit.checkpoint': {
    act: 'steer',
    means: 'sign the log as it is now; every cast that ends does it too',
    example: 'baton audit checkpoint',
    fields: {},
    mcp: BY_HAND,
  },
  'audit.key': {
    act: 'look',
    means: 'show the public key of this user, which others need to check signatures',
    example: 'baton audit key',
    fields: {},
    mcp: BY_HAND,
  },
  'audit.outside': {
    act: 'look',
    means: 'name the file with the checkpoints of this workspace that are kept outside of it',
    example: 'baton audit outside',
    fields: {},
    mcp: BY_HAND,
  },
  export: {
    act: 'govern',
    means: 'write one cast as evidence, in one file that anybody can verify offline',
    example: 'baton export latest -o run.baton',
    fields: {
      cast: { type: 'text', word: 'CAST', required: true, mayBeEmpty: true, means: 'the cast', example: 'latest' },
      output: {
        type: 'path',
        short: 'o',
        value: 'FILE',
        means: 'the file to write, such as run.baton; without it the answer holds it',
        example: 'run.baton',
      },
      redact: {
        type: 'list',
        itemsMin: 1,
        value: 'DIGEST|TEXT|secrets',
        means:
          'leave out the text with this digest, every text and fact that holds these words, or, with the word secrets, whatever looks like a credential',
        example: ['secrets'],
      },
    },
    mcp: BY_HAND,
  },
  verify: {
    act: 'look',
    means: 'check whether an exported file is what was signed',
    example: 'baton verify run.baton',
    fields: {
      file: { type: 'path', word: 'FILE', required: true, means: 'the exported file', example: 'run.baton' },
      key: { ...KEY, means: 'the public key that must have signed it, as `baton audit key` prints it' },
    },
    mcp: BY_HAND,
  },
});
