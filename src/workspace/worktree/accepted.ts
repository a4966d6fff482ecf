// How far the branch of a cast was accepted. An agent may commit by itself and under any name, so it is the record that
// tells, never the author: what comes after the commit that the branch was put to last belongs to a turn that is open.
import { type PutAside, putAside } from './aside.ts';
import { commitOf, git } from './git.ts';
import type { WorktreeRecord } from './record.ts';
import { dropStaleLock } from './turns.ts';

export type IsTurn = (turn: string) => boolean;

/** The last commit of the branch that was accepted; null where all of it was, and the branch is gone. */
export async function acceptedTip(record: WorktreeRecord, isOpen: IsTurn): Promise<string | null> {
  const turn = Object.keys(record.starts).find(isOpen);
  const accepted = turn === undefined ? null : acceptedIn(record, turn);
  return accepted ?? commitOf(record.top, `refs/heads/${record.branch}`);
}

/** A record of an older version knows only where the turn began. */
function acceptedIn({ accepted, starts }: WorktreeRecord, turn: string): string | null {
  return accepted ?? starts[turn] ?? null;
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
  const { folder, top, branch } = record;
  const open = Object.keys(record.starts).filter(isOpen);
  const turn = open.at(-1);
  if (turn === undefined || !open.every(isRefused)) return null;
  const accepted = acceptedIn(record, turn);
  const ref = `refs/heads/${branch}`;
  const tip = await commitOf(top, ref);
  if (accepted === null || (await commitOf(top, accepted)) === null) return null;
  if (tip === accepted && (await commitOf(folder, 'HEAD')) === accepted) return null;
  await dropStaleLock(folder);
  // An agent may have removed the branch, and with it what HEAD stands for.
  if (tip === null) await git(top, ['update-ref', '-m', 'baton', ref, accepted]);
  const what = `What turn ${turn} committed before it was refused`;
  const aside = await putAside(stateDir, record, Number(turn), accepted, what, tip === null ? [] : [tip]);
  await git(folder, ['symbolic-ref', 'HEAD', ref]);
  await git(folder, ['reset', '-q', '--mixed', accepted]);
  return aside;
}
