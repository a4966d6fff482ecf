// Erased text leaves the log with its row. Copies of it stay in the bytes of the file: in the journal, and in free pages where
// an old snapshot lay.
import { DatabaseSync } from 'node:sqlite';

const BUSY_TIMEOUT_MS = 5_000;

/** Writes the whole file again without its free space, and empties the journal. */
export function overwriteErased(file: string): void {
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE);');
  } finally {
    db.close();
  }
}
