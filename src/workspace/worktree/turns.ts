// The work of a cast's turns on its branch. Each accepted turn is a commit, and a restarted turn finds its original state. What
// is in the way is stashed, never deleted.
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { ownGitFile } from '../../git/repository-files.ts';
import type { Watch } from '../../kernel/cast/packet.ts';
import { coverOf } from '../../kernel/ledger/path.ts';
import { AUTHOR, dropStaleLock, git, records, tryGit } from '../git.ts';
import {
  carryOpen,
  isAlone,
  keepAccepted,
  positionOf,
  putBack,
  unchangedPosition,
  type WorkPosition,
} from './accepted.ts';
import { isIn } from './merge.ts';
import { type WorktreeRecord, writeRecord } from './record.ts';
import { cleanPath, cleanVacant, restorePath } from './restore-path.ts';
import {
  alsoMoved,
  committable,
  type Stash,
  stageAll,
  stash,
  stashTitle,
  unhide,
  withIndex,
  withoutIgnored,
} from './stash.ts';

type TurnName = Pick<Watch, 'turn' | 'socket' | 'label' | 'title'>;
export type Begun<T = WorktreeRecord> = {
  readonly record: T;
  readonly stashed: Stash | null;
  /** What git could not commit, and why. */
  readonly untaken?: readonly string[];
};
type Committed = { readonly commit: string; readonly untaken: readonly string[] };

const TITLE_CHARS_MAX = 60;

/** Brings the worktree to the state in which a turn begins. */
export async function beginTurn<T extends WorktreeRecord>(
  stateDir: string,
  record: T,
  watch: Watch,
): Promise<Begun<T>> {
  const { turn, begins, beside } = watch;
  if (begins === 'on' && record.starts[turn] !== undefined) return { record, stashed: null };
  if (beside === null) dropStaleLock(record.folder);
  const unchanged = begins === 'first' && beside === null ? await unchangedPosition(record) : null;
  const at = unchanged ?? (await positionOf(record));
  const stashed = begins === 'over' ? await startOver(stateDir, record, watch, at) : null;
  // Uncommitted files were accepted right before a crash, or are a person's. They are not the work of this turn.
  const mayDiffer = begins === 'first' && beside === null && unchanged === null;
  const head = mayDiffer ? (await commitAll(record, at, `Before turn ${turn}`)).commit : at.head;
  // An attempt that could change nothing is not announced, so a later one may be the first.
  const start = (begins === 'first' ? undefined : record.starts[turn]) ?? head;
  const [starts, open] =
    beside === null
      ? [{ [turn]: start }, {}]
      : [
          { ...record.starts, [turn]: start },
          { ...record.open, [turn]: beside },
        ];
  const isOnTop = begins === 'on' || (beside !== null && (begins === 'over' || Object.keys(record.open).length > 0));
  const accepted = isOnTop ? (record.accepted ?? start) : start;
  const item = itemOf(record, watch, start);
  return { record: writeRecord(stateDir, { ...record, starts, open, accepted, ...item }), stashed };
}

/** The commit before the first turn of a task. The worktree goes back to it when the item is parked. */
function itemOf({ item, lane }: WorktreeRecord, { task }: Watch, base: string): Pick<WorktreeRecord, 'item'> {
  if (task === null || lane || item?.task === task) return {};
  return { item: { task, base, conflicts: [] } };
}

/**
 * Commits the work of an accepted turn, if it changed anything. Commits of a turn that may change nothing, and that it
 * reverted, are stashed.
 */
