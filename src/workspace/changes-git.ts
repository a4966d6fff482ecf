// What differs from the last commit of a git repository. Files that git is set to skip, by its index, its rules or its
// settings, are read as well.
import { copyFileSync, mkdtempSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { EXCLUDE, type IgnoreRules, ignoreRules, unknownFiles } from './changes-ignored.ts';
import { ChangesError, type FileMark, type FileReader, nameOf, SLASH, walkInto } from './changes-mark.ts';
import {
  byteRecords,
  type GitSettings,
  gitSettingsOf,
  indexed,
  type ReadGitOptions,
  readGit,
  SUBMODULE_MODE,
  tryReadGit,
} from './git.ts';
import { vacantOf } from './worktree/nested-repositories.ts';

/** With this file of its own, git may treat different contents as equal. The name under which its change is reported. */
const ATTRIBUTES = '.git/info/attributes';

export type GitHead = {
  readonly head: string | null;
  /** The path of the folder in its repository, and the settings in force there. Missing in older snapshots. */
  readonly prefix?: string;
  readonly settings?: GitSettings;
};

type Since = {
  readonly git: GitHead | null;
  readonly files: Readonly<Record<string, FileMark>>;
  readonly ignores?: IgnoreRules;
};
type GitSnapshot = {
  readonly git: GitHead;
  readonly files: Readonly<Record<string, FileMark>>;
  readonly committed: readonly string[];
  /** The ignore rules in force. */
  readonly ignores: IgnoreRules;
  readonly repositories: readonly string[];
  /** Folders of submodules that are not checked out. */
  readonly vacant: readonly string[];
  /** Folders that may contain another repository. */
  readonly nested: readonly string[];
};

/** Null without a repository. An error if there was one before. */
export async function gitSnapshot(
  root: string,
  reader: FileReader,
  skip: readonly string[],
  since: Since | null,
): Promise<GitSnapshot | null> {
  const place = await placeOf(root, since !== null);
  if (place === null) {
    if (since) throw new ChangesError(`${root} was in a git repository and is not any more; put .git back`);
    return null;
  }
  const { prefix, head, exclude, attributes, index } = place;
  if (since?.git?.prefix !== undefined && since.git.prefix !== prefix) {
    throw new ChangesError(`${root} is in another git repository than it was; put .git back as it was`);
  }
  const asked = since?.git?.settings ? null : await gitSettingsOf(root);
  const settings = since?.git?.settings ?? asked?.settings ?? {};
  const isOurs = (path: string) => !skip.some((one) => path === one || path.startsWith(`${one}/`));
  const own = (paths: readonly Buffer[]) =>
    paths.flatMap((bytes) => {
      const path = nameOf(bytes);
      return path.startsWith(prefix) && isOurs(path.slice(prefix.length))
        ? [bytes.subarray(Buffer.byteLength(prefix))]
        : [];
    });
  const files: Record<string, FileMark> = {};
  const base = Buffer.concat([Buffer.from(root), SLASH]);
  const add = async (bytes: Buffer) => {
    const path = nameOf(bytes);
    const mark = await reader.mark(path, Buffer.concat([base, bytes]));
    if (mark) files[path] = mark;
    else if (path.endsWith('/')) await walkInto(files, reader, path.slice(0, -1), skip);
    else files[path] = { ...NO_NUMBERS, content: null }; // A folder replaced the file.
  };
  const { hidden, links, ignoreFiles } = await indexed(root);
  const isFirst = since?.ignores === undefined;
  const [{ paths, modules, untracked, ignored }, vacant] = await Promise.all([
    statusOf(root, index, hidden, isFirst, { settings }),
    vacantOf(root, [...new Set(links.map(nameOf))].filter(isOurs)),
  ]);
  const ruled = [...ignoreFiles.map((path) => `${prefix}${nameOf(path)}`), ...[...untracked, ...ignored].map(nameOf)];
  const excludes = asked?.excludesFile ?? (isFirst ? (await gitSettingsOf(root)).excludesFile : '');
  const ignores = since?.ignores ?? ignoreRules(root, prefix, { exclude, excludes }, ruled);
  for (const bytes of own(paths)) await add(bytes);
  const addModules = (found: Status['modules']) => {
    for (const { bytes, state } of found) {
      for (const path of own([bytes])) files[nameOf(path)] ??= { ...NO_NUMBERS, content: `module:${state}` };
    }
  };
  addModules(modules);
  const unknown = own(await unknownFiles(root, ignores, { settings }));
  for (const bytes of unknown) await add(bytes);
  for (const path of vacant) await walkInto(files, reader, path, skip);
  for (const [name, file] of [[EXCLUDE, exclude] as const, [ATTRIBUTES, attributes] as const]) {
    const mark = await reader.mark(name, Buffer.from(file));
    if (mark?.content || (since && Object.hasOwn(since.files, name))) files[name] = mark ?? NOTHING;
  }
  // A file that differed before and does not any more is also compared by content.
  for (const path of Object.keys(since?.files ?? {})) {
    if (!Object.hasOwn(files, path) && path !== EXCLUDE && path !== ATTRIBUTES) await add(Buffer.from(path));
  }
  const commits = since ? await changedCommits(root, since.git?.head ?? null, head) : NO_COMMITS;
  const committed = own(commits.paths);
  addModules(commits.links);
  // A file that was committed meanwhile does not differ from the last commit, and is also compared by content.
  for (const bytes of committed) if (!Object.hasOwn(files, nameOf(bytes))) await add(bytes);
  // A file that was made and removed meanwhile, committed or not, is no change.
  const isNew = (path: string) => since !== null && !Object.hasOwn(since.files, path);
  const gone = Object.keys(files).filter((path) => files[path]?.content === null && isNew(path));
  const had = gone.length === 0 ? [] : own((await changedCommits(root, since?.git?.head ?? null, null)).paths);
  const passing = new Set(gone);
  for (const bytes of had) passing.delete(nameOf(bytes));
  for (const path of passing) delete files[path];
  const lasting = committed.map(nameOf).filter((path) => !passing.has(path));
  // Git lists files only, and does not enter nested repositories.
  const repositories = unknown.map(nameOf).filter((path) => path.endsWith('/'));
  const nested = [...repositories.map((path) => path.slice(0, -1)), ...links.map(nameOf).filter(isOurs)];
  return { git: { head, prefix, settings }, nested, files, committed: lasting, ignores, repositories, vacant };
}

const NO_NUMBERS = { size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0 } as const;
const NOTHING: FileMark = { ...NO_NUMBERS, content: null };
const STATUS = ['status', '--porcelain=v2', '-z', '--no-renames', '--ignore-submodules=none'];
const TRACKED = ['--untracked-files=no'];
const ALL = ['--untracked-files=all', '--ignored=matching'];

const FILES = ['info/exclude', 'info/attributes', 'index'].flatMap((name) => ['--git-path', name]);

type Place = {
  /** The path of the folder inside its repository, with a slash at the end. */
  readonly prefix: string;
  readonly head: string | null;
  /** Git's own files. Worktrees of a repository share some of them. */
  readonly exclude: string;
  readonly attributes: string;
  readonly index: string;
};

/** Null if no repository tracks the folder. */
async function placeOf(root: string, isKnown: boolean): Promise<Place | null> {
  const asked = ['--is-inside-work-tree', ...FILES, '--show-prefix', '-q', '--verify', 'HEAD'];
  const { out } = await tryReadGit(root, ['rev-parse', ...asked]);
  const [isInside, exclude, attributes, index, prefix = '', head = ''] = nameOf(out).split('\n');
  if (isInside !== 'true' || exclude === undefined || attributes === undefined || index === undefined) return null;
  // An ignored folder would never show a change. A new rule does not make an earlier folder ignored.
  const isIgnored = prefix !== '' && !isKnown && (await tryReadGit(root, ['check-ignore', '-q', '.'])).code === 0;
  if (isIgnored) return null;
  const [from, named] = [(path: string) => resolve(root, path), head === '' ? null : head];
  return { prefix, head: named, exclude: from(exclude), attributes: from(attributes), index: from(index) };
}

/** The files in which two commits differ. Without one of them, all files of the other. */
async function changedCommits(root: string, before: string | null, after: string | null): Promise<Commits> {
  if (before === after) return NO_COMMITS;
  if (before !== null && after !== null) {
    const parts = byteRecords(await readGit(root, ['diff-tree', '-r', '-z', '--no-renames', before, after, '--', '.']));
    const lines = parts.flatMap((line, place) => {
      const [, mode, , id = ''] = line.toString('latin1').split(' ');
      return place % 2 === 0 ? [{ path: parts[place + 1] ?? line, id: mode === SUBMODULE_MODE ? id : null }] : [];
    });
    const links = lines.flatMap(({ path, id }) => (id === null ? [] : [{ bytes: path, state: id }]));
    return { paths: lines.map(({ path }) => path), links };
  }
  const names = ['ls-tree', '-r', '-z', '--name-only', '--full-name', before ?? after ?? '', '--', '.'];
  return { paths: byteRecords(await readGit(root, names)), links: [] };
}

/** `links` are the submodules of the second commit. */
type Commits = { readonly paths: readonly Buffer[]; readonly links: Status['modules'] };
const NO_COMMITS: Commits = { paths: [], links: [] };

/** The tracked files that differ, including those that the index hides. */
async function statusOf(
  root: string,
  index: string,
  hidden: readonly Buffer[],
  isAll: boolean,
  options: ReadGitOptions,
): Promise<Status> {
  const status = [...STATUS, ...(isAll ? ALL : TRACKED), '--', '.'];
  if (hidden.length === 0) return parseStatus(await readGit(root, status, options));
  const folder = mkdtempSync(join(tmpdir(), 'baton-index-'));
  try {
    const open = { ...options, index: join(folder, 'index') };
    // Git re-reads files that changed in the second of the index, so the copy keeps the time of the original.
    const writtenAt = Math.floor(statSync(index).mtimeMs / 1000);
    copyFileSync(index, open.index);
    utimesSync(open.index, writtenAt, writtenAt);
    const input = Buffer.concat(hidden.flatMap((path) => [path, Buffer.of(0)]));
    for (const bit of ['--no-skip-worktree', '--no-assume-unchanged']) {
      await readGit(root, ['update-index', '-z', bit, '--stdin'], { ...open, input });
    }
    return parseStatus(await readGit(root, status, open));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Status = {
  /** The tracked files that differ. */
  readonly paths: readonly Buffer[];
  readonly modules: readonly { bytes: Buffer; state: string }[];
  readonly untracked: readonly Buffer[];
  readonly ignored: readonly Buffer[];
};

export function parseStatus(output: Buffer): Status {
  const paths: Buffer[] = [];
  const modules: { bytes: Buffer; state: string }[] = [];
  const others: Record<string, Buffer[]> = { '?': [], '!': [] };
  const lines = byteRecords(output);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? Buffer.alloc(0);
    const kind = String.fromCharCode(line[0] ?? 0);
    const fields = FIELDS[kind];
    if (fields === undefined) continue;
    const start = afterSpaces(line, fields);
    const bytes = line.subarray(start);
    const state = line.subarray(0, start).toString('latin1');
    if (kind === '2') paths.push(lines[++at] ?? Buffer.alloc(0));
    if (others[kind]) others[kind].push(bytes);
    else if (state.split(' ')[2]?.startsWith('S')) modules.push({ bytes, state });
    else paths.push(bytes);
  }
  return { paths, modules, untracked: others['?'] ?? [], ignored: others['!'] ?? [] };
}

/** The number of fields before the path. */
const FIELDS: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10, '?': 1, '!': 1 };

function afterSpaces(line: Buffer, count: number): number {
  let at = 0;
  for (let seen = 0; seen < count; seen++) {
    const space = line.indexOf(32, at);
    if (space < 0) return line.length;
    at = space + 1;
  }
  return at;
}
