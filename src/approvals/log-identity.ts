// Tells a log apart from every copy of it: where it really lies, and which file it is there. An approval holds in the log it
// was asked in, because only there is it known whether it was used.
import { realpathSync, statSync } from 'node:fs';
import { logFileIn } from '../log/sqlite.ts';

export function logIdentity(stateDir: string): string {
  const file = logFileIn(stateDir);
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${realpathSync(file)}\n${dev}:${ino}`;
  } catch {
    return `${file}\nabsent`;
  }
}
