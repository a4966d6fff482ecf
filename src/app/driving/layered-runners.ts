// The runners of a driven cast: what carries out an attempt, in layers. Each layer sees what the layers before it answer. Two of them are
// here: turns wait while a provider is down, and for the limits that a user sets for all workspaces on this machine.

import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { userFolder } from '../../access/user-folder.ts';
import { offeredServer } from '../../agents/agent-call.ts';
import { patience } from '../../agents/fault.ts';
import { takingSubmissions } from '../../agents/handoff-file.ts';
import { revealing, withoutKnownValues } from '../../agents/hidden-texts.ts';
import { runnersWith } from '../../agents/index.ts';
import { RENEW_MS, thisDriver } from '../../engine/lease.ts';
import type { AttemptDirs, AttemptResult, Runner, Runners } from '../../engine/ports.ts';
import {
  grantSlot,
  type Holder,
  type Outage,
  type RunnerFinding,
  slotName,
  withoutHolder,
} from '../../engine/runner-register.ts';
import type { Store } from '../../engine/store.ts';
import { reportingUnapproved } from '../../hooks/cast-guard.ts';
import { PRESENT, runnerCan } from '../../kernel/capabilities.ts';
import type { Packet, Slot } from '../../kernel/cast/packet.ts';
import type { Code } from '../../kernel/codes.ts';
import { check } from '../../kernel/graph/check.ts';
import type { AgentMateria } from '../../kernel/graph/config.ts';
import { CONFIG } from '../../kernel/graph/config-fields.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { UsageError } from '../../workspace/locate.ts';
import { withLogIn } from '../store.ts';
import { BATON, type Workspace } from '../workspace.ts';

type RunnersContext = { readonly workspace: Workspace; readonly store: Store };
export type Layer = (runners: Runners, scene: RunnersContext) => Runners;

/**
 * From the inside to the outside.
 *
 * 1. What ran unapproved is read from the agent's own report, so it comes first, before any other layer replaces a text.
 * 2. A place of the user's limits is taken for one try only. So it lies inside the next layer: a turn that waits for a
 *    provider holds no place.
 * 3. A provider that is down makes turns wait. It must see the plain result of the runner, with its fault.
 * 4. A handoff that was submitted by tool call takes the place of the last words. It counts once no more tries come.
 * 5. Marks of hidden texts in the packet become the texts. All layers inside work with the real packet.
 * 6. Known secrets are taken out last: nothing that a layer adds, reveals or submits gets past it.
 */
export const LAYERS: readonly Layer[] = [
  (runners, { workspace }) => reportingUnapproved(runners, { workspace, env: workspace.env, program: BATON }),
  (runners, { workspace }) => withinUserLimits(runners, workspace.env),
  (runners, { store }) => holdingOutages(runners, store),
  (runners) => takingSubmissions(runners),
  (runners) => revealing(runners),
  (runners, { workspace }) => withoutKnownValues(runners, workspace.env),
];

export function layeredRunners(scene: RunnersContext): Runners {
  const { workspace } = scene;
  const own = runnersWith(
    (env) => offeredServer(BATON, workspace.dir, env),
    // Agents that are not programs of their own do without it.
    async (packet) => (await import('../../hooks/cast-guard.ts')).guardFor(packet, workspace, BATON),
  );
  return inLayers(LAYERS, own, scene);
}

/** The runners within the layers, the first of which is the innermost. */
export function inLayers(layers: readonly Layer[], own: Runners, scene: RunnersContext): Runners {
  return layers.reduce((runners, layer) => layer(runners, scene), own);
}

// While a provider is down or refuses the sign-in, the turns of its runner wait together and go on when it is back. A runner
// that has not answered lately is probably set up wrongly: its turn fails at once, so that a script learns of it.
/** What says that a runner is down for everybody. */
const DOWN: readonly Code[] = ['AUTH_REQUIRED', 'PROVIDER_ERROR', 'PROVIDER_UNREACHABLE'];
/** A longer outage is for a person to look at: the turn fails. */
const HOLD_MS_MAX = 3_600_000;
const TELL_EVERY_MS = 30_000;

