// What any JSON value must keep to before the checks walk through it: a bounded depth, finite numbers, and no key that
// poisons prototypes. Text is held to the same when it is parsed; this is for values that arrive parsed.
import { isObject, type Json } from '../../kernel/json.ts';
import { JSON_DEPTH_MAX } from '../json-text.ts';

/** What is wrong with the value, or null. */
export function faultOfValue(value: Json): string | null {
  const open: { value: Json; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: current, depth } = next;
    if (typeof current === 'number' && !Number.isFinite(current)) return 'a number is too large';
    if (typeof current !== 'object' || current === null) continue;
    if (depth >= JSON_DEPTH_MAX) return `the JSON is nested deeper than ${JSON_DEPTH_MAX} levels`;
    if (isObject(current) && Object.hasOwn(current, '__proto__')) return 'the key "__proto__" is not allowed here';
    for (const child of Object.values(current) as Json[]) open.push({ value: child, depth: depth + 1 });
  }
  return null;
}
