// The record of a worktree: whose it is, where it is and how far its work has come. With it the names of branches and folders, and
// the protection of records against changes while a cast is driven.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { WorktreeRules } from '../../kernel/graph/config.ts';
import { isObject, isString } from '../../kernel/json.ts';
import { realPath } from '../../shell/dangerous.ts';
import { type LocatedWorkspace, WORKTREES, workspaceName } from '../locate.ts';

type WorktreeState =
  | 'making'
  | 'ready'
  /** Its work is in another branch, or was dropped; folder and branch are gone. */
  | 'merged'
  | 'undone';

/** By path, what the repositories were like when the worktree was set up. */
export type NestedStates = Readonly<Record<string, string>>;

export type WorktreeRecord = {
  readonly version: 1;
  readonly cast: string;
  readonly state: WorktreeState;
  /** The project directory of the workspace. */
  readonly workspace: string;
  /** The top folder of the repository's own working tree. */
  readonly top: string;
  /** The worktree, and the folder in it that is the workspace's. */
  readonly folder: string;
  readonly cwd: string;
  readonly branch: string;
  /** The commit it began from. */
  readonly base: string;
  /** By turn, the commit from which it began; only of turns that may still be open. */
  readonly starts: Readonly<Record<string, string>>;
  /** By turn that runs beside others, the paths that are its own until its work is committed. */
  readonly open: Readonly<Record<string, readonly string[]>>;
  /** The commit that the branch was put to last, for turns that were accepted: what an open turn commits itself comes after it. */
  readonly accepted?: string;
  /** The commit that the files still are at, while the branch is moved on to another one. */
  readonly behind?: string;
  /** The commit up to which it is accepted once it was moved. */
  readonly reaches?: string;
  /** The last commit of the branch when it was taken away. */
  readonly tip?: string;
  /** What of it was merged into a branch of the user, and was not taken back; in order. */
  readonly merges?: readonly Merge[];
  /** How the workspace said to set it up when that was tried last, and how it was set up where that had to be mended. */
  readonly configured?: string;
  readonly mended?: WorktreeRules;
  /** What its set-up left: what git ignores, and what repositories inside of it were like. */
  readonly ignored?: readonly string[];
  readonly stands?: NestedStates;
  /** The task that was begun last in the cast's own worktree, the commit before it, and what clashed when its work came back. */
  readonly item?: { readonly task: string; readonly base: string; readonly conflicts: readonly string[] };
  /** Of a worktree in which one item after the other walks beside those of other worktrees. */
  readonly lane?: Lane;
};

/** The commits of the branch before and after, and its name; without one where none was checked out. */
export type Merge = {
  readonly before: string;
  readonly after: string;
  readonly into?: string;
  /** The commit of the cast up to which all became one commit. */
  readonly squashed?: string;
};

type Lane = {
  readonly place: number;
  /** The task whose work lies in it; null before the first. */
  readonly task: string | null;
  /** The last turn whose work was committed when it was accepted. */
  readonly kept: number | null;
  /** Files of which two versions were put into one, and that have to be mended before they can be merged. */
  readonly conflicts: readonly string[];
};

export type LaneRecord = WorktreeRecord & { readonly lane: Lane };

export function worktreesIn(stateDir: string): string {
  return join(stateDir, WORKTREES);
}

export function readRecord(stateDir: string, cast: string): WorktreeRecord | null {
  return recordNamed(stateDir, cast, null);
}

export function readLane(stateDir: string, cast: string, place: number): LaneRecord | null {
  const record = recordNamed(stateDir, cast, place);
  if (!record || !isObject(record.lane)) return null;
  const { task, kept, conflicts } = record.lane as Readonly<Record<string, unknown>>;
  const lane = {
    place,
    task: isString(task) ? task : null,
    kept: typeof kept === 'number' ? kept : null,
    conflicts: Array.isArray(conflicts) ? conflicts.filter((path) => isString(path)) : [],
  };
  return { ...record, lane };
}

/** The worktrees of a cast's items, by place. */
export function lanesOf(stateDir: string, cast: string): readonly LaneRecord[] {
  return recordNames(stateDir)
    .map(namedBy)
    .flatMap((named) => (named.cast === cast && named.place !== null ? [named.place] : []))
    .sort((a, b) => a - b)
    .flatMap((place) => readLane(stateDir, cast, place) ?? []);
}

function recordNamed(stateDir: string, cast: string, place: number | null): WorktreeRecord | null {
  try {
    const record = JSON.parse(readFileSync(fileOf(stateDir, worktreeName(cast, place)), 'utf8')) as unknown;
    return isObject(record) && record.version === 1 ? placed(stateDir, cast, place, record as WorktreeRecord) : null;
  } catch {
    return null;
  }
}

