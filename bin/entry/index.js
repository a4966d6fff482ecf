// `baton`: a workspace for programs. The names stand here because an import has to find them without running anything.
import { own } from './own.js';

export const {
  Desk,
  Engine,
  LocalDoor,
  MemoryLog,
  SqliteLog,
  StorageError,
  WorkerDoor,
  dialects,
  loadConfig,
  locate,
  locateCast,
  openWorkspace,
  runners,
  summaries,
  viewOf,
} = own('index');
