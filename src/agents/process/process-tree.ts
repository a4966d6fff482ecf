// Everything a child has left running, and how it is ended. A child leads its own session and group, but a descendant may have left
// both. It is then known by the attempt's folder in its environment, by having been observed below the child, or by the control group
// of the attempt. Without `/proc` only the process group and observed processes are known.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  HAS_PROC,
  isAlive,
  isOfThisBoot,
  killGroup,
  killProcess,
  type ProcessIdentity,
  type ProcessRow,
  processNamespace,
  processTable,
  startOrder,
} from './process-identity.ts';

/** Every process of an attempt inherits this variable, with the attempt's folder as its value. */
export const ATTEMPT_MARK = 'BATON_ATTEMPT_DIR';

export type ProcessTree = {
  /** The started child, or null if it is unknown whether there was one. */
  readonly child: ProcessIdentity | null;
  /** The value of `MARK` in the child's environment. */
  readonly mark: string;
  /** The control group of the attempt, if there is one. */
  readonly group?: string | null;
  /** The child was ours until just now, so its group cannot belong to another process yet. */
  readonly fresh: boolean;
};

/** The processes of a tree that still run. */
export function treeMembers(tree: ProcessTree, seen: readonly ProcessIdentity[] = []): ProcessRow[] {
  const rows = processTable().filter((row) => row.pid !== process.pid);
  const members = new Map<number, ProcessRow>();
  const isOurGroup = groupTest(tree, rows);
  const contained = new Set(tree.group ? membersOfGroup(tree.group) : []);
  const isYounger = ageTest(tree.child);
  for (const row of rows) {
    if (
      isOurGroup(row) ||
      contained.has(row.pid) ||
      seen.some((one) => isSame(one, row)) ||
      (isYounger(row) && isMarked(row.pid, tree.mark))
    )
      members.set(row.pid, row);
  }
  // Children of members are members. A pass finds at least one more generation, and the last finds none.
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const row of rows) if (members.has(row.ppid)) members.set(row.pid, row);
  }
  return [...members.values()];
}

/** Asks the whole tree to end, and kills it after the grace. False if something could not be ended. */
export async function endTree(tree: ProcessTree, graceMs: number): Promise<boolean> {
  const isEnded = await endMembers(tree, graceMs);
  return tree.group ? (await endGroup(tree.mark, tree.group)) && isEnded : isEnded;
}

async function endMembers(tree: ProcessTree, graceMs: number): Promise<boolean> {
  let seen = treeMembers(tree);
  if (seen.length === 0) return true;
  if (graceMs > 0) {
    signalAll(tree, seen, 'SIGTERM');
    await areGone(seen, graceMs);
  }
  // Repeated, because a process may start another one between the look and the signal.
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    seen = treeMembers(tree, seen);
    if (seen.length === 0) return true;
    signalAll(tree, seen, 'SIGKILL');
    await areGone(seen, ROUND_MS);
  }
  return treeMembers(tree, seen).length === 0;
}

const ROUNDS_MAX = 20;
const ROUND_MS = 250;

function signalAll(tree: ProcessTree, members: readonly ProcessRow[], signal: NodeJS.Signals): void {
  const pgid = tree.child?.pid ?? null;
  if (pgid !== null && members.some((row) => row.pgid === pgid)) killGroup(pgid, signal);
  for (const row of members) if (row.pgid !== pgid) killProcess(row, signal);
}

async function areGone(members: readonly ProcessIdentity[], withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = 2; members.some(isAlive); pauseMs = Math.min(pauseMs * 2, 100)) {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return false;
    await sleep(Math.min(pauseMs, leftMs));
  }
  return true;
}

/**
 * Whether a row belongs to the child's group or session. The number of a group stays taken while it has members, but
 * once it had none it may have become somebody else's: then another process has the child's pid, or, when that
 * process has ended too, the members do not carry our mark.
 */
function groupTest({ child, mark, fresh }: ProcessTree, rows: readonly ProcessRow[]): (row: ProcessRow) => boolean {
  if (child === null || !isOfThisBoot(child)) return () => false;
  const leader = rows.find((row) => row.pid === child.pid);
  if (leader !== undefined && !isSame(leader, child)) return () => false;
  const certain = fresh || leader !== undefined || !HAS_PROC;
  return (row) => (row.pgid === child.pid || row.session === child.pid) && (certain || isMarked(row.pid, mark));
}

/** No descendant is older than the child, so that the variables of all others need not be read. */
function ageTest(child: ProcessIdentity | null): (row: ProcessRow) => boolean {
  const from = child === null || !isOfThisBoot(child) ? null : startOrder(child.startTime);
  return ({ startTime }) => from === null || (startOrder(startTime) ?? from) >= from;
}

function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.startTime === b.startTime;
}

