// What the commands that need the log share: opening it, naming a cast, saying who acts.
import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import type { Door } from '../engine/door.ts';
import { StorageError } from '../engine/storage-error.ts';
import { type CastSummary, summaries } from '../engine/summary.ts';
import { logFileIn, SqliteLog } from '../log/sqlite.ts';
import type { Workspace } from '../workspace/locate.ts';
import { type Call, UsageError } from './command.ts';
import { workspaceOf } from './find-workspace.ts';
import { LookingDoor } from './looking-door.ts';

/** Who acts: the user of the operating system, as it knows him; by number where it knows no name. */
export function person(): string {
  try {
    return `user:${userInfo().username}`;
  } catch {
    return `user:${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Whether a cast was ever started here. A state folder that cannot be looked into is a fault, not an absence. */
export function hasLog({ stateDir }: Workspace): boolean {
  try {
    if (statSync(logFileIn(stateDir), { throwIfNoEntry: false })) return true;
    const blocking = blockingFile(stateDir);
    if (blocking === null) return false;
    throw unusable(`${blocking} is a file where a folder is needed; move it away`);
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw unusable(`${stateDir} cannot be looked into; make it readable and writable for you`);
  }
}

function unusable(why: string): StorageError {
  return new StorageError('STORAGE_FAILED', `${why}, or point BATON_HOME elsewhere`);
}

/** The file that stands where the state folder, or a folder above it, would have to be. */
function blockingFile(stateDir: string): string | null {
  for (let at = stateDir; ; at = dirname(at)) {
    const found = statSync(at, { throwIfNoEntry: false });
    if (found) return found.isDirectory() ? null : at;
  }
}

/** Runs `work` on the log of the workspace; without one there are no casts, and nothing is created. */
export async function withDoor<T>(call: Call, work: (door: Door, workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = workspaceOf(call);
  if (!hasLog(workspace)) throw noCastYet(workspace);
  const door = new LookingDoor(new SqliteLog(logFileIn(workspace.stateDir)));
  try {
    return await work(door, workspace);
  } finally {
    await door.close();
  }
}

export function noCastYet({ dir }: Workspace): UsageError {
  return new UsageError(`no cast was ever run in ${dir}; start one with \`baton cast\``, 'UNKNOWN_CAST');
}

/** The cast a person means: an id, a beginning that only one has, or `latest`. */
export async function nameCast(door: Door, word: string | undefined): Promise<CastSummary> {
  const casts = await summaries(door);
  const newest = casts.at(-1);
  if (!newest) throw new UsageError('there is no cast yet; start one with `baton cast`', 'UNKNOWN_CAST');
  if (word === undefined || word === 'latest') return newest;
  const exact = casts.find(({ cast }) => cast === word);
  if (exact) return exact;
  const matching = word === '' ? [] : casts.filter(({ cast }) => cast.startsWith(word));
  if (matching.length === 1 && matching[0]) return matching[0];
  if (matching.length > 1)
    throw new UsageError(`${word} fits ${matching.length} casts: ${matching.map(({ cast }) => cast).join(', ')}`);
  throw new UsageError(`there is no cast ${word}; \`baton casts\` lists them`, 'UNKNOWN_CAST');
}
