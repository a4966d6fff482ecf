// The exact text of one member of a JSON object, as it was written: what parsing would hide, such as a key that stands
// twice, is still there.

/** The text of the last member of that name, or null. The object must be valid JSON. */
export function memberText(object: string, name: string): string | null {
  const quoted = JSON.stringify(name);
  let found: string | null = null;
  let at = object.indexOf('{') + 1;
  while (at > 0 && at < object.length) {
    at = skip(object, at, ' \t\r\n,');
    if (object[at] !== '"') break;
    const keyEnd = stringEnd(object, at);
    const key = object.slice(at, keyEnd);
    const from = skip(object, keyEnd, ' \t\r\n:');
    at = valueEnd(object, from);
    if (key === quoted) found = object.slice(from, at);
  }
  return found;
}

function skip(text: string, from: number, blanks: string): number {
  let at = from;
  while (at < text.length && blanks.includes(text[at] ?? '')) at++;
  return at;
}

/** The place after the string that begins here. */
function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** The place after the value that begins here. */
function valueEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') {
      at = stringEnd(text, at) - 1;
      if (depth === 0) return at + 1;
    } else if (sign === '{' || sign === '[') depth++;
    else if (sign === '}' || sign === ']') {
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (sign === ',' && depth === 0) return at;
  }
  return text.length;
}
