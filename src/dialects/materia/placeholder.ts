// Placeholders are the values of the example in a brief. Each says in words what belongs in its place, so that an agent that
// copies the example, or quotes it, has not answered.
import type { Contract } from '../../kernel/dialect.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { exampleFor } from './example.ts';
import { at, type Issues } from './issues.ts';

/** Whether a text can hold a placeholder at all. Most do not, and need not be searched. */
export function mayHoldPlaceholder(raw: string): boolean {
  return raw.includes('<') || /\\u003c/i.test(raw);
}

/** Adds an issue for each value that is still a placeholder of the brief. */
export function checkPlaceholders(payload: JsonObject, contract: Contract, issues: Issues): void {
  // A utility gets no brief.
  if (contract.utility) return;
  const known = new Set<string>();
  for (const { text } of stringsIn(exampleFor(contract) ?? {})) known.add(text);
  for (const { path, text } of stringsIn(payload)) {
    if (!known.has(text.trim()) || issues.has(path)) continue;
    issues.add(path, `the value is still the placeholder \`${text.trim()}\` of the example; write your own value`);
  }
}

function* stringsIn(value: Json, path = '$'): Generator<{ readonly path: string; readonly text: string }> {
  if (isString(value)) yield { path, text: value };
  else if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) yield* stringsIn(element, at(path, index));
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) yield* stringsIn(member, at(path, key));
  }
}
