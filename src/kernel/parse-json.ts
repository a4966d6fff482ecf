// Reads JSON that we wrote. JSON.parse of Node 24 has a fault: after an object with a name that ends in a backslash, it can read
// an escaped name at the same place as that name. File names are names in the log, so agents could choose both. Such names are
// given marks before the text is parsed. Other texts, which are nearly all, are parsed as they are.
import type { Json } from './json.ts';

/** A string, and the colon that makes it a name. */
const STRING = /"(?:[^"\\]|\\.)*"(:?)/g;
/** Starts the marks. A name that starts so itself gets a mark as well. */
const MARK = '\uE000';

export function parseJson(text: string): Json {
  if (!text.includes('\\')) return JSON.parse(text);
  const names: string[] = [];
  const marked = text.replace(STRING, (string, colon: string) => {
    if (colon === '' || !(string.includes('\\') || string.startsWith(`"${MARK}`))) return string;
    names.push(JSON.parse(string.slice(0, -1)));
    return `"${MARK}${names.length - 1}":`;
  });
  return names.length === 0 ? JSON.parse(text) : named(JSON.parse(marked), names);
}

/** The value with the names in the place of their marks, in the order of the text. */
function named(value: Json, names: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((element) => named(element, names));
  if (typeof value !== 'object' || value === null) return value;
  const nameOf = (key: string) => (key.startsWith(MARK) ? (names[Number(key.slice(1))] as string) : key);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [nameOf(key), named(member, names)]));
}
