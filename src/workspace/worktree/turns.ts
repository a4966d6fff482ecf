// The work of a cast's turns on its branch: each accepted turn is a commit, and a turn that begins over finds what it found
// the first time. What is put aside for that is kept under a name of its own; nothing is thrown away.
import { rmSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { Watch } from '../../kernel/cast/packet.ts';
import { coverOf } from '../../kernel/ledger/path-key.ts';
import { type PutAside, putAside, withIndex } from './aside.ts';
import { AUTHOR, commitOf, git, records, tryGit } from './git.ts';
import { type WorktreeRecord, writeRecord } from './record.ts';

export type TurnName = Pick<Watch, 'turn' | 'socket' | 'label' | 'title'>;
export type Begun<T = WorktreeRecord> = { readonly record: T; readonly aside: PutAside | null };

const TITLE_CHARS_MAX = 60;

/** Brings the worktree to where a turn begins. */
export async function beginTurn<T extends WorktreeRecord>(
  stateDir: string,
  record: T,
  watch: Watch,
): Promise<Begun<T>> {
  const { turn, begins, beside } = watch;
  if (begins === 'on' && record.starts[turn] !== undefined) return { record, aside: null };
  if (beside === null) await dropStaleLock(record.folder);
  const aside = begins === 'over' ? await startOver(stateDir, record, watch) : null;
  // What lies there uncommitted was accepted right before a crash, or is a person's: it is no work of this turn.
  if (begins === 'first' && beside === null) await commitAll(record, `Before turn ${turn}`, record.cast);
  // An attempt that could change nothing is not announced here, so a later one may be the first to be.
  const start =
    (begins === 'first' ? undefined : record.starts[turn]) ?? (await git(record.folder, ['rev-parse', 'HEAD']));
  const [starts, open] =
    beside === null
      ? [{ [turn]: start }, {}]
      : [
          { ...record.starts, [turn]: start },
          { ...record.open, [turn]: beside },
        ];
  const isOnTop = begins === 'on' || (beside !== null && (begins === 'over' || Object.keys(record.open).length > 0));
  const accepted = isOnTop ? (record.accepted ?? start) : start;
  return { record: writeRecord(stateDir, { ...record, starts, open, accepted }), aside };
}

/** Commits the work of an accepted turn, if it changed anything. */
export async function keepTurn<T extends WorktreeRecord>(
  stateDir: string,
  record: T,
  watch: Watch,
  changes: readonly string[],
): Promise<T> {
  const [subject, trailers] = [subjectOf(watch), trailersOf(record.cast, watch)];
  if (watch.beside === null) {
    await commitAll(record, subject, record.cast, trailers);
    return noteAccepted(stateDir, record);
  }
  const { [watch.turn]: _over, ...open } = record.open;
  // What was seen to change while it ran may be another turn's, which commits it when it is accepted itself.
  const [isOwn, isAnother] = [coverOf(watch.beside), coverOf(Object.values(open).flat())];
  const own = changes.filter((path) => isOwn(path.normalize('NFC')) || !isAnother(path.normalize('NFC')));
  if (own.length > 0) await commitPaths(stateDir, record, own, message(subject, trailers));
  return noteAccepted(stateDir, { ...record, open });
}

/** All that is on the branch now counts as accepted. */
async function noteAccepted<T extends WorktreeRecord>(stateDir: string, record: T): Promise<T> {
  const accepted = await git(record.top, ['rev-parse', `refs/heads/${record.branch}`]);
  return writeRecord(stateDir, { ...record, accepted });
}

/**
 * Takes away what a turn beside others wrote where no turn may: alone, it would begin over from its first state anyway.
 * What lies in the paths of an open turn is that turn's.
 */
export async function dropStrays(stateDir: string, record: WorktreeRecord, watch: Watch): Promise<PutAside | null> {
  if (watch.beside === null) return null;
  const { folder } = record;
  const prefix = prefixOf(record);
  const { [watch.turn]: own = [], ...others } = record.open;
  const isOwned = coverOf([...(watch.readsOnly ? [] : own), ...Object.values(others).flat()]);
  const { accepted = 'HEAD' } = record;
  // What it committed itself stays in its history, which nobody moves under it, and goes from its files all the same.
  const committed = records(await git(folder, ['diff', '--name-only', '--no-renames', '-z', accepted, 'HEAD']));
  const strays = [...new Set([...(await changedIn(folder)), ...committed])].filter(
    (path) => !path.startsWith(prefix) || !isOwned(path.slice(prefix.length).normalize('NFC')),
  );
  if (strays.length === 0) return null;
  const aside = await putAside(stateDir, record, watch.turn, await git(folder, ['rev-parse', accepted]));
  for (const path of strays) await restorePath(folder, path, accepted);
  return aside;
}

/** Commits everything that lies in the worktree. */
export async function commitAll(
  record: WorktreeRecord,
  subject: string,
  cast: string,
  trailers: readonly string[] = [`Baton-Cast: ${cast}`],
): Promise<string | null> {
  const { folder } = record;
  await git(folder, ['add', '-A']);
  return commitTree(record, await git(folder, ['write-tree']), message(subject, trailers));
}

/**
 * After a crash: what accepted turns left is committed before anything else begins from the branch. `isOpen` tells of a turn
 * whether it still may be refused.
 */
export async function commitAccepted(
  stateDir: string,
  record: WorktreeRecord,
  isOpen: (turn: string) => boolean,
): Promise<WorktreeRecord> {
  const started = Object.keys(record.starts);
  const ended = started.filter((turn) => !isOpen(turn));
  if (ended.length === 0) return record;
  const subject = `What turn ${ended.at(-1)} left before a crash`;
  if (ended.length === started.length) {
    await commitAll(record, subject, record.cast);
    return record;
  }
  const isEnded = coverOf(ended.flatMap((turn) => record.open[turn] ?? []));
  const prefix = prefixOf(record);
  const own = (await changedIn(record.folder)).flatMap((path) =>
    path.startsWith(prefix) ? [path.slice(prefix.length)] : [],
  );
  const left = own.filter((path) => isEnded(path.normalize('NFC')));
  if (left.length > 0) await commitPaths(stateDir, record, left, message(subject, [`Baton-Cast: ${record.cast}`]));
  return record;
}

/** How many files of the worktree differ from its last commit. */
export async function uncommittedOf({ folder }: WorktreeRecord): Promise<number> {
  return (await changedIn(folder)).length;
}

async function changedIn(folder: string): Promise<readonly string[]> {
  // Looking must not get in the way of an agent that uses git at the same moment.
  const env = { GIT_OPTIONAL_LOCKS: '0' };
  const status = await git(folder, ['status', '--porcelain', '-z', '--untracked-files=all', '--no-renames'], { env });
  return records(status).map((line) => line.slice(3));
}

/** What stands before the workspace's own paths. */
function prefixOf({ folder, cwd }: WorktreeRecord): string {
  return cwd === folder ? '' : `${relative(folder, cwd)}/`;
}

/** Beside others only what the turn changed is its own. */
async function commitPaths(
  stateDir: string,
  record: WorktreeRecord,
  changes: readonly string[],
  text: string,
): Promise<string | null> {
  const { folder, cwd } = record;
  const update = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];
  const input = changes.filter((path) => !path.startsWith('.git/')).join('\0');
  const tree = await withIndex(stateDir, record, async (env) => {
    await git(folder, ['read-tree', 'HEAD'], { env });
    await git(cwd, update, { env, input });
    return git(folder, ['write-tree'], { env });
  });
  const commit = await commitTree(record, tree, text);
  // An agent beside may hold the index for a moment; it only lags behind then.
  await tryGit(cwd, update, { input });
  return commit;
}

