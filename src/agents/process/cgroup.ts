// A control group for the processes of one attempt, where the system lets us make one. A process cannot leave its group by
// starting a session, emptying its environment or losing its parent, so ending the group ends what all other means miss. It
// is one more net and never a condition: where it cannot be made, the attempt runs without it.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processNamespace } from './process-identity.ts';

/** Loaded when it is used: it takes as long to load as the rest of a short command. */
const crypto = () => process.getBuiltinModule('node:crypto');

const FILE = 'cgroup';
const ROUNDS_MAX = 40;
const ROUND_MS = 25;

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
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const members = membersOfGroup(group);
    if (members.length === 0 && isRemoved(group)) {
      rmSync(path.join(dir, FILE), { force: true });
      return true;
    }
    killAll(group, members);
    await sleep(ROUND_MS);
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
