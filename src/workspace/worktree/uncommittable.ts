// What a turn leaves that no commit of its branch can hold: repositories of their own, submodules with work found nowhere else,
// files in the place of a submodule, and changes outside of the workspace's folder.
import { lstatSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Change, Snapshot } from '../changes.ts';
import { withoutIgnored } from './aside.ts';
import { git, records } from './git.ts';
import { faultOfLink, saidOfRepository, saidOfVacant } from './nested-repositories.ts';
import type { WorktreeRecord } from './record.ts';

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

// A workspace may lie below the top of its repository. Its turns are held to its folder, and no scope of theirs reaches the
// rest of the worktree. This finds what a turn changed there.
const CHANGED = ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--no-textconv'];
const NEW = ['ls-files', '--others', '--exclude-standard', '-z'];

/** By path from the workspace, why it is refused. Empty where the workspace is the whole worktree. */
export async function changedOutside(
  { folder, cwd, starts, accepted }: WorktreeRecord,
  turn: number,
): Promise<Readonly<Record<string, string>>> {
  const start = starts[turn] ?? accepted;
  if (cwd === folder || start === undefined) return {};
  const outside = ['--', '.', `:(exclude,literal)${relative(folder, cwd)}`];
  // Looking must not get in the way of an agent that uses git at the same moment.
  const env = { GIT_OPTIONAL_LOCKS: '0' };
  const asked = [git(folder, [...CHANGED, start, ...outside], { env }), git(folder, [...NEW, ...outside], { env })];
  const paths = (await Promise.all(asked)).flatMap(records).map((path) => relative(cwd, `${folder}/${path}`));
  return Object.fromEntries(paths.map((path) => [path, saidOf(path)]));
}

function saidOf(path: string): string {
  return `it changed ${JSON.stringify(path)}, which lies outside the folder of the workspace; take the change back, or make it in a workspace that holds the file`;
}