/** An agent may have committed itself, on the branch or beside it; what it did is kept as long as it builds on the branch. */
async function commitTree({ folder, branch }: WorktreeRecord, tree: string, text: string): Promise<string | null> {
  const ref = `refs/heads/${branch}`;
  const tip = await git(folder, ['rev-parse', ref]);
  const head = (await commitOf(folder, 'HEAD')) ?? tip;
  const isAhead = (await tryGit(folder, ['merge-base', '--is-ancestor', tip, head])).code === 0;
  const parent = isAhead ? head : tip;
  const isSame = (await git(folder, ['rev-parse', `${parent}^{tree}`])) === tree;
  const commit = isSame ? parent : await git(folder, ['commit-tree', tree, '-p', parent], { input: text, env: AUTHOR });
  if (commit !== tip) await git(folder, ['update-ref', '-m', 'baton', ref, commit, tip]);
  await git(folder, ['symbolic-ref', 'HEAD', ref]);
  return commit === tip ? null : commit;
}

async function startOver(stateDir: string, record: WorktreeRecord, watch: Watch): Promise<PutAside | null> {
  const { folder, branch } = record;
  const start = record.starts[watch.turn] ?? (await git(folder, ['rev-parse', `refs/heads/${branch}`]));
  const aside = await putAside(stateDir, record, watch.turn, start);
  if (watch.beside !== null) await restorePaths(record, watch.beside);
  else {
    await git(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
    await git(folder, ['reset', '-q', '--hard', start]);
    await git(folder, ['clean', '-qfd']);
  }
  return aside;
}

/** Where every turn beside others has paths of its own, only those are brought back. */
async function restorePaths({ cwd }: WorktreeRecord, scope: readonly string[]): Promise<void> {
  for (const path of scope) await restorePath(cwd, path);
}

/** To what a commit, the last one, has there, which may be nothing. */
export async function restorePath(cwd: string, path: string, commit = 'HEAD'): Promise<void> {
  const isThere = path === '.' || (await tryGit(cwd, ['cat-file', '-e', `${commit}:./${path}`])).code === 0;
  if (isThere) {
    await git(cwd, ['--literal-pathspecs', 'restore', `--source=${commit}`, '--staged', '--worktree', '--', path]);
  } else await git(cwd, ['--literal-pathspecs', 'rm', '-rq', '--cached', '--ignore-unmatch', '--', path]);
  await git(cwd, ['--literal-pathspecs', 'clean', '-qfd', '--', path]);
}

/** Nobody works here now, so a lock of git is one that a killed program left. */
export async function dropStaleLock(folder: string): Promise<void> {
  rmSync(resolve(folder, await git(folder, ['rev-parse', '--git-path', 'index.lock'])), { force: true });
}

export function subjectOf({ turn, socket, label, title }: TurnName): string {
  const what = oneLine(title === null ? label : `${label}: ${title}`);
  return `${socket} ${what} (turn ${turn})`;
}

export function trailersOf(cast: string, { turn, socket }: TurnName): readonly string[] {
  return [`Baton-Cast: ${cast}`, `Baton-Turn: ${turn}`, `Baton-Socket: ${socket}`];
}

export function message(subject: string, trailers: readonly string[]): string {
  return `${subject}\n\n${trailers.join('\n')}\n`;
}

/** A title is an agent's text: it must not add lines of its own. */
function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length <= TITLE_CHARS_MAX ? line : `${line.slice(0, TITLE_CHARS_MAX - 1)}…`;
}
