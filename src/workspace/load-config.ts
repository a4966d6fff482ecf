// Reads a configuration from disk: the JSON itself, and the prompt files it names. What is read here is what a cast
// freezes; the files are not looked at again.
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { parseJsonText } from '../dialects/json-text.ts';
import type { Issue } from '../kernel/graph/config.ts';
import { isObject, isText, type Json, type JsonObject } from '../kernel/json.ts';

const CONFIG_BYTES_MAX = 8 * 1024 * 1024;

export type Loaded = {
  readonly config: Json;
  /** Where its relative names start from. */
  readonly baseDir: string;
  /** What the files it names are guilty of. */
  readonly issues: readonly Issue[];
};

/** A file that cannot be read or is no JSON: wrong usage, told in one line. */
export class UnreadableFile extends Error {}

export function readJsonFile(file: string): Json {
  const text = readText(file);
  const parsed = parseJsonText(text, { maxBytes: CONFIG_BYTES_MAX });
  if (!parsed.ok) throw new UnreadableFile(`${file}:${parsed.line}:${parsed.column}: ${parsed.message}`);
  return parsed.value;
}

export function readText(file: string): string {
  try {
    if (statSync(file).isDirectory()) throw new UnreadableFile(`${file} is a folder; name a file`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EACCES' ? 'you may not read it' : String(code);
    throw new UnreadableFile(`${file}: ${why}`);
  }
}

export function loadConfig(file: string): Loaded {
  const config = readJsonFile(file);
  const baseDir = dirname(realpathSync(file));
  if (!isObject(config) || !isObject(config.materia)) return { config, baseDir, issues: [] };
  const issues: Issue[] = [];
  const materia: Record<string, Json> = {};
  for (const [id, definition] of Object.entries(config.materia))
    materia[id] = withPrompt(id, definition, baseDir, issues);
  return { config: { ...config, materia }, baseDir, issues };
}

function withPrompt(id: string, definition: Json, baseDir: string, issues: Issue[]): Json {
  if (!isObject(definition) || !isText(definition.promptFile) || definition.prompt !== undefined) return definition;
  const { promptFile, ...rest } = definition;
  const path = `materia.${id}.promptFile`;
  const refuse = (message: string): JsonObject => {
    issues.push({ code: 'INVALID_MATERIA', level: 'error', path, message });
    return { ...rest, prompt: '(missing)' };
  };
  const file = join(baseDir, promptFile);
  try {
    if (!isBelow(projectOf(baseDir), realpathSync(file)))
      return refuse(`${promptFile} lies outside the project; move it into .baton/prompts`);
    return { ...rest, prompt: readFileSync(file, 'utf8') };
  } catch {
    return refuse(`${promptFile} cannot be read; create it, or write the text into prompt`);
  }
}

/** A configuration in `.baton` may name files of the whole project. */
function projectOf(baseDir: string): string {
  return baseDir.endsWith('.baton') ? dirname(baseDir) : baseDir;
}

function isBelow(root: string, file: string): boolean {
  const below = relative(root, file);
  return below !== '' && !below.startsWith('..') && !isAbsolute(below);
}
