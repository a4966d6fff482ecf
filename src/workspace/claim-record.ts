// A snapshot of the folder at the claim of a task, stored next to the log under the fence of the claim until the claim is over.
// It shows the later changes, and which of them belong to this task. The snapshot is stored before the claim is requested.
// After a crash between claim and record, the record is made from that snapshot when the result comes.
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
import { isObject, type JsonObject } from '../kernel/json.ts';
import { keyIn, seenFrom } from '../kernel/ledger/lock-tree.ts';
import { coverOf } from '../kernel/ledger/path.ts';
import { filesOf } from '../kernel/ledger/scope.ts';
import type { Ledger, Task } from '../kernel/ledger/state.ts';
import { heldLocks } from '../kernel/ledger/wire.ts';
import { changesBetween, type FileChange, type FolderSnapshot, snapshotOf } from './changes.ts';
import { ChangesError } from './changes-mark.ts';
import { governingFiles } from './main-checkout.ts';

export type ClaimRecord = {
  readonly run: string;
  readonly task: string;
  /** The head of the log before the snapshot. */
  readonly seq: number;
  /** The paths that others were writing below the same root. */
  readonly others: readonly string[];
  /** The declared checkers, by name. Later changes of the configuration do not change them. */
  readonly checkers?: JsonObject;
  /** The digest of each file that governs the work, even if git ignores it. */
  readonly governing?: Readonly<Record<string, string>>;
} & Picture;

/** A snapshot of a folder, or why there is none. */
type Picture = { readonly snapshot: FolderSnapshot } | { readonly why: string };

/** A snapshot for a claim that is not recorded as granted. */
export type Prepared = {
  /** Its file in the folder of the claims. */
  readonly name: string;
  readonly root: string;
  /** The owner and task of the claim, as far as known before. A search claims what it finds. */
  readonly owner?: string;
  readonly task?: string;
  readonly seq: number;
  /** The head of the log after the snapshot. Every later claim began with this state. */
  readonly through: number;
  readonly others: readonly string[];
  readonly checkers?: JsonObject;
  readonly governing?: Readonly<Record<string, string>>;
} & Picture;

export type ClaimCandidate = { readonly root: string; readonly owner?: string; readonly task?: string };

/** The newest record of an ended claim. Most of its marks are still valid. */
const LAST = 'last.json';
const PREPARED = /^before-([0-9]+)-[0-9]+\.json$/;
const RECORD = /^([0-9]+)\.json$/;
const DRAFT = /\.([0-9]+)\.new$/;
let count = 0;

/** Takes and stores the snapshot of the folder at `dir`, which the ledger calls `candidate.root`, for the coming claim. */
export async function prepareClaim(
  stateDir: string,
  dir: string,
  candidate: ClaimCandidate,
  about: {
    /** The paths that others write below the same root. */
    readonly others: readonly string[];
    readonly head: () => Promise<{ readonly seq: number }>;
    readonly checkers: JsonObject;
  },
): Promise<Prepared> {
  const { seq } = await about.head();
  const rules = { checkers: about.checkers, governing: governingFiles(dir) };
  const picture = await pictureOf(stateDir, dir);
  const { seq: through } = await about.head();
  count += 1;
  const name = `before-${process.pid}-${count}.json`;
  const prepared = { name, ...candidate, seq, through, others: about.others, ...rules, ...picture };
  write(stateDir, name, prepared);
  return prepared;
}

/** Makes the record of a claim from its snapshot. */
export function recordClaim(
  stateDir: string,
  fence: number,
  task: Pick<Task, 'run' | 'id'>,
  prepared: Prepared,
): ClaimRecord {
  const { seq, others, checkers, governing } = prepared;
  const rules = { ...(checkers ? { checkers } : {}), ...(governing ? { governing } : {}) };
  const picture = 'why' in prepared ? { why: prepared.why } : { snapshot: prepared.snapshot };
  const now: ClaimRecord = { run: task.run, task: task.id, seq, others, ...rules, ...picture };
  const stray = readRecord(join(claimsIn(stateDir), strayName(task)));
  // A stray change is compared with the state before it, even after later claims.
  const record = stray && 'snapshot' in stray ? { ...stray, others: [...stray.others, ...others] } : now;
  write(stateDir, recordName(fence), record);
  return record;
}

