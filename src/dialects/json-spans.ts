// Finds the places in free text where JSON objects may stand, in one pass.
//
// Only outermost places count. What lies inside an object, an array or a group of braces is never a candidate of its own,
// so that a piece of a broken or truncated answer cannot pass for the whole answer. For the same reason backticks inside
// such a place are the content of a string and no fence, and a JSON object that never closes ends the search.
import { skipSpace } from './json-fault.ts';

export type Span = {
  readonly start: number;
  /** The offset after the last character; the end of the text when the span never closes. */
  readonly end: number;
  /** `empty` is `{}`; `braces` is a group that no JSON object starts like, such as `{name}`. */
  readonly kind: 'object' | 'empty' | 'array' | 'braces';
  readonly closed: boolean;
  /** Whether it is all that a closed fenced block holds. */
  fenced: boolean;
};

// Each opener that is prose and never closes costs a look to the end of the text, so their number is bounded.
const PROSE_OPENERS_MAX = 16;
const SPANS_MAX = 256;
const FENCE = '```';
const TAG = /json(?![A-Za-z0-9])/iy;

export type Spans = {
  readonly spans: readonly Span[];
  /** Whether the whole text was searched. False when a bound ended the search. */
  readonly complete: boolean;
};

export function findSpans(text: string): Spans {
  const spans: Span[] = [];
  const marker = /```+|[{[]/g;
  let openFence = -1; // Where the content of the open fence starts.
  let proseOpeners = 0;
  for (let mark = marker.exec(text); mark; mark = marker.exec(text)) {
    if (spans.length === SPANS_MAX) return { spans, complete: false };
    const at = mark.index;
    if (mark[0].startsWith(FENCE)) {
      const content = afterTag(text, marker.lastIndex);
      const tagged = content > marker.lastIndex;
      if (openFence >= 0 && !tagged) markFenced(text, spans.at(-1), openFence, at);
      openFence = openFence < 0 || tagged ? skipSpace(text, content) : -1;
      continue;
    }
    const kind = kindAt(text, at);
    if (kind === null) continue;
    const end = closeOf(text, at);
    if (end >= 0) {
      spans.push({ start: at, end, kind, closed: true, fenced: false });
      marker.lastIndex = end;
    } else if (kind === 'object' || opensObjects(text, at)) {
      spans.push({ start: at, end: text.length, kind, closed: false, fenced: false });
      break;
    } else {
      proseOpeners += 1;
      if (proseOpeners === PROSE_OPENERS_MAX) return { spans, complete: false };
    }
  }
  return { spans, complete: true };
}

function markFenced(text: string, span: Span | undefined, contentStart: number, contentEnd: number): void {
  if (span?.start === contentStart && skipSpace(text, span.end) === contentEnd) span.fenced = true;
}

/** What the opener at this place starts; null for a bracket that belongs to prose. */
function kindAt(text: string, at: number): Span['kind'] | null {
  const next = text[skipSpace(text, at + 1)] ?? '';
  if (text[at] === '[') return next !== '' && '{["-0123456789'.includes(next) ? 'array' : null;
  if (next === '"') return 'object';
  return next === '}' ? 'empty' : 'braces';
}

function opensObjects(text: string, at: number): boolean {
  return text[at] === '[' && text[skipSpace(text, at + 1)] === '{';
}

/** The offset after the closer of the opener at `start`, minding strings and escapes; -1 when there is none. */
function closeOf(text: string, start: number): number {
  const open = text.charCodeAt(start);
  const close = open + 2; // In ASCII both closers stand two after their openers.
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      for (at++; at < text.length; at++) {
        const inside = text.charCodeAt(at);
        if (inside === 0x5c) at++;
        else if (inside === 0x22) break;
      }
    } else if (code === open) depth++;
    else if (code === close && --depth === 0) return at + 1;
  }
  return -1;
}

function afterTag(text: string, at: number): number {
  TAG.lastIndex = at;
  return TAG.test(text) ? TAG.lastIndex : at;
}
