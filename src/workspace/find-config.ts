// Which configuration is in force: the named file, the project's own, or the one that ships with the product. A project has
// config.json and its loadouts in the short form, `.baton/loadouts/NAME.yaml`, `.yml`, `.jsonc` or `.ts`. Each of those compiles to one
// loadout that is laid over config.json. A registry manifest may name the agents by their materia, so that no configuration has to be
// edited for a registry.
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve as resolvePath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PRESENT, runnerCan } from '../kernel/capabilities.ts';
import type { Issue } from '../kernel/graph/config.ts';
import { typeOfMateria, withDefaultRunner } from '../kernel/graph/issue.ts';
import type { LayerName } from '../kernel/graph/layers.ts';
import { given, isObject, isText, type Json, type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import { type Compiled, compile, type SourcePath } from '../short-form/compile.ts';
import { placeText } from '../short-form/define.ts';
import { readSource, type SourceKind } from '../short-form/source.ts';
import { MANIFEST_PATH } from '../trust/registry.ts';

import { flagLayer, issuesBetween, layerIn, personalLayers, withOwnScripts } from './layers.ts';
import { digestOf, type FileLayer, type Loaded, loadConfig, readJsonFile, readText, withFiles } from './load-config.ts';

import { type LocatedWorkspace, UsageError } from './locate.ts';
import { mergedIn } from './sections.ts';

export type ConfigRequest = {
  readonly workspace: LocatedWorkspace;
  readonly file: string | undefined;
  readonly loadout: string | undefined;
  readonly cwd: string;
  /** Keys that flags set, as `KEY=VALUE`. */
  readonly set?: readonly string[] | undefined;
};

/**
 * The named file; else the loadout of that name: a file of the short form, one of the layers, or one that ships with the product. A
 * project without any configuration uses what ships. Every one of them lies over the layers below it. The default runner is filled
 * in, and the registry ids that the project's manifest gives to its agents.
 */
export function loadFor(wanted: ConfigRequest): Loaded {
  return completed(loadedFor(wanted), wanted.workspace);
}

function loadedFor({ file, workspace, cwd, loadout, set = [] }: ConfigRequest): Loaded {
  if (file !== undefined) return loadFile(resolvePath(cwd, file), workspace, set);
  const teams = teamFilesIn(dirname(workspace.configFile));
  const own = ownLayers(workspace, set);
  if (!own && teams.length === 0) return overBundled(workspace, set);
  const config = own && isObject(own.config) ? own.config : {};
  const name = loadout ?? activeName(config, teams);
  const team = teams.find((each) => each.name === name);
  if (team) return loadOver(team, workspace, own, set);
  if (loadout !== undefined && !has(config, loadout) && has(loadConfig(BUNDLED).config, loadout))
    return overBundled(workspace, set);
  if (own && teams.length === 0) return own;
  const named = Object.fromEntries(teams.map((each) => [each.name, {}]));
  const loadouts = { ...named, ...(isObject(config.loadouts) ? config.loadouts : {}) };
  const { configFile } = workspace;
  const without = own ?? { file: dirname(configFile), baseDir: dirname(configFile), issues: [] };
  return { ...without, config: { materia: {}, ...config, loadouts } };
}

/** Each configuration of the project on its own: config.json, and every loadout of the short form over it. */
export function loadAll(workspace: LocatedWorkspace): readonly Loaded[] {
  const teams = teamFilesIn(dirname(workspace.configFile));
  const own = ownLayers(workspace);
  const over = teams.map((team) => loadOver(team, workspace, own));
  if (!own) return (over.length === 0 ? [overBundled(workspace)] : over).map((each) => completed(each, workspace));
  const isEmpty = isObject(own.config) && Object.keys(objectOf(own.config.loadouts)).length === 0 && over.length > 0;
  return (isEmpty ? over : [ownApart(own, teams), ...over]).map((each) => completed(each, workspace));
}

/**
 * The project's config.json over the layers below it. Without one, what a person wrote for every workspace, if that has a loadout;
 * null where neither is there.
 */
function ownLayers(workspace: LocatedWorkspace, set: readonly string[] = []): Loaded | null {
  const { configFile } = workspace;
  const personal = personalLayers(workspace);
  if (isThere(configFile)) {
    const json = readJsonFile(configFile);
    const baseDir = dirname(realpathSync(configFile));
    if (!isObject(json)) return loadConfig(configFile);
    return layered(workspace, [...personal, ownLayer('project', configFile, json, baseDir)], set);
  }
  const last = personal.findLast(({ config }) => Object.keys(objectOf(config.loadouts)).length > 0);
  return last ? { ...layered(workspace, personal, set), file: last.file, baseDir: last.baseDir } : null;
}

/** The layer whose loadouts are cast: its relative commands are resolved with the rules of the cast. */
function ownLayer(name: LayerName, file: string, json: JsonObject, baseDir: string): FileLayer {
  const { config, issues } = withFiles(file, json, baseDir);
  return { name, file, config: objectOf(config), baseDir, issues };
}

/** What ships, under what people set. Of the project only settings count there: it has loadouts and materia of its own. */
function overBundled(workspace: LocatedWorkspace, set: readonly string[] = []): Loaded {
  const { configFile } = workspace;
  const shipped = loadConfig(BUNDLED);
  const personal = personalLayers(workspace);
  const json = isThere(configFile) ? readJsonFile(configFile) : {};
  const project = isObject(json) ? [layerIn('project', configFile, json, dirname(configFile))] : [];
  const above = [...personal, ...project].map((layer) => {
    const { loadouts: _loadouts, activeLoadout: _active, activeLoadoutId: _id, ...config } = layer.config;
    return { ...layer, config };
  });
  const bundled = { name: 'bundled', ...shipped, config: objectOf(shipped.config) } as const;
  const loaded = layered(workspace, [bundled, ...above], set);
  return { ...loaded, file: BUNDLED, baseDir: shipped.baseDir };
}

/** `own` from the lowest to the highest, and the flags above them. Those of the last one are its file and its folder. */
function layered(workspace: LocatedWorkspace, own: readonly FileLayer[], set: readonly string[] = []): Loaded {
  const layers = [...own, ...flagLayer(set, own)];
  const merged = mergedIn(workspace, layers);
  const top = own.at(-1);
  const issues = [...layers.flatMap((layer) => layer.issues), ...issuesBetween(merged), ...layers.flatMap(lockIssue)];
  return { file: top?.file ?? '', baseDir: top?.baseDir ?? '', config: merged.config, issues, layers, merged };
}

/** A repository could otherwise lock out what its user says in flags. */
function lockIssue({ name, file, config }: FileLayer): readonly Issue[] {
  if (config.locked === undefined || !['project', 'file'].includes(name)) return [];
  const message = `${file} locks keys; only your own configuration and that of an administrator may. Remove locked.`;
  return [{ code: 'INVALID_CONFIG', level: 'error', path: 'locked', message }];
}

/** config.json without the name of its active loadout, if that is one of the short form. */
function ownApart(own: Loaded, teams: readonly TeamFile[]): Loaded {
  const { activeLoadout, ...rest } = objectOf(own.config);
  return teams.some(({ name }) => name === activeLoadout) ? { ...own, config: rest } : own;
}

/** The layers of the project; without any, those of the person. */
function belowIn(workspace: LocatedWorkspace, own: Loaded | null): readonly FileLayer[] {
  return own?.layers?.filter(({ name }) => name !== 'flags') ?? personalLayers(workspace);
}

/** A named file over all layers below it: JSON, or a short form. */
function loadFile(file: string, workspace: LocatedWorkspace, set: readonly string[]): Loaded {
  const isTeam = mayBeTeam(file);
  // The named file first: a file that is named and missing is an error, whatever lies below.
  const json = isTeam ? readText(file) : readJsonFile(file);
  if (!isTeam && !isObject(json)) return loadConfig(file);
  const below = belowIn(workspace, ownLayers(workspace)).map(withOwnScripts);
  if (isTeam || !isObject(json)) return loadTeam(file, { workspace, below, as: 'file', set });
  return layered(workspace, [...below, ownLayer('file', file, json, dirname(realpathSync(file)))], set);
}

function loadOver(
  { name, file }: TeamFile,
  workspace: LocatedWorkspace,
  own: Loaded | null,
  set: readonly string[] = [],
): Loaded {
  const team = loadTeam(file, { workspace, below: belowIn(workspace, own), as: 'project', set });
  const issues = team.config === null ? [...(own?.issues ?? []), ...team.issues] : team.issues;
  const project = own?.layers?.find((layer) => layer.name === 'project');
  if (!has(project?.config, name)) return { ...team, issues };
  const message = `config.json has a loadout ${name}, too. Rename the file, or remove the loadout there.`;
  return {
    ...team,
    issues: [...issues, { code: 'INVALID_CONFIG', level: 'error', path: `loadouts.${name}`, message }],
  };
}

/** The loadout to use if none is named. */
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
  return { ...loaded, config: isSameFolder(loaded.baseDir, home) ? withManifestIds(home, config) : config };
}

