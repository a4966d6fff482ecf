// The files that configure a repository, read without git, because a planted configuration must not run before it is checked. Three
// parts: where they are, which of them run commands, and a digest of each for the comparison before and after a turn.

import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

/** Loaded on first use, because it takes as long to load as a short command. */
const crypto = () => process.getBuiltinModule('node:crypto');

type GitFolders = {
  /** The folder with HEAD and index. A worktree has its own. */
  readonly own: string;
  /** The folder with config, hooks and info, shared by all worktrees. */
  readonly common: string;
  /** The `.git` entry itself. */
  readonly entry: string;
};

/** Null outside git repositories. */
export function gitFoldersOf(folder: string): GitFolders | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const entry = join(at, '.git');
    const own = ownFolder(entry);
    if (own !== null) return { own, common: commonFolder(own), entry };
    if (dirname(at) === at) return null;
  }
}

/** A git file that each worktree has for itself, such as `index`. Null outside git repositories. */
export function ownGitFile(folder: string, name: string): string | null {
  const folders = gitFoldersOf(folder);
  return folders && join(folders.own, name);
}

const OID = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
const SYMBOLIC = /^ref: (refs\/heads\/\S+)$/;

/**
 * The commit of HEAD, MERGE_HEAD or a branch, read without git, which takes ten times as long: null if there is none, undefined where
 * only git can tell. Whether git has the commit is not looked up.
 */
