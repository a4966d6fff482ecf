// Whether an attempt that only an environment names can be believed: it runs now under a supervisor that is alive, and
// whoever names it shows the secret which that supervisor gave to its child and to nobody else.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseClaim } from '../agents/process/attempt-folder.ts';
import { isKeyOf, KEY } from '../agents/process/attempt-key.ts';
import { isAlive } from '../agents/process/process-identity.ts';

/** `dir` is the folder of the attempt that is named. */
export function isVouchedFor(dir: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const key = env[KEY] ?? '';
  return key !== '' && runsOf(dir).some((folder) => isKeyOf(folder, key) && isSupervised(folder));
}

/** An attempt that had to wait for its provider has several folders, each with a secret of its own. */
function runsOf(dir: string): readonly string[] {
  const own = basename(dir);
  try {
    const names = readdirSync(dirname(dir)).filter((name) => name === own || name.startsWith(`${own}.again-`));
    return names.map((name) => join(dirname(dir), name));
  } catch {
    return []; // No attempt was ever made here.
  }
}

function isSupervised(folder: string): boolean {
  try {
    const claim = parseClaim(readFileSync(join(folder, 'claim'), 'utf8'));
    return claim?.by === 'supervisor' && isAlive(claim);
  } catch {
    return false; // Nobody has taken it, or it was cleared away.
  }
}
