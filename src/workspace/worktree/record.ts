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
  /** Its work was merged or dropped. Folder and branch are gone. */
  | 'merged'
  | 'undone';

/** By path, the state of nested repositories after the set-up. */
export type NestedStates = Readonly<Record<string, string>>;

export type WorktreeRecord = {
  readonly version: 1;
  readonly cast: string;
  readonly state: WorktreeState;
  /** The project directory of the workspace. */
  readonly workspace: string;
  /** The top folder of the repository's own working tree. */
  readonly top: string;
  /** The worktree, and the workspace's folder in it. */
  readonly folder: string;
  readonly cwd: string;
  readonly branch: string;
  /** The commit it began from. */
  readonly base: string;
  /** The start commit of each turn that may still be open. */
  readonly starts: Readonly<Record<string, string>>;
  /** The own paths of each turn that runs next to others, until its work is committed. */
  readonly open: Readonly<Record<string, readonly string[]>>;
  /** The last accepted commit of the branch. Commits of an open turn come after it. */
  readonly accepted?: string;
  /** The commit of the files, while the branch moves to another one. */
  readonly behind?: string;
  /** The accepted commit after that move. */
  readonly reaches?: string;
  /** The last commit of the removed branch. */
  readonly tip?: string;
  /** Its merges into branches of the user that were not undone, in order. */
  readonly merges?: readonly Merge[];
  /** The set-up rules of the workspace at the last try, and the corrected rules if that try failed. */
  readonly configured?: string;
  readonly mended?: WorktreeRules;
  /** After the set-up: the ignored files, and the state of nested repositories. */
  readonly ignored?: readonly string[];
  readonly stands?: NestedStates;
  /** The last task in the cast's own worktree, the commit before it, and the conflicts when its parked work came back. */
  readonly item?: { readonly task: string; readonly base: string; readonly conflicts: readonly string[] };
  /** Present for a lane, in which items run one after the other, next to those of other lanes. */
  readonly lane?: Lane;
};

/** The commits of the branch before and after, and its name, unless HEAD was detached. */
export type Merge = {
  readonly before: string;
  readonly after: string;
  readonly into?: string;
  /** For a squash: the last commit of the cast in it. */
  readonly squashed?: string;
};

