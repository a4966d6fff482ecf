// What was really changed in a folder between two moments, whatever anybody reports. In a git repository only what differs
// from the last commit is looked at, and what was committed in between; elsewhere every file is. Ignored files, links'
// targets and our own state are nobody's changes.

import { type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandFiles, commandFilesOf, nestedCommandFiles } from '../git/repository-files.ts';
import { AGENT_CONFIG } from '../kernel/capabilities.ts';
import { type GitHead, gitSnapshot } from './changes-git.ts';
import type { IgnoreRules } from './changes-ignored.ts';
import { FILES_MAX, type FileMark, FileReader, nameOf, walkInto } from './changes-mark.ts';
import { byteRecords, readGit, tryReadGit } from './git.ts';

export type FileChange = {
  readonly path: string;
  /** What it is now: `sha256:…`, or `link:…` with its target; null where it is gone. */
  readonly digest: string | null;
};

export type FolderSnapshot = {
  /** In milliseconds, from before the first file was looked at. */
  readonly taken: number;
  /** The last commit, where a git repository tells what differs from it; null where every file was looked at. */
  readonly git: GitHead | null;
  /** Of git, the files that differ from the last commit; else all of them. */
  readonly files: Readonly<Record<string, FileMark>>;
  /** Of git, the files in which the last commit differs from that of the snapshot before. */
  readonly committed: readonly string[];
  /** Of git, the rules by which files were ignored when it was first looked at. */
  readonly ignores?: IgnoreRules;
  /** Of git, the folders that are repositories of their own and are not known to it, with a slash behind them. */
  readonly repositories?: readonly string[];
  /** Of git, the folders for other repositories that are not checked out in them; every file in there is looked at. */
  readonly vacant?: readonly string[];
  /** Of git, the files by which agent programs take orders and that it does not track, ignored or not; missing in older ones. */
  readonly orders?: AgentConfigFiles;
  /** Of git, its own files by which it runs commands; missing in older ones. */
  readonly commands?: CommandFiles;
};

type SnapshotOptions = {
  /** An earlier snapshot of the folder with which this one is to be compared. */
  readonly since?: FolderSnapshot;
  /** Any earlier snapshot: what it knows of a file that was not touched since is not read again. */
  readonly known?: FolderSnapshot;
  /** Paths below the root that are left out. */
  readonly skip?: readonly string[];
};

const SKIPPED = ['.baton/state'];

/** Everything that is needed to tell later what was changed since. Throws a `ChangesError` that says why it cannot. */
export async function snapshotOf(root: string, options: SnapshotOptions = {}): Promise<FolderSnapshot> {
  const { since } = options;
  const skip = [...SKIPPED, ...(options.skip ?? [])];
  const taken = Date.now();
  const known = since ?? options.known ?? null;
  const reader = new FileReader(root, known);
  if (since === undefined || since.git !== null) {
    const found = await gitSnapshot(root, reader, skip, since ?? null);
    if (found) {
      const { nested, ...seen } = found;
      const commands = { ...commandFilesOf(root), ...nestedCommandFiles(root, nested) };
      return { taken, ...seen, orders: await untrackedAgentConfig(root, known), commands };
    }
  }
  const files: Record<string, FileMark> = {};
  await walkInto(files, reader, '', skip);
  return { taken, git: null, files, committed: [] };
}

/** The files whose content, kind or mode is another one than it was, by path. */
export function changesBetween(before: FolderSnapshot, after: FolderSnapshot): readonly FileChange[] {
  const committed = new Set(after.committed);
  const paths = new Set([...Object.keys(before.files), ...Object.keys(after.files), ...committed]);
  const changed = [...paths].filter((path) => {
    const [earlier, later] = [markIn(before, path), markIn(after, path)];
    if (earlier) return earlier.content !== (later?.content ?? null);
    return later ? later.content !== null || before.git !== null : committed.has(path);
  });
  return [...new Set([...changed, ...ordersChanged(before, after), ...commandsChanged(before, after)])]
    .sort()
    .map((path) => {
      const content = (markIn(after, path) ?? after.orders?.[path])?.content ?? after.commands?.[path] ?? null;
      return { path, digest: digestOf(content) };
    });
}

