// Puts files back to what they were before a turn, for `undo`. A turn that works in the project folder itself keeps the earlier contents
// by digest: in a git repository only those that differ from the last commit, elsewhere every file, until the cast is over.

import { hash } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { isObject } from '../kernel/json.ts';
import type { FolderSnapshot } from './changes.ts';
import { type FileMark, FileReader } from './changes-mark.ts';
import { git, tryGit } from './git.ts';
import { submodulesIn } from './worktree/nested-repositories.ts';

export type LeftFile = {
  /** Null if it is gone. */
  readonly digest: string | null;
  /** The remark for a file that changed next to a turn, by an unknown author. Null for the cast's own changes. */
  readonly remark: string | null;
};

/** What a cast left, and what changed next to it, by path. */
export type Left = Readonly<Record<string, LeftFile>>;

export type Restoring = {
  readonly path: string;
  /** What to do with the file. `leave` if it cannot be restored. */
  readonly what: 'remove' | 'restore' | 'leave';
  readonly why: string;
  readonly commit: string | null;
  /** Its earlier content, if a copy was kept. */
  readonly kept?: string;
};

/** `isKept` says whether a copy of a content exists. */
export async function planRestoring(
  dir: string,
  before: BeforeState,
  left: Left,
  isKept: (content: string) => boolean = () => false,
): Promise<readonly Restoring[]> {
  const reader = new FileReader(dir, null);
  const plan: Restoring[] = [];
  for (const path of Object.keys(left).sort()) plan.push(await restoringOf(dir, reader, path, before, left, isKept));
  return plan.filter(({ why }) => why !== DONE);
}

const DONE = 'it is as it was';

async function restoringOf(
  dir: string,
  reader: FileReader,
  path: string,
  before: BeforeState,
  left: Left,
  isKept: (content: string) => boolean,
): Promise<Restoring> {
  const leave = (why: string): Restoring => ({ path, what: 'leave', why, commit: null });
  const was = Object.hasOwn(before, path) ? before[path] : undefined;
  const mark = await reader.mark(path, Buffer.from(join(dir, path)));
  const present = mark?.content?.replace(/^run-/, '') ?? null;
  const { digest = null, remark = null } = left[path] ?? {};
  if (remark !== null) return leave(remark);
  if (digest?.startsWith('module:'))
    return leave(`what was changed in a submodule is taken back there: git -C ${path} status`);
  if (mark === null || present !== digest) return leave('it was changed again since');
  if (was?.kind === 'kept' && was.content.replace(/^run-/, '') === present) return leave(DONE);
  if (was?.kind === 'kept' && isKept(was.content))
    return { path, what: 'restore', why: 'back to the copy that was kept', commit: null, kept: was.content };
  if (!was || was.kind === 'unknown' || was.kind === 'kept') return leave('no copy of its earlier content was kept');
  if (was.kind === 'commit' && (await isInCommit(dir, was.commit, path))) {
    const why = `back to what it is in ${was.commit.slice(0, 7)}`;
    return { path, what: 'restore', why, commit: was.commit };
  }
  return present === null ? leave(DONE) : { path, what: 'remove', why: 'the cast made it', commit: null };
}

/** Whether the commit has the file, by its path from the folder. */
export async function isInCommit(dir: string, commit: string, path: string): Promise<boolean> {
  return (await tryGit(dir, ['cat-file', '-e', `${commit}:./${path}`])).code === 0;
}

/** Returns the files that could not be restored. */
export async function restoreFiles(
  dir: string,
  plan: readonly Restoring[],
  putBack: (content: string, file: string) => boolean = () => false,
): Promise<readonly string[]> {
  const failed: string[] = [];
  const links = (await submodulesIn(dir)).map((path) => join(dir, path));
  for (const { path, what, commit, kept } of plan) {
    if (what === 'restore' && kept !== undefined) {
      if (!putBack(kept, join(dir, path))) failed.push(path);
    } else if (what === 'restore' && commit !== null) {
      await git(dir, ['--literal-pathspecs', 'restore', `--source=${commit}`, '--worktree', '--', path]);
    } else if (what === 'remove') {
      rmSync(join(dir, path), { force: true });
      dropEmptyFolders([dir, ...links], dirname(join(dir, path)));
    }
  }
  return failed;
}

/** The folder itself stays, and so do empty folders of submodules, which git tracks. */
function dropEmptyFolders(kept: readonly string[], folder: string): void {
  for (let at = folder; !kept.includes(at) && at !== dirname(at); at = dirname(at)) {
    try {
      if (existsSync(at)) rmdirSync(at);
    } catch {
      return; // It is not empty.
    }
  }
}

// The state before a cast of the files that it changed in the directory itself: missing, the content of a commit or of a kept
// copy, or an unknown content. Only the first change of a file counts.
export type Before = (
  | { readonly kind: 'absent' }
  /** Its content was that of this commit. */
  | { readonly kind: 'commit'; readonly commit: string }
  /** Its content was that of the mark, and a copy was kept. */
  | { readonly kind: 'kept'; readonly content: string }
  | { readonly kind: 'unknown' }
) & {
  /** It changed next to a turn, by an unknown author. */
  readonly beside?: true;
};

export type BeforeState = Readonly<Record<string, Before>>;

