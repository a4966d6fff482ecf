// The log for a process that drives a cast: it lies behind a thread of its own, so that agents and screens never wait for a
// disk.
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import type { Store, Submitter } from '../../engine/store.ts';
import { WorkerStore } from '../../engine/worker-store.ts';
import { logFileIn } from '../../log/sqlite/open.ts';
import { bringIntoForce } from '../registry-in-force.ts';
import { asDamage, makeStateFolder } from '../state-folder.ts';
import type { Workspace } from '../workspace.ts';

export async function withDriver<T>(
  workspace: Workspace,
  actor: Submitter,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  // A state folder that cannot be used is told in better words here than by whoever fails to open a file in it.
  makeStateFolder(workspace);
  try {
    const store = await withCompileCache(() => WorkerStore.open(logFileIn(workspace.stateDir), workspace.dir));
    try {
      await bringIntoForce(store, workspace, actor);
      return await work(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    throw asDamage(error, workspace);
  }
}

/**
 * A thread uses the compiled code of earlier runs only if it finds the cache named in its environment when it starts,
 * and starts several times slower without it. What we start later must not inherit the name.
 */
function withCompileCache<T>(startThread: () => T): T {
  const cache = getCompileCacheDir();
  if (cache === undefined || process.env.NODE_COMPILE_CACHE !== undefined) return startThread();
  process.env.NODE_COMPILE_CACHE = dirname(cache);
  try {
    return startThread();
  } finally {
    delete process.env.NODE_COMPILE_CACHE;
  }
}
