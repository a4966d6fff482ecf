// What an aborted cast may have left running: its driver ends its own agents, and where the driver is gone we do.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitAttempt, recoverAttempt } from '../agents/process/attempt.ts';
import type { Door } from '../engine/door.ts';
import { note } from './command.ts';

const WAIT_MS = 15_000;
const LOOK_EVERY_MS = 50;

/** Answers when nothing of the cast runs any more, or says that its driver is still at it. */
export async function endLeftovers(door: Door, stateDir: string, cast: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  for (let driver = await door.driverOf(cast); driver !== null; driver = await door.driverOf(cast)) {
    if (performance.now() > deadline) {
      note(`Process ${driver.pid} on ${driver.host}, which drives cast ${cast}, has not stopped its agents yet.`);
      return;
    }
    await sleep(LOOK_EVERY_MS);
  }
  const attempts = join(stateDir, 'attempts');
  const names = await readdir(attempts).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(`${cast}-`))) await end(join(attempts, name));
}

async function end(dir: string): Promise<void> {
  if ((await recoverAttempt(dir)) === 'running') await awaitAttempt(dir, AbortSignal.abort());
  await rm(dir, { recursive: true, force: true });
}
