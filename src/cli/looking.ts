// What the commands that look at the log share: opening it, and naming a cast. Who acts is no question here; finding that out
// takes longer than looking.

import type { Door } from '../engine/door.ts';
import { type CastSummary, summaries } from '../engine/summary.ts';
import { logFileIn, SqliteLog } from '../log/sqlite.ts';
import type { Workspace } from '../workspace/locate.ts';
import { type Call, UsageError } from './command.ts';
import { commandName } from './command-name.ts';
import { workspaceOf } from './find-workspace.ts';
import { LookingDoor } from './looking-door.ts';
import { asDamage, hasLog } from './state-folder.ts';

/** Runs `work` on the log of the workspace; without one there are no casts, and nothing is created. */
export async function withDoor<T>(
  call: Call,
  work: (door: LookingDoor, workspace: Workspace) => Promise<T>,
): Promise<T> {
  const workspace = workspaceOf(call);
  if (!hasLog(workspace)) throw noCastYet(workspace);
  try {
    const door = new LookingDoor(new SqliteLog(logFileIn(workspace.stateDir)), workspace.dir);
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
export async function nameCast(door: Door, word: string | undefined): Promise<CastSummary> {
  const casts = await summaries(door);
  const newest = casts.at(-1);
  if (!newest) throw new UsageError(`there is no cast yet; start one with \`${commandName()} cast\``, 'UNKNOWN_CAST');
  if (word === undefined || word === 'latest') return newest;
  const exact = casts.find(({ cast }) => cast === word);
  if (exact) return exact;
  const matching = word === '' ? [] : casts.filter(({ cast }) => cast.startsWith(word));
  if (matching.length === 1 && matching[0]) return matching[0];
  if (matching.length > 1)
    throw new UsageError(`${word} fits ${matching.length} casts: ${matching.map(({ cast }) => cast).join(', ')}`);
  throw new UsageError(`there is no cast ${word}; \`${commandName()} casts\` lists them`, 'UNKNOWN_CAST');
}
