// Whether this process was left to the system by something that began after an agent did. An agent can cut a process off
// from everything above it; what cannot be cut off is when it began and that nobody sits before it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseClaim } from '../agents/process/attempt-folder.ts';
import { ancestorsOf, HAS_PROC, type Identity, isAlive, rowFromStat } from '../agents/process/process-identity.ts';

/** Only where the system tells of terminals and starts; elsewhere nobody is suspected. */
export function isLeftBehind(stateDir: string, pid = process.pid): boolean {
  const stat = HAS_PROC ? statOf(pid) : null;
  const own = stat === null ? null : rowFromStat(pid, stat);
  if (stat === null || own === null || hasTerminal(stat)) return false;
  const top = ancestorsOf(pid).at(-1) ?? own;
  if (top.ppid !== 1) return false;
  return supervisorsIn(stateDir).some((supervisor) => isLater(top, supervisor) && isAlive(supervisor));
}

/** The seventh field of the line is the number of the terminal, or 0. */
export function hasTerminal(stat: string): boolean {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4] !== '0';
}

/** Whether one began after another. Starts are counted from when the machine was started, and that is in both. */
export function isLater(one: Pick<Identity, 'startTime'>, other: Pick<Identity, 'startTime'>): boolean {
  const [boot, ticks] = one.startTime.split('/');
  const [otherBoot, otherTicks] = other.startTime.split('/');
  return boot === otherBoot && Number(ticks) > Number(otherTicks);
}

function supervisorsIn(stateDir: string): readonly Identity[] {
  const folder = join(stateDir, 'attempts');
  return namesIn(folder).flatMap((name) => {
    try {
      const claim = parseClaim(readFileSync(join(folder, name, 'claim'), 'utf8'));
      return claim?.by === 'supervisor' ? [claim] : [];
    } catch {
      return []; // It has none yet, or was cleared away.
    }
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function statOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
}
