// When the first attempt of a cast started, since the machine was booted. The folder of an attempt is removed with the
// attempt; a process that the attempt left behind may outlive both. So the first start is kept, per cast and for the whole
// workspace. No process survives a reboot, so starts before the boot are dropped.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attemptNamed, parseClaim } from './attempt-folder.ts';
import { isOfThisBoot, type ProcessIdentity, processNamespace, startOrder } from './process-identity.ts';

export type FirstAttempt = {
  /** Comparable with `startOrder` of any process of this boot. */
  readonly start: number;
  /** The process namespace of the engine that started the attempt; null if unknown. */
  readonly namespace: string | null;
};

const FOLDER = 'first-attempts';
/** The file for the whole workspace. The id of a cast begins with a digit. */
const ALL = 'all';

/** Keeps the start of this attempt's supervisor if it is the first one. An attempt never fails because of this. */
export function noteFirstAttempt(dir: string, { startTime }: Pick<ProcessIdentity, 'startTime'>): void {
  const name = attemptNamed(dir);
  if (name === null) return;
  const folder = join(name.stateDir, FOLDER);
  try {
    // A record of an earlier boot says that all of them are.
    if (readStartRecord(folder, ALL) === null) rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const file of [ALL, name.cast]) keepEarlier(folder, file, startTime);
  } catch {
    // The claim in the attempt's folder, and the log, still tell when it started.
  }
}

/** The first attempt of a cast in this boot, or of all casts of the workspace where `cast` is null; null for none. */
export function firstAttemptOf(stateDir: string, cast: string | null): FirstAttempt | null {
  const kept = readStartRecord(join(stateDir, FOLDER), cast ?? ALL);
  const starts = claimsOf(stateDir, cast);
  if (kept === null && starts.length === 0) return null;
  return { start: Math.min(kept?.start ?? Number.POSITIVE_INFINITY, ...starts), namespace: kept?.namespace ?? null };
}

function keepEarlier(folder: string, file: string, startTime: string): void {
  const start = startOrder(startTime);
  const kept = readStartRecord(folder, file);
  if (start === null || (kept !== null && kept.start <= start)) return;
  const draft = join(folder, `.${file}.${process.pid}`);
  writeFileSync(draft, startRecord({ startTime }), { mode: 0o600 });
  renameSync(draft, join(folder, file));
}

export function startRecord({ startTime }: Pick<ProcessIdentity, 'startTime'>): string {
  return JSON.stringify({ startTime, namespace: processNamespace() });
}

/** Null for no record, and for one of an earlier boot. */
export function readStartRecord(folder: string, file: string): FirstAttempt | null {
  try {
    const { startTime, namespace } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const start = startOrder(String(startTime));
    if (start === null || !isOfThisBoot({ pid: 0, startTime: String(startTime) })) return null;
    return { start, namespace: typeof namespace === 'string' ? namespace : null };
  } catch {
    return null;
  }
}

/** The starts of the attempts whose folders are still there. */
function claimsOf(stateDir: string, cast: string | null): readonly number[] {
  const attempts = join(stateDir, 'attempts');
  return filesIn(attempts).flatMap((name) => {
    if (cast !== null && attemptNamed(join(attempts, name))?.cast !== cast) return [];
    const claim = supervisorOf(join(attempts, name));
    return claim !== null && isOfThisBoot(claim) ? (startOrder(claim.startTime) ?? []) : [];
  });
}

/** The supervisor that holds the folder of an attempt. */
export function supervisorOf(folder: string): ProcessIdentity | null {
  try {
    const claim = parseClaim(readFileSync(join(folder, 'claim'), 'utf8'));
    return claim?.by === 'supervisor' ? claim : null;
  } catch {
    return null; // It has none yet, or was cleared away.
  }
}

export function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
