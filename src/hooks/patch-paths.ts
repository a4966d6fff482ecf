// The files that a patch of codex names: it writes them with a tool of its own, or as a command that its shell never sees.
import { resolve } from 'node:path';

const BEGIN = '*** Begin Patch';
const FILE = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.{1,4096})$/gm;

/** Absolute, in the order in which they are named; none where the text holds no patch. */
export function pathsInPatch(text: string, cwd: string): readonly string[] {
  if (!text.includes(BEGIN)) return [];
  return [...new Set(Array.from(text.matchAll(FILE), ([, path = '']) => resolve(cwd, path.trim())))];
}
