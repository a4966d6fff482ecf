// Follows a cast and tells everything that happens in it, from its first entry on.
import type { Json } from '../../kernel/json.ts';
import { followToEnd } from '../look-at-cast.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'cast.watch'>> = (workspace, { cast, turns }, { signal, onEvent }) =>
  followToEnd(workspace, cast, { turns, signal, tell: (news) => onEvent({ kind: 'value', value: news as Json }) });
