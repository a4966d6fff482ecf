// What a turn leaves in a worktree that no commit of its branch can hold: repositories of their own, submodules with work that
// nobody else would find, and files in the place of submodules that are not checked out. It would be gone with the worktree, so it is no work that could be accepted.
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Change, Snapshot } from './changes.ts';
import { faultOfLink, saidOfRepository, saidOfVacant } from './worktree/links.ts';
import { withoutIgnored } from './worktree/stage.ts';

/** By path, why it cannot be kept and what can be done about it. */
export async function unkeptIn(
  root: string,
  since: Snapshot,
  after: Snapshot,
  changes: readonly Change[],
): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  const strangers = (after.repositories ?? []).map((path) => path.slice(0, -1));
  for (const path of await withoutIgnored(root, strangers)) found[path] = saidOfRepository(path);
  const there = changes.filter(({ digest }) => digest !== null).map(({ path }) => path);
  for (const vacant of after.vacant ?? []) {
    const files = there.filter((path) => path.startsWith(`${vacant}/`));
    for (const path of files) found[path] = saidOfVacant(vacant, files);
  }
  const [prefix, head] = [after.git?.prefix ?? '', since.git?.head ?? null];
  if (head === null) return found;
  const top = root.slice(0, root.length - prefix.length);
  for (const { path, digest } of changes) {
    // Git's own files lie in no worktree.
    if (path.startsWith('.git/') || !mayBeLink(join(root, path), digest)) continue;
    const fault = await faultOfLink(top, `${prefix}${path}`, head);
    if (fault !== null) found[path] = fault;
  }
  return found;
}

/** A folder in the place of a file may stand for another repository. */
function mayBeLink(file: string, digest: string | null): boolean {
  if (digest?.startsWith('module:')) return true;
  return digest === null && lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}
