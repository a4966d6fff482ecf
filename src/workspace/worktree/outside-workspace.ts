// A workspace may lie below the top of its repository. Its turns are held to its folder, and no scope of theirs reaches the
// rest of the worktree. This finds what a turn changed there.
import { relative } from 'node:path';
import { git, records } from './git.ts';
import type { WorktreeRecord } from './record.ts';

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
