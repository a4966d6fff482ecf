// A loadout as the files it lies in, for editing: read with digests of what was read, and written back so that only what changed differs.
// A file that changed meanwhile is never overwritten.
import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import { userFolder } from '../access/user-folder.ts';
import { type EditorDocument, emptyDocument, loadoutOf, materiaOf, openDocument } from '../editor/document.ts';
import {
  documentOf,
  readShortFace,
  readShortSource,
  type ShortKind,
  shortFace,
  type TextFault,
} from '../editor/faces.ts';
import { jsonDocument, patchedJson } from '../editor/json-text.ts';
import { isObject, isSameJson, isText, type Json, type JsonObject, objectAt } from '../kernel/json.ts';
import { compile } from '../short-form/compile.ts';
import { readSource } from '../short-form/source.ts';
import { BUNDLED, teamFilesIn } from './find-config.ts';
import { personalLayers } from './layers.ts';
import { BrokenJson, digestOf, readBeside, readJsonFile, readText } from './load-config.ts';
import { type LocatedWorkspace, UsageError } from './locate.ts';

/** SHA-256 of files by their path from the `.baton` folder; null where there is none. */
export type FileDigests = Readonly<Record<string, string | null>>;

/** Where a loadout can be saved: in the project, or in the person's own configuration for every workspace. */
export type Layer = 'user' | 'project';

export type OpenedLoadout = {
  readonly name: string;
  /** `config`: a member of config.json. `short`: a file of the short form. `new`: nowhere yet. */
  readonly home: 'config' | 'short' | 'new';
  readonly layer: 'bundled' | Layer;
  /** The folder that the names of its files start from. */
  readonly folder: string;
  readonly kind: 'json' | 'yaml' | 'jsonc' | 'ts';
  readonly file: string;
  /** Why it cannot be saved where it is; null where it can. */
  readonly readOnly: string | null;
  readonly text: string;
  readonly digests: FileDigests;
  /** Null where the text cannot be read. */
  readonly document: EditorDocument | null;
  readonly faults: readonly TextFault[];
};

const KINDS: Readonly<Record<string, OpenedLoadout['kind']>> = {
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.jsonc': 'jsonc',
  '.ts': 'ts',
};

/** Null where no loadout of that name is there. */
export function openLoadout(workspace: LocatedWorkspace, name: string): OpenedLoadout | null {
  const { configFile } = workspace;
  const home = dirname(configFile);
  const team = teamFilesIn(home).find((each) => each.name === name);
  if (team) return openTeam(configFile, name, team.file, materiaBelow(workspace, 'project'));
  for (const layer of ['project', 'user'] as const) {
    const file = configFileOf(workspace, layer);
    const opened = existsSync(file) ? openInConfig(file, name, layer, materiaBelow(workspace, layer)) : null;
    if (opened) return opened;
  }
  return openInConfig(BUNDLED, name, 'bundled', {});
}

function configFileOf({ configFile, env }: LocatedWorkspace, layer: Layer): string {
  return layer === 'project' ? configFile : join(userFolder(env ?? process.env), 'config.json');
}

/** The materia of lower layers, with their prompts in them: they may be used, and are not written again. */
function materiaBelow(workspace: LocatedWorkspace, layer: Layer): JsonObject {
  const layers = personalLayers(workspace).filter(({ name }) => layer === 'project' || name === 'administrator');
  const found: JsonObject[] = layers.map(({ config }) => objectAt(config, 'materia'));
  return Object.assign({}, ...found) as JsonObject;
}

function withBelow(config: JsonObject, below: JsonObject): JsonObject {
  const own = objectAt(config, 'materia');
  const unset = Object.entries(below).filter(([id]) => own[id] === undefined);
  return unset.length === 0 ? config : { ...config, materia: { ...own, ...Object.fromEntries(unset) } };
}

