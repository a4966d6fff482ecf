// Runs the promises of a log against every adapter.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLog } from '../../src/log/memory.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';
import { logFileIn } from '../../src/log/sqlite/open.ts';
import { logPromises } from './log.ts';

logPromises('in memory', () => {
  const log = new MemoryLog();
  return { open: () => log, remove() {} };
});

logPromises('SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-log-'));
  return {
    open: () => new SqliteLog(logFileIn(folder)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
});
