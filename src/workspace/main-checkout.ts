// What changes outside of a turn's own files. `sealOf` is one digest over what people configure in `.baton`; no agent may change what
// governs it. `beginWatch` and `endWatch` notice which files of the user's own checkout change while a turn works in a worktree. They
// compare contents before and after an attempt, committed or not. To keep a large repository cheap, only files that differ from the
// commit before the attempt, and those that git is set to skip, are read. It is not known who wrote a file, so only changes while an
// attempt ran count, without Baton's own output.

import { hash } from 'node:crypto';
import {
  type Dirent,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { nestedCommandFiles, ownGitFile } from '../git/repository-files.ts';
import { changesBetween, type FileChange, type FolderSnapshot, untrackedAgentConfig } from './changes.ts';
import { parseStatus } from './changes-git.ts';
import { type FileMark, FileReader, nameOf, SLASH } from './changes-mark.ts';
import { byteRecords, indexed, readGit, tryReadGit } from './git.ts';
import { withoutOutputs } from './own-output.ts';

/** The checkout around a workspace: its top folder, and the workspace's own folder in it. */
export type Checkout = { readonly top: string; readonly dir: string };

/** The checkout before the first attempt of a turn, and when attempts of the turn ran. */
type WatchRecord = {
  readonly before: FolderSnapshot;
  readonly windows: readonly Window[];
  /** The files that were gone when the last attempt ended. Missing if it never ended. */
  readonly gone?: readonly string[];
  /** The files that disappeared between two attempts. */
  readonly goneBetween?: readonly string[];
};
type Window = { readonly from: number; readonly to: number | null };

/** The clock of the file system may be this much behind ours. */
const TICK_MS = 100;

/** Call before each attempt. `isFresh` forgets earlier attempts of the turn. */
export async function beginWatch(file: string, checkout: Checkout, isFresh: boolean): Promise<void> {
  const kept = isFresh ? null : readWatch(file);
  const from = Date.now() - TICK_MS;
  const before = kept?.before ?? (await look(checkout, null));
  const goneBetween = kept?.gone ? await goneSince(kept, kept.gone, checkout) : (kept?.goneBetween ?? []);
  keep(file, { before, windows: [...(kept?.windows ?? []), { from, to: null }], goneBetween });
}

/** Call after each attempt. Returns the files that changed while attempts of the turn ran, by their paths from the workspace. */
export async function endWatch(
  file: string,
  checkout: Checkout,
  stateDir: string,
): Promise<Readonly<Record<string, string | null>>> {
  const kept = readWatch(file);
  if (!kept) return {};
  const windows = kept.windows.map(({ from, to }) => ({ from, to: to ?? Date.now() + TICK_MS }));
  const after = await look(checkout, kept.before);
  const changes = changesBetween(kept.before, after);
  keep(file, { ...kept, windows, gone: goneIn(changes) });
  const own = join(relative(checkout.top, checkout.dir), '.baton/');
  const between = new Set(kept.goneBetween);
  const others = withoutOutputs(changes, { stateDir, root: checkout.top }, kept.before, after);
  const changed = others.filter(({ path, digest }) => {
    const mark = after.files[path] ?? after.orders?.[path];
    if (path.startsWith(own)) return false;
    return digest === null ? !between.has(path) : isWithin(mark, windows);
  });
  const below = (path: string) => relative(checkout.dir, join(checkout.top, path));
  return Object.fromEntries(changed.map(({ path, digest }) => [below(path), digest]));
}

/** A file that is gone has no times, so what went between two attempts is looked for before the second one. */
async function goneSince(kept: WatchRecord, gone: readonly string[], checkout: Checkout): Promise<readonly string[]> {
  const now = goneIn(changesBetween(kept.before, await look(checkout, kept.before)));
  return [...(kept.goneBetween ?? []), ...now.filter((path) => !gone.includes(path))];
}

function goneIn(changes: readonly FileChange[]): readonly string[] {
  return changes.flatMap(({ path, digest }) => (digest === null ? [path] : []));
}

/** What has no times may have changed at any moment. */
function isWithin(
  mark: FileMark | undefined,
  windows: readonly { readonly from: number; readonly to: number }[],
): boolean {
  if (!mark || mark.ctimeMs === 0) return true;
  return windows.some(({ from, to }) => mark.ctimeMs >= from && mark.ctimeMs <= to);
}

const STATUS = [
  ...['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all', '--no-renames'],
  '--ignore-submodules=none',
];
const OID = '# branch.oid ';
const BRANCH = '# branch.head ';
/** The name under which a branch that was switched, or moved away from what lies in the files, is reported. */
const HEAD = '.git/HEAD';
const DIFF = [
  'diff',
  '--name-only',
  '-z',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=none',
];
const NO_NUMBERS = { size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0 } as const;

/** The files that differ from the last commit, or from that of `since`, and those that did in `since`. */
async function look({ top, dir }: Checkout, since: FolderSnapshot | null): Promise<FolderSnapshot> {
  const taken = Date.now();
  const reader = new FileReader(top, since);
  const [status, { hidden, links }] = await Promise.all([readGit(top, STATUS), indexed(top)]);
  const lines = byteRecords(status).map((each) => nameOf(each.subarray(0, 300)));
  const after = (name: string) => lines.find((line) => line.startsWith(name))?.slice(name.length) ?? null;
  const head = after(OID);
  const { paths, modules, untracked } = parseStatus(status);
  const isMoved = since !== null && since.git?.head !== head;
  const earlier = isMoved ? await differingFrom(top, since.git?.head ?? '') : [];
  const differing = isMoved
    ? [...earlier, ...untracked]
    : [...paths, ...untracked, ...modules.map(({ bytes }) => bytes)];
  const states = new Map(modules.map(({ bytes, state }) => [nameOf(bytes), state]));
  const known = Object.keys(since?.files ?? {})
    .filter((path) => path !== HEAD)
    .map((path) => Buffer.from(path));
  const files: Record<string, FileMark> = {};
  for (const [path, bytes] of new Map([...known, ...differing, ...hidden].map((each) => [nameOf(each), each]))) {
    const mark = await reader.mark(path, Buffer.concat([Buffer.from(top), SLASH, bytes]));
    files[path] = mark ?? { ...NO_NUMBERS, content: await folderAt(join(top, path), states.get(path) ?? '') };
  }
  if (since === null || Object.hasOwn(since.files, HEAD)) {
    const expected = new Set([...earlier.map(nameOf), ...Object.keys(since?.files ?? {})]);
    const isApart = isMoved && (paths.some((path) => !expected.has(nameOf(path))) || !(await isIn(top, since, head)));
    files[HEAD] = { ...timesOfHead(top), content: `branch:${after(BRANCH)}${isApart ? ` at ${head}` : ''}` };
  }
  const orders = await untrackedAgentConfig(dir, since);
  const above = relative(top, dir);
  const nested = [...untracked.map(nameOf).filter((path) => path.endsWith('/')), ...links.map(nameOf)];
  const named = Object.entries(orders).map(([path, mark]): [string, FileMark] => [join(above, path), mark]);
  return {
    taken,
    git: { head },
    files,
    committed: [],
    orders: Object.fromEntries(named),
    // Those of the repository itself are shared with the worktree of the turn, which is looked at.
    commands: nestedCommandFiles(
      top,
      nested.map((path) => path.replace(/\/$/, '')),
    ),
  };
}

/** A commit on top of what was there is a person's usual way to save work. */
async function isIn(top: string, { git }: FolderSnapshot, head: string | null): Promise<boolean> {
  if (!/^[0-9a-f]+$/.test(git?.head ?? '')) return true; // There was no commit before.
  return (await tryReadGit(top, ['merge-base', '--is-ancestor', git?.head ?? '', head ?? ''])).code === 0;
}

/** Git notes each move of HEAD in a log, unless a person has turned that off. */
function timesOfHead(top: string): Omit<FileMark, 'content'> {
  const log = lstatSync(ownGitFile(top, 'logs/HEAD') ?? '', { throwIfNoEntry: false });
  return { ...NO_NUMBERS, ctimeMs: log?.ctimeMs ?? 0 };
}

/** The tracked files that differ from a commit; where git does not have it, or has it no more, all that it tracks. */
async function differingFrom(top: string, commit: string): Promise<readonly Buffer[]> {
  const { code, out } = await tryReadGit(top, [...DIFF, commit, '--']);
  return byteRecords(code === 0 ? out : await readGit(top, ['ls-files', '-z']));
}

/** The mark of a folder: of a submodule the commit that is checked out, and whether there is more in it. */
async function folderAt(folder: string, state: string): Promise<string> {
  if (folder.endsWith('/') || !existsSync(join(folder, '.git'))) return 'folder';
  const { out } = await tryReadGit(folder, ['rev-parse', '-q', '--verify', 'HEAD']);
  return `module:${nameOf(out).trim()}${state.split(' ')[2]?.slice(2) ?? '..'}`;
}

/** The checkout as it was noted before the first attempt of a turn. Null where it was not. */
export function firstLookAt(file: string): string | null {
  const kept = readWatch(file);
  return kept && JSON.stringify(kept.before ?? null);
}

function readWatch(file: string): WatchRecord | null {
  try {
    return lstatSync(file).isFile() ? (JSON.parse(readFileSync(file, 'utf8')) as WatchRecord) : null;
  } catch {
    return null;
  }
}

function keep(file: string, kept: WatchRecord): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, JSON.stringify(kept), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Files that change on their own are not part of the seal. */
const OWN: readonly string[] = ['state', '.gitignore'];
const FILES_MAX = 5_000;

/** Equal seals mean that nothing was added, removed or changed. */
export function sealOf(workspaceDir: string): string {
  const lines = filesIn(workspaceDir).map(([name, content]) => `${name} ${content}`);
  return hash('sha256', lines.sort().join('\n'), 'hex');
}

/** The files in `.baton` that govern the work, each with a digest of its content. */
export function governingFiles(workspaceDir: string): Readonly<Record<string, string>> {
  const files = filesIn(workspaceDir).filter(([name]) => /^(?:config\.json$|prompts\/|versions\/)/.test(name));
  return Object.fromEntries(files.map(([name, content]) => [`.baton/${name}`, content]));
}

type Sealed = readonly [name: string, content: string];

function filesIn(workspaceDir: string): readonly Sealed[] {
  const files: Sealed[] = [];
  const own = join(workspaceDir, '.baton');
  // A link may lead to other files later.
  if (lstatSync(own, { throwIfNoEntry: false })?.isSymbolicLink()) files.push(['.', `link ${readlinkSync(own)}`]);
  collect(own, '', files);
  return files;
}

function collect(folder: string, prefix: string, files: Sealed[]): void {
  for (const entry of entriesOf(folder)) {
    if ((prefix === '' && OWN.includes(entry.name)) || files.length >= FILES_MAX) continue;
    const file = join(folder, entry.name);
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory()) collect(file, `${name}/`, files);
    else files.push([name, contentOf(file, entry)]);
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // There is no `.baton`, or the folder is gone.
  }
}

/** A link is sealed by its target, not by the content there. */
function contentOf(file: string, entry: Dirent): string {
  try {
    if (entry.isSymbolicLink()) return `link ${readlinkSync(file)}`;
    return entry.isFile() ? hash('sha256', readFileSync(file), 'hex') : 'special';
  } catch {
    return 'unreadable';
  }
}
