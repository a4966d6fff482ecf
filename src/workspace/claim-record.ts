// What a folder looked like when a task was claimed, kept beside the log under the token of the claim until the claim is
// over. From it one can tell what was changed since, and what of it is this task's.
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import type { Entry } from '../kernel/fact.ts';
import { isObject } from '../kernel/json.ts';
import { normalPath } from '../kernel/ledger/path.ts';
import { coverOf, pathKey } from '../kernel/ledger/path-key.ts';
import type { Ledger, Task } from '../kernel/ledger/state.ts';
import { heldLocks } from '../kernel/ledger/wire.ts';
import { type Change, changesBetween, type Snapshot, snapshotOf } from './changes.ts';
import { ChangesError } from './changes-mark.ts';

export type ClaimRecord = {
  readonly run: string;
  readonly task: string;
  /** The head of the log when the task was claimed. */
  readonly seq: number;
  /** The paths that others were writing below the same root then. */
  readonly others: readonly string[];
  readonly snapshot: Snapshot;
};

/** The newest record of a claim that is over: most of what it knows of the files still holds. */
const LAST = 'last.json';

/** Takes the snapshot of a claim and keeps it. Answers why it could not, or null. */
export async function recordClaim(
  stateDir: string,
  root: string,
  fence: number,
  about: { readonly ledger: Ledger; readonly task: Task; readonly seq: number },
): Promise<string | null> {
  const { ledger, task, seq } = about;
  try {
    const stray = readRecord(strayFile(stateDir, task));
    const known = readRecord(join(claimsIn(stateDir), LAST))?.snapshot;
    const snapshot =
      stray?.snapshot ?? (await snapshotOf(root, { skip: skipped(root, stateDir), ...(known ? { known } : {}) }));
    const now = { run: task.run, task: task.id, seq, others: othersNow(ledger, task), snapshot };
    // A stray change is compared with what was there before it, however often the task is claimed again.
    const record: ClaimRecord = stray ? { ...now, seq: stray.seq, others: [...stray.others, ...now.others] } : now;
    mkdirSync(claimsIn(stateDir), { recursive: true, mode: 0o700 });
    const file = fileOf(stateDir, fence);
    writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return null;
  } catch (error) {
    if (error instanceof ChangesError) return error.message;
    throw error;
  }
}

/** A result was refused for a change outside its scope: claiming the task again does not make the change everybody's. */
export function keepStray(stateDir: string, fence: number, task: Pick<Task, 'run' | 'id'>): void {
  try {
    copyFileSync(fileOf(stateDir, fence), strayFile(stateDir, task));
  } catch {
    // Nothing was kept of the claim, so that there is nothing to go on with.
  }
}

/** The change was taken back, or a person has decided about the task. */
export function dropStray(stateDir: string, task: Pick<Task, 'run' | 'id'>): void {
  rmSync(strayFile(stateDir, task), { force: true });
}

function strayFile(stateDir: string, { run, id }: Pick<Task, 'run' | 'id'>): string {
  return join(claimsIn(stateDir), `stray-${encodeURIComponent(`${run}-${id}`).slice(0, 200)}.json`);
}

export function readClaim(stateDir: string, fence: number): ClaimRecord | null {
  return readRecord(fileOf(stateDir, fence));
}

/** The claim is over. */
export function dropClaim(stateDir: string, fence: number): void {
  try {
    renameSync(fileOf(stateDir, fence), join(claimsIn(stateDir), LAST));
  } catch {
    // There was none, or somebody else dropped it.
  }
}

/** Drops the records of claims that are over, however they ended. */
export function dropEndedClaims(stateDir: string, isOver: (fence: number) => boolean): void {
  let names: string[];
  try {
    names = readdirSync(claimsIn(stateDir));
  } catch {
    return;
  }
  for (const name of names) {
    const fence = /^([0-9]+)\.json$/.exec(name)?.[1];
    if (fence !== undefined && isOver(Number(fence))) rmSync(join(claimsIn(stateDir), name), { force: true });
  }
}

/** What was changed since the claim and lies in nobody else's way: `since` are the claims of tasks after it. */
export async function changesOfTask(
  record: ClaimRecord,
  stateDir: string,
  root: string,
  about: { readonly ledger: Ledger; readonly task: Task; readonly since: readonly Entry[] },
): Promise<readonly Change[]> {
  const { ledger, task, since } = about;
  const after = await snapshotOf(root, { since: record.snapshot, skip: skipped(root, stateDir) });
  const key = (path: string) => pathKey(path, ledger.locks.foldCase);
  const claimed = since.flatMap(({ fact }) => {
    if (fact.kind !== 'task.claimed' || (fact.run === task.run && fact.task === task.id)) return [];
    return fact.locks.filter(({ root: of, mode }) => of === task.root && mode === 'write').map(({ path }) => path);
  });
  const isOthers = coverOf([...record.others, ...claimed, ...othersNow(ledger, task)].map(key));
  const reports = new Set(reportsOfOthers(ledger, task).map(key));
  return changesBetween(record.snapshot, after).filter(({ path }) => {
    const own = key(path);
    return !isOthers(own) && !reports.has(own);
  });
}

function othersNow(ledger: Ledger, { run, id, root }: Task): readonly string[] {
  return heldLocks(ledger)
    .filter((lock) => lock.root === root && lock.mode === 'write' && !(lock.run === run && lock.task === id))
    .map(({ path }) => path);
}

/** Worklogs and reports lie outside of lock scopes, and each belongs to its own task. */
function reportsOfOthers(ledger: Ledger, { run, id, root }: Task): readonly string[] {
  return Object.values(ledger.tasks)
    .filter((other) => other.root === root && !(other.run === run && other.id === id))
    .flatMap(({ worklogPath, reportPath }) => [worklogPath, reportPath ?? ''])
    .flatMap((path) => {
      const normal = normalPath(path);
      return normal.ok ? [normal.path] : [];
    });
}

/** The state folder may have been moved to another place below the root. */
function skipped(root: string, stateDir: string): readonly string[] {
  const below = relative(root, stateDir);
  return below === '' || below.startsWith('..') || isAbsolute(below) ? [] : [below];
}

function claimsIn(stateDir: string): string {
  return join(stateDir, 'claims');
}

function fileOf(stateDir: string, fence: number): string {
  return join(claimsIn(stateDir), `${fence}.json`);
}

function readRecord(file: string): ClaimRecord | null {
  if (!statSync(file, { throwIfNoEntry: false })) return null;
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isObject(value) && isObject(value.snapshot) ? (value as unknown as ClaimRecord) : null;
  } catch {
    return null;
  }
}