export function commitOfRef(folder: string, name: string): string | null | undefined {
  if (!/^(?:HEAD|MERGE_HEAD|refs\/heads\/[^\s~^:?*[\\]+)$/.test(name) || name.includes('..')) return undefined;
  const folders = existsSync(folder) ? gitFoldersOf(folder) : null;
  if (folders === null || !isPlain(folders)) return undefined;
  const isShared = name.startsWith('refs/');
  const file = join(isShared ? folders.common : folders.own, name);
  const text = smallText(file)?.trim() ?? null;
  const [, target] = SYMBOLIC.exec(text ?? '') ?? [];
  if (name === 'HEAD' && target !== undefined) return commitOfRef(folder, target);
  if (text !== null) return OID.test(text) ? text : undefined;
  if (existsSync(file) || name === 'HEAD') return undefined;
  return isShared ? packedRef(folders.common, name) : null;
}

/** The full name of the branch that is checked out, read without git; undefined for none, and where only git can tell. */
export function branchAt(folder: string): string | undefined {
  const head = ownGitFile(folder, 'HEAD');
  return SYMBOLIC.exec((head && smallText(head)?.trim()) ?? '')?.[1];
}

/** A repository of this user, whose refs are files. */
function isPlain({ own, common }: GitFolders): boolean {
  const config = smallText(join(common, 'config'));
  if (config === null || /refstorage/i.test(config)) return false;
  const isOurs = statSync(own, { throwIfNoEntry: false })?.uid === process.getuid?.();
  return isOurs && existsSync(join(own, 'HEAD')) && existsSync(join(common, 'objects'));
}

function packedRef(common: string, name: string): string | null | undefined {
  const file = join(common, 'packed-refs');
  const text = smallText(file);
  if (text === null) return existsSync(file) ? undefined : null;
  const line = text.split('\n').find((each) => each.endsWith(` ${name}`));
  if (line === undefined) return null;
  const [oid = ''] = line.split(' ');
  return OID.test(oid) ? oid : undefined;
}

function ownFolder(entry: string): string | null {
  const found = statSync(entry, { throwIfNoEntry: false });
  if (found?.isDirectory()) return real(entry);
  if (!found?.isFile()) return null;
  const [, target] = /^gitdir: (.+?)\s*$/s.exec(smallText(entry) ?? '') ?? [];
  return target === undefined ? null : real(resolve(dirname(entry), target));
}

function commonFolder(own: string): string {
  const target = smallText(join(own, 'commondir'))?.trim();
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

/** The text of a small plain file, or null. */
function smallText(file: string): string | null {
  try {
    const { size } = statSync(file);
    return statSync(file).isFile() && size <= TEXT_BYTES_MAX ? readFileSync(file, 'utf8') : null;
  } catch {
    return null;
  }
}

// What makes git run commands in this repository: `.git/config`, its includes, and `info/attributes`. The person's own global and
// system configuration is not part of it.
const INCLUDED_MAX = 20;

export type LocalConfig = {
  /** One digest of everything that configures commands. */
  readonly digest: string;
  /** Whether it may define filters, merge drivers or diff drivers. Git itself says which. */
  readonly mayHaveDrivers: boolean;
  /** Whether it may make git fetch missing objects whenever it needs them. */
  readonly mayFetchMissing: boolean;
};

/** A branch setting `merge = …` is removed before this test. */
const DRIVER = /filter|merge|diff/i;
const FETCHES_MISSING = /promisor|partialclone/i;

export function localConfigOf(folders: GitFolders): LocalConfig {
  const { texts, files } = localTextsOf(folders);
  const { common } = folders;
  const attributes = smallText(join(common, 'info/attributes')) ?? '';
  const parts = [...texts].flatMap(([file, text]) => [file, withoutBranches(text)]);
  const mayHave = (what: RegExp) =>
    files.length > 0 || [...texts.values()].some((text) => what.test(withoutBranches(text)));
  return {
    digest: crypto().hash('sha256', JSON.stringify([...parts, attributes]), 'hex'),
    mayHaveDrivers: mayHave(DRIVER),
    mayFetchMissing: mayHave(FETCHES_MISSING),
  };
}

/** The text of each file of the configuration, and the files that are too many to read. */
function localTextsOf(folders: GitFolders): { texts: ReadonlyMap<string, string>; files: readonly string[] } {
  const texts = new Map<string, string>();
  const files = configFilesOf(folders);
  for (let file = files.shift(); file !== undefined && texts.size < INCLUDED_MAX; file = files.shift()) {
    const text = smallText(file);
    if (text === null || texts.has(file)) continue;
    texts.set(file, text);
    files.push(...includedIn(text, dirname(file)));
  }
  return { texts, files };
}

function configFilesOf({ own, common }: GitFolders): string[] {
  return [join(common, 'config'), join(own, 'config.worktree')];
}

type HookFolder = { readonly tree: string; readonly folder: string };

/** The folders inside the working trees that `core.hooksPath` names. Git looks for them in each working tree. */
export function hookFoldersOf(dir: string): readonly HookFolder[] {
  const folders = gitFoldersOf(dir);
  if (!folders) return [];
  const trees = [...new Set([dirname(folders.entry), dirname(folders.common)])];
  const named = [...localTextsOf(folders).texts.values()].flatMap((text) =>
    [...text.matchAll(/^\s*hookspath\s*=\s*"?([^"\n]+?)"?\s*$/gim)].map(([, path = '']) => path),
  );
  const places = trees.flatMap((tree) => named.map((path) => ({ tree, folder: resolve(tree, path) })));
  return places.filter(({ tree, folder }) => folder.startsWith(`${tree}/`));
}

/** The files of its configuration, missing ones too, and a pattern for each folder of hooks. */
export function gitFilesRead(dir: string): readonly string[] {
  const folders = gitFoldersOf(dir);
  if (!folders) return [];
  const hooks = [join(folders.common, 'hooks'), ...hookFoldersOf(dir).map(({ folder }) => folder)];
  const files = [...configFilesOf(folders), ...localTextsOf(folders).texts.keys()];
  return [...new Set([...files, ...hooks.map((folder) => join(folder, '*'))])];
}

/** How the index writes the mode of a submodule. */
const SUBMODULE = Buffer.from([0, 0, 0xe0, 0]);

/** Whether the index may have submodules. Git itself says which. */
export function mayHaveSubmodules({ own }: Pick<GitFolders, 'own'>): boolean {
  return ['index', ...entriesIn(own).flatMap(({ name }) => (name.startsWith('sharedindex.') ? [name] : []))].some(
    (name) => {
      try {
        return readFileSync(join(own, name)).includes(SUBMODULE);
      } catch {
        return false;
      }
    },
  );
}

/** Every `path` counts as an include. Extra files in the digest do no harm. */
function includedIn(text: string, folder: string): readonly string[] {
  return [...text.matchAll(/^[^#;\n]*\bpath\s*=\s*"?([^"\n#;]+?)"?\s*$/gim)].map(([, path = '']) =>
    path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(folder, path),
  );
}

const BRANCH = /^\[branch "[^"\\]*"\]$/;
const BRANCH_SETTING = /^\s*(?!mergeoptions)[a-z][a-z0-9-]*\s*=\s*[^"\\#;[\]]*$/i;

const REMOTE_SETTING = /^\s*(?:push)?remote\s*=\s*(.*?)\s*$/i;

/**
 * The text without the branch settings that git writes on push or checkout, because they run nothing. Only unambiguous lines are
 * removed. An unconfigured remote is a path or an address, and a push to a folder runs its hooks.
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

// Files that make git run commands or treat changed files as unchanged: hooks, configuration, attributes and the like. No commit
// shows them, so they are compared by name before and after a turn.

/** The digest of each file, by its name below `.git`. */
export type CommandFiles = Readonly<Record<string, string>>;

const FILES_MAX = 2_000;
const BYTES_MAX = 16 * 1024 * 1024;
const DEPTH_MAX = 6;

export function commandFilesOf(folder: string): CommandFiles {
  const folders = gitFoldersOf(folder);
  return folders ? filesOf(folders, commandDigest) : {};
}

/** The same for repositories inside a folder, without the files that `git init` and `git clone` write. */
export function nestedCommandFiles(root: string, paths: readonly string[]): CommandFiles {
  const found: Record<string, string> = {};
  for (const path of paths) {
    const folders = gitFoldersOf(join(root, path));
    // Git would use a repository further up.
    if (folders?.entry !== join(root, path, '.git')) continue;
    const files = filesOf(folders, (file) => (isAsMade(file) ? null : commandDigest(file)));
    for (const [name, digest] of Object.entries(files)) found[`${path}/${name}`] = digest;
  }
  return found;
}

const AS_MADE =
  /^(?:\s*[#;].*|\s*|\[(?:core|remote "[^"\\]+"|branch "[^"\\]+")\]|\s*(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)\s*=\s*\w+|\s*(?:fetch|merge|remote|url)\s*=\s*(?!.*::)[^"\\[\]]*)$/i;

function isAsMade(file: string): boolean {
  return (
    /\/(?:config|exclude)$/.test(file) && (smallText(file) ?? 'none').split('\n').every((line) => AS_MADE.test(line))
  );
}

function filesOf(folders: GitFolders, digestOf: (file: string) => string | null): CommandFiles {
  const found: Record<string, string> = {};
  const add = (file: string) => {
    if (Object.keys(found).length >= FILES_MAX) return;
    const digest = digestOf(file);
    if (digest !== null) found[nameOf(file, folders)] = digest;
  };
  // A worktree has a file instead of the folder. It names the repository.
  if (!lstatSync(folders.entry).isDirectory()) add(folders.entry);
  for (const name of ['commondir', 'gitdir']) add(join(folders.own, name));
  for (const place of repositoriesIn(folders)) {
    for (const name of ['config', 'config.worktree']) add(join(place, name));
    // Git runs no samples.
    for (const file of hooksIn(join(place, 'hooks'))) add(file);
    // Git writes other files there when it packs.
    for (const name of ['attributes', 'exclude', 'grafts', 'sparse-checkout']) add(join(place, 'info', name));
    add(join(place, 'objects/info/alternates'));
    if (runsCommands(join(place, REBASE))) add(join(place, REBASE));
    // Remotes of older versions, which git still reads.
    for (const name of ['remotes', 'branches']) for (const file of filesBelow(join(place, name))) add(file);
    Object.assign(found, replacementsIn(place, folders));
  }
  for (const file of otherWorktrees(folders)) add(file);
  const included = [...localTextsOf(folders).texts].filter(([file]) => !configFilesOf(folders).includes(file));
  if (included.length > 0)
    found['.git/config'] = `${found['.git/config'] ?? ''}+${crypto().hash('sha256', JSON.stringify(included), 'hex')}`;
  return found;
}

/** The steps of a rebase that somebody goes on with. */
const REBASE = 'rebase-merge/git-rebase-todo';

function runsCommands(todo: string): boolean {
  return /^\s*(?:x|exec)\s/m.test(smallText(todo) ?? '');
}

/** The files below a folder of hooks, without samples. */
export function hooksIn(folder: string): readonly string[] {
  return filesBelow(folder).filter((file) => !file.endsWith('.sample'));
}

/** `refs/replace` makes git show another object. */
function replacementsIn(place: string, folders: GitFolders): CommandFiles {
  const packed = (smallText(join(place, 'packed-refs')) ?? '').matchAll(/^([0-9a-f]+) (refs\/replace\/\S+)$/gm);
  const named = [...packed].map(([, digest = '', ref = '']): [string, string] => [join(place, ref), digest]);
  const loose = filesBelow(join(place, 'refs/replace')).map((file): [string, string] => [
    file,
    (smallText(file) ?? '').trim(),
  ]);
  return Object.fromEntries([...named, ...loose].map(([file, digest]) => [nameOf(file, folders), digest]));
}

/**
 * Files in other worktrees that lead git to another configuration. Worktrees come and go with other casts, so the files of every new
 * one are left out: the usual `commondir`, and a copy of our `config.worktree`.
 */
function otherWorktrees({ own, common }: GitFolders): readonly string[] {
  const usual = smallText(join(common, 'config.worktree'));
  return foldersIn(join(common, 'worktrees')).flatMap((folder) => {
    if (folder === own) return [];
    const [way, config] = [smallText(join(folder, 'commondir')), smallText(join(folder, 'config.worktree'))];
    return [
      ...(way === null || way.trim() === '../..' ? [] : [join(folder, 'commondir')]),
      ...(config === null || config === usual ? [] : [join(folder, 'config.worktree')]),
    ];
  });
}

/** The repository itself, this worktree of it and its submodules. */
function repositoriesIn({ own, common }: GitFolders): readonly string[] {
  const modules: string[] = [];
  const open = [...new Set([common, own])].map((place) => ({ at: join(place, 'modules'), depth: 0 }));
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
    return []; // It is missing, or not a folder.
  }
}

export function commandDigest(file: string): string | null {
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

/** The target of a link counts too, because git follows it. */
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
