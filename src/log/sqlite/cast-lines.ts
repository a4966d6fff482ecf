// The lines of one cast, at once and without a log that is opened for longer.
import { existsSync } from 'node:fs';
import { CastIndex } from './cast-index.ts';
import { openForReading } from './open-to-read.ts';

/** None where there is no log. */
export function castLines(file: string, cast: string): readonly string[] {
  if (!existsSync(file)) return [];
  const db = openForReading(file);
  try {
    return new CastIndex(db).read(cast, 0, -1).map(({ line }) => line);
  } finally {
    db.close();
  }
}
