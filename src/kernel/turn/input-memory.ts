// What was accepted to be remembered, as an agent is told it: by section, the newest first, and only of sections that it may
// read.
import type { Json, JsonObject } from '../json.ts';
import { grouped } from '../knowledge/grouped.ts';
import { ANY } from '../knowledge/rules.ts';
import type { Knowledge, Remembered } from '../knowledge/state.ts';

/** By section; what is for everybody stands under `*`. Null where there is nothing. */
export function memoryFor(
  { memory }: Pick<Knowledge, 'memory'>,
  isReadable: (section: string) => boolean,
): JsonObject | null {
  const told = Object.values(memory)
    .filter(({ section }) => section === null || isReadable(section))
    .sort((a, b) => b.at - a.at || Number(b.id.slice(1)) - Number(a.id.slice(1)));
  if (told.length === 0) return null;
  const bySection = grouped(told, ({ section }) => section ?? ANY);
  return Object.fromEntries([...bySection].map(([section, notes]) => [section, notes.map(noteTold)]));
}

function noteTold({ id, description, body, type }: Remembered): Json {
  return { id, ...(description === null ? {} : { description }), body, ...(type === undefined ? {} : { type }) };
}