/** A loadout that is nowhere yet, with the materia that the project has. */
export function blankLoadout(workspace: LocatedWorkspace, name: string, layer: Layer = 'project'): OpenedLoadout {
  const configFile = configFileOf(workspace, layer);
  const config = existsSync(configFile) ? readJsonFile(configFile) : {};
  const home = dirname(configFile);
  const written = isObject(config) ? config : {};
  const around = withBelow(written, materiaBelow(workspace, layer));
  const document = emptyDocument(name, around, { files: namedTexts(written, home) });
  return {
    ...{ name, home: 'new', layer, folder: home, kind: 'json', file: configFile, readOnly: null, text: '' },
    digests: digestsOf(configFile, null, document),
    ...{ document, faults: [] },
  };
}

/** The materia that come with Baton, for a palette. A copy in a project is not the pinned agent, so it has no identity. */
export function shippedMateria(): { readonly materia: JsonObject; readonly files: Readonly<Record<string, string>> } {
  const config = readJsonFile(BUNDLED);
  const written = isObject(config) ? config : {};
  const materia = Object.entries(objectAt(written, 'materia')).map(([id, each]): [string, Json] => [
    id,
    isObject(each) ? without(each, 'identity') : each,
  ]);
  return { materia: Object.fromEntries(materia), files: namedTexts(written, dirname(BUNDLED)) };
}

function openInConfig(
  file: string,
  name: string,
  layer: OpenedLoadout['layer'],
  below: JsonObject,
): OpenedLoadout | null {
  const folder = dirname(file);
  const text = readText(file);
  const readOnly = layer === 'bundled' ? `${name} comes with Baton. Duplicate it, and change the duplicate.` : null;
  const broken = (message: string): OpenedLoadout => ({
    ...{ name, home: 'config', layer, folder, kind: 'json', file, readOnly, text, digests: {}, document: null },
    faults: [{ line: 1, column: 1, message }],
  });
  let config: Json;
  try {
    config = readJsonFile(file);
  } catch (error) {
    if (error instanceof BrokenJson) return broken(error.message);
    throw error;
  }
  if (!isObject(config) || !isObject(objectAt(config, 'loadouts')[name])) return null;
  const document = openDocument(withBelow(config, below), name, { files: namedTexts(config, folder) });
  const digests = digestsOf(file, null, document);
  return {
    ...{ name, home: 'config', layer, folder, kind: 'json', file, readOnly, text, digests, document },
    faults: [],
  };
}

function openTeam(configFile: string, name: string, file: string, below: JsonObject): OpenedLoadout {
  const text = readText(file);
  const kind = KINDS[extname(file)] ?? 'yaml';
  const home = dirname(configFile);
  const around = existsSync(configFile) ? readJsonFile(configFile) : {};
  const config = isObject(around) ? around : {};
  const readOnly = kind === 'ts' ? `${basename(file)} is a program. Edit the file, or duplicate it as YAML.` : null;
  const base = emptyDocument(name, withBelow(config, below));
  const opened = { name, home: 'short', layer: 'project', folder: home, kind, file, readOnly, text } as const;
  const read = kind === 'ts' ? readTyped(text, base) : readShortFace(text, base, kind === 'jsonc' ? 'jsonc' : 'yaml');
  if (!read.ok) return { ...opened, digests: digestsOf(configFile, file, base), document: null, faults: read.faults };
  const document = { ...read.document, files: namedTexts(read.document.config, home) };
  return { ...opened, digests: digestsOf(configFile, file, document), document, faults: [] };
}

/** A file in TypeScript is run by the loader of configurations; here its long form is shown. */
function readTyped(text: string, base: EditorDocument): ReturnType<typeof readShortFace> {
  const source = readSource(text, 'ts');
  if (!source.ok) return { ok: false, faults: source.mistakes };
  const compiled = compile(base.name, source.value, { materia: materiaOf(base) });
  if (compiled.ok) return { ok: true, document: documentOf(compiled.config, base) };
  const faults = compiled.mistakes.map(({ place, message }) => ({ ...source.positionOf(place), message }));
  return { ok: false, faults };
}

