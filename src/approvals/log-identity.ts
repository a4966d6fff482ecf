// Tells a log apart from every copy of it: where it really lies, and which file it is there. An approval holds in the log it
// was asked in, because only there is it known whether it was used.
import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** As the log itself names it; what is judged here must not reach into how the log is kept. */
const LOG_FILE = 'log.sqlite';

export function logIdentity(stateDir: string): string {
  const file = join(stateDir, LOG_FILE);
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${realpathSync(file)}\n${dev}:${ino}`;
  } catch {
    return `${file}\nabsent`;
  }
}
