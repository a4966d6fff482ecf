// One text per JSON value: two values are equal when their texts are. The order of keys does not matter, the order of
// lists does. Unlike a digest format it takes any string, also one with half a surrogate pair.
import { isObject, type Json } from '../../kernel/json.ts';

export function canonicalText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`);
  return `{${members.join(',')}}`;
}