/** The texts of the prompts and schemas that a configuration names and that are there. */
function namedTexts(config: JsonObject, baseDir: string): Readonly<Record<string, string>> {
  const materia = Object.values(objectAt(config, 'materia')).filter(isObject);
  const sockets = Object.values(objectAt(config, 'loadouts')).flatMap((loadout) =>
    isObject(loadout) ? Object.values(objectAt(loadout, 'sockets')).filter(isObject) : [],
  );
  const names = new Set(
    [...materia.map(({ promptFile }) => promptFile), ...[...materia, ...sockets].map(({ schema }) => schema)].filter(
      isText,
    ),
  );
  for (const name of promptsIn(join(baseDir, 'prompts'))) names.add(`prompts/${name}`);
  const texts = [...names].flatMap((name) => {
    const read = readBeside(baseDir, name);
    return read.ok ? [[name, read.text] as const] : [];
  });
  return Object.fromEntries(texts);
}

const PROMPTS_MAX = 500;
const PROMPT_BYTES_MAX = 262_144;

/** Prompts that are there although nothing names them yet: a new step may, and none is overwritten. */
function promptsIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => /^[\w-][\w.-]*\.(?:md|txt)$/.test(name));
    return names.slice(0, PROMPTS_MAX).filter((name) => statSync(join(folder, name)).size <= PROMPT_BYTES_MAX);
  } catch {
    return [];
  }
}

function digestsOf(configFile: string, team: string | null, { files }: EditorDocument): FileDigests {
  const home = dirname(configFile);
  const paths = [configFile, ...(team === null ? [] : [team]), ...Object.keys(files).map((name) => join(home, name))];
  return Object.fromEntries(paths.map((path) => [pathIn(home, path), digestNow(path)]));
}

/** With forward slashes, as people write paths. */
function pathIn(home: string, path: string): string {
  return relative(home, path).split(sep).join('/');
}

function digestNow(path: string): string | null {
  return existsSync(path) ? digestOf(readText(path)) : null;
}

export type PlannedWrite = {
  /** From the `.baton` folder. */
  readonly path: string;
  /** Null where there is no file yet. */
  readonly before: string | null;
  readonly after: string;
};

type SavePlan =
  | {
      readonly ok: true;
      readonly folder: string;
      readonly writes: readonly PlannedWrite[];
      readonly notes: readonly string[];
    }
  | {
      readonly ok: false;
      readonly code: 'INVALID_CONFIG' | 'LOADOUT_READ_ONLY';
      readonly reason: string;
      readonly details: JsonObject;
    };

/** What saving would write. Form and layer count for a loadout that is nowhere yet; one that is there stays where it is. */
export function planSave(
  workspace: LocatedWorkspace,
  document: EditorDocument,
  { form = 'config', layer = 'project' }: { readonly form?: 'config' | 'short'; readonly layer?: Layer } = {},
): SavePlan {
  const there = openLoadout(workspace, document.name);
  if (there && there.readOnly !== null) return refused('LOADOUT_READ_ONLY', there.readOnly);
  const at = there?.layer === 'user' || (!there && layer === 'user') ? 'user' : 'project';
  const home = there?.home ?? form;
  if (home === 'short' && at === 'user')
    return refused('INVALID_CONFIG', 'Your own configuration holds loadouts in config.json only.');
  const file = configFileOf(workspace, at);
  const below = materiaBelow(workspace, at);
  const prompts = promptWrites(dirname(file), document);
  if ('reason' in prompts) return prompts;
  const notes: string[] = [];
  const files =
    home === 'short' ? planShort(file, document, there, below, notes) : planConfig(file, document, below, notes);
  if ('reason' in files) return files;
  const writes = [...files, ...prompts].filter(({ before, after }) => before !== after);
  return { ok: true, folder: dirname(file), writes, notes };
}

function refused(code: 'INVALID_CONFIG' | 'LOADOUT_READ_ONLY', reason: string, details: JsonObject = {}) {
  return { ok: false, code, reason, details } as const;
}

type Planned = readonly PlannedWrite[] | Extract<SavePlan, { ok: false }>;

function planConfig(configFile: string, document: EditorDocument, below: JsonObject, notes: string[]): Planned {
  const before = existsSync(configFile) ? readText(configFile) : null;
  const written = before === null ? {} : readJsonFile(configFile);
  if (!isObject(written)) return refused('INVALID_CONFIG', 'config.json holds no object. Repair it first.');
  const loadouts = { ...objectAt(written, 'loadouts'), [document.name]: loadoutOf(document) };
  const next = withRest(written, { ...document.config, loadouts }, below, notes);
  return [{ path: basename(configFile), before, after: textOf(before, next) }];
}

