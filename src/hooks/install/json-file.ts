// Settings that are JSON: read, changed and written in the style they were written in.
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';

/** Changes the object in the text; null for an object in which nothing is left. */
export function changeJson(
  file: string,
  text: string | null,
  change: (object: JsonObject) => JsonObject | Denied,
): string | null | Denied {
  let value: unknown;
  try {
    value = text === null || text.trim() === '' ? {} : JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    return deny('INVALID_CONFIG', `${file} is not JSON (${(error as Error).message}); mend it first`, { file });
  }
  if (!isObject(value)) return deny('INVALID_CONFIG', `${file} holds no JSON object; mend it first`, { file });
  const changed = change(value);
  if (isDenied(changed)) return changed;
  // What is not changed keeps its every byte.
  if (changed === value) return text;
  if (Object.keys(changed).length === 0) return null;
  return `${JSON.stringify(changed, null, indentOf(text ?? ''))}\n`;
}

export function isDenied(value: unknown): value is Denied {
  return isObject(value) && value.allow === false && 'code' in value && 'reason' in value && 'details' in value;
}

function indentOf(text: string): string {
  return /^([ \t]{1,8})"/m.exec(text)?.[1] ?? '  ';
}

/** The object without a member, or with another value of it. A member without anything in it is dropped. */
export function withMember(object: JsonObject, name: string, value: JsonObject): JsonObject {
  if (Object.keys(value).length > 0) return { ...object, [name]: value };
  const { [name]: _dropped, ...rest } = object;
  return rest;
}
