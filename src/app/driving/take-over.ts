// Taking a cast over from a process that is gone: what is left of its programs is looked at, and the rules judge what was in
// progress before anything is dispatched again.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readClaim, readExit } from '../../agents/process/attempt-folder.ts';
import { isAlive } from '../../agents/process/process-identity.ts';
import type { Driver } from '../../engine/driver.ts';
import type { Store } from '../../engine/store.ts';
import { ENGINE } from '../../engine/store.ts';

export async function takeOver(store: Store, stateDir: string, cast: string, { host, pid }: Driver): Promise<void> {
  const state = await store.view('cast', cast);
  if (state?.status !== 'running') return;
  const seen: Record<number, 'running' | 'answered'> = {};
  for (const { id, attempt, phase } of Object.values(state.turns)) {
    if (phase !== 'running') continue;
    const found = await stateOf(newestRun(join(stateDir, 'attempts', `${cast}-${id}.${attempt}`)));
    if (found !== null) seen[id] = found;
  }
  await store.submit({ kind: 'cast.recover', cast, driver: { host, pid }, seen }, ENGINE);
}

/** Where a provider asked for patience, its program was run again in a folder beside the first. */
function newestRun(dir: string): string {
  let newest = dir;
  for (let run = 1; existsSync(`${dir}.again-${run}`); run += 1) newest = `${dir}.again-${run}`;
  return newest;
}

async function stateOf(dir: string): Promise<'running' | 'answered' | null> {
  const claim = await readClaim(dir);
  if (claim?.by !== 'supervisor') return null;
  if (isAlive(claim)) return 'running';
  return (await readExit(dir)) === null ? null : 'answered';
}
