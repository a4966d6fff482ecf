// The agents of a project as a registry has to know them: from config.json and from every loadout in the short form. An agent
// that has no registry id gets one, with a record in the manifest.
import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { handsIn } from '../kernel/graph/check.ts';
import type { Issue } from '../kernel/graph/config.ts';
import { draftOf, typeOfMateria } from '../kernel/graph/issue.ts';
import { given, isObject, type Json, type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import { ID_LENGTH_MAX } from '../trust/envelope.ts';
import { type ReadFile, safePath } from '../trust/lock.ts';
import { readerOf } from '../trust/registry-folder.ts';
import { isUnnamed, loadAll, loadFor, registryIdsIn, withRegistryIds } from './find-config.ts';
import { type Loaded, readJsonFile } from './load-config.ts';
import type { LocatedWorkspace } from './locate.ts';
import { pinnedPath } from './registry-lock.ts';

export type Team = {
  /** All materia of the project in one configuration, with the ids that they have. */
  readonly config: JsonObject;
  /** Each configuration on its own. */
  readonly parts: readonly JsonObject[];
  /** The file of each prompt below `.baton`; null for a prompt that has none there. */
  readonly files: ReadonlyMap<string, string | null>;
  readonly issues: readonly Issue[];
};

/** A project without a configuration of its own has the team that ships. */
export function teamOf(workspace: LocatedWorkspace & { readonly cwd: string }): Team {
  const home = dirname(workspace.configFile);
  const own = loadAll(workspace).filter(({ baseDir }) => baseDir === home || baseDir === realOf(home));
  const all = own.length > 0 ? own : [loadFor({ workspace, file: undefined, loadout: undefined, cwd: workspace.cwd })];
  const materia = new Map<string, { readonly one: JsonObject; readonly from: string }>();
  const files = new Map<string, string | null>();
  const issues: Issue[] = [];
  for (const loaded of all) {
    const from = basename(loaded.file);
    if (loaded.config === null) issues.push(...loaded.issues.filter(({ level }) => level === 'error'));
    const written = own.length > 0 ? materiaWrittenIn(loaded) : {};
    for (const [id, one] of Object.entries(objectAt(isObject(loaded.config) ? loaded.config : {}, 'materia'))) {
      if (!isObject(one)) continue;
      const other = materia.get(id);
      if (other && stringAt(other.one, 'prompt') !== stringAt(one, 'prompt'))
        issues.push(twoPrompts(id, other.from, from));
      if (other) continue;
      materia.set(id, { one, from });
      if (own.length > 0) files.set(id, safePath(stringAt(objectAt(written, id), 'promptFile') ?? ''));
    }
  }
  const parts = all.flatMap(({ config }) => (isObject(config) ? [config] : []));
  const config = { materia: Object.fromEntries([...materia].map(([id, { one }]) => [id, one])) };
  return { config, parts, files, issues };
}

function materiaWrittenIn({ source, file }: Loaded): JsonObject {
  const config = source ? source.compiled : readJsonFile(file);
  return isObject(config) ? objectAt(config, 'materia') : {};
}

function twoPrompts(id: string, one: string, other: string): Issue {
  const message = `${one} and ${other} have an agent ${id} each, with different prompts. A registry pins one prompt for an agent: rename one of them.`;
  return { code: 'INVALID_MATERIA', level: 'error', path: `materia.${id}`, message };
}

function realOf(folder: string): string | null {
  try {
    return realpathSync(folder);
  } catch {
    return null;
  }
}

type Added = {
  readonly id: string;
  readonly materia: string;
  readonly file: string;
  readonly handsTo: readonly string[];
};

export type NamedAgent = {
  readonly manifest: JsonObject;
  readonly added: readonly Added[];
  /** The agents that had a record and may now hand to others besides. */
  readonly widened: readonly string[];
  /** The team with all ids. */
  readonly team: Team;
};

/** The manifest with a record for every agent of the team. What a person wrote there stays. */
export function namedAgents(team: Team, before: JsonObject): NamedAgent {
  return namedIn(team, before, Object.entries(objectAt(team.config, 'materia')));
}

/** The same without records for new agents: only the files of the known prompts are brought up to date. */
export function namedBefore(team: Team, before: JsonObject): NamedAgent {
  return namedIn(team, before, []);
}

function namedIn(team: Team, before: JsonObject, candidates: readonly (readonly [string, Json])[]): NamedAgent {
  const manifest = structuredClone(before) as Record<string, Json>;
  const domains = sectionOf(manifest);
  const taken = new Set(idsOf(manifest));
  const known = registryIdsIn(before);
  const isFirst = taken.size === 0;
  const fresh = new Map<string, string>();
  for (const [materia, one] of candidates) {
    if (!isObject(one) || typeOfMateria(one) !== 'agent' || known.has(materia)) continue;
    // An identity that an existing manifest does not list is more likely misspelt than new.
    const own = isFirst ? stringAt(one, 'identity') : null;
    if (own === null ? !isUnnamed(one) : taken.has(own)) continue;
    const id = own ?? freeId(materia, taken);
    taken.add(id);
    fresh.set(materia, id);
    const file = team.files.get(materia) ?? pinnedPath(id);
    domains[id] = {
      ...{ canonical_id: id, name: materia, materia, file, version: '1.0.0', scopes: [], collaboration: { allow: [] } },
    };
  }
  for (const [materia, id] of known) {
    const record = recordOf(manifest, id);
    if (team.files.has(materia) && record) record.file = team.files.get(materia) ?? pinnedPath(id);
  }
  const all = withTeamNames(team, new Map([...known, ...fresh]));
  const widened = allowHands(manifest, all, new Set(fresh.values()));
  countAgain(manifest);
  const added = [...fresh].map(([materia, id]): Added => {
    const record = recordOf(manifest, id) ?? {};
    return { id, materia, file: stringAt(record, 'file') ?? '', handsTo: targetsOf(record) };
  });
  return { manifest, added, widened, team: all };
}

function withTeamNames(team: Team, names: ReadonlyMap<string, string>): Team {
  return {
    ...team,
    config: withRegistryIds(team.config, names),
    parts: team.parts.map((each) => withRegistryIds(each, names)),
  };
}

/** Along the edges of every loadout, to and from agents that are new. Between the others a person has decided. */
function allowHands(manifest: Record<string, Json>, team: Team, fresh: ReadonlySet<string>): readonly string[] {
  const widened = new Set<string>();
  const hands = team.parts.flatMap((part) =>
    Object.keys(objectAt(part, 'loadouts')).flatMap((name) => [...handsIn(draftOf(part, name), () => true)]),
  );
  for (const { source, target } of hands) {
    const record = recordOf(manifest, source);
    if (!record || source === target || !(fresh.has(source) || fresh.has(target))) continue;
    if (targetsOf(record).includes(target)) continue;
    const collaboration = objectAt(record, 'collaboration');
    const allow = Array.isArray(collaboration.allow) ? collaboration.allow : [];
    record.collaboration = { ...collaboration, allow: [...allow, { target }] };
    if (!fresh.has(source)) widened.add(source);
  }
  // Who relies on what was declared before learns of the change by the first number.
  for (const id of widened) raise(recordOf(manifest, id) ?? {}, 'major');
  return [...widened];
}

/** Raises the version of a record. One that is no version begins at 1.0.0. */
export function raise(record: Record<string, Json>, part: 'major' | 'minor'): void {
  const [, major, minor] = /^(\d+)\.(\d+)\.\d+/.exec(String(record.version ?? '')) ?? [];
  if (major === undefined || minor === undefined) record.version = '1.0.0';
  else record.version = part === 'major' ? `${Number(major) + 1}.0.0` : `${major}.${Number(minor) + 1}.0`;
}

/** Reads prompts as they are now: from the folder, and from the configuration where a prompt has no file of its own. */
export function promptsOf(home: string, { config }: Team): ReadFile {
  const folder = readerOf(home);
  const texts = new Map<string, Uint8Array>();
  for (const one of Object.values(objectAt(config, 'materia'))) {
    if (!isObject(one) || typeOfMateria(one) !== 'agent') continue;
    const [identity, prompt] = [stringAt(one, 'identity'), stringAt(one, 'prompt')];
    if (identity !== null && prompt !== null) texts.set(pinnedPath(identity), Buffer.from(prompt));
  }
  const read = (path: string) => texts.get(path) ?? folder(path);
  return Object.assign(read, { leaves: (path: string) => folder.leaves?.(path) ?? false });
}

/** A manifest without agents, for a folder that has none. */
export const NO_MANIFEST: JsonObject = { version: '1.0.0', domains: {} };

type MutableJson = Record<string, Json>;
const SECTIONS = ['domains', 'archetypes', 'orchestrators'] as const;

/** Where agents of this sort are: at the top, or in another shape under `taxonomy`. */
function sectionOf(manifest: MutableJson): MutableJson {
  const taxonomy = objectAt(manifest, 'taxonomy');
  const found = [manifest.domains, taxonomy.domains].find(isObject);
  if (found) return found as MutableJson;
  const domains: MutableJson = {};
  manifest.domains = domains;
  return domains;
}

function sectionsOf(manifest: JsonObject): readonly JsonObject[] {
  return SECTIONS.flatMap((section) =>
    [manifest, objectAt(manifest, 'taxonomy')].map((from) => given(from, section)).filter(isObject),
  );
}

function idsOf(manifest: JsonObject): readonly string[] {
  return sectionsOf(manifest).flatMap((section) => Object.keys(section));
}

/** The record of an agent, to be changed. */
export function recordOf(manifest: JsonObject, id: string): MutableJson | null {
  const found = sectionsOf(manifest).find((section) => Object.hasOwn(section, id))?.[id];
  return isObject(found) ? (found as MutableJson) : null;
}

function targetsOf(record: JsonObject): readonly string[] {
  const { allow } = objectAt(record, 'collaboration');
  return (Array.isArray(allow) ? allow : []).flatMap((edge) =>
    isObject(edge) ? [stringAt(edge, 'target') ?? ''] : [],
  );
}

/** The counts that a manifest states stay true. */
function countAgain(manifest: MutableJson): void {
  const taxonomy = objectAt(manifest, 'taxonomy') as MutableJson;
  for (const section of SECTIONS) {
    if (typeof taxonomy[section] === 'number') taxonomy[section] = Object.keys(objectAt(manifest, section)).length;
  }
  if (typeof taxonomy.total_prompts === 'number') taxonomy.total_prompts = idsOf(manifest).length;
}

/** Such as `auto-plan` for Auto-Plan. */
function freeId(materia: string, taken: ReadonlySet<string>): string {
  const slug = materia.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const base = slug.slice(0, ID_LENGTH_MAX - 4).replace(/^-+|-+$/g, '') || 'agent';
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}-${number}`;
  return id;
}
