// How far the branch of a cast was accepted. An agent may commit by itself and under any name, so it is the record that
// tells, never the author: what comes after the commit that the branch was put to last belongs to a turn that is open. And it
// may move the branch by itself: what was accepted stays on it, whatever git was told.
import { type PutAside, putAside } from './aside.ts';
import { commitOf, dropStaleLock, git, tryGit } from './git.ts';
import { isIn } from './merge.ts';
import type { WorktreeRecord } from './record.ts';
import { type Position, positionOf, refuseGone, tipOf } from './tip.ts';

export type IsTurn = (turn: string) => boolean;

/** The last commit of the branch that was accepted. */
export async function acceptedTip(record: WorktreeRecord, isOpen: IsTurn): Promise<string> {
  const turn = Object.keys(record.starts).find(isOpen);
  const accepted = turn === undefined ? null : acceptedIn(record, turn);
  if (accepted === null) return tipOf(record);
  return (await commitOf(record.top, accepted)) ?? refuseGone(record);
}

/** A record of an older version knows only where the turn began. */
function acceptedIn({ accepted, starts }: WorktreeRecord, turn: string): string | null {
  return accepted ?? starts[turn] ?? null;
}

export type Held = { readonly at: Position; readonly aside: PutAside | null };

/**
 * The branch as it has to be before anything is put on it: it has what was accepted. What an agent committed on it or on top
 * of it stays; a branch that was removed or moved elsewhere comes back, and what was committed elsewhere is put aside. The
 * files stay as they are.
 */
export async function holdAccepted(stateDir: string, record: WorktreeRecord, turn: number): Promise<Held> {
  const { folder, top, accepted } = record;
  const at = await positionOf(record);
  const { tip, head } = at;
  if (accepted === undefined || (tip === accepted && head === accepted)) return { at, aside: null };
  const what = `What turn ${turn} committed beside ${record.branch}`;
  if (await isIn(top, accepted, tip)) {
    if (tip === head || (await isIn(folder, tip, head))) return { at, aside: null };
    const aside = (await isIn(folder, head, tip)) ? null : await putAside(stateDir, record, turn, tip, what);
    return { at: { tip, head: tip }, aside };
  }
  if ((await commitOf(top, accepted)) === null) refuseGone(record);
  if (isAlone(record, turn)) dropStaleLock(folder);
  const aside = await putBack(stateDir, record, turn, accepted, what, tip);
  return { at: { tip: accepted, head: accepted }, aside };
}

/** What others may begin from: where a turn is open in the folder, what it committed itself is no part of it. */
export function acceptedPart({ open, accepted }: WorktreeRecord, tip: string): string {
  return Object.keys(open).length === 0 ? tip : (accepted ?? tip);
}

/** Whether no other turn works in the same folder. */
export function isAlone({ open }: WorktreeRecord, turn: number): boolean {
  return Object.keys(open).every((each) => each === `${turn}`);
}

/** The branch goes back to a commit; what it had, and what differs from it, is put aside. The files stay as they are. */
export async function putBack(
  stateDir: string,
  record: WorktreeRecord,
  turn: number,
  to: string,
  what: string,
  tip: string,
): Promise<PutAside | null> {
  const { folder, branch } = record;
  const aside = await putAside(stateDir, record, turn, to, what, [tip]);
  await git(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
  // An agent beside may hold the index for a moment; it only lags behind then.
  if ((await tryGit(folder, ['reset', '-q', '--mixed', to])).code !== 0) {
    await git(folder, ['update-ref', '-m', 'baton', `refs/heads/${branch}`, to]);
  }
  return aside;
}

/**
 * What an agent committed itself in a turn that was refused for good is taken off the branch, and put aside; the files stay
 * as they are. While a turn may still be mended nothing is moved under its agent.
 */
export async function takeOffRefused(
  stateDir: string,
  record: WorktreeRecord,
  isRefused: IsTurn,
  isOpen: IsTurn,
): Promise<PutAside | null> {
  const open = Object.keys(record.starts).filter(isOpen);
  const turn = open.at(-1);
  if (turn === undefined || !open.every(isRefused)) return null;
  const accepted = acceptedIn(record, turn);
  const { tip, head } = await positionOf(record);
  if (accepted === null || (tip === accepted && head === accepted)) return null;
  if ((await commitOf(record.top, accepted)) === null) refuseGone(record);
  dropStaleLock(record.folder);
  const what = `What turn ${turn} committed before it was refused`;
  return putBack(stateDir, record, Number(turn), accepted, what, tip);
}