function commandsChanged(
  { commands: earlier }: FolderSnapshot,
  { commands: later }: FolderSnapshot,
): readonly string[] {
  if (!earlier || !later) return [];
  const paths = [...new Set([...Object.keys(earlier), ...Object.keys(later)])];
  return paths.filter((path) => earlier[path] !== later[path]);
}

function ordersChanged(before: FolderSnapshot, after: FolderSnapshot): readonly string[] {
  const [earlier, later] = [before.orders, after.orders];
  if (!earlier || !later) return [];
  const paths = [...new Set([...Object.keys(earlier), ...Object.keys(later)])];
  return paths.filter((path) => earlier[path]?.content !== later[path]?.content);
}

function markIn({ files }: FolderSnapshot, path: string): FileMark | undefined {
  return Object.hasOwn(files, path) ? files[path] : undefined;
}

/** Without the letter that tells whether it can be run. */
function digestOf(content: string | null): string | null {
  return content?.replace(/^run-/, '') ?? null;
}

// The files at the top of a repository by which agent programs take orders, where git does not track them: a program reads them
// although git ignores them, so they are looked at by name; and those that are links to other files, tracked or not.
type AgentConfigFiles = Readonly<Record<string, FileMark>>;

/** `known` are those of an earlier look: what was not touched since is not read again. */
export async function untrackedAgentConfig(
  root: string,
  known: { readonly taken: number; readonly orders?: AgentConfigFiles } | null,
): Promise<AgentConfigFiles> {
  const reader = new FileReader(root, known && { taken: known.taken, files: known.orders ?? {} });
  const orders: Record<string, FileMark> = {};
  const followed: Record<string, FileMark> = {};
  for (const path of AGENT_CONFIG) {
    // What a link leads to is what is obeyed, whatever git makes of the link.
    const target = linkedFrom(join(root, path));
    const leads = target === null ? null : await reader.mark(path, Buffer.from(target));
    if (leads) followed[path] = leads;
    const mark = await reader.mark(path, Buffer.from(join(root, path)));
    if (mark === null) await walkInto(orders, reader, path, []);
    else if (mark.content !== null) orders[path] = mark;
  }
  if (Object.keys(orders).length === 0) return followed;
  const { code, out } = await tryReadGit(root, ['ls-files', '-z', '--', ...AGENT_CONFIG]);
  const tracked = new Set(code === 0 ? byteRecords(out).map(nameOf) : []);
  return { ...Object.fromEntries(Object.entries(orders).filter(([path]) => !tracked.has(path))), ...followed };
}

function linkedFrom(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : null;
  } catch {
    return null;
  }
}

// Whether there is more in a folder than can be looked at for changes, found out without reading a file.
/** As a snapshot would find them: of a git repository what differs from its last commit, else everything. */
export async function hasTooManyFiles(dir: string, skip: readonly string[], max = FILES_MAX): Promise<boolean> {
  const { code } = await tryReadGit(dir, ['rev-parse', '--is-inside-work-tree']);
  if (code !== 0 || (await tryReadGit(dir, ['check-ignore', '-q', '.'])).code === 0) return countsMore(dir, skip, max);
  const files = await readGit(dir, ['ls-files', '-z', '--others', '--modified', '--exclude-standard', '--', '.']);
  let count = 0;
  for (let at = files.indexOf(0); at >= 0 && count <= max; at = files.indexOf(0, at + 1)) count += 1;
  return count > max;
}

function countsMore(dir: string, skip: readonly string[], max: number): boolean {
  let count = 0;
  const open = [''];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const entry of entriesOf(join(dir, at))) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.name === '.git' || skip.includes(path)) continue;
      if (entry.isDirectory()) open.push(path);
      else if (++count > max) return true;
    }
  }
  return false;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Gone again, or not for us to see.
  }
}