/** The claim was answered, and its record is stored if needed. */
export function dropPrepared(stateDir: string, { name }: Prepared): void {
  rmSync(join(claimsIn(stateDir), name), { force: true });
}

/**
 * The newest snapshot of a process that may have been killed during this claim: of the same folder, for the same owner and task
 * as far as known, and complete before the claim was granted.
 */
export function preparedFor(
  stateDir: string,
  claim: { readonly root: string; readonly owner: string; readonly task: string; readonly seq: number },
): Prepared | null {
  const fitting = namesIn(stateDir)
    .filter((name) => PREPARED.test(name))
    .flatMap((name) => readPrepared(stateDir, name) ?? [])
    .filter(
      ({ root, owner = claim.owner, task = claim.task, through }) =>
        root === claim.root && owner === claim.owner && task === claim.task && through < claim.seq,
    );
  return fitting.sort((a, b) => a.through - b.through).at(-1) ?? null;
}

/** A result was refused for a change outside its scope. A new claim of the task does not excuse the change. */
export function keepStray(stateDir: string, fence: number, task: Pick<Task, 'run' | 'id'>): void {
  try {
    copyFileSync(join(claimsIn(stateDir), recordName(fence)), join(claimsIn(stateDir), strayName(task)));
  } catch {
    // The claim has no record to continue from.
  }
}

/** The change was reverted, or a person decided about the task. */
export function dropStray(stateDir: string, task: Pick<Task, 'run' | 'id'>): void {
  rmSync(join(claimsIn(stateDir), strayName(task)), { force: true });
}

export function readClaim(stateDir: string, fence: number): ClaimRecord | null {
  return readRecord(join(claimsIn(stateDir), recordName(fence)));
}

/** The claim is over. */
export function dropClaim(stateDir: string, fence: number): void {
  try {
    renameSync(join(claimsIn(stateDir), recordName(fence)), join(claimsIn(stateDir), LAST));
  } catch {
    // There was none, or another process removed it.
  }
}

/**
 * Drops the records of ended claims. `open` returns the fences of the others. It is called after the files are listed, so that
 * the record of a new claim does not count as old. While an open claim has no record, the snapshot of a dead process may still
 * be needed for it.
 */
export async function dropEndedClaims(stateDir: string, open: () => Promise<ReadonlySet<number>>): Promise<void> {
  const names = namesIn(stateDir);
  const records = names.filter((name) => RECORD.test(name));
  const leftAs = (kind: RegExp) =>
    names.filter((name) => {
      const pid = kind.exec(name)?.[1];
      return pid !== undefined && !isRunning(Number(pid));
    });
  const left = leftAs(PREPARED);
  const drop = (name: string) => rmSync(join(claimsIn(stateDir), name), { force: true });
  leftAs(DRAFT).forEach(drop);
  if (records.length + left.length === 0) return;
  const fences = await open();
  for (const name of records) if (!fences.has(Number(RECORD.exec(name)?.[1]))) drop(name);
  if ([...fences].every((fence) => records.includes(recordName(fence)))) left.forEach(drop);
}

