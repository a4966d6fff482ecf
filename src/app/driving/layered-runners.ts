// The runners of a driven cast: what carries out an attempt, in layers. Each layer sees what the layers before it answer.

import { offeredServer } from '../../agents/agent-call.ts';
import { patience } from '../../agents/fault.ts';
import { takingSubmissions } from '../../agents/handoff-file.ts';
import { revealing, withoutKnownValues } from '../../agents/hidden-texts.ts';
import { runnersWith } from '../../agents/index.ts';
import { thisDriver } from '../../engine/lease.ts';
import type { AttemptDirs, AttemptResult, Runner, Runners } from '../../engine/ports.ts';
import type { Outage, RunnerFinding } from '../../engine/runner-register.ts';
import type { Store } from '../../engine/store.ts';
import { reportingUnapproved } from '../../hooks/cast-guard.ts';
import { PRESENT, runnerCan } from '../../kernel/capabilities.ts';
import type { Packet } from '../../kernel/cast/packet.ts';
import type { Code } from '../../kernel/codes.ts';
import type { AgentMateria } from '../../kernel/graph/config.ts';
import { BATON } from '../program.ts';
import type { Workspace } from '../workspace.ts';
import { withinUserLimits } from './user-limits.ts';

type Scene = { readonly workspace: Workspace; readonly store: Store };
export type Layer = (runners: Runners, scene: Scene) => Runners;

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

export function layeredRunners(scene: Scene): Runners {
  const { workspace } = scene;
  const own = runnersWith(
    (env) => offeredServer(BATON, workspace.dir, env),
    // Agents that are not programs of their own do without it.
    async (packet) => (await import('../../hooks/cast-guard.ts')).guardFor(packet, workspace, BATON),
  );
  return inLayers(LAYERS, own, scene);
}

/** The runners within the layers, the first of which is the innermost. */
export function inLayers(layers: readonly Layer[], own: Runners, scene: Scene): Runners {
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
        run: (given, place, signal) => held(runner, name, store, given, place, signal),
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

async function held(
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
