// Everything a child has left running, and the ending of it. A child leads its own session and group, but a descendant
// may have left both; it is then known by the attempt's folder in its environment, or by having been seen below the
// child before, or by the control group of the attempt. On a system without `/proc` only the group and what was seen is known.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { endGroup, membersOfGroup } from './cgroup.ts';
import {
  HAS_PROC,
  isAlive,
  isOfThisBoot,
  killGroup,
  killProcess,
  type ProcessIdentity,
  type ProcessRow,
  processTable,
  startOrder,
} from './process-identity.ts';

/** Every process of an attempt inherits this variable, with the attempt's folder as its value. */
export const ATTEMPT_MARK = 'BATON_ATTEMPT_DIR';

export type ProcessTree = {
  /** The child that was started, or null when it is not known whether there ever was one. */
  readonly child: ProcessIdentity | null;
  /** The value of `MARK` in the child's environment. */
  readonly mark: string;
  /** The control group of the attempt, where there is one. */
  readonly group?: string | null;
  /** The child was ours until a moment ago, so that its group cannot be somebody else's by now. */
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

/** Asks the whole tree to end, and after the grace makes it. False when something could not be ended. */
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
  // Again and again, because a process may start another one between the look and the signal.
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