export async function keepTurn<T extends WorktreeRecord>(
  stateDir: string,
  before: T,
  watch: Watch,
  changes: readonly string[],
): Promise<Begun<T>> {
  const { turn, beside, readsOnly } = watch;
  if (beside === null && changes.length === 0) {
    const unchanged = await unchangedPosition(before);
    const isAsBefore = unchanged !== null && [undefined, unchanged.tip].includes(before.accepted);
    if (isAsBefore)
      return { record: writeRecord(stateDir, { ...before, open: {}, accepted: unchanged.tip }), stashed: null };
  }
  const { at, stashed } = await keepAccepted(stateDir, before, turn);
  const { [turn]: _over, ...open } = before.open;
  const record = { ...before, open };
  const { accepted = at.tip } = record;
  if (readsOnly && isAlone(before, turn) && (at.tip !== accepted || at.head !== accepted)) {
    const what = `What turn ${turn} committed, which may change nothing`;
    const back = await putBack(stateDir, record, turn, accepted, what, at.tip);
    return { record: writeRecord(stateDir, record), stashed: stashed ?? back };
  }
  const [subject, trailers] = [subjectOf(watch), trailersOf(record.cast, watch)];
  if (beside === null) {
    const { commit, untaken } = await commitAll(record, at, subject, trailers, changes);
    return { record: writeRecord(stateDir, { ...record, accepted: commit }), stashed, untaken };
  }
  // A change during this turn may belong to another turn, which commits it when it is accepted.
  const [isOwn, isAnother] = [coverOf(beside), coverOf(Object.values(open).flat())];
  const mine = changes.filter((path) => isOwn(path.normalize('NFC')) || !isAnother(path.normalize('NFC')));
  const own = await withoutIgnored(record.cwd, await committable(record.cwd, mine));
  const kept = await keepPaths(stateDir, record, turn, at, own, message(subject, trailers));
  return { ...kept, stashed: stashed ?? kept.stashed };
}

/** Commits of other open turns in the same folder are not accepted with it. */
async function keepPaths<T extends WorktreeRecord>(
  stateDir: string,
  record: T,
  turn: number,
  at: WorkPosition,
  paths: readonly string[],
  text: string,
): Promise<Begun<T>> {
  const { accepted } = record;
  if (accepted === undefined || isAlone(record, turn)) {
    const { commit, untaken } = await commitPaths(stateDir, record, at, paths, text);
    return { record: writeRecord(stateDir, { ...record, accepted: commit }), stashed: null, untaken };
  }
  if (paths.length === 0) return { record: writeRecord(stateDir, record), stashed: null };
  const { tree, untaken } = await treeWith(stateDir, record, accepted, paths);
  const commit = await commitOn(record, accepted, tree, text);
  const { tip, stashed } = await carryOpen(stateDir, record, commit, at.tip, turn);
  await git(record.folder, ['update-ref', '-m', 'baton', `refs/heads/${record.branch}`, tip]);
  await stage(record, paths);
  return { record: writeRecord(stateDir, { ...record, accepted: commit }), stashed, untaken };
}

/**
 * Removes files outside of every turn's paths, for a turn that runs next to others or only runs checks. Any other turn restarts
 * from its first state anyway. Files in the paths of an open turn belong to that turn.
 */
export async function dropStrays(stateDir: string, record: WorktreeRecord, watch: Watch): Promise<Stash | null> {
  if (watch.beside === null && !watch.putsBack) return null;
  if (watch.putsBack && isAlone(record, watch.turn)) {
    const at = await positionOf(record);
    return resetTo(stateDir, record, watch.turn, record.accepted ?? at.head, at.tip);
  }
  const { folder } = record;
  const prefix = prefixOf(record);
  const { [watch.turn]: own = [], ...others } = record.open;
  const isOwned = coverOf([...(watch.readsOnly ? [] : own), ...Object.values(others).flat()]);
  const { head } = await positionOf(record);
  const { accepted = head } = record;
  // Its own commits stay in its history, but the files are removed.
  const committed = records(await git(folder, ['diff', '--name-only', '--no-renames', '-z', accepted, head]));
  const isStray = (path: string) => !path.startsWith(prefix) || !isOwned(path.slice(prefix.length).normalize('NFC'));
  const strays = [...new Set([...(await changedIn(folder)), ...committed])].filter(isStray);
  const moved = [...(await cleanVacant(record, isStray))];
  if (strays.length === 0) return alsoMoved(null, moved);
  const stashed = await stash(stateDir, record, watch.turn, accepted);
  for (const path of strays) moved.push(...(await restorePath(record, folder, path, accepted)));
  return alsoMoved(stashed, moved);
}

/** Commits all files of the worktree, and `seen` even if git is set to skip them. Returns the last commit of the branch. */
export async function commitAll(
  record: WorktreeRecord,
  at: WorkPosition,
  subject: string,
  trailers: readonly string[] = [`Baton-Cast: ${record.cast}`],
  seen: readonly string[] = [],
): Promise<Committed> {
  const untaken = await stageAll(record, {}, seen);
  const text = message(subject, trailers);
  const commit = await commitStaged(record, at, text);
  if (commit !== null) return { commit, untaken };
  const tree = await git(record.folder, ['write-tree']);
  return { commit: await commitTree(record, at, tree, text), untaken };
}

