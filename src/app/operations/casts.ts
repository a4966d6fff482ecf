// Casts: look at them.
import type { Entry } from '../operation.ts';
import { FOREIGN } from './foreign.ts';

const CAST = {
  type: 'text',
  value: 'CAST',
  mayBeEmpty: true,
  means: 'the id of the cast, a beginning that only one has, or latest',
  example: 'latest',
} as const;

export const CASTS = {
  'cast.list': {
    name: 'cast.list',
    group: 'casts',
    act: 'look',
    means: 'list the casts of the workspace, newest first',
    example: 'baton casts',
    fields: { limit: { type: 'count', means: 'at most so many; all where it is not said', example: 20 } },
    cli: 'casts',
    mcp: {
      name: 'cast_list',
      audience: 'person',
      description: `List the casts of the workspace, newest first; without a limit the newest 20. ${FOREIGN}`,
      defaults: { limit: 20 },
    },
  },
  'cast.show': {
    name: 'cast.show',
    group: 'casts',
    act: 'look',
    means: 'show a cast as it is now',
    example: 'baton show latest',
    fields: {
      cast: { ...CAST, word: 'CAST' },
      turns: { type: 'flag', means: 'also what each attempt was told and said' },
    },
    cli: 'show',
    mcp: {
      name: 'cast_show',
      audience: 'person',
      description: `Look at a cast: its status, where it went, its data and what it used; with turns also what each attempt was told and said. ${FOREIGN}`,
    },
  },
  'cast.turn': {
    name: 'cast.turn',
    group: 'casts',
    act: 'look',
    means: 'show one turn in full: INPUT, briefs, reports, questions and answers, evidence, what it wrote for others',
    example: 'baton show latest --turn 7',
    fields: {
      cast: { ...CAST, word: 'CAST' },
      turn: { type: 'count', min: 1, required: true, means: 'the number of the turn', example: 7 },
    },
    cli: 'show',
    mcp: { leftOut: 'cast_show with turns tells what each attempt was told and said' },
  },
  'cast.why': {
    name: 'cast.why',
    group: 'casts',
    act: 'look',
    means: 'say why a cast is where it is, since when, and the commands that carry it on',
    example: 'baton why latest',
    fields: { cast: { ...CAST, word: 'CAST' } },
    cli: 'why',
    mcp: {
      name: 'cast_why',
      audience: 'person',
      description: `Say why a cast is where it is: what it waits for or failed on, since when, and the commands that carry it on. ${FOREIGN}`,
    },
  },
  'cast.watch': {
    name: 'cast.watch',
    group: 'casts',
    act: 'look',
    means: 'follow a cast that another process drives, from its first entry on, until it stops',
    example: 'baton watch latest',
    fields: {
      cast: { ...CAST, word: 'CAST' },
      turns: { type: 'flag', means: 'at the end, also what each attempt was told and said' },
    },
    cli: 'watch',
    mcp: { leftOut: 'a tool answers once; cast_wait tells what the agents do as progress' },
  },
  'cast.wait': {
    name: 'cast.wait',
    group: 'casts',
    act: 'look',
    means: 'wait until a cast completes, fails or needs a person, or the time is over',
    example: '',
    fields: {
      cast: CAST,
      timeout_seconds: { type: 'number', means: 'answer after so many seconds at the latest', example: 45 },
    },
    cli: { leftOut: 'watch waits, and shows the cast meanwhile' },
    mcp: {
      name: 'cast_wait',
      audience: 'person',
      description: `Wait until a cast completes, fails or needs a person, or the time is over; then call again, nothing is lost. details.stands says which. Asked for progress, it tells what the agents do meanwhile. ${FOREIGN}`,
      schemas: { timeout_seconds: { type: 'integer', minimum: 1, maximum: 600, default: 45 } },
      defaults: { timeout_seconds: 45 },
    },
  },
  'cast.trace': {
    name: 'cast.trace',
    group: 'history',
    act: 'look',
    means: 'find what is behind a file, a result, a handoff or a text, and what came of it',
    example: 'baton trace src/api.ts',
    fields: {
      what: {
        type: 'text',
        word: 'FILE|CAST|DIGEST|HANDOFF',
        required: true,
        mayBeEmpty: true,
        means: 'a file, a cast, a digest or the id of a handoff',
        example: 'src/api.ts',
      },
    },
    cli: 'trace',
    mcp: { leftOut: 'a person or a script looks into the history, by the command line or the library' },
  },
  status: {
    name: 'status',
    group: 'casts',
    act: 'look',
    means: 'say what runs, waits and ended last in the workspace',
    example: 'baton status',
    fields: {},
    mcp: { leftOut: 'cast_list and cast_why say it cast by cast' },
  },
  metrics: {
    name: 'metrics',
    group: 'ledger',
    act: 'look',
    means: 'show how the runs of the ledger went, one by one and over time, next to the levels aimed at',
    example: 'baton status --metrics',
    fields: {},
    cli: 'status --metrics',
    mcp: { leftOut: 'a person or a script reads the numbers, by the command line or the library' },
  },
} as const satisfies Readonly<Record<string, Entry>>;
