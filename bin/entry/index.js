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
  defineLoadout,
  dialects,
  emptyView,
  fold,
  loadConfig,
  locate,
  locateCast,
  openWorkspace,
  runners,
  shownCast,
  summaries,
} = own('index');
