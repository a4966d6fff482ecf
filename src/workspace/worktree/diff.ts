// What differs between two states of a repository: file by file, and as a patch.
import { git, records, tryGit } from './git.ts';

export type ChangedFile = {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted';
  /** Lines; null for a file that is no text. */
  readonly insertions: number | null;
  readonly deletions: number | null;
};

const STATUS: Readonly<Record<string, ChangedFile['status']>> = { A: 'added', D: 'deleted' };
const PLAIN = ['--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];

/** `to` is a commit or a tree. Paths are those of the repository. */
export async function filesBetween(folder: string, from: string, to: string): Promise<readonly ChangedFile[]> {
  const diff = ['diff', ...PLAIN, '-z'];
  const statuses = records(await git(folder, [...diff, '--name-status', from, to]));
  const counts = records(await git(folder, [...diff, '--numstat', from, to]));
  return counts.map((line, index) => {
    const [insertions = '-', deletions = '-', ...path] = line.split('\t');
    const status = STATUS[statuses[index * 2] ?? ''] ?? 'modified';
    return { path: path.join('\t'), status, insertions: lines(insertions), deletions: lines(deletions) };
  });
}

/** The patch from one to the other, which `git apply` takes. With `paths`, only of those, from the folder on. */
export async function patchBetween(folder: string, from: string, to: string | null, paths: readonly string[] = []) {
  const args = ['diff', ...PLAIN, '--binary', from, ...(to === null ? [] : [to])];
  const limited = paths.length === 0 ? args : ['--literal-pathspecs', ...args, '--', ...paths];
  return (await tryGit(folder, limited)).bytes;
}

function lines(count: string): number | null {
  return count === '-' ? null : Number(count);
}

/** As locks of the workspace name it; what lies outside of the workspace is no part of it. */
export function fromWorkspace(path: string, top: string, dir: string): string {
  const prefix = dir === top ? '' : `${dir.slice(top.length + 1)}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : '.';
}
