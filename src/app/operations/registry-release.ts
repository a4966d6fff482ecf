// A person lets go what was blocked, for a reason. Manifest, lock and prompts are looked at anew.
import { join } from 'node:path';
import { keptBlocks } from '../../audit/kept-quarantine.ts';
import { keeperOf } from '../../workspace/registry-lock.ts';
import { refusalOfDecision } from '../decision.ts';
import type { Run } from '../operation.ts';
import { bringIntoForce, keepQuarantine } from '../registry-in-force.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'registry.release'>> = async (
  workspace,
  { id, reason, outcome },
  { actor, onEvent },
) => {
  const store = workspace.ledgerStore({ begins: keptBlocks(workspace.dir, workspace.env).length > 0 });
  await bringIntoForce(store, workspace, actor.name);
  const { registry, loaded } = keeperOf(join(workspace.dir, '.baton'))();
  const faults = [...registry.agents.values()].flatMap((agent) =>
    agent.faults.slice(0, 1).map(({ message }) => [agent.id, message] as const),
  );
  const released = await store.submit(
    {
      kind: 'quarantine.release',
      id,
      reason,
      ...(outcome === undefined ? {} : { outcome }),
      isAgent: refusalOfDecision(workspace, 'registry.release', actor) !== null,
      registry: loaded,
      faults: Object.fromEntries(faults),
    },
    actor,
  );
  await keepQuarantine(store, workspace, (text) => onEvent({ kind: 'note', text }));
  return released;
};
