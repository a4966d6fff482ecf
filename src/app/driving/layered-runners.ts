// The runners of a driven cast: what carries out an attempt, in layers. Each layer sees what the layers before it answer.
import { takingSubmissions } from '../../agents/handoff-file.ts';
import { revealing } from '../../agents/hidden-texts.ts';
import { runnersWith } from '../../agents/index.ts';
import { withoutKnownValues } from '../../agents/known-values.ts';
import { offeredServer } from '../../agents/offered-server.ts';
import type { Runners } from '../../engine/ports.ts';
import type { Store } from '../../engine/store.ts';
import { tellingUnapproved } from '../../hooks/telling-unapproved.ts';
import { BATON } from '../program.ts';
import type { Workspace } from '../workspace.ts';
import { holdingOutages } from './hold-outages.ts';
import { withinUserLimits } from './user-limits.ts';

type Scene = { readonly workspace: Workspace; readonly store: Store };
type Layer = (runners: Runners, scene: Scene) => Runners;

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
const LAYERS: readonly Layer[] = [
  (runners, { workspace }) => tellingUnapproved(runners, { workspace, env: workspace.env, program: BATON }),
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
  return LAYERS.reduce((runners, layer) => layer(runners, scene), own);
}