/**
 * After a crash: commits the work of accepted turns before other work starts from the branch. `isOpen` says whether a turn may
 * still be refused; `seen` are the observed changes.
 */
export async function commitAccepted(
  stateDir: string,
  record: WorktreeRecord,
  isOpen: (turn: string) => boolean,
  seen: readonly string[] = [],
): Promise<Begun> {
  const started = Object.keys(record.starts);
  const ended = started.filter((turn) => !isOpen(turn));
  const last = Number(ended.at(-1));
  if (ended.length === 0) return { record, stashed: null };
  const subject = `What turn ${last} left before a crash`;
  const { at, stashed } = await keepAccepted(stateDir, record, last);
  if (ended.length === started.length) {
    const { commit, untaken } = await commitAll(record, at, subject, undefined, seen);
    return { record: writeRecord(stateDir, { ...record, accepted: commit }), stashed, untaken };
  }
  const isEnded = coverOf(ended.flatMap((turn) => record.open[turn] ?? []));
  const prefix = prefixOf(record);
  const own = (await changedIn(record.folder)).flatMap((path) =>
    path.startsWith(prefix) ? [path.slice(prefix.length)] : [],
  );
  const left = own.filter((path) => isEnded(path.normalize('NFC')));
  if (left.length === 0) return { record, stashed };
  const kept = await keepPaths(stateDir, record, last, at, left, message(subject, [`Baton-Cast: ${record.cast}`]));
  return { ...kept, stashed: stashed ?? kept.stashed };
}

/** How many files of the worktree differ from its last commit. */
export async function uncommittedOf({ folder }: WorktreeRecord): Promise<number> {
  return (await changedIn(folder)).length;
}

async function changedIn(folder: string): Promise<readonly string[]> {
  // The look must not lock out an agent that uses git at the same moment.
  const env = { GIT_OPTIONAL_LOCKS: '0' };
  const status = await git(folder, ['status', '--porcelain', '-z', '--untracked-files=all', '--no-renames'], { env });
  return records(status).map((line) => line.slice(3));
}

/** The prefix of the workspace's paths. */
function prefixOf({ folder, cwd }: WorktreeRecord): string {
  return cwd === folder ? '' : `${relative(folder, cwd)}/`;
}

/** Next to other turns, only observed changes belong to the turn. */
async function commitPaths(
  stateDir: string,
  record: WorktreeRecord,
  at: WorkPosition,
  changes: readonly string[],
  text: string,
): Promise<Committed> {
  if (changes.length === 0) return { commit: at.tip, untaken: [] };
  const { tree, untaken } = await treeWith(stateDir, record, at.head, changes);
  const commit = await commitTree(record, at, tree, text);
  await stage(record, changes);
  return { commit, untaken };
}

const UPDATE = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];

/** The tree of a commit with these paths from the folder. */
function treeWith(stateDir: string, record: WorktreeRecord, commit: string, paths: readonly string[]): Promise<Tree> {
  const { folder, cwd } = record;
  return withIndex(stateDir, record, async (env) => {
    await git(folder, ['read-tree', commit], { env });
    const all = await tryGit(cwd, UPDATE, { env, input: paths.join('\0') });
    const untaken: string[] = [];
    // A file that cannot be staged does not stop the others.
    for (const path of all.code === 0 ? [] : paths) {
      const { code, error } = await tryGit(cwd, UPDATE, { env, input: path });
      if (code !== 0) untaken.push(error.split('\n')[0] ?? path);
    }
    return { tree: await git(folder, ['write-tree'], { env }), untaken };
  });
}

type Tree = { readonly tree: string; readonly untaken: readonly string[] };

/** An agent may lock the index for a moment. The index is then only out of date. */
async function stage({ cwd }: WorktreeRecord, paths: readonly string[]): Promise<void> {
  await unhide(cwd, paths).catch(() => undefined);
  await tryGit(cwd, UPDATE, { input: paths.join('\0') });
}

const UNDER_WAY = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply', 'sequencer'];

