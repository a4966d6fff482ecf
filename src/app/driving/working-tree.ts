// The folders in which a cast works, as the engine needs them: the directory itself, or a worktree that is made when the
// first turn is owed and found again after a crash, and one for each item that runs next to others.
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { awaitAttempt, endOrphans, recoverAttempt, runBriefly, startAttempt } from '../../agents/process/attempt.ts';
import { clearAttempt } from '../../agents/process/attempt-folder.ts';
import type { WorkingTree } from '../../engine/ports.ts';
import type { Store } from '../../engine/store.ts';
import type { Watch } from '../../kernel/cast/packet.ts';
import { checkWorktree } from '../../kernel/graph/check-config.ts';
import type { WorktreeRules } from '../../kernel/graph/config.ts';
import { worktreeOf } from '../../kernel/graph/resolve.ts';
import { isObject } from '../../kernel/json.ts';
import { detectProject } from '../../utilities/detect-project.ts';
import { loadFor } from '../../workspace/find-config.ts';
import { WorktreeError } from '../../workspace/git.ts';
import { catchUp, takeOffRefused, tipOf } from '../../workspace/worktree/accepted.ts';
import {
  beginInLane,
  dropStraysInLane,
  keepInLane,
  leftoversOf,
  mergeLane,
  parkWork,
  removeLane,
  restoreWork,
} from '../../workspace/worktree/lane.ts';
import { readyLane, readyWorktree, type SetUpStep, type StepEnd, type Steps } from '../../workspace/worktree/make.ts';
import { noticeOfOrphaned } from '../../workspace/worktree/nested-repositories.ts';
import {
  holdRecords,
  type LaneRecord,
  lanesOf,
  letRecordsGo,
  mendRecords,
  readLane,
  readRecord,
  type WorktreeRecord,
} from '../../workspace/worktree/record.ts';
import type { Stash } from '../../workspace/worktree/stash.ts';
import { beginTurn, commitAccepted, dropStrays, keepTurn } from '../../workspace/worktree/turns.ts';
import { leftBy } from '../cast-work.ts';
import { unstartableIn, unstartableText } from '../preflight/checks.ts';
import type { Workspace } from '../workspace.ts';

const GRACE_MS = 2_000;
const OUTPUT_BYTES_MAX = 1_048_576;
const SAID_CHARS_MAX = 500;