type Lane = {
  readonly place: number;
  /** The task whose work is in it. Null before the first. */
  readonly task: string | null;
  /** The last turn whose work was committed when it was accepted. */
  readonly kept: number | null;
  /** Files with conflict marks, which must be resolved before a merge. */
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

/** The lanes of a cast, by number. */
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
 * A worktree is in the folder of its record, and its branch is named after its cast. A changed record must not lead a clean-up
 * to other folders, so a folder of another form is replaced by one in the state folder.
 */
function placed(stateDir: string, cast: string, place: number | null, record: WorktreeRecord): WorktreeRecord | null {
  const name = worktreeName(cast, place);
  const below = isString(record.folder) && isString(record.cwd) ? relative(record.folder, record.cwd) : '..';
  if (below.startsWith('..') || isAbsolute(below)) return null;
  const folder = isWorktreePlace(record.folder, name) ? record.folder : join(worktreesIn(stateDir), name);
  return { ...record, cast, folder, cwd: join(folder, below), branch: branchOf(cast, place) };
}

/** By cast, the state of its worktree. */
export function worktreeStates(stateDir: string): ReadonlyMap<string, WorktreeState> {
  const states = new Map<string, WorktreeState>();
  for (const { cast, place } of recordNames(stateDir).map(namedBy)) {
    const record = place === null ? readRecord(stateDir, cast) : null;
    if (record) states.set(record.cast, record.state);
  }
  return states;
}

/** The casts with a worktree or a record of one. */
export function castsWithWorktrees(stateDir: string): readonly string[] {
  return [...new Set(recordNames(stateDir).map((name) => namedBy(name).cast))].sort();
}

function recordNames(stateDir: string): readonly string[] {
  const names = namesIn(worktreesIn(stateDir)).filter((name) => name.endsWith('.json'));
  return names.map((name) => name.slice(0, -'.json'.length));
}

/** Atomic. Git ignores the folder, independent of the project's rules. */
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

/** The worktree around a path, or null. */
export function worktreeAround(stateDir: string, path: string): string | null {
  // Every folder in the worktree folder of the state folder counts, with a record or without.
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

/** The path of a file from its worktree, or null. */
export function belowWorktree(stateDir: string, path: string): string | null {
  const folder = worktreeAround(stateDir, path);
  const below = folder === null ? '' : relative(folder, path);
  return below === '' ? null : below;
}

/** The path in the worktree of the cast for a file in a lane. Any other path stays unchanged. */
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

// The names of a cast's branches and worktrees. Git cannot have a branch below another one, so the branch of a lane is next to
// that of the cast.
/** The prefix of branches of casts. */
export const BRANCHES = 'baton';

/** The branch of a cast, or of one of its lanes. */
export function branchOf(cast: string, place: number | null = null): string {
  return `${BRANCHES}/${worktreeName(cast, place)}`;
}

/** The name of a worktree's folder, and of the record next to it. */
export function worktreeName(cast: string, place: number | null): string {
  return place === null ? cast : `${cast}${LANE}${place}`;
}

/** The cast and lane in the name of a worktree. */
function namedBy(name: string): { readonly cast: string; readonly place: number | null } {
  const at = name.lastIndexOf(LANE);
  const number = at === -1 ? '' : name.slice(at + LANE.length);
  return /^[1-9]\d{0,5}$/.test(number)
    ? { cast: name.slice(0, at), place: Number(number) }
    : { cast: name, place: null };
}

const LANE = '.lane-';

// Worktrees are outside the project, so that no relative path leads from one into the user's checkout. The record of a worktree
// has its folder; the folder computed here is only for new ones.
type Owner = Pick<LocatedWorkspace, 'dir' | 'stateDir'>;

/** The folder for new worktrees of the workspace, as a real path, because programs in one see it so. */
export function worktreesFolder(workspace: Owner, env: NodeJS.ProcessEnv, platform = process.platform): string {
  return realPath(join(homeOf(workspace, env, platform), WORKTREES, workspaceName(workspace.dir)));
}

/** Whether a path has the form of a worktree folder, so that a changed record cannot name another folder. */
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

/** Programs of a cast have the state folder of its workspace as `BATON_HOME`. That is not the user's choice. */
function homeOf({ stateDir }: Owner, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (env.BATON_HOME && resolve(env.BATON_HOME) !== stateDir) return resolve(env.BATON_HOME);
  if (env.XDG_STATE_HOME && isAbsolute(env.XDG_STATE_HOME)) return join(env.XDG_STATE_HOME, 'baton');
  const home = env.HOME || homedir();
  const state = platform === 'darwin' ? ['Library', 'Application Support'] : ['.local', 'state'];
  return join(home, ...state, 'baton');
}

// The records of a cast's worktrees, as its driver wrote them. They say what was accepted, and only the driver writes them
// while a cast is driven. Changes by an agent are reverted and count against the turns that ran meanwhile.
type Hold = { readonly texts: Map<string, string>; breaches: number };

const holds = new Map<string, Hold>();

/** Protects the records: from now until release, only changes by this process stay. */
export function holdRecords(stateDir: string, cast: string): void {
  const texts = new Map(filesOf(stateDir, cast).map((file) => [file, textOf(file) ?? '']));
  holds.set(keyOf(stateDir, cast), { texts, breaches: 0 });
}

export function letRecordsGo(stateDir: string, cast: string): void {
  holds.delete(keyOf(stateDir, cast));
}

/** Null for a removed file. */
export function noteRecord(stateDir: string, cast: string, file: string, text: string | null): void {
  const texts = holds.get(keyOf(stateDir, cast))?.texts;
  if (text === null) texts?.delete(file);
  else texts?.set(file, text);
}

/** Reverts changes by others. Returns how often that happened so far. */
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
