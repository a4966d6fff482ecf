// Drives a cast in this process until it stops: takes it over from a driver that is gone, and signs the log meanwhile. The signal pauses
// the cast; progress leaves through `onEvent`.

import { existsSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { noteDriver } from '../../access/person-proof.ts';
import { revealingCheckers } from '../../agents/hidden-texts.ts';
import { readAttemptClaim, readExit } from '../../agents/process/attempt-folder.ts';
import { isAlive } from '../../agents/process/process-identity.ts';
import {
  type CheckpointInterval,
  checkpointInThread,
  EVERY_DEFAULT,
  PeriodicCheckpoint,
} from '../../audit/make-checkpoint.ts';
import { Engine, LeaseLost } from '../../engine/drive.ts';
import { type Driver, isSameProcess, thisDriver } from '../../engine/lease.ts';
import { ENGINE, type Store, type Submitter } from '../../engine/store.ts';
import { WorkerStore } from '../../engine/worker-store.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { logFileIn } from '../../log/sqlite/open.ts';
import { WorktreeError } from '../../workspace/git.ts';
import { noteOutputs } from '../../workspace/own-output.ts';
import { sectionObject } from '../../workspace/sections.ts';
import { witnessOf } from '../../workspace/witness.ts';
import { passesOf, wayOut } from '../cast-work.ts';
import { writeWorklogsOf } from '../ledger-session.ts';
import { loadView } from '../look-at-cast.ts';
import { drivenBy } from '../name-cast.ts';
import type { Context } from '../operation.ts';
import { Refused } from '../refused.ts';
import { bringIntoForce, keepQuarantine } from '../registry-in-force.ts';
import { withLogIn } from '../store.ts';
import type { CastView } from '../views/shown-cast.ts';
import { asDamage, makeStateFolder, type Workspace } from '../workspace.ts';
import { keepDelivering } from './deliver-events.ts';
import { layeredRunners } from './layered-runners.ts';
import { lookAtWait } from './look-at-wait.ts';
import { notifier } from './notify.ts';
import { tracer } from './traces.ts';
import { workingTreeFor } from './working-tree.ts';

type Drive = {
  /** Runs once the cast is ours to drive. */
  readonly begin: () => Promise<void>;
  /** For people: where the cast works. */
  readonly says?: readonly string[];
  /** The fence of a lease that ends now, even though its holder may live. */
  readonly over?: number;
  /** Whether the answer holds every attempt. */
  readonly turns?: boolean;
};

/** Answers the cast as it is when it has stopped. */
export async function driveCast(
  workspace: Workspace,
  store: Store,
  cast: string,
  { begin, says = [], over, turns = false }: Drive,
  { actor, signal, onEvent }: Context,
): Promise<CastView> {
  const { dir, stateDir, program } = workspace;
  noteDriver(workspace.env);
  const me = thisDriver();
  const driver = await store.lease('takeCast', cast, me, over);
  if (!isSameProcess(driver, me)) throw new Refused(drivenBy(cast, driver, program));
  noteOutputs(stateDir);
  if (driver.after) await takeOver(store, stateDir, cast, driver.after);
  const say = (text: string): void => onEvent({ kind: 'note', text });
  const pause = () => store.submit({ kind: 'cast.pause', cast, reason: whyStopped(signal) }, actor);
  const onAbort = () => void pause().catch(() => undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  const past = await store.read({ after: 0, cast });
  onEvent({ kind: 'driving', cast, past, says });
  const telling = notifier(workspace, { say, ring: () => onEvent({ kind: 'bell' }) });
  telling.learn(past);
  const tracing = tracer(workspace, say);
  tracing.learn(past);
  const delivering = await keepDelivering(workspace, store, say);
  const signing = checkpointWhileDriven(workspace, say);
  try {
    const engine = new Engine({
      store,
      runners: layeredRunners({ workspace, store }),
      cwd: dir,
      configDir: `${dir}/.baton`,
      stateDir,
      witness: revealingCheckers(witnessOf(workspace, say, passesOf(workspace)), stateDir),
      probe: (probe, folder, signal) => lookAtWait(store, probe, folder, signal),
      workingTreeOf: (id) => workingTreeFor(workspace, store, id, say),
      onEvent: (turn, event) => onEvent({ kind: 'live', turn, event }),
    });
    const started = async () => {
      await begin();
      // An interrupt that came before there was a cast to pause is made good.
      if (signal.aborted) await pause().catch(() => undefined);
    };
    await engine.drive(cast, started, ({ entries }) => {
      onEvent({ kind: 'change', entries });
      telling.saw(entries);
      delivering.wake();
      tracing.saw(entries);
      for (const { seq } of entries.slice(-1)) signing.saw(seq);
    });
  } catch (error) {
    if (error instanceof LeaseLost) throw new Refused(error.verdict);
    if (!(error instanceof WorktreeError)) throw error;
    // A person can repair a worktree: the cast is paused until then and loses nothing.
    await store.submit({ kind: 'cast.pause', cast, reason: error.message }, actor);
  } finally {
    signal.removeEventListener('abort', onAbort);
    onEvent({ kind: 'driven', cast });
    await signing.stop();
    // The lease of a process that has ended counts for nothing, so a store that is broken by now does no harm.
    await store.lease('releaseCast', cast, me).catch(() => undefined);
  }
  await Promise.all([telling.settled(), tracing.settled(), delivering.settled()]);
  delivering.close();
  await writeWorklogsOf(cast, store, workspace, say);
  await keepQuarantine(store, workspace, say);
  await checkpointAtEnd(workspace, say);
  const view = await loadView(workspace, store, cast, turns);
  if (view.branch !== undefined) onEvent({ kind: 'left', cast, says: await wayOut(workspace, cast) });
  return view;
}

/** The signal may carry the reason. */
function whyStopped({ reason }: AbortSignal): string {
  return typeof reason === 'string' ? reason : 'stopped by its caller';
}

/** Takes a cast over from a process that is gone. The rules judge its open attempts before anything is dispatched again. */
async function takeOver(store: Store, stateDir: string, cast: string, { host, pid }: Driver): Promise<void> {
  const state = await store.view('cast', cast);
  if (state?.status !== 'running') return;
  const seen: Record<number, 'running' | 'answered'> = {};
  for (const { id, attempt, phase } of Object.values(state.turns)) {
    if (phase !== 'running') continue;
    const found = await stateOf(newestRun(join(stateDir, 'attempts', `${cast}-${id}.${attempt}`)));
    if (found !== null) seen[id] = found;
  }
  await store.submit({ kind: 'cast.recover', cast, driver: { host, pid }, seen }, ENGINE);
}

/** Where a provider asked for patience, its program was run again in a folder next to the first. */
function newestRun(dir: string): string {
  let newest = dir;
  for (let run = 1; existsSync(`${dir}.again-${run}`); run += 1) newest = `${dir}.again-${run}`;
  return newest;
}

async function stateOf(dir: string): Promise<'running' | 'answered' | null> {
  const claim = await readAttemptClaim(dir);
  if (claim?.by !== 'supervisor') return null;
  if (isAlive(claim)) return 'running';
  return (await readExit(dir)) === null ? null : 'answered';
}

/** Signs the log as `checkpointEvery` says, and at the end. If signing fails, this is reported once and the cast goes on. */
function checkpointWhileDriven(workspace: Workspace, say: (line: string) => void): PeriodicCheckpoint {
  let isTold = false;
  const tell = (why: string) => {
    if (!isTold) say(`The log was not signed (${why}); the cast goes on, and it is tried again.`);
    isTold = true;
  };
  return new PeriodicCheckpoint(everyIn(workspace), async () => {
    try {
      const verdict = await checkpointInThread(workspace, logFileIn(workspace.stateDir), workspace.env);
      if (!verdict.allow) tell(`${verdict.code}: ${verdict.reason}`);
    } catch (error) {
      tell((error as Error).message);
    }
  });
}

/** A configuration that cannot be read now keeps no cast from being carried on: then the usual times hold. */
function everyIn(workspace: Workspace): CheckpointInterval {
  try {
    return everyOf(sectionObject(workspace, 'checkpointEvery'));
  } catch {
    return EVERY_DEFAULT;
  }
}

function everyOf(written: Json | undefined): CheckpointInterval {
  const { minutes, facts } = isObject(written) ? written : {};
  const isCount = (value: Json | undefined): value is number => typeof value === 'number' && value > 0;
  return {
    minutes: isCount(minutes) ? minutes : EVERY_DEFAULT.minutes,
    facts: isCount(facts) ? facts : EVERY_DEFAULT.facts,
  };
}

export async function checkpointAtEnd(
  workspace: Pick<Workspace, 'dir' | 'stateDir' | 'configFile' | 'env' | 'program'>,
  note: (line: string) => void,
): Promise<void> {
  try {
    const { makeCheckpoint } = await import('../../audit/make-checkpoint.ts');
    const verdict = await withLogIn(workspace.stateDir, (log) => makeCheckpoint(workspace, log, workspace.env));
    if (verdict.allow) return;
    const wayOut = `\`${workspace.program} explain ${verdict.code}\` says what to do`;
    note(`The log was not signed (${verdict.code}): ${verdict.reason}; ${wayOut}`);
  } catch (error) {
    note(`The log was not signed: ${(error as Error).message}`);
  }
}

export async function withDriver<T>(
  workspace: Workspace,
  actor: Submitter,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  // An unusable state folder is reported in clearer words here than by a failed open later.
  makeStateFolder(workspace);
  try {
    const store = await withCompileCache(() => WorkerStore.open(logFileIn(workspace.stateDir), workspace.dir));
    try {
      await bringIntoForce(store, workspace, actor);
      return await work(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    throw asDamage(error, workspace);
  }
}

/**
 * A thread uses the compiled code of earlier runs only if it finds the cache named in its environment when it starts,
 * and starts several times slower without it. What we start later must not inherit the name.
 */
function withCompileCache<T>(startThread: () => T): T {
  const cache = getCompileCacheDir();
  if (cache === undefined || process.env.NODE_COMPILE_CACHE !== undefined) return startThread();
  process.env.NODE_COMPILE_CACHE = dirname(cache);
  try {
    return startThread();
  } finally {
    delete process.env.NODE_COMPILE_CACHE;
  }
}
