// What an aborted cast may have left running: its driver ends its own agents, and where the driver is gone or does not, we do.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runners } from '../agents/index.ts';
import { endAttempt } from '../agents/process/attempt.ts';
import { clearAttempt } from '../agents/process/attempt-folder.ts';
import { processState } from '../agents/process/process-state.ts';
import type { Driving } from '../engine/lease.ts';
import type { Store } from '../engine/store.ts';
import { ENGINE } from '../engine/store.ts';
import { packetOf } from '../kernel/cast/packet.ts';

const WAIT_MS = 15_000;
const LOOK_EVERY_MS = 50;
/** How long a supervisor has to end its program. It waits a few seconds itself before it uses force. */
const END_MS = 10_000;

/** What could not be ended. */
export type Leftover = {
  readonly cast: string;
  /** The turn and its attempt; null for the driver of the cast. */
  readonly attempt: string | null;
  readonly pids: readonly number[];
  readonly host?: string;
};

/** Answers when nothing of the cast runs any more, or with what still runs after a limit. */
export async function endLeftovers(store: Store, stateDir: string, cast: string): Promise<readonly Leftover[]> {
  const driver = await driverThatStays(store, cast);
  const attempts = join(stateDir, 'attempts');
  const names = (await readdir(attempts).catch(() => [])).filter((name) => name.startsWith(`${cast}-`));
  const left = await Promise.all(
    names.map(async (name): Promise<Leftover> => {
      const pids = await endAttempt(join(attempts, name), END_MS);
      return { cast, attempt: name.slice(cast.length + 1), pids };
    }),
  );
  // A driver that is still there, if only stopped, looks into the folders when it goes on.
  if (driver === null) {
    await tellSpent(store, attempts, cast);
    for (const name of names) await clearAttempt(join(attempts, name));
  }
  // The processes of a driver that cannot be looked at cannot be ended from here.
  const unseen = driver?.sight === 'unseen' ? [{ cast, attempt: null, pids: [driver.pid], host: driver.host }] : [];
  return [...left.filter(({ pids }) => pids.length > 0), ...unseen];
}

/** The driver, if it does not give the cast back in time. A stopped one cannot, so it is not waited for. */
async function driverThatStays(store: Store, cast: string): Promise<Driving | null> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const driver = await store.view('driver', cast);
    if (driver === null || performance.now() > deadline) return driver;
    if (driver.sight === 'runs' && /^[Tt]$/.test(processState(driver.pid)?.letter ?? '')) return driver;
    await sleep(LOOK_EVERY_MS);
  }
}

/** Nobody else tells any more what the agents of a driver that is gone have used. */
async function tellSpent(store: Store, attempts: string, id: string): Promise<void> {
  const cast = await store.view('cast', id);
  if (!cast || cast.status === 'running') return;
  for (const turn of Object.values(cast.turns).filter(({ phase }) => phase === 'running')) {
    const attemptDir = join(attempts, `${id}-${turn.id}.${turn.attempt}`);
    const packet = packetOf(cast, turn);
    if (packet.scripted || packet.materia.type === 'utility' || !existsSync(attemptDir)) continue;
    const place = { cwd: attempts, configDir: attempts, attemptDir };
    const { usage, agent } = await runners.runnerFor(packet).recover(packet, place, AbortSignal.abort());
    const spent = { cast: id, turn: turn.id, attempt: turn.attempt, ...(agent ? { agent } : {}) };
    if (usage) await store.submit({ kind: 'attempt.spent', ...spent, usage }, ENGINE);
  }
}
