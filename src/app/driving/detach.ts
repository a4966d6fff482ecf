// A process of its own that drives a cast. Whoever starts it answers as soon as the cast is in its hands.
import { spawn } from 'node:child_process';
import { openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from '../../access/actor.ts';
import { TOKEN_VARIABLE } from '../../access/actor.ts';
import { newCastId } from '../../workspace/locate.ts';
import { BATON } from '../program.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Workspace } from '../workspace.ts';

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
 * Lets a process of its own drive a cast that runs and that nobody drives. A driver that has just seen its cast wait may be
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
export function resumeBehind(workspace: Workspace, actor: Actor, cast: string) {
  return start(workspace, actor, cast, ['resume', cast], 'ignore');
}

function start(
  { dir, stateDir, env }: Workspace,
  actor: Actor,
  cast: string,
  args: readonly string[],
  input: number | 'ignore',
  more: NodeJS.ProcessEnv = {},
) {
  const file = join(stateDir, `${cast}.out`);
  const sink = openSync(file, 'a', 0o600);
  // Who has a token may steer; what is started must not have one.
  const { BATON_MCP_TOKEN: _server, [TOKEN_VARIABLE]: _own, ...rest } = env;
  const child = spawn(BATON, ['-C', dir, ...args], {
    env: { ...rest, ...actor.env, ...more },
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
