// What a cast has done to files, for the commands that show it, take it over or take it back; the checks of that work; and locks in the
// workspace itself while such a command changes files there.

import { revealed } from '../agents/hidden-texts.ts';
import { openSealKey } from '../approvals/seal.ts';
import type { Store, Submitter } from '../engine/store.ts';
import type { Touched } from '../kernel/cast/fact.ts';
import { type Cast, type Turn, type TurnCheck, walkOf } from '../kernel/cast/state.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { Fact } from '../kernel/fact.ts';
import { checkersAt } from '../kernel/graph/config.ts';
import { bystanderAt, hasOwnPaths, isKnownToWrite, remarkOn } from '../kernel/graph/route.ts';
import type { JsonObject } from '../kernel/json.ts';
import { isTerminal, runOf, tasksOf } from '../kernel/ledger/state.ts';
import { counted } from '../kernel/text.ts';
import { deny } from '../kernel/verdict.ts';
import { aboutTurn, checkProject, type Passes, passesIn } from '../workspace/checkers.ts';
import { tryGit, WorktreeError } from '../workspace/git.ts';
import type { LocatedWorkspace } from '../workspace/locate.ts';
import type { Left } from '../workspace/restore-files.ts';
import { changedSoFar } from '../workspace/witness.ts';
import { branchTip, tipOf } from '../workspace/worktree/accepted.ts';
import { leftoversOf } from '../workspace/worktree/lane.ts';
import { apartOf } from '../workspace/worktree/nested-repositories.ts';
import { lanesOf, readLane, readRecord, type WorktreeRecord } from '../workspace/worktree/record.ts';
import { leaveUnchanged, worktreeOfOne } from '../workspace/worktree/restore-path.ts';
import { uncommittedOf } from '../workspace/worktree/turns.ts';
import { drivenBy } from './name-cast.ts';
import { Refused } from './refused.ts';
import { socketName } from './views/in-words.ts';
import type { Workspace } from './workspace.ts';

/** The record of the cast's worktree; null where it works in the directory itself. */
export function worktreeRecordOf({ stateDir }: LocatedWorkspace, { cast, root }: CastSummary): WorktreeRecord | null {
  if (root === undefined) return null;
  const record = readRecord(stateDir, cast);
  if (record && record.state !== 'making') return record;
  const reason = `cast ${cast} has not come as far as to have a worktree; \`baton continue ${cast}\` makes it`;
  throw new Refused(deny('WORKTREE_UNUSABLE', reason, { cast }));
}

export type UnmergedLane = {
  readonly lane: number;
  readonly task: string | null;
  readonly branch: string;
  readonly commits: number;
  readonly uncommitted: number;
};

/** Items that have a worktree of their own with something in it that the cast's branch does not have. */
export async function unmergedLanes(
  { stateDir }: LocatedWorkspace,
  own: WorktreeRecord,
): Promise<readonly UnmergedLane[]> {
  const found: UnmergedLane[] = [];
  for (const lane of lanesOf(stateDir, own.cast)) {
    if (lane.state !== 'ready') continue;
    const { commits, files } = await leftoversOf(lane, await tipOf(own));
    const { place, task } = lane.lane;
    if (commits + files > 0) found.push({ lane: place, task, branch: lane.branch, commits, uncommitted: files });
  }
  return found;
}

function uncommittedText(files: number): readonly string[] {
  return files > 0 ? [counted(files, 'uncommitted file')] : [];
}

/** In words for people. */
export function unmergedText({ task, branch, commits, uncommitted }: UnmergedLane): string {
  const what = [...(commits > 0 ? [counted(commits, 'commit')] : []), ...uncommittedText(uncommitted)].join(' and ');
  return `${task ?? 'An item'} is not merged yet: ${what} on ${branch}`;
}

