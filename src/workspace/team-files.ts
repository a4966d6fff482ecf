// Loadouts of the short form on disk: `.baton/loadouts/NAME.yaml`, `.yml`, `.jsonc` or `.ts`. Each file is one loadout with the name
// of the file. What it compiles to is laid over config.json, so that both may be used together.
import { readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { Issue } from '../kernel/graph/config.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { type Compiled, compile, type SourcePath } from '../short-form/compile.ts';
import { placeText } from '../short-form/define.ts';
import { readSource, type SourceKind } from '../short-form/source.ts';
import { type Loaded, readText, withFiles } from './load-config.ts';
import { UsageError } from './locate.ts';

const KINDS: Readonly<Record<string, SourceKind>> = { '.yaml': 'yaml', '.yml': 'yaml', '.jsonc': 'jsonc', '.ts': 'ts' };

export type TeamFile = { readonly name: string; readonly file: string };

/** All loadouts of the short form in a `.baton` folder, by name. */
export function teamFilesIn(home: string): readonly TeamFile[] {
  const teams = namesIn(join(home, 'loadouts')).map((name) => ({
    name: basename(name, extname(name)),
    file: join(home, 'loadouts', name),
  }));
  const twice = teams.find(({ name }, at) => teams[at - 1]?.name === name);
  if (!twice) return teams;
  throw new UsageError(`there are two files for the loadout ${twice.name} in ${join(home, 'loadouts')}; remove one`);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter(mayBeTeam).toSorted();
  } catch {
    return [];
  }
}

/** Whether the name of a file is that of a short form. A `.jsonc` file may also be a configuration with comments. */
export function mayBeTeam(file: string): boolean {
  return Object.hasOwn(KINDS, extname(file)) && !/^\.|\.d\.ts$/.test(basename(file));
}

/**
 * The loadout in a file, over the configuration that it may refer to. `config` is null where the file has mistakes; they are
 * the issues then. A `.jsonc` file without steps is a configuration of its own.
 */
export function loadTeam(file: string, own: JsonObject): Loaded {
  const name = basename(file, extname(file));
  const text = readText(file);
  const folder = dirname(realpathSync(file));
  const baseDir = basename(folder) === 'loadouts' ? dirname(folder) : folder;
  const source = readSource(text, KINDS[extname(file)] ?? 'yaml');
  const refused = (issues: readonly Issue[]): Loaded => ({ file, config: null, baseDir, issues });
  const at = ({ line, column }: { readonly line: number; readonly column: number }) =>
    `${basename(file)}:${line}:${column}`;
  if (!source.ok)
    return refused(source.mistakes.map((each) => mistake('INVALID_CONFIG', name, at(each), each.message)));
  if (extname(file) === '.jsonc' && isObject(source.value) && source.value.loadouts !== undefined)
    return withFiles(file, source.value, baseDir);
  const compiled = compile(name, source.value, { materia: objectIn(own, 'materia') });
  if (!compiled.ok) {
    const placed = ({ place }: { readonly place: SourcePath }) => at(source.positionOf(place));
    return refused(
      compiled.mistakes.map((each) => mistake(each.code, pathOf(name, each.place), placed(each), each.message)),
    );
  }
  const placeOf = (path: string) => at(source.positionOf(originOf(compiled, path)));
  const loaded = withFiles(file, merged(own, compiled.config, name), baseDir);
  return {
    ...loaded,
    source: { placeOf, labels: compiled.labels, digest: digestOf(text), compiled: compiled.config },
  };
}

/** Loaded where it is needed only: it takes as long to load as the rest of a short command. */
function digestOf(text: string): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', text, 'hex');
}

function pathOf(name: string, place: SourcePath): string {
  const text = placeText(place);
  return text === '' ? name : `${name}.${text}`;
}

function mistake(code: Issue['code'], path: string, at: string, message: string): Issue {
  return { code, level: 'error', path: `loadouts.${path}`, message: `${at}: ${message}` };
}

/** An issue in the words of the person who wrote the file: its line, and the names of steps instead of the ids of sockets. */
export function inOwnWords(issue: Issue, { source }: Pick<Loaded, 'source'>): Issue {
  if (!source) return issue;
  const named = issue.message.replace(/\bSocket-\d+\b/g, (id) => source.labels[id] ?? id);
  return { ...issue, message: `${source.placeOf(issue.path)}: ${named}` };
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return isObject(value) ? value : {};
}

function merged(own: JsonObject, compiled: JsonObject, name: string): Json {
  const { activeLoadout: _active, ...rest } = own;
  const budget = { ...objectIn(own, 'budget'), ...objectIn(compiled, 'budget') };
  return {
    ...rest,
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
    materia: { ...objectIn(own, 'materia'), ...objectIn(compiled, 'materia') },
    loadouts: { [name]: objectIn(compiled, 'loadouts')[name] ?? {} },
  };
}

/** The place of the longest known beginning of a path. */
function originOf({ origins }: Compiled, path: string): SourcePath {
  const beginnings = [...origins.keys()].filter(
    (known) => path === known || (path.startsWith(known) && /^[.[]/.test(path.slice(known.length))),
  );
  const longest = beginnings.toSorted((one, other) => other.length - one.length)[0];
  return (longest === undefined ? undefined : origins.get(longest)) ?? [];
}
