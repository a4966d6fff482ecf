// What a turn that is open has committed itself, while others that are accepted come onto the same branch: it stays after
// them, so that it is neither accepted with them nor lost.
import { putBack } from './accepted.ts';
import type { PutAside } from './aside.ts';
import { AUTHOR, git } from './git.ts';
import { isIn, joinTrees } from './merge.ts';
import type { WorktreeRecord } from './record.ts';

export type Carried = { readonly tip: string; readonly aside: PutAside | null };

/**
 * Where the branch, which is at `tip`, has to be for `to` to be accepted: there, or at both together where it has more than
 * was accepted. What cannot be joined is put aside; its files stay.
 */
export async function carryOpen(
  stateDir: string,
  record: WorktreeRecord,
  to: string,
  tip: string,
  turn: number,
): Promise<Carried> {
  const { top, folder, accepted, cast } = record;
  if (accepted === undefined || tip === accepted || (await isIn(top, tip, to))) return { tip: to, aside: null };
  const joined = await joinTrees(top, to, tip);
  if (joined.files.length > 0) {
    const what = 'What an open turn had committed in the way of what was accepted beside it';
    return { tip: to, aside: await putBack(stateDir, record, turn, accepted, what, tip) };
  }
  // What was accepted comes first, so that one step back from here takes back what is not.
  const input = `What is not accepted yet, on top of what is\n\nBaton-Cast: ${cast}\n`;
  const commit = await git(folder, ['commit-tree', joined.tree, '-p', to, '-p', tip], { input, env: AUTHOR });
  return { tip: commit, aside: null };
}
