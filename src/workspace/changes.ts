// What changed in a folder between two moments, independent of any report. In a git repository only files that differ from the
// last commit, or that were committed meanwhile, are read; elsewhere every file. Ignored files, targets of links and our own
// state do not count.

import { lstatSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  type CommandFiles,
  commandDigest,
  commandFilesOf,
  hookFoldersOf,
  hooksIn,
  nestedCommandFiles,
} from '../git/repository-files.ts';
import { AGENT_CONFIG } from '../kernel/capabilities.ts';
import { type GitHead, gitSnapshot } from './changes-git.ts';
import type { IgnoreRules } from './changes-ignored.ts';
import { FILES_MAX, type FileMark, FileReader, folderEntries, nameOf, walkInto } from './changes-mark.ts';
import { byteRecords, readGit, tryReadGit } from './git.ts';

export type FileChange = {
  readonly path: string;
  /** The present content: `sha256:…`, or `link:…` with its target. Null if it is gone. */
  readonly digest: string | null;
};

export type FolderSnapshot = {
  /** In milliseconds, from before the first file was read. */
  readonly taken: number;
  /** The last commit. Null without a git repository, when every file was read. */
  readonly git: GitHead | null;
  /** With git, the files that differ from the last commit, else all files. */
  readonly files: Readonly<Record<string, FileMark>>;
  /** With git, the files in which the last commit differs from that of the earlier snapshot. */
  readonly committed: readonly string[];
  /** With git, the ignore rules at the first look. */
  readonly ignores?: IgnoreRules;
  /** With git, the nested repositories that it does not track, with a slash at the end. */
  readonly repositories?: readonly string[];
  /** With git, the folders of submodules that are not checked out. Every file in them is read. */
  readonly vacant?: readonly string[];
  /** With git, the untracked files that configure agent programs, ignored or not. Missing in older snapshots. */
  readonly orders?: AgentConfigFiles;
  /** With git, its own files that make it run commands. Missing in older snapshots. */
  readonly commands?: CommandFiles;
};

type SnapshotOptions = {
  /** An earlier snapshot of the folder for the comparison. */
  readonly since?: FolderSnapshot;
  /** Any earlier snapshot: its unchanged files are not read again. */
  readonly known?: FolderSnapshot;
  /** Paths below the root that are left out. */
  readonly skip?: readonly string[];
};

const SKIPPED = ['.baton/state'];

/** Everything needed to find later changes. Throws a `ChangesError` with the reason if that is impossible. */
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
      const commands = { ...commandFilesOf(root), ...(await ignoredHooks(root)), ...nestedCommandFiles(root, nested) };
      return { taken, ...seen, orders: await untrackedAgentConfig(root, known), commands };
    }
  }
  const files: Record<string, FileMark> = {};
  await walkInto(files, reader, '', skip);
  return { taken, git: null, files, committed: [] };
}

/** The files whose content, kind or mode changed, by path. */
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

/** Hooks in a folder of the project that git ignores: no commit shows them. Others are work like any file. */
async function ignoredHooks(root: string): Promise<CommandFiles> {
  const found: Record<string, string> = {};
  for (const { tree, folder } of hookFoldersOf(root)) {
    const hooks = hooksIn(folder);
    if (hooks.length === 0) continue;
    const input = Buffer.from(hooks.join('\0'));
    const { out } = await tryReadGit(folder, ['check-ignore', '-z', '--stdin'], { input });
    for (const hook of byteRecords(out).map(nameOf)) {
      const digest = commandDigest(hook);
      const name = `.git/hooks/${relative(tree, hook)}`;
      if (digest !== null) found[name] = `${found[name] ?? ''}${digest}`;
    }
  }
  return found;
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

/** Without the prefix for executable files. */
function digestOf(content: string | null): string | null {
  return content?.replace(/^run-/, '') ?? null;
}

// The untracked files at the top of a repository that configure agent programs. Programs read them even if git ignores them, so
// they are looked up by name. Links to other files are included, tracked or not.
type AgentConfigFiles = Readonly<Record<string, FileMark>>;

/** `known` are those of an earlier look: unchanged files are not read again. */
export async function untrackedAgentConfig(
  root: string,
  known: { readonly taken: number; readonly orders?: AgentConfigFiles } | null,
): Promise<AgentConfigFiles> {
  const reader = new FileReader(root, known && { taken: known.taken, files: known.orders ?? {} });
  const orders: Record<string, FileMark> = {};
  const followed: Record<string, FileMark> = {};
  for (const path of AGENT_CONFIG) {
    // Programs obey the target of a link, however git sees the link.
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

// Whether a folder has too many files to watch for changes. Reads no file.
/** Counts like a snapshot: in a git repository the files that differ from the last commit, else all. */
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
    for (const entry of folderEntries(join(dir, at))) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.name === '.git' || skip.includes(path)) continue;
      if (entry.isDirectory()) open.push(path);
      else if (++count > max) return true;
    }
  }
  return false;
}
