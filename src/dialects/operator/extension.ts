// What may stand in an object beside its own fields. Extensions start with `x_` and are never looked at; any other
// unknown field is refused in strict mode and otherwise only mentioned.
import type { JsonObject } from '../../kernel/json.ts';
import type { Fields } from './contract.ts';
import { type Findings, member } from './findings.ts';

export const EXTENSION_PREFIX = 'x_';

export function checkExtensions(found: Findings, object: JsonObject, fields: Fields, path: string): void {
  for (const key of Object.keys(object)) {
    if (key.startsWith(EXTENSION_PREFIX) || fields.required.includes(key) || fields.optional.includes(key)) continue;
    const place = member(path, key);
    if (found.strict) {
      found.add('SCHEMA_INVALID', place, `unknown field; leave it out, or rename it so that it starts with x_`);
    } else found.warn(`${place} is not part of the contract; extensions start with x_`);
  }
}