/**
 * A worktree lies where its record says, and its branch is named after its cast. A record with a place of another form must
 * not lead a command that clears the worktree away to other folders: then it is looked for in the state folder.
 */
function placed(stateDir: string, cast: string, place: number | null, record: WorktreeRecord): WorktreeRecord | null {
  const name = worktreeName(cast, place);
  const below = isString(record.folder) && isString(record.cwd) ? relative(record.folder, record.cwd) : '..';
  if (below.startsWith('..') || isAbsolute(below)) return null;
  const folder = isWorktreePlace(record.folder, name) ? record.folder : join(worktreesIn(stateDir), name);
  return { ...record, cast, folder, cwd: join(folder, below), branch: branchOf(cast, place) };
}

/** By cast, how far its worktree has come. */
export function worktreeStates(stateDir: string): ReadonlyMap<string, WorktreeState> {
  const states = new Map<string, WorktreeState>();
  for (const { cast, place } of recordNames(stateDir).map(namedBy)) {
    const record = place === null ? readRecord(stateDir, cast) : null;
    if (record) states.set(record.cast, record.state);
  }
  return states;
}

/** The casts of which there is a worktree, or a record of one. */
export function castsWithWorktrees(stateDir: string): readonly string[] {
  return [...new Set(recordNames(stateDir).map((name) => namedBy(name).cast))].sort();
}

function recordNames(stateDir: string): readonly string[] {
  const names = namesIn(worktreesIn(stateDir)).filter((name) => name.endsWith('.json'));
  return names.map((name) => name.slice(0, -'.json'.length));
}

/** Whole or not at all. Git ignores the folder whatever the project's own rules say. */
export function writeRecord<T extends WorktreeRecord>(stateDir: string, record: T): T {
  const folder = worktreesIn(stateDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, '.gitignore'), '*\n');
  const file = fileOf(stateDir, recordName(record));
  const text = `${JSON.stringify(record, null, 2)}\n`;
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  noteRecord(stateDir, record.cast, file, text);
  return record;
}

export function dropRecord(stateDir: string, record: WorktreeRecord): void {
  const file = fileOf(stateDir, recordName(record));
  rmSync(file, { force: true });
  noteRecord(stateDir, record.cast, file, null);
}

export function recordName({ cast, lane }: Pick<WorktreeRecord, 'cast' | 'lane'>): string {
  return worktreeName(cast, lane?.place ?? null);
}

/** The worktree of the workspace that a path lies in; null where it is in none. */
export function worktreeAround(stateDir: string, path: string): string | null {
  // Everything in a folder of the state folder's own is a worktree, with a record or without.
  const [name = '..', ...rest] = relative(worktreesIn(stateDir), path).split('/');
  const isFile = rest.length === 0 && (name.endsWith('.json') || name === '');
  if (name !== '..' && !isAbsolute(name) && !isFile) return join(worktreesIn(stateDir), name);
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    const called = basename(at);
    if (!isWorktreePlace(at, called)) continue;
    const { cast, place } = namedBy(called);
    if (recordNamed(stateDir, cast, place)?.folder === at) return at;
  }
  return null;
}

/** The folder of an agent's work: the worktree around `cwd`, else the project. */
export function workRoot(cwd: string, { dir, stateDir }: Pick<LocatedWorkspace, 'dir' | 'stateDir'>): string {
  return worktreeAround(stateDir, cwd) ?? dir;
}

/** The path of a file below the worktree that it is in; null where it is in none. */
export function belowWorktree(stateDir: string, path: string): string | null {
  const folder = worktreeAround(stateDir, path);
  const below = folder === null ? '' : relative(folder, path);
  return below === '' ? null : below;
}

/** The path that a file in the worktree of an item has in that of its cast; any other path as it is. */
export function asInCast(stateDir: string, path: string): string {
  const folder = worktreeAround(stateDir, path);
  if (folder === null) return path;
  const { cast, place } = namedBy(basename(folder));
  return place === null ? path : join(dirname(folder), cast, relative(folder, path));
}

