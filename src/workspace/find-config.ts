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
import { given, isObject, isText, type Json, type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import { type Compiled, compile, type SourcePath } from '../short-form/compile.ts';
import { placeText } from '../short-form/define.ts';
import { readSource, type SourceKind } from '../short-form/source.ts';
import { MANIFEST_PATH } from '../trust/registry.ts';
import { type Loaded, loadConfig, readJsonFile, readText, withFiles } from './load-config.ts';
import { type LocatedWorkspace, UsageError } from './locate.ts';

export type ConfigRequest = {
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
export function loadFor(wanted: ConfigRequest): Loaded {
  return completed(loadedFor(wanted), wanted.workspace);
}

function loadedFor({ file, workspace, cwd, loadout }: ConfigRequest): Loaded {
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

/** config.json without the name of its active loadout, if that is one of the short form. */
function ownApart(own: Loaded, teams: readonly TeamFile[]): Loaded {
  const { activeLoadout, ...rest } = objectOf(own.config);
  return teams.some(({ name }) => name === activeLoadout) ? { ...own, config: rest } : own;
}

/** A named file: JSON, or a short form. */
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
 * The loadout in a file, over the configuration that it may refer to. `config` is null if the file has mistakes, which are then the
 * issues. A `.jsonc` file without steps is a configuration of its own.
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

/** Loaded on first use: loading it takes as long as a short command. */
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