/** One git call for the usual case. Null if nothing is staged, or if git would commit more. */
async function commitStaged(
  { folder, branch }: WorktreeRecord,
  at: WorkPosition,
  text: string,
): Promise<string | null> {
  if (at.on !== `refs/heads/${branch}` || at.tip !== at.head) return null;
  const isBusy = UNDER_WAY.some((name) => existsSync(ownGitFile(folder, name) ?? ''));
  if (isBusy) return null;
  const args = ['-c', 'core.abbrev=no', 'commit', '--no-verify', '--cleanup=verbatim', '-F', '-'];
  const { code, out } = await tryGit(folder, args, { input: text, env: AUTHOR });
  return code === 0 ? (/^\[[^\]]* ([0-9a-f]{40,})\]/.exec(out)?.[1] ?? null) : null;
}

/** An agent may have committed on the branch or elsewhere. Its commits stay if they build on the branch. */
async function commitTree(record: WorktreeRecord, { tip, head, on }: WorkPosition, tree: string, text: string) {
  const { folder, branch } = record;
  const ref = `refs/heads/${branch}`;
  const isAhead = head !== tip && (await isIn(folder, tip, head));
  const commit = await commitOn(record, isAhead ? head : tip, tree, text);
  if (commit !== tip) await git(folder, ['update-ref', '-m', 'baton', ref, commit, tip]);
  if (on !== ref) await git(folder, ['symbolic-ref', 'HEAD', ref]);
  return commit;
}

/** The parent itself if it has the same tree. */
async function commitOn({ folder }: WorktreeRecord, parent: string, tree: string, text: string): Promise<string> {
  if ((await git(folder, ['rev-parse', `${parent}^{tree}`])) === tree) return parent;
  return git(folder, ['commit-tree', tree, '-p', parent], { input: text, env: AUTHOR });
}

async function startOver(stateDir: string, record: WorktreeRecord, watch: Watch, { tip }: WorkPosition) {
  const { folder, accepted } = record;
  const { turn, beside } = watch;
  const start = record.starts[turn] ?? tip;
  if (beside !== null) {
    const isOnlyOne = accepted !== undefined && isAlone(record, turn);
    if (isOnlyOne) dropStaleLock(folder);
    const stashed = isOnlyOne
      ? await putBack(stateDir, record, turn, accepted, stashTitle(turn), tip)
      : await stash(stateDir, record, turn, start);
    return alsoMoved(stashed, await restorePaths(record, beside));
  }
  return resetTo(stateDir, record, turn, start, tip);
}

/** Restores the branch and all files that git does not ignore to a commit. What differs is stashed. */
async function resetTo(stateDir: string, record: WorktreeRecord, turn: number, to: string, tip: string) {
  const { folder, branch } = record;
  // Git does not restore a file that its index marks as skipped.
  await unhide(folder);
  const stashed = await stash(stateDir, record, turn, to, stashTitle(turn), [tip]);
  await git(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
  await git(folder, ['reset', '-q', '--hard', to]);
  return alsoMoved(stashed, [...(await cleanPath(record, folder)), ...(await cleanVacant(record))]);
}

/** A turn next to others has its own paths, and only those are restored. */
async function restorePaths(record: WorktreeRecord, scope: readonly string[]): Promise<readonly string[]> {
  const moved: string[] = [];
  for (const path of scope) moved.push(...(await restorePath(record, record.cwd, path)));
  const [prefix, isInScope] = [prefixOf(record), coverOf(scope)];
  const isMeant = (path: string) => path.startsWith(prefix) && isInScope(path.slice(prefix.length).normalize('NFC'));
  return [...moved, ...(await cleanVacant(record, isMeant))];
}

export function subjectOf({ turn, label, title }: Omit<TurnName, 'socket'>): string {
  return `${oneLine(title === null ? label : `${label}: ${title}`)} (turn ${turn})`;
}

export function trailersOf(cast: string, { turn, socket }: TurnName): readonly string[] {
  return [`Baton-Cast: ${cast}`, `Baton-Turn: ${turn}`, `Baton-Socket: ${socket}`];
}

export function message(subject: string, trailers: readonly string[]): string {
  return `${subject}\n\n${trailers.join('\n')}\n`;
}

/** A title is an agent's text and must stay on one line. */
function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length <= TITLE_CHARS_MAX ? line : `${line.slice(0, TITLE_CHARS_MAX - 1)}…`;
}
