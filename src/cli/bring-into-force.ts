// How the log first hears of a registry.
import { join } from 'node:path';
import type { Door } from '../engine/door.ts';
import type { Workspace } from '../workspace/locate.ts';
import { hasRegistry } from '../workspace/registry-lock.ts';
import { person } from './session.ts';

/**
 * A registry that stands in a workspace holds from the first dispatch on, and taking it away later is no way around it:
 * so the log has to know of it before anything is dispatched or judged.
 */
export async function bringIntoForce(door: Pick<Door, 'read' | 'submit'>, { dir }: Workspace): Promise<void> {
  if (!hasRegistry(join(dir, '.baton'))) return;
  const [known] = await door.read({ after: 0, kindPrefix: 'registry.', limit: 1 });
  if (known) return;
  const { registryFound } = await import('../workspace/registry-kept.ts');
  const found = registryFound(dir);
  if (!found) return;
  const texts = found.texts ? { texts: found.texts } : {};
  const reason = 'found in the workspace';
  await door.submit({ kind: 'registry.load', registry: found.loaded, ...texts, reason }, person());
}
