// Drives a cast in this process until it stops. The signal pauses it; what happens meanwhile leaves through `onEvent`.
import { noteDriver } from '../../access/person-proof.ts';
import { revealingCheckers } from '../../agents/hidden-texts.ts';
import { Engine, LeaseLost } from '../../engine/drive.ts';
import { isSame, thisDriver } from '../../engine/driver.ts';
import type { Store } from '../../engine/store.ts';
import { witnessOf } from '../../workspace/witness.ts';
import { WorktreeError } from '../../workspace/worktree/git.ts';
import { keepQuarantine } from '../carry-quarantine.ts';
import { drivenBy } from '../driven-by.ts';
import { loadView } from '../load-view.ts';
import type { Context } from '../operation.ts';
import { Refused } from '../refused.ts';
import { passesOf } from '../submitted-work.ts';
import type { CastView } from '../views/shown-cast.ts';
import { writeWorklogsOf } from '../worklog.ts';
import type { Workspace } from '../workspace.ts';
import { groundFor } from './cast-ground.ts';
import { checkpointAtEnd, checkpointWhileDriven } from './checkpoint-while-driven.ts';
import { wayOut } from './isolation.ts';
import { layeredRunners } from './layered-runners.ts';
import { takeOver } from './take-over.ts';

export type Drive = {
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
  if (!isSame(driver, me)) throw new Refused(drivenBy(cast, driver, program));
  if (driver.after) await takeOver(store, stateDir, cast, driver.after);
  const say = (text: string): void => onEvent({ kind: 'note', text });
  const pause = () => store.submit({ kind: 'cast.pause', cast, reason: whyStopped(signal) }, actor);
  const onAbort = () => void pause().catch(() => undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  onEvent({ kind: 'driving', cast, past: await store.read({ after: 0, cast }), says });
  const signing = checkpointWhileDriven(workspace, say);
  try {
    const engine = new Engine({
      store,
      runners: layeredRunners({ workspace, store }),
      cwd: dir,
      configDir: `${dir}/.baton`,
      stateDir,
      witness: revealingCheckers(witnessOf(workspace, say, passesOf(workspace)), stateDir),
      groundOf: (id) => groundFor(workspace, store, id, say),
      onEvent: (turn, event) => onEvent({ kind: 'live', turn, event }),
    });
    const started = async () => {
      await begin();
      // An interrupt that came before there was a cast to pause is made good.
      if (signal.aborted) await pause().catch(() => undefined);
    };
    await engine.drive(cast, started, ({ entries }) => {
      onEvent({ kind: 'change', entries });
      for (const { seq } of entries.slice(-1)) signing.saw(seq);
    });
  } catch (error) {
    if (error instanceof LeaseLost) throw new Refused(error.verdict);
    if (!(error instanceof WorktreeError)) throw error;
    // What is wrong with a worktree a person can mend: the cast stands still until then and loses nothing.
    await store.submit({ kind: 'cast.pause', cast, reason: error.message }, actor);
  } finally {
    signal.removeEventListener('abort', onAbort);
    onEvent({ kind: 'driven', cast });
    await signing.stop();
    // The lease of a process that has ended counts for nothing, so a store that is broken by now does no harm.
    await store.lease('releaseCast', cast, me).catch(() => undefined);
  }
  await writeWorklogsOf(cast, store, workspace, say);
  await keepQuarantine(store, workspace, say);
  await checkpointAtEnd(workspace, say);
  const view = await loadView(store, cast, turns, dir, program);
  if (view.branch !== undefined) onEvent({ kind: 'left', cast, says: await wayOut(workspace, cast) });
  return view;
}

/** Whoever stops it may say why. */
function whyStopped({ reason }: AbortSignal): string {
  return typeof reason === 'string' ? reason : 'stopped by its caller';
}
