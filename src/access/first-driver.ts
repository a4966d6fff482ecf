// When this user first drove a cast, since the machine was booted. Tokens belong to no workspace, so the attempts of one
// workspace do not tell which processes are too young to make one. Every attempt is younger than its driver.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FirstAttempt, readRecord, recordOf } from '../agents/process/first-attempt.ts';
import { ownIdentity } from '../agents/process/process-identity.ts';
import { userFolder } from './user-folder.ts';

const FILE = 'first-driver';

/** A cast never fails because of this. */
export function noteDriver(env: NodeJS.ProcessEnv): void {
  const folder = userFolder(env);
  if (firstDriverOf(folder) !== null) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, FILE), recordOf(ownIdentity()), { mode: 0o600 });
  } catch {
    // A folder that cannot be written takes no token either.
  }
}

/** The first driver of this boot, in the form of a first attempt; null for none. */
export function firstDriverOf(user: string): FirstAttempt | null {
  return readRecord(user, FILE);
}
