// Which attempt this process was started by, told by the processes above it and by nothing that an agent could choose: an
// agent may rewrite its own environment and start what looks like a supervisor, and both lie below the supervisor that it
// really has. So the outermost one counts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { supervisedFolder } from '../agents/inside-attempt.ts';
import { type Claim, parseClaim } from '../agents/process/attempt-folder.ts';
import { type AttemptName, attemptNamed } from '../agents/process/attempt-name.ts';
import { ancestorsOf, commandOf, type ProcessRow } from '../agents/process/process-identity.ts';

export type AttemptAbove = AttemptName;

/** Null where no supervisor is among the processes above. */
export function attemptAbove(pid = process.pid): AttemptAbove | null {
  for (const above of ancestorsOf(pid).toReversed()) {
    const folder = supervisedFolder(commandOf(above.pid));
    const claim = folder === null ? null : claimIn(folder);
    if (folder !== null && isHeldBy(claim, above)) return attemptNamed(folder);
  }
  return null;
}

function claimIn(folder: string): Claim | null {
  try {
    return parseClaim(readFileSync(join(folder, 'claim'), 'utf8'));
  } catch {
    return null;
  }
}

function isHeldBy(claim: Claim | null, { pid, startTime }: ProcessRow): boolean {
  return claim?.by === 'supervisor' && claim.pid === pid && claim.startTime === startTime;
}
