// The files of a repository that configure git, read without asking git: a planted configuration must not run before it is seen.
// Three parts: where they are, what in them runs commands, and a digest of each for the comparison before and after a turn.

import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

/** Loaded when it is used: it takes as long to load as the rest of a short command. */
const crypto = () => process.getBuiltinModule('node:crypto');

type GitFolders = {
  /** The folder with HEAD and index; a worktree has its own. */
  readonly own: string;
  /** The folder with config, hooks and info, which all worktrees of a repository share. */
  readonly common: string;
  /** The `.git` entry itself. */
  readonly entry: string;
};

/** Null where no folder above is a git repository. */
export function gitFoldersOf(folder: string): GitFolders | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const entry = join(at, '.git');
    const own = ownFolder(entry);
    if (own !== null) return { own, common: commonFolder(own), entry };
    if (dirname(at) === at) return null;
  }
}

/** A file of git that each worktree has for itself, such as `index`; null where no folder above is a git repository. */
export function ownGitFile(folder: string, name: string): string | null {
  const folders = gitFoldersOf(folder);
  return folders && join(folders.own, name);
}

function ownFolder(entry: string): string | null {
  const found = statSync(entry, { throwIfNoEntry: false });
  if (found?.isDirectory()) return real(entry);
  if (!found?.isFile()) return null;
  const [, target] = /^gitdir: (.+?)\s*$/s.exec(textOf(entry) ?? '') ?? [];
  return target === undefined ? null : real(resolve(dirname(entry), target));
}

function commonFolder(own: string): string {
  const target = textOf(join(own, 'commondir'))?.trim();
  return target ? real(resolve(own, target)) : own;
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const TEXT_BYTES_MAX = 4 * 1024 * 1024;

/** The text of a small plain file; null where there is none. */
export function textOf(file: string): string | null {
  try {
    const { size } = statSync(file);
    return statSync(file).isFile() && size <= TEXT_BYTES_MAX ? readFileSync(file, 'utf8') : null;
  } catch {
    return null;
  }
}

// What a repository brings along that makes git run commands: `.git/config`, what it includes, and `info/attributes`. A
// person's own configuration (global, system) is not part of it.
const INCLUDED_MAX = 20;

type LocalConfig = {
  /** Everything that configures commands, in one digest. */
  readonly digest: string;
  /** Whether it may define filters, merge drivers or diff drivers; git itself says which. */
  readonly mayHaveDrivers: boolean;
};

/** What a branch follows is written as `merge = …` too, and is left out before. */
const DRIVER = /filter|merge|diff/i;

export function localConfigOf({ own, common }: GitFolders): LocalConfig {
  const texts = new Map<string, string>();
  const files = [join(common, 'config'), join(own, 'config.worktree')];
  for (let file = files.shift(); file !== undefined && texts.size < INCLUDED_MAX; file = files.shift()) {
    const text = textOf(file);
    if (text === null || texts.has(file)) continue;
    texts.set(file, text);
    files.push(...includedIn(text, dirname(file)));
  }
  const attributes = textOf(join(common, 'info/attributes')) ?? '';
  const parts = [...texts].flatMap(([file, text]) => [file, withoutBranches(text)]);
  const mayHaveDrivers = files.length > 0 || [...texts.values()].some((text) => DRIVER.test(withoutBranches(text)));
  return { digest: crypto().hash('sha256', JSON.stringify([...parts, attributes]), 'hex'), mayHaveDrivers };
}

/** Every `path` counts as one that is included: too many files in the digest do no harm. */
function includedIn(text: string, folder: string): readonly string[] {
  return [...text.matchAll(/^[^#;\n]*\bpath\s*=\s*"?([^"\n#;]+?)"?\s*$/gim)].map(([, path = '']) =>
    path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(folder, path),
  );
}

const BRANCH = /^\[branch "[^"\\]*"\]$/;
const BRANCH_SETTING = /^\s*(?!mergeoptions)[a-z][a-z0-9-]*\s*=\s*[^"\\#;[\]]*$/i;

const REMOTE_SETTING = /^\s*(?:push)?remote\s*=\s*(.*?)\s*$/i;

/**
 * The text without what git notes about branches when somebody pushes or checks out: nothing is run by it. Only lines that can
 * mean nothing else are left out. A remote that is not configured is a path or an address, and a push to a folder runs its hooks.
 */
export function withoutBranches(text: string): string {
  const remotes = new Set(['.', ...Array.from(text.matchAll(/^\[remote "([^"\\]+)"\]$/gm), ([, name]) => name)]);
  const isKnown = (line: string) => {
    const [, remote] = REMOTE_SETTING.exec(line) ?? [];
    return remote === undefined || remotes.has(remote);
  };
  let isBranch = false;
  return text
    .split('\n')
    .filter((line) => {
      isBranch = BRANCH.test(line) || (isBranch && BRANCH_SETTING.test(line) && isKnown(line));
      return !isBranch;
    })
    .join('\n');
}

// The files of a repository by which git runs commands or takes other files for unchanged: hooks, configuration, attributes
// and the like. No commit shows them, so they are looked at by name before and after a turn.
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
    return `sha256:${crypto().hash('sha256', plain, 'hex')}`;
  } catch {
    return 'unreadable';
  }
}