export function workingTreeFor(
  workspace: Workspace,
  store: Store,
  cast: string,
  say: (line: string) => void,
): WorkingTree {
  const { dir, stateDir, env } = workspace;
  let own: WorktreeRecord | null = null;
  let rules: WorktreeRules | null = null;
  const lanes = new Map<number, LaneRecord>();
  const reportStash = (stashed: Stash | null, what: string): void => {
    if (stashed) say(`  ${what}; it is kept as ${stashed.ref}`);
  };
  const missed = (untaken: readonly string[] = []): void => {
    for (const why of untaken) say(`  ! not on the branch, and still in its worktree: ${why}`);
  };
  const warn = (line: string): void => say(`  ! ${line}`);
  // Git is asked one thing after the other: the worktrees share a repository, and some turns share a worktree.
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = queue.then(work);
    queue = done.catch(() => undefined);
    return done;
  };
  const dropRefused = async (): Promise<void> => {
    if (!own || Object.keys(own.starts).length === 0) return;
    const phases = new Map(
      Object.values((await store.view('cast', cast))?.turns ?? {}).map(({ id, phase }) => [`${id}`, phase]),
    );
    const isRefused = (turn: string) => ['failed', 'blocked'].includes(phases.get(turn) ?? '');
    const isOpen = (turn: string) => !['accepted', undefined].includes(phases.get(turn));
    reportStash(
      await takeOffRefused(stateDir, own, isRefused, isOpen),
      'what a refused turn committed is off the branch',
    );
  };
  const find = async (signal: AbortSignal): Promise<void> => {
    const state = await store.view('cast', cast);
    if (state?.root === undefined) return;
    rules = state.rules.worktree ?? null;
    holdRecords(stateDir, cast);
    const steps = stepsFor(workspace, cast, signal, null);
    const found = await readyWorktree({
      dir,
      stateDir,
      cast,
      cwd: resolve(dir, state.root),
      rules,
      now: worktreeNow(workspace, readRecord(stateDir, cast)),
      warn,
      steps,
    });
    // Said before the first turn, which would pay for finding out.
    if (Object.keys(found.starts).length === 0) {
      const unstartable = unstartableIn(found.cwd, state.rules.checkers, env.PATH);
      const problem = unstartableText(unstartable, detectProject(found.cwd), dir);
      if (problem !== null) warn(problem);
    }
    const { record, stashed } = await catchUp(stateDir, found, 0);
    reportStash(stashed, 'something was in the way of what was merged');
    const phaseOf = (turn: string) => (Object.hasOwn(state.turns, turn) ? state.turns[turn]?.phase : undefined);
    const isOpen = (turn: string) => !['accepted', undefined].includes(phaseOf(turn));
    // What was accepted right before a crash is committed by what was seen of it, as it would have been then.
    const seen = Object.keys(record.starts).length === 0 ? {} : await leftBy(store, cast);
    const kept = await commitAccepted(stateDir, record, isOpen, Object.keys(seen));
    reportStash(kept.stashed, 'the branch is back at what was accepted');
    missed(kept.untaken);
    own = kept.record;
  };
  const findLane = async (place: number, signal: AbortSignal): Promise<void> => {
    if (!own) return;
    const steps = stepsFor(workspace, cast, signal, place);
    const now = worktreeNow(workspace, readLane(stateDir, cast, place));
    lanes.set(
      place,
      await readyLane({ dir, stateDir, cast, cwd: own.cwd, rules, now, warn, steps, inTurn }, own, place),
    );
  };
  let finding: Promise<void> | null = null;
  const findingLane = new Map<number, Promise<void>>();
  const laneOf = ({ place }: Watch): LaneRecord | null => (place === null ? null : (lanes.get(place) ?? null));
  return {
    async ready(signal, place) {
      finding ??= find(signal);
      await finding;
      if (place === null || !own) return own?.cwd ?? dir;
      const found = findingLane.get(place) ?? findLane(place, signal);
      findingLane.set(place, found);
      await found;
      return lanes.get(place)?.cwd ?? dir;
    },
    begin: (watch) =>
      inTurn(async () => {
        if (!own) return [];
        const lane = laneOf(watch);
        const inTheWay = `something was in the way of what was parked for turn ${watch.turn}`;
        if (lane) {
          const begun = await beginInLane(stateDir, own, lane, watch);
          lanes.set(lane.lane.place, begun.record);
          reportStash(begun.stashed, `turn ${watch.turn} begins where something was left`);
          if (!watch.restores) return [];
          const restored = await restoreWork(stateDir, begun.record, watch, watch.restores);
          lanes.set(lane.lane.place, restored.record);
          reportStash(restored.stashed, inTheWay);
          return restored.clashes;
        }
        if (watch.begins === 'first' && watch.beside !== null) await dropRefused();
        const begun = await beginTurn(stateDir, own, watch);
        own = begun.record;
        if (begun.stashed) say(`  turn ${watch.turn} begins over; what it had left is kept as ${begun.stashed.ref}`);
        if (!watch.restores) return [];
        const restored = await restoreWork(stateDir, own, watch, watch.restores);
        own = restored.record;
        reportStash(restored.stashed, inTheWay);
        return restored.clashes;
      }),
    keep: (watch, changes) =>
      inTurn(async () => {
        const lane = laneOf(watch);
        const what = `the branch keeps what was accepted, without commits that turn ${watch.turn} made beside it`;
        if (lane) {
          const kept = await keepInLane(stateDir, lane, watch, Object.keys(changes));
          lanes.set(lane.lane.place, kept.record);
          reportStash(kept.stashed, what);
          missed(kept.untaken);
        } else if (own) {
          const kept = await keepTurn(stateDir, own, watch, Object.keys(changes));
          own = kept.record;
          reportStash(kept.stashed, what);
          missed(kept.untaken);
        }
      }),
    refuse: (watch) =>
      inTurn(async () => {
        const lane = laneOf(watch);
        const strays = lane ? dropStraysInLane(stateDir, lane, watch) : own && dropStrays(stateDir, own, watch);
        reportStash(await strays, `what turn ${watch.turn} wrote where it may not is no part of the branch`);
      }),
    merge: (watch) =>
      inTurn(async () => {
        const lane = laneOf(watch);
        if (!own || !lane) return { ok: true, commit: null };
        const merged = await mergeLane(stateDir, own, lane, watch);
        own = merged.own;
        lanes.set(merged.lane.lane.place, merged.lane);
        for (const stashed of merged.stashes)
          reportStash(stashed, `something was in the way of merging turn ${watch.turn}`);
        return merged.end;
      }),
    park: (watch) =>
      inTurn(async () => {
        const lane = laneOf(watch);
        if (!own || (watch.place !== null && !lane)) return null;
        const key = watch.itemKey ?? `${watch.turn}`;
        const parked = await parkWork(stateDir, lane ?? own, watch, key);
        if (lane) lanes.set(lane.lane.place, { ...parked.record, lane: lane.lane });
        else own = parked.record;
        for (const stashed of parked.stashes) reportStash(stashed, `something was in the way of parking ${key}`);
        if (parked.kept) say(`  what was done for ${key} is kept as ${parked.kept.ref}`);
        return parked.kept;
      }),
    // The state of the cast is decided already; a failed cleanup does not change it.
    settle: (isCompleted) =>
      inTurn(async () => {
        mendRecords(stateDir, cast);
        letRecordsGo(stateDir, cast);
        if (!own) return;
        const not = (error: Error): void => say(`  not cleared away: ${error.message}`);
        await (isCompleted ? clearLanes(stateDir, own, say, not) : dropRefused()).catch(not);
      }),
  };
}

