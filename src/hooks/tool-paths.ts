// The files that a tool call of an agent program writes: the file that an editing tool names, and those of a patch of codex,
// which a tool of its own applies or a command that the shell never sees.
import { resolve } from 'node:path';
import { isString, type JsonObject } from '../kernel/json.ts';

/** The member of a tool's input that names the file it writes. */
const FILE_MEMBERS: Readonly<Record<string, string>> = {
  Write: 'file_path',
  Edit: 'file_path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
};

export function isFileTool(tool: string): boolean {
  return Object.hasOwn(FILE_MEMBERS, tool);
}

/** Null where the input does not say which file; such a call is refused. */
export function fileWritten(tool: string, input: JsonObject, cwd: string): string | null {
  const path = input[FILE_MEMBERS[tool] ?? ''];
  return isString(path) && path.trim() !== '' ? resolve(cwd, path) : null;
}

const BEGIN = '*** Begin Patch';
const FILE = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.{1,4096})$/gm;

/** Absolute, in the order in which they are named; none where the text holds no patch. */
export function pathsInPatch(text: string, cwd: string): readonly string[] {
  if (!text.includes(BEGIN)) return [];
  return [...new Set(Array.from(text.matchAll(FILE), ([, path = '']) => resolve(cwd, path.trim())))];
}
