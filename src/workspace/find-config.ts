// Which configuration counts: the named file, the project's own (config.json and its loadouts of the short form), or the one
// that comes with the product.
import { realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve as resolvePath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withDefaultRunner } from '../kernel/graph/issue.ts';
import { isObject, isText, type Json, type JsonObject } from '../kernel/json.ts';
import { type Loaded, loadConfig } from './load-config.ts';
import type { LocatedWorkspace } from './locate.ts';
import { withNamesOf } from './registry-names.ts';
import { loadTeam, mayBeTeam, type TeamFile, teamFilesIn } from './team-files.ts';

export type Wanted = {
  readonly workspace: LocatedWorkspace;
  readonly file: string | undefined;
  readonly loadout: string | undefined;
  readonly cwd: string;
};

/**
 * The named file; else the loadout of that name: a file of the short form, one of the project's config.json, or one that
 * ships with the product. A project without any configuration uses what ships. The default runner is filled in, and
 * the registry ids that the project's manifest gives to its agents.
 */
export function loadFor(wanted: Wanted): Loaded {
  return completed(loadedFor(wanted), wanted.workspace);
}

function loadedFor({ file, workspace, cwd, loadout }: Wanted): Loaded {
  const { configFile } = workspace;
  if (file !== undefined) return loadFile(resolvePath(cwd, file), workspace);
  const teams = teamFilesIn(dirname(configFile));
  const own = isThere(configFile) ? loadConfig(configFile) : null;
  if (!own && teams.length === 0) return loadConfig(BUNDLED);
  const config = own && isObject(own.config) ? own.config : {};
  const name = loadout ?? activeName(config, teams);
  const team = teams.find((each) => each.name === name);
  if (team) return loadOver(team, own);
  if (loadout !== undefined && !has(config, loadout) && has(loadConfig(BUNDLED).config, loadout))
    return loadConfig(BUNDLED);
  if (own && teams.length === 0) return own;
  const named = Object.fromEntries(teams.map((each) => [each.name, {}]));
  const loadouts = { ...named, ...(isObject(config.loadouts) ? config.loadouts : {}) };
  const without = own ?? { file: dirname(configFile), baseDir: dirname(configFile), issues: [] };
  return { ...without, config: { materia: {}, ...config, loadouts } };
}

/** Each configuration of the project on its own: config.json, and every loadout of the short form over it. */
export function loadAll(workspace: LocatedWorkspace): readonly Loaded[] {
  const { configFile } = workspace;
  const teams = teamFilesIn(dirname(configFile));
  const own = isThere(configFile) ? loadConfig(configFile) : null;
  const over = teams.map((team) => loadOver(team, own));
  if (!own) return (over.length === 0 ? [loadConfig(BUNDLED)] : over).map((each) => completed(each, workspace));
  const isEmpty = isObject(own.config) && Object.keys(objectOf(own.config.loadouts)).length === 0 && over.length > 0;
  return (isEmpty ? over : [ownApart(own, teams), ...over]).map((each) => completed(each, workspace));
}

/** config.json without the name of its active loadout, where that is one of the short form. */
function ownApart(own: Loaded, teams: readonly TeamFile[]): Loaded {
  const { activeLoadout, ...rest } = objectOf(own.config);
  return teams.some(({ name }) => name === activeLoadout) ? { ...own, config: rest } : own;
}

/** A file that somebody names: JSON, or a short form. */
function loadFile(file: string, { configFile }: LocatedWorkspace): Loaded {
  if (!mayBeTeam(file)) return loadConfig(file);
  const isOwn = dirname(dirname(file)) === dirname(configFile) && isThere(configFile);
  return loadTeam(file, isOwn ? objectOf(loadConfig(configFile).config) : {});
}

function loadOver({ name, file }: TeamFile, own: Loaded | null): Loaded {
  const team = loadTeam(file, objectOf(own?.config));
  const issues = [...(own?.issues ?? []), ...team.issues];
  if (!has(own?.config, name)) return { ...team, issues };
  const message = `config.json has a loadout ${name}, too. Rename the file, or remove the loadout there.`;
  return {
    ...team,
    issues: [...issues, { code: 'INVALID_CONFIG', level: 'error', path: `loadouts.${name}`, message }],
  };
}

/** The loadout that is meant where none is named. */
function activeName(config: JsonObject, teams: readonly TeamFile[]): string | undefined {
  if (isText(config.activeLoadout)) return config.activeLoadout;
  const [only, another] = teams;
  return another === undefined && Object.keys(objectOf(config.loadouts)).length === 0 ? only?.name : undefined;
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function completed(loaded: Loaded, { configFile }: LocatedWorkspace): Loaded {
  if (!isObject(loaded.config)) return loaded;
  const config = withDefaultRunner(loaded.config);
  const home = dirname(configFile);
  return { ...loaded, config: isSameFolder(loaded.baseDir, home) ? withNamesOf(home, config) : config };
}

function isSameFolder(one: string, other: string): boolean {
  return one === other || (isThere(other) && one === realpathSync(other));
}

/** `src/bundled` in a checkout, `dist/bundled` in the package. */
export const BUNDLED = join(dirname(fileURLToPath(import.meta.url)), '..', 'bundled', 'config.json');

/** Anything but a plain absence counts as there, so that reading it says what is wrong. */
function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function has(config: Json | undefined, loadout: string): boolean {
  return isObject(config) && isObject(config.loadouts) && Object.hasOwn(config.loadouts, loadout);
}
