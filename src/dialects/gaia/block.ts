// Finds the OUTPUT block in an agent's reply: the first fence tagged agent_contract_handoff, up to the next three
// backticks. Later blocks are never looked at, so that a reply cannot say two things. One pass, whatever the text.
import { TAG } from './contract.ts';

const FENCE = '```';
const OPENER = `${FENCE}${TAG}`;

export type Block = {
  readonly found: true;
  readonly body: string;
  /** The line of the reply on which the body starts; the body always starts in its first column. */
  readonly line: number;
  /** Where the backticks stand when something other than the end of the JSON precedes them on their line. */
  readonly cutAt: { readonly line: number; readonly column: number } | null;
};
export type NoBlock = { readonly found: false; readonly message: string };

export function findBlock(reply: string): Block | NoBlock {
  let gluedAt = -1;
  for (let at = reply.indexOf(OPENER); at !== -1; at = reply.indexOf(OPENER, at + OPENER.length)) {
    const start = bodyStart(reply, at + OPENER.length);
    if (start === -1) {
      if (gluedAt === -1) gluedAt = at;
      continue;
    }
    const end = reply.indexOf(FENCE, start);
    // A later opener would itself hold three backticks, so none can follow an unclosed one.
    if (end === -1) return none(`the ${TAG} block that opens on line ${lineAt(reply, at)} is never closed`);
    return { found: true, body: reply.slice(start, end), line: lineAt(reply, start), cutAt: cutAt(reply, start, end) };
  }
  return none(
    gluedAt === -1 ? nearMiss(reply) : `a line break must follow the tag ${TAG} on line ${lineAt(reply, gluedAt)}`,
  );
}

/** After the last line break of the white space behind the tag; -1 when there is none. */
function bodyStart(reply: string, afterTag: number): number {
  let start = -1;
  for (let at = afterTag; at < reply.length && isSpace(reply.charCodeAt(at)); at++) {
    if (reply.charCodeAt(at) === 0x0a) start = at + 1;
  }
  return start;
}

// The byte order mark is no white space here: text that carries one in the middle was pasted together.
function isSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x1f);
  return code === 0x85 || (code !== 0xfeff && String.fromCharCode(code).trim() === '');
}

function cutAt(reply: string, start: number, end: number): Block['cutAt'] {
  const lineStart = Math.max(start, reply.lastIndexOf('\n', end) + 1);
  const before = reply.slice(lineStart, end).trimEnd();
  if (before === '' || before.endsWith('}')) return null;
  return { line: lineAt(reply, end), column: end - lineStart + 1 };
}

function nearMiss(reply: string): string {
  const word = reply.toLowerCase().indexOf(TAG);
  if (word !== -1) return `${TAG} is named on line ${lineAt(reply, word)}, but not directly behind three backticks`;
  return reply.trim() === '' ? 'the reply is empty' : `the reply has no fenced block tagged ${TAG}`;
}

function none(message: string): NoBlock {
  return { found: false, message };
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
