// Processes of their own that drive casts. A caller gets its answer as soon as such a process has the cast; a server starts one for each
// cast of its workspace whose driver is gone.
import { spawn } from 'node:child_process';
import { openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Actor, TOKEN_VARIABLE } from '../../access/actor.ts';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import { newCastId } from '../../workspace/locate.ts';
import type { WorkspaceStore } from '../store.ts';
import { BATON, type Workspace } from '../workspace.ts';

const LOOK_EVERY_MS = 20;
/** A cast that stops within this time is answered with its end. */
const WAIT_MS = 10_000;
/** Tells the background process the id that was promised to the caller. */
const PROMISED = 'BATON_DETACHED_CAST';

/** The id of the cast to start: the promised one in a background process, else a new one. */
export function idToStart(env: NodeJS.ProcessEnv): string {
  const promised = env[PROMISED];
  // What the cast starts in its turn must not take it for its own.
  delete env[PROMISED];
  return promised ?? newCastId(Date.now());
}

/** Starts a cast by a process of its own; `args` are those of `cast`. Answers its id when it is in the log. */
export async function startBehind(
  workspace: Workspace,
  store: Pick<WorkspaceStore, 'view'>,
  actor: Actor,
  args: readonly string[],
  request: string,
): Promise<string> {
  const cast = newCastId(Date.now());
  const input = inputOf(join(workspace.stateDir, `${cast}.request`), request);
  const driver = start(workspace, actor, cast, ['cast', ...args, '-'], input, { [PROMISED]: cast });
  while (driver.isRunning() && (await store.view('cast', cast)) === null) await sleep(LOOK_EVERY_MS);
  if ((await store.view('cast', cast)) === null)
    throw new Error(`the background process ended at once; ${driver.file} says why`);
  return cast;
}

/**
 * Lets a process of its own drive a cast that runs without a driver. A driver that has just seen its cast wait may be
 * about to end, so the cast is looked at until it stops, or for `WAIT_MS`.
 */
export async function driveBehind(
  workspace: Workspace,
  store: Pick<WorkspaceStore, 'view'>,
  actor: Actor,
  cast: string,
): Promise<void> {
  let driver: ReturnType<typeof start> | null = null;
  const deadline = performance.now() + WAIT_MS;
  while (performance.now() < deadline && (await store.view('cast', cast))?.status === 'running') {
    const isLeft = (await store.view('driver', cast)) === null;
    if (isLeft && driver && !driver.isRunning())
      throw new Error(`the background process ended at once; ${driver.file} says why`);
    if (isLeft) driver ??= resumeBehind(workspace, actor, cast);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Starts a process of its own that carries a cast on. Where another process drives the cast meanwhile, it ends at once. */
function resumeBehind(workspace: Workspace, actor: Actor, cast: string) {
  return start(workspace, actor, cast, ['resume', cast], 'ignore');
}

function start(
  { dir, stateDir, env, servedVariables }: Workspace,
  actor: Actor,
  cast: string,
  args: readonly string[],
  input: number | 'ignore',
  more: NodeJS.ProcessEnv = {},
) {
  const file = join(stateDir, `${cast}.out`);
  const sink = openSync(file, 'a', 0o600);
  // A token allows steering, so a started process must not have one.
  const { BATON_MCP_TOKEN: _server, [TOKEN_VARIABLE]: _own, ...rest } = env;
  const child = spawn(BATON, ['-C', dir, ...args], {
    env: { ...rest, ...actor.env, ...servedVariables, ...more },
    detached: true,
    stdio: [input, sink, sink],
  });
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  child.once('error', end);
  child.once('exit', end);
  child.unref();
  return { file, isRunning: () => !isOver };
}

/** A request may be longer than an argument can be. The file has no name any more when the process reads it. */
function inputOf(file: string, request: string): number {
  writeFileSync(file, request, { mode: 0o600, flag: 'wx' });
  const input = openSync(file, 'r');
  rmSync(file);
  return input;
}

type KeptDriven = { close(): void };

type KeepOptions = {
  readonly say: (line: string) => void;
  readonly lookEveryMs?: number;
  /** Starts a driver. Answers whether it still runs, and the file that says why it ended. */
  readonly drive?: (cast: string) => Driver;
};
type Driver = { readonly file: string; readonly isRunning: () => boolean };

type Orphan = {
  /** How often a driver was started for it. */
  tries: number;
  startedAt: number;
  driver: Driver | null;
};

const LOOK_FOR_LEFT_MS = 2_000;
/** A driver that keeps dying is not started for ever; each time it is waited twice as long. */
const TRIES_MAX = 5;
/** What lives so long counts as well. */
const WELL_MS = 60_000;
/** After a reboot many casts are left at once. */
const AT_ONCE = 4;

export function keepDriven(workspace: Workspace, actor: Actor, options: KeepOptions): KeptDriven {
  const { say, lookEveryMs = LOOK_FOR_LEFT_MS, drive = (cast) => resumeBehind(workspace, actor, cast) } = options;
  const orphans = new Map<string, Orphan>();
  let isLooking = false;

  const look = async (): Promise<void> => {
    if (!workspace.hasLog()) return;
    const store = workspace.castStore();
    const running = (await store.view('casts', { isOpen: true })).filter(({ status }) => status === 'running');
    const left: CastSummary[] = [];
    for (const one of running) if ((await store.view('driver', one.cast)) === null) left.push(one);
    for (const [cast, { startedAt }] of orphans) {
      const isWell = performance.now() - startedAt > WELL_MS && !left.some((one) => one.cast === cast);
      if (isWell || !running.some((one) => one.cast === cast)) orphans.delete(cast);
    }
    let started = 0;
    for (const { cast } of left) {
      const orphan = orphans.get(cast);
      // A process takes its cast a moment after the cast runs. So only a cast without a driver in two looks counts.
      if (!orphan) orphans.set(cast, { tries: 0, startedAt: performance.now(), driver: null });
      else if (started < AT_ONCE && mayStart(orphan, lookEveryMs)) {
        started += 1;
        begin(cast, orphan);
      }
    }
  };

  const begin = (cast: string, orphan: Orphan): void => {
    orphan.driver = drive(cast);
    orphan.tries += 1;
    orphan.startedAt = performance.now();
    const isLast = orphan.tries === TRIES_MAX ? ` This is the last try; ${orphan.driver.file} says what it does.` : '';
    say(`Cast ${cast} has lost its driver. A new one carries it on.${isLast}`);
  };

  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    // Every other reader reports a log that cannot be read.
    void look()
      .catch(() => undefined)
      .finally(() => {
        isLooking = false;
      });
  }, lookEveryMs).unref();
  return { close: () => clearInterval(timer) };
}

function mayStart({ tries, startedAt, driver }: Orphan, lookEveryMs: number): boolean {
  if (tries === 0) return true;
  const waitMs = lookEveryMs * 2 ** tries;
  return tries < TRIES_MAX && !driver?.isRunning() && performance.now() - startedAt >= waitMs;
}
