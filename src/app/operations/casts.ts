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
} as const satisfies Readonly<Record<string, Entry>>;
