// Checks of what is walked over item by item, shared by loops, `foreach` and `advance`.
import type { Code } from '../codes.ts';
import type { Json, JsonObject } from '../json.ts';
import { type Draft, given } from './authored.ts';
import { checkEndpoint } from './endpoint.ts';
import { error, type Findings } from './issue.ts';
import { problemOfName, problemOfSource } from './path-syntax.ts';

export function* checkItems(object: JsonObject, path: string, code: Code): Findings {
  const items = given(object, 'items');
  const problem = problemOfSource(items) ?? problemOfOutput(items);
  if (problem !== null) yield error(code, `${path}.items`, `The list to walk cannot be found: ${problem}.`);
}

/** Checks the names that are given for the item and for the cursor. */
export function* checkNames(object: JsonObject, path: string, code: Code): Findings {
  for (const field of ['as', 'cursor']) {
    const name = given(object, field);
    const problem = name === undefined ? null : problemOfName(name);
    if (problem !== null) yield error(code, `${path}.${field}`, `${field} is no usable name: ${problem}.`);
  }
}

/** `done` never routes, but a file that names a socket there must name one that exists. */
export function* checkDone(draft: Draft, object: JsonObject, path: string): Findings {
  const done = given(object, 'done');
  if (done !== undefined) yield* checkEndpoint(draft, done, `${path}.done`, 'socket or end');
}

// A list outlives the output it came in: every item of it is another turn.
function problemOfOutput(items: Json | undefined): string | null {
  if (typeof items !== 'string' || !items.startsWith('$')) return null;
  return 'it must stand in the cast data; assign it to a slot first and write state.slot here';
}
