// How the log first hears of a registry, and of what another log of this workspace has blocked.
import { join } from 'node:path';
import type { Store } from '../../engine/store.ts';
import { hasRegistry } from '../../workspace/registry-lock.ts';
import { carryQuarantine } from '../carry-quarantine.ts';
import type { Workspace } from '../workspace.ts';

/**
 * A registry that stands in a workspace holds from the first dispatch on, and taking it away later is no way around it:
 * so the log has to know of it before anything is dispatched or judged.
 */
export async function bringIntoForce(
  store: Pick<Store, 'read' | 'submit'>,
  workspace: Pick<Workspace, 'dir' | 'env'>,
  by: string,
): Promise<void> {
  await loadFound(store, workspace, by);
  await carryQuarantine(store, workspace);
}

async function loadFound(
  store: Pick<Store, 'read' | 'submit'>,
  { dir }: Pick<Workspace, 'dir'>,
  by: string,
): Promise<void> {
  if (!hasRegistry(join(dir, '.baton'))) return;
  const [known] = await store.read({ after: 0, kindPrefix: 'registry.', limit: 1 });
  if (known) return;
  const { registryFound } = await import('../../workspace/registry-kept.ts');
  const found = registryFound(dir);
  if (!found) return;
  const texts = found.texts ? { texts: found.texts } : {};
  const reason = 'found in the workspace';
  await store.submit({ kind: 'registry.load', registry: found.loaded, ...texts, reason }, { name: by });
}
