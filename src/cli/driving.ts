// Driving a cast from the command line: live progress on stderr, Ctrl-C pauses cleanly, the result on stdout.

import { runners } from '../agents/index.ts';
import type { Door } from '../engine/door.ts';
import { Engine } from '../engine/drive.ts';
import { isSame, thisDriver } from '../engine/driver.ts';
import { type CastView, viewOf } from '../engine/view.ts';
import { WorkerDoor } from '../engine/worker-door.ts';
import type { CastStatus } from '../kernel/state.ts';
import { logFileIn } from '../log/sqlite.ts';
import type { Workspace } from '../workspace/locate.ts';
import { type Call, EXIT, flag, note, out, outJson, UsageError } from './command.ts';
import { progressFor } from './progress.ts';
import { person } from './session.ts';

/** Opens the log behind a worker: right for a command that drives. */
export async function withDriver<T>(workspace: Workspace, work: (door: Door) => Promise<T>): Promise<T> {
  const door = await WorkerDoor.open(logFileIn(workspace.stateDir));
  try {
    return await work(door);
  } finally {
    await door.close();
  }
}

/** Drives the cast to where it stands still, shows it, and answers the exit code. `begin` runs once it is ours to drive. */
export async function driveAndShow(
  call: Call,
  workspace: Workspace,
  door: Door,
  cast: string,
  begin: () => Promise<void>,
): Promise<number> {
  const me = thisDriver();
  const driver = await door.takeCast(cast, me);
  if (!isSame(driver, me)) {
    throw new UsageError(
      `cast ${cast} is driven by process ${driver.pid} on ${driver.host}; \`baton watch ${cast}\` follows it`,
    );
  }
  const progress = progressFor(call, cast);
  const interrupted = onInterrupt(() =>
    door.submit({ kind: 'cast.pause', cast, reason: 'interrupted from the keyboard' }, person()),
  );
  try {
    progress.learn(await door.read({ after: 0, cast }));
    const { dir, stateDir } = workspace;
    const engine = new Engine({ door, runners, cwd: dir, configDir: `${dir}/.baton`, stateDir });
    await engine.drive(cast, begin, (change) => progress.take(change));
  } finally {
    interrupted.stop();
    progress.stop();
    await door.releaseCast(cast, me);
  }
  return showEnd(call, await loadView(door, cast, flag(call.values, 'turns')));
}

export async function loadView(door: Door, cast: string, withTurns: boolean): Promise<CastView> {
  const state = await door.cast(cast);
  if (!state) throw new UsageError(`there is no cast ${cast}`);
  return viewOf(state, await door.read({ after: 0, cast }), await door.head(), withTurns);
}

export function exitOf(status: CastStatus): number {
  switch (status) {
    case 'completed':
    case 'running':
      return EXIT.ok;
    case 'waiting':
      return EXIT.waiting;
    default:
      return EXIT.denied;
  }
}

function showEnd(call: Call, view: CastView): number {
  if (call.json) outJson(view);
  else for (const line of closing(view)) out(line);
  return exitOf(view.status);
}

function closing({ cast, status, code, reason, path, accepted, usage }: CastView): string[] {
  const spent = `${path.length} visits, ${accepted} accepted handoffs, ${usage.tokens} tokens`;
  switch (status) {
    case 'completed':
      return [`Cast ${cast} completed: ${spent}.`, `Look at it with: baton show ${cast}`];
    case 'waiting':
      return [`Cast ${cast} waits for a person (${code}): ${reason}`];
    case 'paused':
      return [`Cast ${cast} is paused: ${reason}.`, `Carry on with: baton continue ${cast}`];
    default:
      return [`Cast ${cast} ${status}${code ? ` (${code})` : ''}: ${reason}`, `Carry on with: baton recast ${cast}`];
  }
}

/** The first Ctrl-C pauses; a second one ends the process at once, which loses nothing either. */
function onInterrupt(pause: () => Promise<unknown>): { stop(): void } {
  const handle = () => {
    note(
      'Pausing: stopping the running agents. Press Ctrl-C again to leave at once; `baton resume` carries on either way.',
    );
    process.off('SIGINT', handle);
    process.off('SIGTERM', handle);
    pause().catch(() => undefined);
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return {
    stop() {
      process.off('SIGINT', handle);
      process.off('SIGTERM', handle);
    },
  };
}
