// Text that a person decides by, written so that nothing in it can hide: no character that is invisible, that looks like
// another, or that begins a new line is printed as it is.
import { cut } from '../cast/cut.ts';
import type { SealedRequest } from './request.ts';

/** Commands and paths: everything beyond plain ASCII is written out, because every byte of them counts. */
export function exactly(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, writtenOut);
}

/** What an agent says in its own words: letters of all languages stay, what acts or cannot be seen does not. */
export function inWords(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(UNSEEN, writtenOut).trim();
}

/** Invisible by their kind, besides fillers and the blank of Braille, which count as letters and symbols. */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Z} ]/gu;

function writtenOut(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}

const WISH_CHARS_MAX = 1_200;

/** What a person would allow, told by what was sealed and by nothing that its agent says about it. */
export function wishOf({ commands, operation }: SealedRequest): string {
  const shown = commands.map(({ display }) => exactly(display));
  const [only = ''] = shown;
  const all =
    shown.length === 0
      ? `permission in words: ${inWords(operation)}`
      : shown.length === 1
        ? only
        : `${shown.length} commands: ${shown.map((command, index) => `(${index + 1}) ${command}`).join(' ')}`;
  return cut(all, WISH_CHARS_MAX);
}
