// The library: `openWorkspace` to work with a workspace from a program, and its parts for programs that combine them in their own way.
export { runners } from './agents/index.ts';
export type { ClaimedTask as Claim, OperationAnswer as Answer, ShownCast } from './api/methods.ts';
export type { CastEvent, WatchedNews as CastNews } from './api/open-workspace.ts';
export {
  type Actor,
  type CallOptions,
  type OpenWorkspace,
  openWorkspace,
  type WorkspaceSettings,
} from './api/open-workspace.ts';
export { emptyView, fold, type View } from './app/views/cast-view.ts';
export { type CastView, shownCast } from './app/views/shown-cast.ts';
export { dialects } from './dialects/index.ts';
export { Decider } from './engine/decider.ts';
export { Engine, type EngineOptions, type Runners } from './engine/drive.ts';
export { LocalStore } from './engine/local-store.ts';
export type { AttemptDirs as Place, AttemptResult, Log, Runner } from './engine/ports.ts';
export { StorageError } from './engine/ports.ts';
export type { CastChange as Change, Store, Submitter } from './engine/store.ts';
export { WorkerStore } from './engine/worker-store.ts';
export type { CastSummary } from './kernel/cast/summary.ts';
export { MemoryLog } from './log/memory.ts';
export { SqliteLog } from './log/sqlite/log.ts';
export { defineLoadout, type LoadoutFile } from './short-form/define.ts';
export { loadConfig } from './workspace/load-config.ts';
export { type LocatedWorkspace as Workspace, locate } from './workspace/locate.ts';
export { locateCast, type Plan } from './workspace/plan.ts';
