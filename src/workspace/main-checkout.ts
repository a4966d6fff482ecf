// Notices which files of the user's own checkout change while a turn works in a worktree. It compares what the files hold
// before an attempt and after it, whether they were committed in between or not. Two questions to git before an attempt and two
// after it, and one more where the last commit is another one, so that a large repository costs little: only files that differ
// from the commit before the attempt, and those that git was told not to look at, are read. It cannot tell who wrote a file. So it counts only what changed while an attempt
// of the turn ran, and leaves out the output of this very command.
import { existsSync, fstatSync, lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ownGitFile } from '../git/repository-files.ts';
import { type Change, changesBetween, type Snapshot, untrackedAgentConfig } from './changes.ts';
import { ask, indexed, records, tryGit } from './changes-ask-git.ts';
import { parseStatus } from './changes-git.ts';
import { FileReader, type Mark, nameOf, SLASH } from './changes-mark.ts';

/** The checkout around a workspace: its top folder, and the workspace's own folder in it. */
export type Checkout = { readonly top: string; readonly dir: string };

/** What it was like before the first attempt of a turn, and when attempts of the turn ran. */
type Kept = {
  readonly before: Snapshot;
  readonly windows: readonly Window[];
  /** What was gone when the last attempt ended; missing where it never ended. */
  readonly gone?: readonly string[];
  /** What went between two attempts, and was not their doing. */
  readonly goneBetween?: readonly string[];
};
type Window = { readonly from: number; readonly to: number | null };

/** The clock of the file system may be behind ours by so much. */
const TICK_MS = 100;

/** Call before each attempt. `isFresh` forgets what was kept of earlier attempts of the turn. */
export async function beginWatch(file: string, checkout: Checkout, isFresh: boolean): Promise<void> {
  const kept = isFresh ? null : readKept(file);
  const from = Date.now() - TICK_MS;
  const before = kept?.before ?? (await look(checkout, null));
  const goneBetween = kept?.gone ? await goneSince(kept, kept.gone, checkout) : (kept?.goneBetween ?? []);
  keep(file, { before, windows: [...(kept?.windows ?? []), { from, to: null }], goneBetween });
}

/** Call after each attempt. Answers the files that changed while attempts of the turn ran, by their paths from the workspace. */
export async function endWatch(file: string, checkout: Checkout): Promise<Readonly<Record<string, string | null>>> {
  const kept = readKept(file);
  if (!kept) return {};
  const windows = kept.windows.map(({ from, to }) => ({ from, to: to ?? Date.now() + TICK_MS }));
  const after = await look(checkout, kept.before);
  const changes = changesBetween(kept.before, after);
  keep(file, { ...kept, windows, gone: goneIn(changes) });
  const ours = ownOutputs();
  const own = join(relative(checkout.top, checkout.dir), '.baton/');
  const between = new Set(kept.goneBetween);
  const changed = changes.filter(({ path, digest }) => {
    const mark = after.files[path] ?? after.orders?.[path];
    if (path.startsWith(own) || ours.has(mark?.ino ?? -1)) return false;
    return digest === null ? !between.has(path) : isWithin(mark, windows);
  });
  const below = (path: string) => relative(checkout.dir, join(checkout.top, path));
  return Object.fromEntries(changed.map(({ path, digest }) => [below(path), digest]));
}

/** A file that is gone has no times, so what went between two attempts is looked for before the second one. */
async function goneSince(kept: Kept, gone: readonly string[], checkout: Checkout): Promise<readonly string[]> {
  const now = goneIn(changesBetween(kept.before, await look(checkout, kept.before)));
  return [...(kept.goneBetween ?? []), ...now.filter((path) => !gone.includes(path))];
}

function goneIn(changes: readonly Change[]): readonly string[] {
  return changes.flatMap(({ path, digest }) => (digest === null ? [path] : []));
}

/** What has no times may have changed at any moment. */
function isWithin(mark: Mark | undefined, windows: readonly { readonly from: number; readonly to: number }[]): boolean {
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
async function look({ top, dir }: Checkout, since: Snapshot | null): Promise<Snapshot> {
  const taken = Date.now();
  const reader = new FileReader(top, since);
  const [status, { hidden }] = await Promise.all([ask(top, STATUS), indexed(top)]);
  const lines = records(status).map((each) => nameOf(each.subarray(0, 300)));
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
  const files: Record<string, Mark> = {};
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
  const named = Object.entries(orders).map(([path, mark]): [string, Mark] => [join(above, path), mark]);
  return {
    taken,
    git: { head },
    files,
    committed: [],
    orders: Object.fromEntries(named),
  };
}

/** A commit on top of what was there is a person's usual way to save work. */
async function isIn(top: string, { git }: Snapshot, head: string | null): Promise<boolean> {
  if (!/^[0-9a-f]+$/.test(git?.head ?? '')) return true; // There was no commit before.
  return (await tryGit(top, ['merge-base', '--is-ancestor', git?.head ?? '', head ?? ''])).code === 0;
}

/** Git notes each move of HEAD in a log, unless a person has turned that off. */
function timesOfHead(top: string): Omit<Mark, 'content'> {
  const log = lstatSync(ownGitFile(top, 'logs/HEAD') ?? '', { throwIfNoEntry: false });
  return { ...NO_NUMBERS, ctimeMs: log?.ctimeMs ?? 0 };
}

/** The tracked files that differ from a commit; where git does not have it, or has it no more, all that it tracks. */
async function differingFrom(top: string, commit: string): Promise<readonly Buffer[]> {
  const { code, out } = await tryGit(top, [...DIFF, commit, '--']);
  return records(code === 0 ? out : await ask(top, ['ls-files', '-z']));
}

/** What stands for a folder: of a submodule the commit that is checked out, and whether there is more in it. */
async function folderAt(folder: string, state: string): Promise<string> {
  if (folder.endsWith('/') || !existsSync(join(folder, '.git'))) return 'folder';
  const { out } = await tryGit(folder, ['rev-parse', '-q', '--verify', 'HEAD']);
  return `module:${nameOf(out).trim()}${state.split(' ')[2]?.slice(2) ?? '..'}`;
}

/** A person may let the output of this command be written into a file of the project. */
function ownOutputs(): ReadonlySet<number> {
  return new Set(
    [1, 2].flatMap((handle) => {
      try {
        const stat = fstatSync(handle);
        return stat.isFile() ? [stat.ino] : [];
      } catch {
        return [];
      }
    }),
  );
}

function readKept(file: string): Kept | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept;
  } catch {
    return null;
  }
}

function keep(file: string, kept: Kept): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, JSON.stringify(kept), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