function isMarked(pid: number, mark: string): boolean {
  if (!HAS_PROC) return false;
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`.includes(`\0${ATTEMPT_MARK}=${mark}\0`);
  } catch {
    return false; // It ended, or belongs to another user.
  }
}

/** Loaded when it is used: it takes as long to load as the rest of a short command. */
const crypto = () => process.getBuiltinModule('node:crypto');

const FILE = 'cgroup';
const GROUP_ROUNDS_MAX = 40;
const GROUP_ROUND_MS = 25;

/**
 * Makes the group and answers its folder, or null. The folder is kept in the attempt's folder first, so that an engine that
 * finds the attempt after a crash can end it.
 */
export function makeGroup(dir: string): string | null {
  // The numbers in the group must be those of `/proc`, in which all other processes are looked up.
  const parent = processNamespace() === null ? null : ownGroup();
  if (parent === null) return null;
  const group = path.join(parent, nameOf(dir));
  try {
    writeFileSync(path.join(dir, FILE), group, { mode: 0o600 });
    mkdirSync(group);
    return group;
  } catch {
    rmSync(path.join(dir, FILE), { force: true });
    return null; // It is not ours to change.
  }
}

/**
 * Starts something within the group: this process enters, starts it, and leaves. A child is in the group of its parent from
 * its first moment on.
 */
export function startWithin<T>(group: string | null, start: () => T): T {
  const home = group === null ? null : ownGroup();
  const isIn = home !== null && group !== null && enter(group);
  try {
    return start();
  } finally {
    if (isIn && home !== null) enter(home);
  }
}

/** The group of an attempt, if one was made; null otherwise. Only a folder that this attempt's group would have counts. */
export function groupOf(dir: string): string | null {
  try {
    const group = readFileSync(path.join(dir, FILE), 'utf8');
    return path.basename(group) === nameOf(dir) && path.isAbsolute(group) ? group : null;
  } catch {
    return null; // None was made.
  }
}

/** The processes in the group, and in groups that they made below it. */
export function membersOfGroup(group: string): readonly number[] {
  if (processNamespace() === null) return [];
  return foldersIn(group)
    .flatMap((folder) => pidsIn(folder))
    .filter((pid) => pid !== process.pid);
}

/** Ends every process of the attempt's group and removes it. False when something could not be ended. */
export async function endGroup(dir: string, group: string): Promise<boolean> {
  for (let round = 0; round < GROUP_ROUNDS_MAX; round += 1) {
    const members = membersOfGroup(group);
    if (members.length === 0 && isRemoved(group)) {
      rmSync(path.join(dir, FILE), { force: true });
      return true;
    }
    killAll(group, members);
    await sleep(GROUP_ROUND_MS);
  }
  return membersOfGroup(group).length === 0;
}

/** The folder of the group that this process is in; null where the system has no such groups, or hides them. */
export function ownGroup(
  membership = textOf('/proc/self/cgroup'),
  mounts = textOf('/proc/self/mountinfo'),
): string | null {
  const own = /^0::(\/.*)$/m.exec(membership)?.[1];
  if (own === undefined || own.startsWith('/..')) return null;
  for (const line of mounts.split('\n')) {
    const [fields = '', kind = ''] = line.split(' - ');
    const [, , , root = '', place = ''] = fields.split(' ');
    if (!kind.startsWith('cgroup2 ') || !`${own}/`.startsWith(root === '/' ? '/' : `${root}/`)) continue;
    return path.join(place, root === '/' ? own : own.slice(root.length)).replace(/\/$/, '');
  }
  return null;
}

/** One name for each attempt. It does not depend on anything that a process of the attempt could change. */
function nameOf(dir: string): string {
  return `baton-${crypto().hash('sha256', dir, 'hex').slice(0, 24)}`;
}

function enter(group: string): boolean {
  try {
    writeFileSync(path.join(group, 'cgroup.procs'), String(process.pid));
    return true;
  } catch {
    return false;
  }
}

function killAll(group: string, members: readonly number[]): void {
  try {
    // Not where we could not leave: that would end us too.
    if (ownGroup() !== group) return writeFileSync(path.join(group, 'cgroup.kill'), '1');
  } catch {
    // An older system; one by one then.
  }
  for (const pid of members) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

/** The group and all groups below it, the innermost first. */
function foldersIn(group: string): readonly string[] {
  try {
    const below = readdirSync(group, { withFileTypes: true }).filter((one) => one.isDirectory());
    return [...below.flatMap(({ name }) => foldersIn(path.join(group, name))), group];
  } catch {
    return []; // It is gone.
  }
}

function pidsIn(folder: string): readonly number[] {
  return textOf(path.join(folder, 'cgroup.procs'))
    .split('\n')
    .map(Number)
    .filter((pid) => Number.isSafeInteger(pid) && pid > 1);
}

function isRemoved(group: string): boolean {
  try {
    for (const folder of foldersIn(group)) rmdirSync(folder);
    return true;
  } catch {
    return false; // A zombie may still be in it.
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
