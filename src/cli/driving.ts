// Driving a cast from the command line: live progress on stderr, Ctrl-C pauses cleanly, the result on stdout.
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noteDriver } from '../access/first-driver.ts';
import { revealing, revealingCheckers } from '../agents/hidden-texts.ts';
import { runnersWith } from '../agents/index.ts';
import { withoutKnownValues } from '../agents/known-values.ts';
import { keepQuarantine } from '../app/carry-quarantine.ts';
import { bringIntoForce } from '../app/driving/bring-into-force.ts';
import { loadView } from '../app/load-view.ts';
import { asDamage, makeStateFolder } from '../app/state-folder.ts';
import { writeWorklogsOf } from '../app/worklog.ts';
import type { Door } from '../engine/door.ts';
import { Engine, LeaseLost } from '../engine/drive.ts';
import { isSame, thisDriver } from '../engine/driver.ts';
import { WorkerDoor } from '../engine/worker-door.ts';
import { tellingUnapproved } from '../hooks/telling-unapproved.ts';
import type { Denied } from '../kernel/verdict.ts';
import { logFileIn } from '../log/sqlite/log.ts';
import { takingSubmissions } from '../mcp/handoff-file.ts';
import { offeredServer } from '../mcp/offer.ts';
import type { Workspace } from '../workspace/locate.ts';
import { witnessOf } from '../workspace/witness.ts';
import { WorktreeError } from '../workspace/worktree/git.ts';
import { groundFor } from './cast-ground.ts';
import { checkpointAtEnd } from './checkpoint-at-end.ts';
import { checkpointWhileDriven } from './checkpoint-while-driven.ts';
import { again, type Call, flag, note, Refused } from './command.ts';
import { drivenBy } from './driven-by.ts';
import { showEnd } from './ending.ts';
import { holdingOutages } from './hold-outages.ts';
import { wayOut } from './isolation.ts';
import { progressFor } from './progress.ts';
import { person } from './session.ts';
import { passesOf } from './submitted-work.ts';
import { takeOver } from './take-over.ts';
import { withinUserLimits } from './user-limits.ts';

/** The program itself, for those who are to call it. */
const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));

function pausing(call: Call): string {
  const later = `\`${again(call)} resume\` carries on either way.`;
  return `Pausing: stopping the running agents. Press Ctrl-C again to leave at once; ${later}`;
}

/** Opens the log behind a worker: right for a command that drives. */
export async function withDriver<T>(workspace: Workspace, work: (door: Door) => Promise<T>): Promise<T> {
  // A state folder that cannot be used is told in better words here than by whoever fails to open a file in it.
  makeStateFolder(workspace);
  try {
    const door = await withCompileCache(() => WorkerDoor.open(logFileIn(workspace.stateDir), workspace.dir));
    try {
      await bringIntoForce(door, { ...workspace, env: process.env }, person());
      return await work(door);
    } finally {
      await door.close();
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

export type Drive = {
  /** Runs once the cast is ours to drive. What it says goes through `say`, because the last line of a terminal moves by then. */
  readonly begin: (say: (line: string) => void) => Promise<void>;
  /** Printed right after the id of the cast. */
  readonly says?: readonly string[];
  /** A refusal that is shown with the result. */
  readonly refused?: () => Denied | null;
  /** The fence of a lease that ends now, even though its holder may live. */
  readonly over?: number;
};

/** Drives the cast until it stops, shows it, and answers the exit code. */
export async function driveAndShow(
  call: Call,
  workspace: Workspace,
  door: Door,
  cast: string,
  { begin, says = [], refused = () => null, over }: Drive,
): Promise<number> {
  noteDriver(call.env);
  const me = thisDriver();
  const driver = await door.takeCast(cast, me, over);
  if (!isSame(driver, me)) throw new Refused(drivenBy(cast, driver));
  if (driver.after) await takeOver(door, workspace.stateDir, cast, driver.after);
  // A person who has seen the id may interrupt, so listening for that comes first.
  let say: (line: string) => void = () => undefined;
  const interrupt = onInterrupt((signal) => {
    say(pausing(call));
    const reason = signal === 'SIGINT' ? 'interrupted from the keyboard' : `stopped by ${signal}`;
    return door.submit({ kind: 'cast.pause', cast, reason }, person());
  });
  const progress = progressFor(call, cast, says);
  say = (line) => progress.say(line);
  const signing = checkpointWhileDriven(workspace, call.env, (line) => say(line));
  try {
    progress.learn(await door.read({ after: 0, cast }));
    const { dir, stateDir } = workspace;
    const own = runnersWith(
      (env) => offeredServer(BATON, dir, env),
      // Agents that are not programs of their own do without it.
      async (packet) => (await import('../hooks/cast-guard.ts')).guardFor(packet, workspace, BATON),
    );
    const told = tellingUnapproved(own, { workspace, env: call.env, program: BATON });
    const engine = new Engine({
      door,
      // What an agent handed on by tool call takes the place of its last words.
      runners: withoutKnownValues(
        revealing(takingSubmissions(holdingOutages(withinUserLimits(told, call.env), door))),
        call.env,
      ),
      cwd: dir,
      configDir: `${dir}/.baton`,
      stateDir,
      witness: revealingCheckers(
        witnessOf(workspace, (line) => say(line), passesOf(workspace, call.env)),
        workspace.stateDir,
      ),
      groundOf: (id) => groundFor(workspace, door, id, (line) => say(line)),
      onEvent: (turn, event) => progress.hear(turn, event),
    });
    const started = async () => {
      await begin(say);
      await interrupt.catchUp();
    };
    await engine.drive(cast, started, (change) => {
      progress.take(change.entries);
      for (const { seq } of change.entries.slice(-1)) signing.saw(seq);
    });
  } catch (error) {
    if (error instanceof LeaseLost) throw new Refused(error.verdict);
    if (!(error instanceof WorktreeError)) throw error;
    // What is wrong with a worktree a person can mend: the cast stands still until then and loses nothing.
    await door.submit({ kind: 'cast.pause', cast, reason: error.message }, person());
  } finally {
    interrupt.stop();
    progress.stop();
    await signing.stop();
    // The lease of a process that has ended counts for nothing, so a door that is broken by now does no harm.
    await door.releaseCast(cast, me).catch(() => undefined);
  }
  await writeWorklogsOf(cast, door, workspace, note);
  await keepQuarantine(door, { ...workspace, env: call.env }, note);
  await checkpointAtEnd(workspace, call.env);
  const view = await loadView(door, cast, flag(call.values, 'turns'), workspace.dir);
  const more = view.branch === undefined || call.json ? [] : await wayOut(call, workspace, cast);
  return showEnd(call, view, more, refused());
}

type Interrupt = {
  /** An interrupt that came before there was a cast to pause is made good. */
  catchUp(): Promise<void>;
  stop(): void;
};

/** The first Ctrl-C pauses; a second one ends the process at once, which loses nothing either. */
function onInterrupt(pause: (signal: NodeJS.Signals) => Promise<unknown>): Interrupt {
  let heard: NodeJS.Signals | null = null;
  const tryToPause = (signal: NodeJS.Signals) => pause(signal).catch(() => undefined);
  const stop = () => {
    process.off('SIGINT', handle);
    process.off('SIGTERM', handle);
  };
  const handle = (signal: NodeJS.Signals) => {
    heard = signal;
    stop();
    void tryToPause(signal);
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return {
    stop,
    async catchUp() {
      if (heard !== null) await tryToPause(heard);
    },
  };
}