function textOf(before: string | null, next: JsonObject): string {
  return (before === null ? null : patchedJson(before, next)) ?? jsonDocument(next);
}

/** The configuration with what the document says of everything but the other loadouts. */
function withRest(written: JsonObject, now: JsonObject, below: JsonObject, notes: string[]): JsonObject {
  const kept = ['activeLoadout', 'activeLoadoutId'].filter((key) => written[key] !== undefined);
  const head = Object.fromEntries(kept.map((key) => [key, written[key] ?? null]));
  // What a lower layer says stays there.
  const entries = Object.entries(objectAt(now, 'materia')).filter(
    ([id, each]) => objectAt(written, 'materia')[id] !== undefined || !isSameJson(each, below[id]),
  );
  const materia: Record<string, Json> = Object.fromEntries(entries);
  for (const [id, definition] of Object.entries(objectAt(written, 'materia'))) {
    const user = materia[id] === undefined ? userOf(objectAt(now, 'loadouts'), id) : null;
    if (user === null) continue;
    materia[id] = definition;
    notes.push(`${id} stays in config.json, because the loadout ${user} uses it.`);
  }
  const merged: JsonObject = { ...head, ...now, materia };
  // Members keep the places that they have in the file.
  const names = new Set([...Object.keys(written).filter((key) => merged[key] !== undefined), ...Object.keys(merged)]);
  return Object.fromEntries([...names].map((key) => [key, merged[key] ?? null]));
}

function userOf(loadouts: JsonObject, materia: string): string | null {
  const found = Object.entries(loadouts).find(([, loadout]) =>
    Object.values(objectAt(isObject(loadout) ? loadout : {}, 'sockets')).some(
      (socket) => isObject(socket) && socket.materia === materia,
    ),
  );
  return found?.[0] ?? null;
}

/** Names of files that a loadout may have. */
const FILE_NAME = /^[A-Za-z0-9][\w-]{0,79}$/;

function planShort(
  configFile: string,
  document: EditorDocument,
  there: OpenedLoadout | null,
  below: JsonObject,
  notes: string[],
): Planned {
  if (there === null && !FILE_NAME.test(document.name))
    return refused('INVALID_CONFIG', 'A file of the short form has a name of letters, digits and hyphens.');
  const kind: ShortKind = there?.kind === 'jsonc' ? 'jsonc' : 'yaml';
  const face = shortFace(document, there?.text, kind);
  if (!face.ok) {
    const reasons = face.reasons.map((each) => ({ ...each }));
    return refused('INVALID_CONFIG', `The short form cannot say it. ${face.reasons[0]?.message ?? ''}`, { reasons });
  }
  const home = dirname(configFile);
  const path = there ? pathIn(home, there.file) : `loadouts/${document.name}.yaml`;
  const own = { path, before: there?.text ?? null, after: face.text };
  const around = aroundShort(configFile, document, { text: face.text, kind, below }, notes);
  return 'reason' in around ? around : [own, ...around];
}

