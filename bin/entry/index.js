// `baton-run`: a workspace for programs. The names stand here because an import has to find them without running anything.
import { own } from './own.js';

export const {
  Decider,
  Engine,
  LocalStore,
  MemoryLog,
  SqliteLog,
  StorageError,
  WorkerStore,
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
} = own('index');
