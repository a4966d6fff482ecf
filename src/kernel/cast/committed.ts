// What the data of a cast is after a commit.
import type { DataChange } from '../fact.ts';
import { setPath } from '../graph/path.ts';
import type { JsonObject } from '../json.ts';
import { newest } from './cut.ts';

/** Accumulated context is kept to its newest part, so that a cast's state does not grow with its length. */
export const CONTEXT_CHARS_MAX = 65_536;

/** The data after a commit: a utility's patch, then the line of context, then everything that is set by path. */
export function committed(data: JsonObject, changes: readonly DataChange[], line: string | null): JsonObject {
  let after = data;
  for (const change of changes) if ('key' in change) after = { ...after, [change.key]: change.value };
  if (line !== null) {
    const before = typeof after.context === 'string' && after.context !== '' ? `${after.context}\n\n` : '';
    after = { ...after, context: newest(before + line, CONTEXT_CHARS_MAX) };
  }
  for (const change of changes) if ('path' in change) after = setPath(after, change.path, change.value);
  return after;
}