function holdingOutages(runners: Runners, store: Pick<Store, 'lease'>): Runners {
  return {
    runnerFor(packet) {
      const runner = runners.runnerFor(packet);
      const { materia, scripted } = packet;
      if (materia.type === 'utility' || scripted || !runnerCan(PRESENT, materia.runner, 'asksProvider')) return runner;
      const name = nameOf(materia);
      const forget = runner.forget?.bind(runner);
      return {
        run: (given, place, signal) => runOrWait(runner, name, store, given, place, signal),
        // What runs already is awaited.
        recover: runner.recover.bind(runner),
        ...(forget ? { forget } : {}),
      };
    },
  };
}

/** Another address is another provider. Of the address only the host is named: the rest may hold a secret. */
function nameOf({ runner, baseUrl }: AgentMateria): string {
  return baseUrl === undefined || !URL.canParse(baseUrl) ? runner : `${runner} at ${new URL(baseUrl).host}`;
}

async function runOrWait(
  runner: Runner,
  name: string,
  store: Pick<Store, 'lease'>,
  packet: Packet,
  place: AttemptDirs,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const holder = { driver: thisDriver(), key: `${packet.cast}:${packet.turn}` };
  const begun = Date.now();
  let toldAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const { waitMs, outage, hasAnswered } = await store.lease('admit', name, holder, Date.now());
    if (waitMs > 0 && outage) {
      if (hasOthers(packet)) return known(outage);
      if (Date.now() - toldAt >= TELL_EVERY_MS) {
        toldAt = Date.now();
        const fate = outage.isProven ? 'its turns wait and go on when it is back' : 'it is asked once more in a moment';
        const reason = `${name} is down; ${fate}: ${outage.reason}`;
        place.onEvent?.({ kind: 'waiting', forMs: 0, reason });
      }
      if (!(await patience(waitMs, signal))) return { kind: 'lost', mayHaveRun: false, reason: 'stopped' };
      continue;
    }
    // Whether it is back takes one request.
    const result = await runner.run(outage ? { ...packet, retriesMax: 0 } : packet, place, signal);
    const isProven = hasAnswered || (outage?.isProven ?? false);
    const isStopped = signal.aborted || result.kind === 'lost';
    const down = isStopped ? undefined : downIn(result, isProven);
    await store.lease('noteRunner', name, holder, down, Date.now());
    if (!down || !isProven || hasOthers(packet) || Date.now() - begun > HOLD_MS_MAX) return result;
    await runner.forget?.(place);
  }
}

/** Somebody else can have the turn at once. */
function hasOthers({ materia }: Packet): boolean {
  return materia.type === 'agent' && (materia.fallbacks ?? []).length > 0;
}

function known({ code, reason }: Outage): AttemptResult {
  const fault = code === 'AUTH_REQUIRED' ? 'refused' : 'transport';
  return { kind: 'fault', fault, code: code as Code, reason };
}

/** Null where the runner works. */
function downIn(result: AttemptResult, isProven: boolean): RunnerFinding | null {
  if (result.kind !== 'fault' || result.code === undefined || !DOWN.includes(result.code)) return null;
  return { code: result.code, reason: result.reason, isProven };
}

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

/** The limits in the user's own folder. A mistake in them is thrown with the name of the file. */
export function userLimits(env: NodeJS.ProcessEnv): UserLimits {
  const file = join(userFolder(env), 'config.json');
  const config = read(file);
  if (config === null) return { file, isThere: false, limits: new Map() };
  const [issue] = check({ runners: config.runners ?? {} }).filter(({ path }) => /^runners\b/.test(path));
  const odd = Object.keys(config).find((name) => !Object.hasOwn(CONFIG.fields, name) && !name.startsWith('x_'));
  if (issue) throw new UsageError(`${file}: ${issue.path}: ${issue.message}`, 'INVALID_CONFIG');
  if (odd !== undefined) throw new UsageError(`${file}: a configuration has no ${odd}; take it out`, 'INVALID_CONFIG');
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
    throw new UsageError(`${file} cannot be read (${message}); correct it or move it away`, 'INVALID_CONFIG');
  }
  try {
    const config: Json = JSON.parse(text);
    if (isObject(config)) return config;
  } catch {
    // Told below.
  }
  throw new UsageError(`${file} is no JSON object; correct it or move it away`, 'INVALID_CONFIG');
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
  await withLogIn(own, (log) => log.lease(slotName(slot), to));
}
