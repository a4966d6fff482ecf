// The workspace of the attempt that this process belongs to. An agent may go to any folder; what it was allowed is kept where
// its cast is, and what it tries elsewhere is compared and noted there.
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { attemptAbove } from '../access/attempt.ts';
import { locate, type Workspace } from '../workspace/locate.ts';
import type { Call } from './command.ts';

/** Null where no attempt is above, or where its workspace cannot be found. */
export function ownWorkspace(env: NodeJS.ProcessEnv): Workspace | null {
  const above = attemptAbove();
  if (!above) return null;
  // What the environment names may be made up: it has to be the one whose state the attempt above lies in.
  const named = [env.BATON_WORKSPACE ?? '', dirname(dirname(above.stateDir))].filter((dir) => dir.startsWith('/'));
  const found = named.map((dir) => locate(dir, env, dir));
  return found.find((one) => one !== null && isSameFolder(one.stateDir, above.stateDir)) ?? null;
}

/** The same call in the workspace of the attempt that makes it, wherever that has gone to. */
export function atHome(call: Call): Call {
  const own = ownWorkspace(call.env);
  return own ? { ...call, cwd: own.dir, values: { ...call.values, directory: own.dir } } : call;
}

function isSameFolder(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