/** The changes since the claim that belong to no other claim. `since` are the later claims. */
export async function changesOfTask(
  record: ClaimRecord,
  stateDir: string,
  root: string,
  about: { readonly ledger: Ledger; readonly task: Task; readonly since: readonly Entry[] },
): Promise<readonly FileChange[]> {
  const { ledger, task, since } = about;
  if ('why' in record) throw new ChangesError(record.why);
  const after = await snapshotOf(root, { since: record.snapshot, skip: skipped(root, stateDir) });
  const key = keyIn(ledger.locks, task.root);
  const claimed = since.flatMap(({ fact }) => {
    if (fact.kind !== 'task.claimed' || (fact.run === task.run && fact.task === task.id)) return [];
    return fact.locks.filter(({ root: of, mode }) => of === task.root && mode === 'write').map(({ path }) => path);
  });
  const isOthers = coverOf([...record.others, ...claimed, ...writtenIn(ledger, task.root, task)].map(key));
  // A path of the task that another held at the snapshot was free again at the claim.
  const isOwn = coverOf(task.lockScope.map(key));
  const reports = new Set(reportsOfOthers(ledger, task).map(key));
  const seen = changesBetween(record.snapshot, after).filter(({ path }) => {
    const changed = key(path);
    return !reports.has(changed) && (isOwn(changed) || !isOthers(changed));
  });
  const known = new Set(seen.map(({ path }) => path));
  return [...seen, ...governingChanges(record, root).filter(({ path }) => !known.has(path))];
}

/** Files that govern the work count even if git ignores them. */
function governingChanges({ governing: before }: ClaimRecord, root: string): readonly FileChange[] {
  if (!before) return [];
  const now = governingFiles(root);
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return paths.flatMap((path): FileChange[] => {
    return before[path] === now[path] ? [] : [{ path, digest: now[path] ?? null }];
  });
}

async function pictureOf(stateDir: string, dir: string): Promise<Picture> {
  const last = readRecord(join(claimsIn(stateDir), LAST));
  const known = last && 'snapshot' in last ? { known: last.snapshot } : {};
  try {
    return { snapshot: await snapshotOf(dir, { skip: skipped(dir, stateDir), ...known }) };
  } catch (error) {
    if (error instanceof ChangesError) return { why: error.message };
    throw error;
  }
}

/** The paths of the root that other tasks write. */
export function writtenIn(ledger: Ledger, root: string, but?: Pick<Task, 'run' | 'id'>): readonly string[] {
  return heldLocks(ledger)
    .filter(({ mode, run, task }) => mode === 'write' && !(run === but?.run && task === but.id))
    .flatMap((lock) => seenFrom(root, lock) ?? []);
}

/** Worklogs and reports are outside of lock scopes and belong to their own tasks. */
function reportsOfOthers(ledger: Ledger, { run, id, root }: Task): readonly string[] {
  return Object.values(ledger.tasks)
    .filter((other) => other.root === root && !(other.run === run && other.id === id))
    .flatMap(filesOf);
}

/** The state folder may be at another path below the root. */
function skipped(root: string, stateDir: string): readonly string[] {
  const below = relative(root, stateDir);
  return below === '' || below.startsWith('..') || isAbsolute(below) ? [] : [below];
}

function claimsIn(stateDir: string): string {
  return join(stateDir, 'claims');
}

function namesIn(stateDir: string): readonly string[] {
  try {
    return readdirSync(claimsIn(stateDir));
  } catch {
    return [];
  }
}

function recordName(fence: number): string {
  return `${fence}.json`;
}

function strayName({ run, id }: Pick<Task, 'run' | 'id'>): string {
  return `stray-${encodeURIComponent(`${run}-${id}`).slice(0, 200)}.json`;
}

/** Atomic: a killed process leaves no half of it. */
function write(stateDir: string, name: string, value: object): void {
  mkdirSync(claimsIn(stateDir), { recursive: true, mode: 0o700 });
  const file = join(claimsIn(stateDir), name);
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, JSON.stringify(value), { mode: 0o600 });
  renameSync(draft, file);
}

function readRecord(file: string): ClaimRecord | null {
  const value = readJson(file);
  return isPicture(value) ? (value as unknown as ClaimRecord) : null;
}

function readPrepared(stateDir: string, name: string): Prepared | null {
  const value = readJson(join(claimsIn(stateDir), name));
  return isPicture(value) && isObject(value) && typeof value.through === 'number'
    ? (value as unknown as Prepared)
    : null;
}

function isPicture(value: unknown): boolean {
  return isObject(value) && (isObject(value.snapshot) || typeof value.why === 'string');
}

function readJson(file: string): unknown {
  if (!statSync(file, { throwIfNoEntry: false })) return null;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

/** A reused process number counts as the same process. Its files then only stay longer. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