/** How to look at what a cast did in its worktree, take it over or drop it; nothing where it has none any more. */
export async function wayOut(workspace: Workspace, cast: string): Promise<readonly string[]> {
  const record = readRecord(workspace.stateDir, cast);
  if (record?.state !== 'ready') return [];
  const { top, branch, base } = record;
  const baton = workspace.program;
  const tip = await branchTip(record);
  const uncommitted = await uncommittedOf(record).catch(() => 0);
  const lanes = tip === null ? [] : await unmergedLanes(workspace, record);
  if (tip === base && uncommitted === 0 && lanes.length === 0) {
    const apart = await apartOf(workspace.stateDir, record);
    if (apart !== null) return [`It changed no file of its branch; ${apart}.`];
    return [`It changed no file; \`${baton} undo ${cast}\` clears its worktree away.`];
  }
  if (tip === null) return [`Its branch ${branch} is gone; \`${baton} diff ${cast}\` says what can be done.`];
  const commits = Number((await tryGit(top, ['rev-list', '--count', `${base}..${tip}`])).out) || 0;
  return [
    `What it did is on branch ${branch} (${[counted(commits, 'commit'), ...uncommittedText(uncommitted)].join(', ')}):`,
    `  look at it    ${baton} diff ${cast}`,
    `  take it over  ${baton} merge ${cast}`,
    `  drop it       ${baton} undo ${cast}`,
    ...lanes.map((lane) => `${unmergedText(lane)} (${baton} diff ${cast} --lane ${lane.lane})`),
  ];
}

/**
 * The files that the turns of a cast left changed, by path, whether the turns were accepted or refused. Changes of a turn are
 * compared with its beginning; when the turn begins again, only the last report since then counts. A file that may have been
 * changed by others has a remark, unless a turn changed the same file itself.
 */
export async function leftBy(store: Store, cast: string): Promise<Left> {
  const beginnings = new Map<number, number>();
  const words = new Map<string, Left>();
  const remarks = new Map<number, (path: string) => string | null>();
  let started: Extract<Fact, { kind: 'cast.started' }> | null = null;
  for (const { fact } of await store.read({ after: 0, cast })) {
    if (fact.kind === 'cast.started') started = fact;
    if (fact.kind === 'turn.started' && started) {
      const { rules, root } = started;
      const who = bystanderAt(rules, root, fact.socket);
      const remark = who === null ? null : remarkOn(who, socketName(rules, fact.socket));
      remarks.set(fact.turn, (path) => (isKnownToWrite(rules, fact.socket, path) ? null : remark));
    }
    if (fact.kind === 'attempt.started' && fact.seal !== undefined) beginnings.set(fact.turn, fact.attempt);
    const word = wordOf(fact);
    if (!word) continue;
    const key = `${word.turn}.${beginnings.get(word.turn) ?? 0}`;
    const remarkOf = remarks.get(word.turn) ?? (() => null);
    const left = Object.entries(word.touched).map(
      ([path, digest]) => [path, { digest, remark: remarkOf(path) }] as const,
    );
    words.delete(key);
    words.set(key, Object.fromEntries(left));
  }
  const all = [...words.values()].flatMap((left) => Object.entries(left));
  const [outside, own] = [
    all.filter(([, { remark }]) => remark !== null),
    all.filter(([, { remark }]) => remark === null),
  ];
  return Object.fromEntries([...outside, ...own]);
}

/** An attempt that was refused before it was looked at says nothing of what it changed. */
function wordOf(fact: Fact): { readonly turn: number; readonly touched: Touched } | null {
  switch (fact.kind) {
    case 'turn.accepted':
    case 'turn.reported':
      return { turn: fact.turn, touched: fact.touched ?? {} };
    case 'turn.blocked':
    case 'attempt.refused':
      return fact.touched ? { turn: fact.turn, touched: fact.touched } : null;
    default:
      return null;
  }
}

export async function refuseWhileDriven(store: Store, cast: string, program: string): Promise<void> {
  const driver = await store.view('driver', cast);
  if (driver) throw new Refused(drivenBy(cast, driver, program));
}

/** Turns a problem of a worktree, which a person can repair, into a refusal. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WorktreeError) throw new Refused(deny(error.code, error.message));
    throw error;
  }
}

/** `about` names the files as they were checked. */
export type SubmittedWork = { readonly about: string; readonly checks: readonly TurnCheck[] };

