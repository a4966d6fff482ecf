// The record of a worktree: whose it is, where it lies and how far it has come. It stands beside the worktree, so that
// whoever is inside one finds the workspace it belongs to.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { isObject, isString } from '../../kernel/json.ts';
import { WORKTREES } from '../locate.ts';
import { branchOf } from './branch.ts';

export type WorktreeState =
  | 'making'
  | 'ready'
  /** Its work is in another branch, or was dropped; folder and branch are gone. */
  | 'merged'
  | 'undone';

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
  /** The last commit of the branch when it was taken away. */
  readonly tip?: string;
};

export function worktreesIn(stateDir: string): string {
  return join(stateDir, WORKTREES);
}

export function readRecord(stateDir: string, cast: string): WorktreeRecord | null {
  try {
    const record = JSON.parse(readFileSync(fileOf(stateDir, cast), 'utf8')) as unknown;
    return isObject(record) && record.version === 1 ? placed(stateDir, cast, record as WorktreeRecord) : null;
  } catch {
    return null;
  }
}

/**
 * A worktree lies where it is made, and its branch is named after its cast: a record that says something else must not
 * lead anybody, who clears it away, to other folders and branches.
 */
function placed(stateDir: string, cast: string, record: WorktreeRecord): WorktreeRecord | null {
  const folder = join(worktreesIn(stateDir), cast);
  const below = isString(record.folder) && isString(record.cwd) ? relative(record.folder, record.cwd) : '..';
  if (below.startsWith('..') || isAbsolute(below)) return null;
  return { ...record, cast, folder, cwd: join(folder, below), branch: branchOf(cast) };
}

/** By cast, how far its worktree has come. */
export function worktreeStates(stateDir: string): ReadonlyMap<string, WorktreeState> {
  const states = new Map<string, WorktreeState>();
  for (const name of namesIn(worktreesIn(stateDir))) {
    const record = name.endsWith('.json') ? readRecord(stateDir, name.slice(0, -'.json'.length)) : null;
    if (record) states.set(record.cast, record.state);
  }
  return states;
}

/** Whole or not at all. Git ignores the folder whatever the project's own rules say. */
export function writeRecord(stateDir: string, record: WorktreeRecord): WorktreeRecord {
  const folder = worktreesIn(stateDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, '.gitignore'), '*\n');
  const file = fileOf(stateDir, record.cast);
  writeFileSync(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return record;
}

function fileOf(stateDir: string, cast: string): string {
  return join(worktreesIn(stateDir), `${cast}.json`);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
