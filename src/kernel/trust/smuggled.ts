// What no output may carry to the next agent, whether a registry is in force or not: the tokens by which chat templates
// mark turns, which a model may take for the frame of its own conversation, and characters that turn the direction of
// the text around, so that people read something else than the model. Whatever else looks odd is only flagged: agents
// write about prompts and print colours, and a team must not stop for that.
import type { Json } from '../json.ts';
import { type Denied, deny } from '../verdict.ts';

// The words between the bars are bounded, so that many openers cost no more than their number.
const TOKEN = /<\|[^\s<>|]{1,64}\|>|<<\/?SYS>>/;
const OVERRIDE = /[\u202d\u202e]/;
const ASCII = /^[\t\n\r -~]*$/;
// Dropped only to read what a model would: a character nobody sees splits no token.
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/g;

/** What a text smuggles, in words; null where it smuggles nothing. */
export function smuggledBy(text: string): string | null {
  if (TOKEN.test(text)) return TEMPLATE;
  if (ASCII.test(text)) return null;
  if (OVERRIDE.test(text)) return 'a character that reverses the direction of the text';
  return TOKEN.test(text.normalize('NFKC').replace(INVISIBLE, '')) ? TEMPLATE : null;
}

const TEMPLATE = 'a control token of a chat template';

/** Why an output must not be handed on; null where it may. Both its text and what was read from it reach others. */
export function refusalOfSmuggled(output: string, payload: Json): Denied | null {
  const inText = smuggledBy(output);
  if (inText !== null) return refused('$', inText);
  const due: { readonly path: string; readonly value: Json }[] = [{ path: '$', value: payload }];
  for (let place = due.pop(); place; place = due.pop()) {
    const { path, value } = place;
    if (typeof value === 'string') {
      const found = smuggledBy(value);
      if (found !== null) return refused(path, found);
    }
    if (typeof value !== 'object' || value === null) continue;
    const isList = Array.isArray(value);
    for (const [key, member] of Object.entries(value)) {
      const found = isList ? null : smuggledBy(key);
      if (found !== null) return refused(path, found);
      due.push({
        path: path.length > PATH_CHARS_MAX ? path : isList ? `${path}[${key}]` : `${path}.${key}`,
        value: member,
      });
    }
  }
  return null;
}

const PATH_CHARS_MAX = 200;

function refused(path: string, what: string): Denied {
  const message = `it holds ${what}, which must not reach the next agent; leave it out, or describe it in words`;
  return deny('UNTRUSTED_CONTEXT_BLOCK', `${path}: ${message}`, { path, issues: [{ path, message }] });
}
