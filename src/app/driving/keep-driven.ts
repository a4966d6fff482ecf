// A server carries on the casts of its workspace whose driver is gone. Each gets a process of its own, as any other cast: neither
// a crash nor a restart of the server stops one.
import type { Actor } from '../../access/actor.ts';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import type { Workspace } from '../workspace.ts';
import { resumeBehind } from './detach.ts';

export type KeptDriven = { close(): void };

export type KeepOptions = {
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

const LOOK_EVERY_MS = 2_000;
/** A driver that keeps dying is not started for ever; each time it is waited twice as long. */
const TRIES_MAX = 5;
/** What lives so long counts as well. */
const WELL_MS = 60_000;
/** After a reboot many casts are left at once. */
const AT_ONCE = 4;

export function keepDriven(workspace: Workspace, actor: Actor, options: KeepOptions): KeptDriven {
  const { say, lookEveryMs = LOOK_EVERY_MS, drive = (cast) => resumeBehind(workspace, actor, cast) } = options;
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
      // Whoever starts a cast, or carries one on, takes it a moment after it runs. So it must be left in two looks.
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
    // A log that cannot be read is told by everything else that reads it.
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
