// Limits of a runner that hold across all workspaces of a user on this machine, as those of an account with a provider do.
// They stand in `config.json` of the user's own folder. Who has a place is kept beside it, by the rules that hold within a
// workspace: a process that has ended has none.
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { userFolder } from '../../access/user-folder.ts';
import { patience } from '../../agents/fault.ts';
import { RENEW_MS, thisDriver } from '../../engine/lease.ts';
import type { AttemptDirs, AttemptResult, Runner, Runners } from '../../engine/ports.ts';
import { grantSlot, type Holder, slotName, withoutHolder } from '../../engine/runner-register.ts';
import type { Packet, Slot } from '../../kernel/cast/packet.ts';
import { check } from '../../kernel/graph/check.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { SqliteLog } from '../../log/sqlite/log.ts';
import { logFileIn } from '../../log/sqlite/open.ts';
import { UsageError } from '../../workspace/locate.ts';

/** Runners of which no more attempts are under way, in all workspaces, than the user's own configuration allows. */
export function withinUserLimits(runners: Runners, env: NodeJS.ProcessEnv): Runners {
  const folder = userFolder(env);
  const { limits } = userLimits(env);
  if (limits.size === 0) return runners;
  return {
    runnerFor(packet) {
      const runner = runners.runnerFor(packet);
      const { materia, scripted } = packet;
      const slot = materia.type === 'utility' || scripted ? undefined : limits.get(materia.runner);
      return slot ? inPlace(runner, slot, folder) : runner;
    },
  };
}

type UserLimits = {
  readonly file: string;
  /** False where the user has written none. */
  readonly isThere: boolean;
  readonly limits: ReadonlyMap<string, Slot>;
};

/** The limits as they stand in the user's own folder; a mistake in them is thrown in words that name the file. */
export function userLimits(env: NodeJS.ProcessEnv): UserLimits {
  const file = join(userFolder(env), 'config.json');
  const config = read(file);
  if (config === null) return { file, isThere: false, limits: new Map() };
  const [issue] = check({ runners: config.runners ?? {} }).filter(({ path }) => /^runners\b/.test(path));
  const odd = Object.keys(config).find((name) => name !== 'runners' && name !== 'notify');
  if (issue) throw new UsageError(`${file}: ${issue.path}: ${issue.message}`, 'INVALID_CONFIG');
  if (odd !== undefined)
    throw new UsageError(`${file}: there is no ${odd} here, only runners and notify; take it out`, 'INVALID_CONFIG');
  const rows = Object.entries((config.runners ?? {}) as JsonObject);
  return { file, isThere: true, limits: new Map(rows.map(([runner, its]) => [runner, slotOf(runner, its)])) };
}

function slotOf(runner: string, limits: Json): Slot {
  const { maxConcurrent = null, perMinute = null } = limits as Partial<Slot>;
  return { runner, maxConcurrent, perMinute };
}

/** A folder that may not even be entered is no folder of this user, whatever HOME says. */
function isSomebodyElses(file: string): boolean {
  try {
    accessSync(dirname(file), constants.X_OK);
    return false;
  } catch {
    return true;
  }
}

function read(file: string): JsonObject | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || isSomebodyElses(file)) return null;
    throw new UsageError(`${file} cannot be read (${message}); mend it or move it away`, 'INVALID_CONFIG');
  }
  try {
    const config: Json = JSON.parse(text);
    if (isObject(config)) return config;
  } catch {
    // Told below.
  }
  throw new UsageError(`${file} is no JSON object; mend it or move it away`, 'INVALID_CONFIG');
}

/** Waits for a place before it runs. What runs already, from before a crash, gets one whatever the limits say. */
function inPlace(runner: Runner, slot: Slot, folder: string): Runner {
  const held = async (
    packet: Packet,
    place: AttemptDirs,
    signal: AbortSignal,
    isForced: boolean,
  ): Promise<AttemptResult> => {
    const holder = { driver: thisDriver(), key: `${packet.cast}:${packet.turn}` };
    for (let isTold = false; ; isTold = true) {
      const waitMs = await take(folder, slot, holder, isForced);
      if (waitMs === 0) break;
      const reason = `${slot.runner} is at the limit of all your workspaces`;
      if (!isTold) place.onEvent?.({ kind: 'waiting', forMs: waitMs, reason });
      if (!(await patience(waitMs, signal))) return { kind: 'lost', mayHaveRun: false, reason: 'stopped' };
    }
    // Asking again keeps the slot for a driver that cannot be looked at.
    const renewing = setInterval(() => void take(folder, slot, holder, true).catch(() => undefined), RENEW_MS).unref();
    try {
      return await (isForced ? runner.recover(packet, place, signal) : runner.run(packet, place, signal));
    } finally {
      clearInterval(renewing);
      // A place that cannot be given back is free when this process ends.
      await release(folder, slot, holder).catch(() => undefined);
    }
  };
  return {
    run: (packet, place, signal) => held(packet, place, signal, false),
    recover: (packet, place, signal) => held(packet, place, signal, true),
    forget: async (place) => runner.forget?.(place),
  };
}

async function take(folder: string, slot: Slot, holder: Holder, isForced: boolean): Promise<number> {
  let waitMs = 0;
  await change(folder, slot, (value) => {
    const grant = grantSlot(value, slot, holder, Date.now(), isForced);
    waitMs = grant.waitMs;
    return grant.value;
  });
  return waitMs;
}

function release(folder: string, slot: Slot, holder: Holder): Promise<void> {
  return change(folder, slot, (value) => withoutHolder(value, holder, Date.now()));
}

/** Of a log only the register of leases is used. A folder for each machine: several must not share one SQLite file. */
async function change(folder: string, slot: Slot, to: (value: string | null) => string): Promise<void> {
  const own = join(folder, 'limits', hostname());
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const log = new SqliteLog(logFileIn(own));
  try {
    await log.lease(slotName(slot), to);
  } finally {
    await log.close();
  }
}