/** Removes the worktree of an item whose work is all in the branch of the cast. Work that is nowhere else stays. */
async function clearLanes(
  stateDir: string,
  own: WorktreeRecord,
  say: (line: string) => void,
  not: (error: Error) => void,
): Promise<void> {
  for (const lane of lanesOf(stateDir, own.cast)) {
    const { commits, files } = await leftoversOf(lane, await tipOf(own));
    if (lane.state !== 'making' && commits + files > 0) continue;
    const behind = await removeLane(stateDir, lane).catch(not);
    if (behind?.count) say(`  the worktree of lane ${lane.lane.place} is cleared away; ${noticeOfOrphaned(behind)}`);
  }
}

/**
 * How the workspace says now that worktrees are set up; null where it does not say it in a way that can be understood. A
 * set-up that failed is not tried again while a person edits the configuration and it cannot be read.
 */
function worktreeNow(workspace: Workspace, before: WorktreeRecord | null): WorktreeRules | null {
  const now = worktreeIn(workspace);
  if (!('why' in now)) return now.rules;
  if (before?.state !== 'making' || before.configured === undefined) return null;
  const reason = `the configuration cannot be read to see how the worktree is to be set up now: ${now.why}`;
  throw new WorktreeError(`${reason}; correct that, then carry on`);
}

type Now = { readonly rules: WorktreeRules | null } | { readonly why: string };

function worktreeIn(workspace: Workspace): Now {
  try {
    const { config } = loadFor({ workspace, file: undefined, loadout: undefined, cwd: workspace.dir });
    if (!isObject(config)) return { why: `${workspace.configFile} is no object` };
    const [issue] = checkWorktree(config.worktree);
    return issue ? { why: `${issue.path}: ${issue.message}` } : { rules: worktreeOf(config) };
  } catch (error) {
    return { why: (error as Error).message };
  }
}

/** Programs that set a worktree up run under a supervisor, like every other one: a crash leaves none of them behind. */
function stepsFor({ stateDir, env: own }: Workspace, cast: string, signal: AbortSignal, place: number | null): Steps {
  const attempts = join(stateDir, 'attempts');
  const prefix = `${cast}-worktree${place === null ? '' : `-lane-${place}`}.`;
  const home = resolve(own.BATON_HOME || dirname(attempts));
  const runSupervised = async (folder: string, { env, ...step }: SetUpStep) => {
    const limits = { graceMs: GRACE_MS, maxStdoutBytes: OUTPUT_BYTES_MAX, maxStderrBytes: OUTPUT_BYTES_MAX };
    await startAttempt(folder, { ...step, env: { ...env, BATON_HOME: home }, ...limits }, '');
    return awaitAttempt(folder, signal);
  };
  let count = 0;
  return {
    async run({ isBrief, ...step }) {
      count += 1;
      const folder = join(attempts, `${prefix}${count}`);
      const end = isBrief
        ? await runBriefly(folder, { ...step, graceMs: GRACE_MS }, signal)
        : await runSupervised(folder, step);
      await clearAttempt(folder);
      return asStepEnd(end, step.timeoutMs);
    },
    async clear() {
      for (const name of await readdir(attempts).catch(() => [])) {
        if (!name.startsWith(prefix)) continue;
        const folder = join(attempts, name);
        if ((await recoverAttempt(folder)) === 'running') await awaitAttempt(folder, AbortSignal.abort());
        await endOrphans(folder);
        await clearAttempt(folder);
      }
    },
  };
}

function asStepEnd(end: Awaited<ReturnType<typeof awaitAttempt>>, timeoutMs: number): StepEnd {
  if (end.code === 0 && !end.lost && !end.timedOut && !end.aborted) return { ok: true };
  const printed = `${end.stderr}\n${end.stdout}`.trim().replace(/\s+/g, ' ').slice(-SAID_CHARS_MAX);
  const because = printed === '' ? '' : `: ${printed}`;
  if (end.aborted) return { ok: false, why: 'it was stopped' };
  if (end.timedOut) return { ok: false, why: `it did not end within ${timeoutMs} ms${because}` };
  if (end.error) return { ok: false, why: `${end.error}${because}` };
  return { ok: false, why: `${end.code === null ? `signal ${end.signal}` : `exit code ${end.code}`}${because}` };
}