function fileOf(stateDir: string, name: string): string {
  return join(worktreesIn(stateDir), `${name}.json`);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

// The names of a cast's branches and worktrees. Git cannot have a branch below another one, so the name of an item's own
// stands beside that of the cast.
/** Branches of casts begin so. */
export const BRANCHES = 'baton';

/** The branch on which a cast works, or an item of it that has a worktree of its own. */
export function branchOf(cast: string, place: number | null = null): string {
  return `${BRANCHES}/${worktreeName(cast, place)}`;
}

/** The name of a worktree's folder, and of the record beside it. */
export function worktreeName(cast: string, place: number | null): string {
  return place === null ? cast : `${cast}${LANE}${place}`;
}

/** The cast and the place that a worktree is named after. */
export function namedBy(name: string): { readonly cast: string; readonly place: number | null } {
  const at = name.lastIndexOf(LANE);
  const number = at === -1 ? '' : name.slice(at + LANE.length);
  return /^[1-9]\d{0,5}$/.test(number)
    ? { cast: name.slice(0, at), place: Number(number) }
    : { cast: name, place: null };
}

const LANE = '.lane-';

// Where worktrees lie: outside the project, so that no relative path leads from one into the user's checkout. The record of a
// worktree says where it was made; the place that is computed here is for new ones only.
type Owner = Pick<LocatedWorkspace, 'dir' | 'stateDir'>;

/** The folder for new worktrees of the workspace. Programs in one are told of it without links, so it has none. */
export function worktreesFolder(workspace: Owner, env: NodeJS.ProcessEnv, platform = process.platform): string {
  return realPath(join(homeOf(workspace, env, platform), WORKTREES, workspaceName(workspace.dir)));
}

/** Whether a path has the form of a worktree's place, so that a changed record leads nobody to another folder. */
export function isWorktreePlace(folder: string, name: string): boolean {
  const above = dirname(folder);
  return (
    isAbsolute(folder) &&
    resolve(folder) === folder &&
    basename(folder) === name &&
    /-[0-9a-f]{8}$/.test(basename(above)) &&
    basename(dirname(above)) === WORKTREES
  );
}

/** What a cast starts has the state folder of its workspace as `BATON_HOME`; that is not the user's choice. */
function homeOf({ stateDir }: Owner, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (env.BATON_HOME && resolve(env.BATON_HOME) !== stateDir) return resolve(env.BATON_HOME);
  if (env.XDG_STATE_HOME && isAbsolute(env.XDG_STATE_HOME)) return join(env.XDG_STATE_HOME, 'baton');
  const home = env.HOME || homedir();
  const state = platform === 'darwin' ? ['Library', 'Application Support'] : ['.local', 'state'];
  return join(home, ...state, 'baton');
}

// The records of a cast's worktrees as the process that drives the cast wrote them. They say what was accepted, and while a
// cast is driven nobody else has to write them: what an agent makes of them is put back, and held against who ran meanwhile.
type Hold = { readonly texts: Map<string, string>; breaches: number };

const holds = new Map<string, Hold>();

/** From now on, until they are let go, the records are as they are now and as this process writes them. */
export function holdRecords(stateDir: string, cast: string): void {
  const texts = new Map(filesOf(stateDir, cast).map((file) => [file, textOf(file) ?? '']));
  holds.set(keyOf(stateDir, cast), { texts, breaches: 0 });
}

export function letRecordsGo(stateDir: string, cast: string): void {
  holds.delete(keyOf(stateDir, cast));
}

/** Null where it was taken away. */
export function noteRecord(stateDir: string, cast: string, file: string, text: string | null): void {
  const texts = holds.get(keyOf(stateDir, cast))?.texts;
  if (text === null) texts?.delete(file);
  else texts?.set(file, text);
}

/** Puts back what somebody else changed, added or removed. Answers how often that was found so far. */
export function mendRecords(stateDir: string, cast: string): number {
  const hold = holds.get(keyOf(stateDir, cast));
  if (!hold) return 0;
  const foreign = filesOf(stateDir, cast).filter((file) => !hold.texts.has(file));
  // The link of a worktree goes with its folder.
  const changed = [...hold.texts].filter(([file, text]) => textOf(file) !== text && existsSync(dirname(file)));
  for (const file of foreign) rmSync(file, { recursive: true, force: true });
  for (const [file, text] of changed) {
    rmSync(file, { recursive: true, force: true });
    writeFileSync(file, text, { mode: 0o600 });
  }
  if (foreign.length + changed.length > 0) hold.breaches += 1;
  return hold.breaches;
}

function filesOf(stateDir: string, cast: string): readonly string[] {
  const folder = join(stateDir, WORKTREES);
  const names = namesIn(folder).filter((name) => name.endsWith('.json'));
  return names
    .filter((name) => namedBy(name.slice(0, -'.json'.length)).cast === cast)
    .map((name) => join(folder, name));
}

function keyOf(stateDir: string, cast: string): string {
  return join(stateDir, WORKTREES, cast);
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
