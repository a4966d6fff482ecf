// Which attempt this process was started by, told by the processes above it and by nothing that an agent could choose: an
// agent may rewrite its own environment and start what looks like a supervisor, and both lie below the supervisor that it
// really has. So the outermost one counts.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { supervisedFolder } from '../agents/inside-attempt.ts';
import { type Claim, parseClaim } from '../agents/process/attempt-folder.ts';
import { ancestorsOf, commandOf, type ProcessRow } from '../agents/process/process-identity.ts';

export type AttemptAbove = {
  readonly cast: string;
  readonly turn: number;
  readonly attempt: number;
  /** The state folder of the workspace whose attempt it is. */
  readonly stateDir: string;
};

/** Null where no supervisor is among the processes above. */
export function attemptAbove(pid = process.pid): AttemptAbove | null {
  for (const above of ancestorsOf(pid).toReversed()) {
    const folder = supervisedFolder(commandOf(above.pid));
    const claim = folder === null ? null : claimIn(folder);
    if (folder !== null && isHeldBy(claim, above)) return attemptIn(folder);
  }
  return null;
}

const NAME = /^(.{1,200})-([1-9][0-9]{0,8})\.([1-9][0-9]{0,8})(?:\.again-[0-9]{1,9})?$/;

/** The attempt whose folder this is, by its name. An attempt that had to wait for its provider has several. */
export function attemptIn(folder: string): AttemptAbove | null {
  const [, cast, turn, attempt] = NAME.exec(basename(folder)) ?? [];
  if (cast === undefined || basename(dirname(folder)) !== 'attempts') return null;
  return { cast, turn: Number(turn), attempt: Number(attempt), stateDir: dirname(dirname(folder)) };
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