function isSameFolder(one: string, other: string): boolean {
  return one === other || (isThere(other) && one === realpathSync(other));
}

/** `src/bundled` in a checkout, `dist/bundled` in the package. */
export const BUNDLED = join(dirname(fileURLToPath(import.meta.url)), '..', 'bundled', 'config.json');

/** Any error except a missing file counts as existing, so that reading it reports the error. */
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

const KINDS: Readonly<Record<string, SourceKind>> = { '.yaml': 'yaml', '.yml': 'yaml', '.jsonc': 'jsonc', '.ts': 'ts' };

type TeamFile = { readonly name: string; readonly file: string };

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

/** The file that a word names: a path, else the loadout of that name in the short form. */
export function fileNamed(word: string, { workspace, cwd }: Pick<ConfigRequest, 'workspace' | 'cwd'>): string {
  const file = resolvePath(cwd, word);
  const teams = existsSync(file) ? [] : teamFilesIn(dirname(workspace.configFile));
  return teams.find(({ name }) => resolvePath(cwd, name) === file)?.file ?? file;
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
 * The loadout in a file, over the configuration that it may refer to. `config` is null if the file has mistakes, which are then the
 * issues. A `.jsonc` file without steps is a configuration of its own.
 */
type Surroundings = {
  readonly workspace: LocatedWorkspace;
  readonly below: readonly FileLayer[];
  readonly as: LayerName;
  readonly set: readonly string[];
};

function loadTeam(file: string, { workspace, below, as, set }: Surroundings): Loaded {
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
    return layered(workspace, [...below, ownLayer(as, file, source.value, baseDir)], set);
  const own = mergedIn(workspace, below).config;
  const compiled = compile(name, source.value, { materia: objectIn(own, 'materia') });
  if (!compiled.ok) {
    const placed = ({ place }: { readonly place: SourcePath }) => at(source.positionOf(place));
    return refused(
      compiled.mistakes.map((each) => mistake(each.code, pathOf(name, each.place), placed(each), each.message)),
    );
  }
  const placeOf = (path: string) => at(source.positionOf(originOf(compiled, path)));
  const loaded = layered(workspace, [...below, ownLayer(as, file, compiled.config, baseDir)], set);
  // The other loadouts are not cast with this one, and each is checked on its own.
  const { activeLoadout: _active, activeLoadoutId: _id, ...config } = objectOf(loaded.config);
  const loadouts = { [name]: objectIn(config, 'loadouts')[name] ?? {} };
  return {
    ...loaded,
    config: { materia: {}, ...config, loadouts },
    source: { placeOf, labels: compiled.labels, digest: digestOf(text), compiled: compiled.config },
  };
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
  const place = isOwnIssue(issue, { source }) ? source.placeOf(issue.path) : 'config.json';
  return { ...issue, message: `${place}: ${named}` };
}

/** Whether it is an issue of the short form, and not of the config.json below it. */
export function isOwnIssue({ path }: Issue, { source }: Pick<Loaded, 'source'>): boolean {
  const own = Object.entries(source?.compiled ?? {}).flatMap(([section, value]) =>
    ['loadouts', 'materia'].includes(section)
      ? Object.keys(objectOf(value)).map((name) => `${section}.${name}`)
      : [section],
  );
  return own.some((begin) => path === begin || path.startsWith(`${begin}.`));
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return isObject(value) ? value : {};
}

/** The place of the longest known beginning of a path. */
function originOf({ origins }: Compiled, path: string): SourcePath {
  const beginnings = [...origins.keys()].filter(
    (known) => path === known || (path.startsWith(known) && /^[.[]/.test(path.slice(known.length))),
  );
  const longest = beginnings.toSorted((one, other) => other.length - one.length)[0];
  return (longest === undefined ? undefined : origins.get(longest)) ?? [];
}

/** The registry id of each materia that a manifest names. If two have the same materia, neither counts. */
export function registryIdsIn(manifest: Json): ReadonlyMap<string, string> {
  const names = new Map<string, string | null>();
  for (const [id, record] of recordsOf(manifest)) {
    if (isText(record.materia)) names.set(record.materia, names.has(record.materia) ? null : id);
  }
  return new Map([...names].flatMap(([materia, id]) => (id === null ? [] : [[materia, id] as const])));
}

/** The configuration with the id of the manifest in each agent that has none. `home` is the `.baton` folder. */
export function withManifestIds(home: string, config: JsonObject): JsonObject {
  if (!existsSync(join(home, MANIFEST_PATH))) return config;
  try {
    return withRegistryIds(config, registryIdsIn(readJsonFile(join(home, MANIFEST_PATH))));
  } catch {
    return config; // No turn can start under such a registry, and the checks report why.
  }
}

export function withRegistryIds(config: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const written = given(config, 'materia');
  if (!isObject(written) || names.size === 0) return config;
  const materia = Object.entries(written).map(([id, one]): [string, Json] => {
    const identity = names.get(id);
    return [id, identity !== undefined && isObject(one) && isUnnamed(one) ? { ...one, identity } : one];
  });
  return { ...config, materia: Object.fromEntries(materia) };
}

/** Whether it is an agent without an identity. A person needs none. */
export function isUnnamed(materia: JsonObject): boolean {
  const isPerson = runnerCan(PRESENT, stringAt(materia, 'runner'), 'isPerson');
  return typeOfMateria(materia) === 'agent' && given(materia, 'identity') === undefined && !isPerson;
}

const SECTIONS = ['domains', 'archetypes', 'orchestrators'];

/** Every record of a manifest, with its id. */
function recordsOf(manifest: Json): readonly (readonly [string, JsonObject])[] {
  if (!isObject(manifest)) return [];
  return [manifest, objectAt(manifest, 'taxonomy')].flatMap((from) =>
    SECTIONS.flatMap((section) =>
      Object.entries(objectAt(from, section)).flatMap(([id, record]) =>
        isObject(record) ? [[id, record] as const] : [],
      ),
    ),
  );
}
