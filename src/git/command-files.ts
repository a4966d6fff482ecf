// The files of a repository by which git runs commands or takes other files for unchanged: hooks, configuration, attributes
// and the like. No commit shows them, so they are looked at by name before and after a turn.
import { hash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type GitFolders, gitFoldersOf, textOf } from './git-folders.ts';
import { withoutBranches } from './local-config.ts';

/** By name, as if `.git` were a folder of the project: a digest of what the file holds. */
export type CommandFiles = Readonly<Record<string, string>>;

const FILES_MAX = 2_000;
const BYTES_MAX = 16 * 1024 * 1024;
const DEPTH_MAX = 6;

export function commandFilesOf(folder: string): CommandFiles {
  const folders = gitFoldersOf(folder);
  return folders ? filesOf(folders, digestOf) : {};
}

/** The same of repositories that lie inside of a folder. What `git init` and `git clone` write there counts as nothing. */
export function nestedCommandFiles(root: string, paths: readonly string[]): CommandFiles {
  const found: Record<string, string> = {};
  for (const path of paths) {
    const folders = gitFoldersOf(join(root, path));
    // Git would go on to a repository further up.
    if (folders?.entry !== join(root, path, '.git')) continue;
    const files = filesOf(folders, (file) => (isAsMade(file) ? null : digestOf(file)));
    for (const [name, digest] of Object.entries(files)) found[`${path}/${name}`] = digest;
  }
  return found;
}

const AS_MADE =
  /^(?:\s*[#;].*|\s*|\[(?:core|remote "[^"\\]+"|branch "[^"\\]+")\]|\s*(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)\s*=\s*\w+|\s*(?:fetch|merge|remote|url)\s*=\s*(?!.*::)[^"\\[\]]*)$/i;

function isAsMade(file: string): boolean {
  return /\/(?:config|exclude)$/.test(file) && (textOf(file) ?? 'none').split('\n').every((line) => AS_MADE.test(line));
}

function filesOf(folders: GitFolders, digestOf: (file: string) => string | null): CommandFiles {
  const found: Record<string, string> = {};
  const add = (file: string) => {
    if (Object.keys(found).length >= FILES_MAX) return;
    const digest = digestOf(file);
    if (digest !== null) found[nameOf(file, folders)] = digest;
  };
  // A worktree has a file in the place of the folder, which says where the repository is.
  if (!lstatSync(folders.entry).isDirectory()) add(folders.entry);
  for (const name of ['commondir', 'gitdir']) add(join(folders.own, name));
  for (const place of repositoriesIn(folders)) {
    for (const name of ['config', 'config.worktree']) add(join(place, name));
    // Git runs no sample.
    for (const file of filesBelow(join(place, 'hooks'))) if (!file.endsWith('.sample')) add(file);
    // Git itself writes others there when it packs.
    for (const name of ['attributes', 'exclude', 'grafts', 'sparse-checkout']) add(join(place, 'info', name));
    add(join(place, 'objects/info/alternates'));
    // Remotes as older versions wrote them; git still reads them.
    for (const name of ['remotes', 'branches']) for (const file of filesBelow(join(place, name))) add(file);
    Object.assign(found, replacementsIn(place, folders));
  }
  for (const file of otherWorktrees(folders)) add(file);
  return found;
}

/** By `refs/replace`, git shows another object in the place of one. */
function replacementsIn(place: string, folders: GitFolders): CommandFiles {
  const packed = (textOf(join(place, 'packed-refs')) ?? '').matchAll(/^([0-9a-f]+) (refs\/replace\/\S+)$/gm);
  const named = [...packed].map(([, digest = '', ref = '']): [string, string] => [join(place, ref), digest]);
  const loose = filesBelow(join(place, 'refs/replace')).map((file): [string, string] => [
    file,
    (textOf(file) ?? '').trim(),
  ]);
  return Object.fromEntries([...named, ...loose].map(([file, digest]) => [nameOf(file, folders), digest]));
}

/**
 * What leads git to another configuration in another worktree. Worktrees come and go with other casts, so what every new one
 * has is left out: the usual `commondir`, and a copy of our own `config.worktree`.
 */
function otherWorktrees({ own, common }: GitFolders): readonly string[] {
  const usual = textOf(join(common, 'config.worktree'));
  return foldersIn(join(common, 'worktrees')).flatMap((folder) => {
    if (folder === own) return [];
    const [way, config] = [textOf(join(folder, 'commondir')), textOf(join(folder, 'config.worktree'))];
    return [
      ...(way === null || way.trim() === '../..' ? [] : [join(folder, 'commondir')]),
      ...(config === null || config === usual ? [] : [join(folder, 'config.worktree')]),
    ];
  });
}

/** The repository itself, this worktree of it and its submodules. */
function repositoriesIn({ own, common }: GitFolders): readonly string[] {
  const modules: string[] = [];
  const open = [{ at: join(common, 'modules'), depth: 0 }];
  for (let next = open.pop(); next && modules.length < FILES_MAX; next = open.pop()) {
    const { at, depth } = next;
    if (lstatSync(join(at, 'HEAD'), { throwIfNoEntry: false })) modules.push(at);
    const below = modules.includes(at) ? [join(at, 'modules')] : foldersIn(at);
    if (depth < DEPTH_MAX) open.push(...below.map((folder) => ({ at: folder, depth: depth + 1 })));
  }
  return [...new Set([common, own]), ...modules];
}

function nameOf(file: string, { common, entry }: GitFolders): string {
  return file === entry ? '.git' : `.git/${relative(common, file)}`;
}

function filesBelow(folder: string, depth = 0): readonly string[] {
  return entriesIn(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth < DEPTH_MAX ? filesBelow(path, depth + 1) : [];
    return [path];
  });
}

function foldersIn(folder: string): readonly string[] {
  return entriesIn(folder).flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : []));
}

function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // It is not there, or it is no folder.
  }
}

function digestOf(file: string): string | null {
  try {
    const found = lstatSync(file);
    if (found.isSymbolicLink()) return `link:${readlinkSync(file)}:${contentOf(file)}`;
    if (!found.isFile()) return found.isDirectory() ? null : 'special';
    const run = (found.mode & 0o111) === 0 ? '' : 'run-';
    return `${run}${contentOf(file)}`;
  } catch {
    return null;
  }
}

/** What a link leads to counts as well: git follows it. */
function contentOf(file: string): string {
  try {
    const found = statSync(file);
    if (!found.isFile()) return 'special';
    if (found.size > BYTES_MAX) return `large:${found.size}:${found.mtimeMs}`;
    const text = readFileSync(file, 'latin1');
    const plain = /\/config(?:\.worktree)?$/.test(file) ? withoutBranches(text) : text;
    return `sha256:${hash('sha256', plain, 'hex')}`;
  } catch {
    return 'unreadable';
  }
}
