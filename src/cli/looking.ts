// What the commands that look at the log share: opening it, and naming a cast. Who acts is no question here; finding that out
// takes longer than looking.

import { nameCast as nameAny } from '../app/name-cast.ts';
import { asDamage, hasLog } from '../app/state-folder.ts';
import { Store } from '../app/store.ts';
import type { Door } from '../engine/door.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import { logFileIn, SqliteLog } from '../log/sqlite/log.ts';
import type { Workspace } from '../workspace/locate.ts';
import { type Call, UsageError } from './command.ts';
import { commandName } from './command-name.ts';
import { workspaceOf } from './find-workspace.ts';

/** Runs `work` on the log of the workspace; without one there are no casts, and nothing is created. */
export async function withDoor<T>(call: Call, work: (door: Store, workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = workspaceOf(call);
  if (!hasLog(workspace)) throw noCastYet(workspace);
  try {
    const door = new Store(new SqliteLog(logFileIn(workspace.stateDir)), workspace.dir);
    try {
      return await work(door, workspace);
    } finally {
      await door.close();
    }
  } catch (error) {
    throw asDamage(error, workspace);
  }
}

export function noCastYet({ dir }: Workspace): UsageError {
  return new UsageError(`no cast was ever run in ${dir}; start one with \`${commandName()} cast\``, 'UNKNOWN_CAST');
}

/** The cast a person means: an id, a beginning that only one has, or `latest`. */
export function nameCast(door: Door, word: string | undefined): Promise<CastSummary> {
  return nameAny(door, word, commandName());
}
