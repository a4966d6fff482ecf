// What the commands share: finding the workspace, opening its log, naming a cast.
import { userInfo } from 'node:os';
import { dialects } from '../dialects/index.ts';
import { Desk } from '../engine/desk.ts';
import { type Door, LocalDoor } from '../engine/door.ts';
import { type CastSummary, summaries } from '../engine/summary.ts';
import { hasLog, logFileIn, SqliteLog } from '../log/sqlite.ts';
import { locate, type Workspace } from '../workspace/locate.ts';
import { type Call, text, UsageError } from './command.ts';

export function workspaceOf(call: Call): Workspace {
  const dir = text(call.values, 'directory');
  const workspace = locate(dir, call.env, call.cwd);
  if (!workspace) throw new UsageError(`there is no folder ${dir}`);
  return workspace;
}

/** Like `workspaceOf`, but the current directory itself: for commands that make a workspace. */
export function workspaceAt(call: Call): Workspace {
  const dir = text(call.values, 'directory') ?? call.cwd;
  const workspace = locate(dir, call.env, call.cwd);
  if (!workspace) throw new UsageError(`there is no folder ${dir}`);
  return workspace;
}

/** Who acts: the user of the operating system, as it knows him. */
export function person(): string {
  return `user:${userInfo().username}`;
}

/** Opens the log in this thread: right for a command that asks or says one thing. */
export async function openDoor(workspace: Workspace): Promise<Door> {
  return new LocalDoor(await Desk.open(new SqliteLog(logFileIn(workspace.stateDir)), dialects));
}

/** Runs `work` on the log of the workspace; without one there are no casts, and nothing is created. */
export async function withDoor<T>(call: Call, work: (door: Door, workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = workspaceOf(call);
  if (!hasLog(workspace.stateDir))
    throw new UsageError(`no cast was ever run in ${workspace.dir}; start one with \`baton cast\``);
  const door = await openDoor(workspace);
  try {
    return await work(door, workspace);
  } finally {
    await door.close();
  }
}

/** The cast a person means: an id, a beginning that only one has, or `latest`. */
export async function nameCast(door: Door, word: string | undefined): Promise<CastSummary> {
  const casts = await summaries(door);
  const newest = casts.at(-1);
  if (!newest) throw new UsageError('there is no cast yet; start one with `baton cast`');
  if (word === undefined || word === 'latest') return newest;
  const exact = casts.find(({ cast }) => cast === word);
  if (exact) return exact;
  const matching = casts.filter(({ cast }) => cast.startsWith(word));
  if (matching.length === 1 && matching[0]) return matching[0];
  if (matching.length > 1)
    throw new UsageError(`${word} fits ${matching.length} casts: ${matching.map(({ cast }) => cast).join(', ')}`);
  throw new UsageError(`there is no cast ${word}; \`baton casts\` lists them`);
}
