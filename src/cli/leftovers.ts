// What an aborted cast may have left running: its driver ends its own agents, and where the driver is gone we do.
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runners } from '../agents/index.ts';
import { awaitAttempt, recoverAttempt } from '../agents/process/attempt.ts';
import type { Door } from '../engine/door.ts';
import { packetOf } from '../kernel/cast/packet.ts';
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
  await tellSpent(door, attempts, cast);
  const names = await readdir(attempts).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(`${cast}-`))) await end(join(attempts, name));
}

/** Nobody else tells any more what the agents of a driver that is gone have used. */
async function tellSpent(door: Door, attempts: string, id: string): Promise<void> {
  const cast = await door.cast(id);
  if (!cast || cast.status === 'running') return;
  for (const turn of Object.values(cast.turns).filter(({ phase }) => phase === 'running')) {
    const attemptDir = join(attempts, `${id}-${turn.id}.${turn.attempt}`);
    const packet = packetOf(cast, turn);
    if (packet.scripted || packet.materia.type === 'utility' || !existsSync(attemptDir)) continue;
    const place = { cwd: attempts, configDir: attempts, attemptDir };
    const { usage, agent } = await runners.runnerFor(packet).recover(packet, place, AbortSignal.abort());
    const spent = { cast: id, turn: turn.id, attempt: turn.attempt, ...(agent ? { agent } : {}) };
    if (usage) await door.submit({ kind: 'attempt.spent', ...spent, usage }, 'engine');
  }
}

async function end(dir: string): Promise<void> {
  if ((await recoverAttempt(dir)) === 'running') await awaitAttempt(dir, AbortSignal.abort());
  await rm(dir, { recursive: true, force: true });
}