/** What a document of the short form changed of config.json: materia that are defined there, and sections of the workspace. */
function aroundShort(
  configFile: string,
  document: EditorDocument,
  { text, kind, below }: { readonly text: string; readonly kind: ShortKind; readonly below: JsonObject },
  notes: string[],
): Planned {
  const before = existsSync(configFile) ? readText(configFile) : null;
  const written = before === null ? {} : readJsonFile(configFile);
  if (!isObject(written)) return refused('INVALID_CONFIG', 'config.json holds no object. Repair it first.');
  const source = readShortSource(text, kind);
  const ownBudget = source.ok && isObject(source.value) ? objectAt(source.value, 'budget') : {};
  const { loadouts: _loadouts, materia: _materia, budget, ...rest } = document.config;
  const common = Object.entries(isObject(budget) ? budget : {}).filter(([key]) => ownBudget[key] === undefined);
  const shadowed = Object.entries(objectAt(written, 'budget')).filter(([key]) => ownBudget[key] !== undefined);
  const budgetNow = Object.fromEntries([...shadowed, ...common]);
  const ids = Object.keys(objectAt(written, 'materia'));
  const foreign = Object.fromEntries(
    Object.entries(materiaOf(document)).filter(([id]) => document.foreign.includes(id)),
  );
  const hidden = Object.entries(objectAt(written, 'materia')).filter(
    ([id]) => foreign[id] === undefined && materiaOf(document)[id] !== undefined,
  );
  const materia = { ...Object.fromEntries(hidden), ...foreign };
  const ordered = Object.fromEntries(
    [...new Set([...ids.filter((id) => materia[id] !== undefined), ...Object.keys(materia)])].map((id) => [
      id,
      materia[id] ?? null,
    ]),
  );
  const now: JsonObject = {
    ...rest,
    ...(Object.keys(budgetNow).length === 0 ? {} : { budget: budgetNow }),
    materia: ordered,
    ...(written.loadouts === undefined ? {} : { loadouts: written.loadouts }),
  };
  const next = withRest(written, now, below, notes);
  const settled = written.materia === undefined && isSameJson(next.materia, {}) ? without(next, 'materia') : next;
  if (isSameJson(settled, written)) return [];
  return [{ path: basename(configFile), before, after: textOf(before, settled) }];
}

function without(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

/** Where prompts may be written: text files below `.baton`, and none that means something else. */
const PROMPT_PATH = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:md|txt)$/;
const TAKEN = /^(?:state|versions|loadouts|worktrees)\//;

function promptWrites(
  home: string,
  document: EditorDocument,
): readonly PlannedWrite[] | Extract<SavePlan, { ok: false }> {
  const named = new Set(
    Object.values(materiaOf(document)).flatMap((each) =>
      isObject(each) && isText(each.promptFile) ? [each.promptFile] : [],
    ),
  );
  const writes: PlannedWrite[] = [];
  for (const [name, after] of Object.entries(document.files)) {
    if (!named.has(name)) continue;
    const read = readBeside(home, name);
    if (read.ok && read.text === after) continue;
    const isPlain = PROMPT_PATH.test(name) && !name.includes('..') && !TAKEN.test(name);
    if (!isPlain || !isInside(home, join(home, name))) {
      const why = 'A prompt is written to a file .md or .txt below .baton, such as prompts/build.md.';
      return refused('INVALID_CONFIG', `${JSON.stringify(name.slice(0, 80))} is not written. ${why}`);
    }
    writes.push({ path: name, before: read.ok ? read.text : null, after });
  }
  return writes;
}

/** Links out of the folder are not followed. */
function isInside(home: string, path: string): boolean {
  let at = path;
  while (!existsSync(at)) at = dirname(at);
  const root = existsSync(home) ? realpathSync(home) : home;
  const real = realpathSync(at);
  return real === root || real.startsWith(root + sep) || root.startsWith(real + sep);
}

/** The files of a plan that are not what they were when the document was read. */
export function changedSince(
  home: string,
  writes: readonly PlannedWrite[],
  digests: FileDigests,
): readonly PlannedWrite[] {
  return writes.filter(({ path, before }) => {
    const known = Object.hasOwn(digests, path) ? digests[path] : null;
    return known !== (before === null ? null : digestOf(before)) || digestNow(join(home, path)) !== known;
  });
}

/** Each file at once or not at all, and what others refer to first: a process that is killed leaves no name without its file. */
export function writeFiles(home: string, writes: readonly PlannedWrite[]): void {
  for (const { path, after } of writes.toReversed()) {
    const file = join(home, path);
    const draft = `${file}.${process.pid}.draft`;
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(draft, after);
      renameSync(draft, file);
    } catch (error) {
      if (existsSync(draft)) rmSync(draft);
      const { code = '', message } = error as NodeJS.ErrnoException;
      throw new UsageError(
        `${file} cannot be written: ${code === 'EACCES' ? 'you may not; change its permissions' : message}`,
      );
    }
  }
}
