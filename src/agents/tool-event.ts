// A tool call as people follow it: the name of the tool, and the file, command or pattern that it is at.
import type { LiveEvent } from '../engine/ports.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';

const DETAIL_CHARS_MAX = 200;

/** What the programs call such an argument, the most telling first. */
const ARGUMENTS = [
  ...['file_path', 'notebook_path', 'path', 'command', 'cmd', 'pattern', 'query', 'url', 'description'],
] as const;

export function toolEvent(name: string, detail: string | null): LiveEvent {
  if (detail === null || detail.trim() === '') return { kind: 'tool', name };
  return { kind: 'tool', name, detail: detail.trim().slice(0, DETAIL_CHARS_MAX).toWellFormed() };
}

/** Null where the call names nothing of the kind. */
export function detailOf(call: JsonObject): string | null {
  for (const name of ARGUMENTS) {
    const found = wordsIn(call[name]);
    if (found !== null) return found;
  }
  const [first] = Array.isArray(call.changes) ? call.changes.filter(isObject) : [];
  return first ? wordsIn(first.path) : null;
}

function wordsIn(value: Json | undefined): string | null {
  if (isString(value) && value !== '') return value;
  return Array.isArray(value) && value.length > 0 && value.every(isString) ? value.join(' ') : null;
}