/** If a file differed from the last commit, or there was none, only a copy has its content. */
export function beforeOf(
  { git, files, orders, commands }: FolderSnapshot,
  path: string,
  isKept: (content: string) => boolean = () => false,
): Before {
  if (Object.hasOwn(files, path)) {
    const content = files[path]?.content ?? null;
    if (content === null) return { kind: 'absent' };
    return isKept(content) ? { kind: 'kept', content } : { kind: 'unknown' };
  }
  if (orders && Object.hasOwn(orders, path)) return { kind: 'unknown' };
  // Git's own files are in no commit.
  if (commands && path.startsWith('.git'))
    return Object.hasOwn(commands, path) ? { kind: 'unknown' } : { kind: 'absent' };
  // The commit may lack the file, too. Restoring it shows that.
  return git?.head ? { kind: 'commit', commit: git.head } : { kind: 'absent' };
}

export function readBefore(stateDir: string, cast: string): BeforeState {
  try {
    const read = JSON.parse(readFileSync(fileOf(stateDir, cast), 'utf8')) as unknown;
    return isObject(read) ? (read as BeforeState) : {};
  } catch {
    return {};
  }
}

/**
 * `isOwn`: the changes are the turn's own. A change next to a turn may be anyone's and must not be undone, so the next own
 * change finds the file as it was left.
 */
export function noteBefore(
  stateDir: string,
  cast: string,
  since: FolderSnapshot,
  changed: readonly string[],
  isOwn: boolean,
): void {
  const known = readBefore(stateDir, cast);
  const news = changed.filter((path) => !Object.hasOwn(known, path) || (isOwn && known[path]?.beside === true));
  if (news.length === 0) return;
  const noted = (path: string): Before => ({
    ...beforeOf(since, path, (content) => isKept(stateDir, content)),
    ...(isOwn ? {} : { beside: true }),
  });
  const all = { ...known, ...Object.fromEntries(news.map((path) => [path, noted(path)])) };
  const file = fileOf(stateDir, cast);
  mkdirSync(join(stateDir, 'before'), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, JSON.stringify(all), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** The kept contents of casts that may still be undone. */
export function neededIn(stateDir: string): ReadonlySet<string> {
  const folder = join(stateDir, 'before');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  const all = names.flatMap((name) => Object.values(readBefore(stateDir, name.slice(0, -'.json'.length))));
  return new Set(all.flatMap((before) => (before.kind === 'kept' ? [before.content] : [])));
}

function fileOf(stateDir: string, cast: string): string {
  return join(stateDir, 'before', `${cast}.json`);
}

/** Contents beyond this limit are not kept, so that large files do not fill the disk. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024 * 1024;
const BREATHE_EVERY = 200;
const CONTENT = /^(?:run-)?sha256:([0-9a-f]{64})$/;

/** Returns how many files were left out. A content that is already kept costs nothing. */
export async function keepContents(
  stateDir: string,
  dir: string,
  files: Readonly<Record<string, FileMark>>,
): Promise<number> {
  const folder = folderIn(stateDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const known = new Set(readdirSync(folder));
  let [bytes, count, leftOut] = [0, 0, 0];
  for (const [path, { content, size }] of Object.entries(files)) {
    const digest = CONTENT.exec(content ?? '')?.[1];
    if (digest === undefined || known.has(digest)) continue;
    bytes += size;
    if (bytes > KEPT_BYTES_MAX) leftOut += 1;
    else if (keepOne(join(dir, path), join(folder, digest))) known.add(digest);
    count += 1;
    if (count % BREATHE_EVERY === 0) await breathe();
  }
  return leftOut;
}

function keepOne(file: string, to: string): boolean {
  try {
    copyFileSync(file, `${to}.new`, constants.COPYFILE_FICLONE);
    chmodSync(`${to}.new`, 0o600);
    renameSync(`${to}.new`, to);
    return true;
  } catch {
    return false; // The file is gone or unreadable. `undo` then reports that it was not kept.
  }
}

/** Whether the content of a mark can be restored. */
export function isKept(stateDir: string, content: string): boolean {
  return content.startsWith('link:') || keptFile(stateDir, content) !== null;
}

/** The kept copy, or null. */
function keptFile(stateDir: string, content: string): string | null {
  const digest = CONTENT.exec(content)?.[1];
  const file = digest === undefined ? null : join(folderIn(stateDir), digest);
  return file !== null && existsSync(file) ? file : null;
}

/** Returns whether the file now matches the mark. */
export function restoreKept(stateDir: string, content: string, file: string): boolean {
  if (content.startsWith('link:')) {
    rmSync(file, { force: true });
    mkdirSync(dirname(file), { recursive: true });
    symlinkSync(content.slice('link:'.length), file);
    return true;
  }
  const kept = keptFile(stateDir, content);
  // The file may have changed between its mark and its copy.
  if (kept === null || !content.endsWith(hash('sha256', readFileSync(kept), 'hex'))) return false;
  mkdirSync(dirname(file), { recursive: true });
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? (content.startsWith('run-') ? 0o755 : 0o644);
  rmSync(file, { force: true });
  copyFileSync(kept, file);
  chmodSync(file, content.startsWith('run-') ? mode | 0o100 : mode & 0o666);
  return true;
}

/** Drops contents that no cast changed and no running turn may change. `needed` are the contents that stay. */
export function dropUnneeded(stateDir: string, needed: ReadonlySet<string>): void {
  const folder = folderIn(stateDir);
  if (!existsSync(folder)) return;
  const digests = new Set([...needed].flatMap((content) => CONTENT.exec(content)?.[1] ?? []));
  for (const name of readdirSync(folder)) if (!digests.has(name)) rmSync(join(folder, name), { force: true });
}

function folderIn(stateDir: string): string {
  return join(stateDir, 'before', 'files');
}
