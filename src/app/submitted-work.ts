// The project's checks when an agent hands in its work by tool call: what is red goes back to it while it still has its session.
import { revealed } from '../agents/hidden-texts.ts';
import { openSealKey } from '../approvals/seal.ts';
import { type Cast, type Turn, type TurnCheck, walkOf } from '../kernel/cast/state.ts';
import { checkersAt } from '../kernel/graph/config.ts';
import { hasOwnPaths } from '../kernel/graph/route.ts';
import { aboutTurn, checkProject, type Passes, passesIn } from '../workspace/checkers.ts';
import { changedSoFar } from '../workspace/witness.ts';
import { readLane, readRecord } from '../workspace/worktree/record.ts';
import { leaveUnchanged, worktreeOfOne } from '../workspace/worktree/restore-path.ts';
import type { Workspace } from './workspace.ts';

/** `about` names the files as they were checked. */
export type SubmittedWork = { readonly about: string; readonly checks: readonly TurnCheck[] };

/** Null where nothing is to be checked, or where it cannot be told what changed: then it is checked after the turn. */
export async function checkSubmitted(
  workspace: Workspace,
  cast: Cast,
  turn: Turn,
  signal: AbortSignal,
): Promise<SubmittedWork | null> {
  const names = checkersAt(cast.rules.checkers, 'turn');
  if (names.length === 0 || !hasOwnPaths(cast.rules, turn.socket)) return null;
  const cwd = folderOf(workspace, cast, turn);
  const checkers = revealed(cast.rules.checkers, workspace.stateDir, cast.id);
  if (cwd === null || checkers === null) return null;
  const changes = await changedSoFar(workspace, { cast: cast.id, turn: turn.id }, cwd);
  if (changes === null || Object.keys(changes).length === 0) return null;
  const about = aboutTurn(cast.id, turn.id, changes);
  const scene = { root: cwd, changes: Object.keys(changes), signal };
  const passes = passesOf(workspace);
  const place = walkOf(cast, turn)?.place ?? null;
  const worktree = { cast: cast.id, place, isBeside: turn.lane !== null };
  const record = cwd === workspace.dir ? null : worktreeOfOne(workspace.stateDir, worktree);
  const check = () => checkProject(names, checkers, scene, { about, passes });
  return { about, checks: (await leaveUnchanged(workspace.stateDir, record, check)).value };
}

/** Sealed with the user's key, which is looked for when it is needed. Without one every check runs again. */
export function passesOf({ stateDir, env }: Pick<Workspace, 'stateDir' | 'env'>): Passes {
  const passes = () => {
    const key = openSealKey(env);
    return 'allow' in key ? null : passesIn(stateDir, (text) => key.seal('check-pass', text));
  };
  return { has: (what) => passes()?.has(what) ?? false, add: (what) => passes()?.add(what) };
}

function folderOf({ dir, stateDir }: Workspace, cast: Cast, turn: Turn): string | null {
  if (cast.root === undefined) return dir;
  const place = walkOf(cast, turn)?.place;
  const record = place === undefined ? readRecord(stateDir, cast.id) : readLane(stateDir, cast.id, place);
  return record?.cwd ?? null;
}