/** Null where nothing is to be checked, or where the changes cannot be inspected: then it is checked after the turn. */
export async function checkSubmitted(
  workspace: Workspace,
  cast: Cast,
  turn: Turn,
  signal: AbortSignal,
): Promise<SubmittedWork | null> {
  const names = checkersAt(cast.rules.checkers, 'turn');
  if (names.length === 0 || !hasOwnPaths(cast.rules, turn.socket)) return null;
  const cwd = folderOf(workspace, cast, turn);
  const checkers = revealed(cast.rules.checkers, workspace.stateDir, cast.id);
  if (cwd === null || checkers === null) return null;
  const changes = await changedSoFar(workspace, { cast: cast.id, turn: turn.id }, cwd);
  if (changes === null || Object.keys(changes).length === 0) return null;
  const about = aboutTurn(cast.id, turn.id, changes);
  const context = { root: cwd, changes: Object.keys(changes), signal };
  const passes = passesOf(workspace);
  const place = walkOf(cast, turn)?.place ?? null;
  const worktree = { cast: cast.id, place, isBeside: turn.lane !== null };
  const record = cwd === workspace.dir ? null : worktreeOfOne(workspace.stateDir, worktree);
  const check = () => checkProject(names, checkers, context, { about, passes });
  return { about, checks: (await leaveUnchanged(workspace.stateDir, record, check)).value };
}

/** Sealed with the user's key, which is looked for when it is needed. Without one every check runs again. */
export function passesOf({ stateDir, env }: Pick<Workspace, 'stateDir' | 'env'>): Passes {
  const passes = () => {
    const key = openSealKey(env);
    return 'allow' in key ? null : passesIn(stateDir, (text) => key.seal('check-pass', text));
  };
  return { has: (what) => passes()?.has(what) ?? false, add: (what) => passes()?.add(what) };
}

function folderOf({ dir, stateDir }: Workspace, cast: Cast, turn: Turn): string | null {
  if (cast.root === undefined) return dir;
  const place = walkOf(cast, turn)?.place;
  const record = place === undefined ? readRecord(stateDir, cast.id) : readLane(stateDir, cast.id, place);
  return record?.cwd ?? null;
}

/** More paths than that are locked by locking everything. */
const PATHS_MAX = 500;
/** What a command left behind when it was killed is free again after so long. */
const TIMEOUT_S = 300;

type Locked = {
  readonly name: string;
  readonly title: string;
  readonly paths: readonly string[];
  /** Who holds them, by the name in the log. */
  readonly actor: Submitter;
};

/** Runs `work` while these paths are locked. Refused with the holder where they are locked already. */
export async function withMainLocks<T>(
  store: Store,
  { name, title, paths, actor }: Locked,
  work: () => Promise<T>,
): Promise<T> {
  const task = await newTask(store, name, actor);
  const packet = packetOf(name, task, title, paths.length > PATHS_MAX ? ['.'] : paths);
  const created = await store.submit({ kind: 'task.create', packet }, actor);
  if (!created.allow) throw new Refused(created);
  const claimed = await store.submit({ kind: 'task.claim', run: name, task, owner: actor.name }, actor);
  if (!claimed.allow) {
    await move(store, { run: name, task, actor }, 'canceled', claimed.reason);
    throw new Refused(claimed);
  }
  let isDone = false;
  try {
    const result = await work();
    isDone = true;
    return result;
  } finally {
    await move(store, { run: name, task, actor }, isDone ? 'done' : 'canceled', isDone ? title : 'it did not get done');
  }
}

/** The next number; what an earlier command was killed over is given up. */
async function newTask(store: Store, run: string, actor: Submitter): Promise<string> {
  const ledger = await store.view('ledger', run);
  for (const { id, status } of tasksOf(ledger, run)) {
    if (!isTerminal(status))
      await move(store, { run, task: id, actor }, 'canceled', 'the command that worked on it is gone');
  }
  return `T-${(runOf(ledger, run)?.tasks.length ?? 0) + 1}`;
}

type Moved = { readonly run: string; readonly task: string; readonly actor: Submitter };

async function move(store: Store, { run, task, actor }: Moved, to: 'done' | 'canceled', reason: string): Promise<void> {
  await store.submit({ kind: 'task.move', run, task, to, reason, actor: 'engine' }, actor);
}

function packetOf(run: string, id: string, title: string, paths: readonly string[]): JsonObject {
  return {
    schema_version: '1.0.0',
    run_id: run,
    packet_type: 'assignment',
    global_objective: title,
    task: {
      task_id: id,
      title,
      type: 'parallelizable',
      dependencies: [],
      lock_scope: [...paths],
      forbidden_scope: [],
      acceptance_criteria: [],
      worklog_path: '',
      timeout_seconds: TIMEOUT_S,
      heartbeat_interval_seconds: TIMEOUT_S,
      priority: 'high',
    },
    active_locks: [],
    context_package: [],
    required_output_schema: 'subagent_result_v1',
  };
}
