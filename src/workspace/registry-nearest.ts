// Whose boundaries hold for a configuration that is checked: the workspace's own registry, else one beside the configuration.
// Of its own registry a workspace is also told everything for which no turn could start, as a dispatch would find it out.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Boundaries } from '../kernel/graph/check-boundaries.ts';
import { given, isObject, type Json, objectAt } from '../kernel/json.ts';
import type { Workspace } from './locate.ts';

const NOTHING_KNOWN: Boundaries = {
  knows: () => false,
  unfit: () => null,
  refusal: () => null,
  mediated: () => null,
};

/**
 * Null where neither has a registry, nor ever had, and no agent asks for one. Then nothing is loaded to read one. `baseDir` is the
 * folder of the configuration.
 */
export async function nearestBoundaries(
  workspace: Pick<Workspace, 'dir' | 'stateDir'>,
  baseDir: string,
  config: Json,
): Promise<Boundaries | null> {
  const own = join(workspace.dir, '.baton');
  const [isOwn, isBeside] = [own, baseDir].map((folder) => existsSync(join(folder, 'versions')));
  const read = isOwn || isBeside ? await import('./registry-boundaries.ts') : null;
  const standing = (isOwn && (await read?.standingIn(own))) || null;
  if (standing) {
    const boundaries = read?.boundariesIn(own) ?? null;
    return { ...(boundaries ?? NOTHING_KNOWN), ...standing(boundaries), isInForce: true };
  }
  if (namesAgents(config) && (await hadRegistry(workspace.stateDir)))
    return { ...NOTHING_KNOWN, unusable: 'it was taken away; restore .baton/versions', isInForce: true };
  const boundaries = (isBeside && read?.boundariesIn(baseDir)) || null;
  // A registry beside the configuration says who may hand to whom, and is not in force here.
  const known = { ...(boundaries ?? NOTHING_KNOWN), isInForce: false };
  if (namesAgents(config)) return { ...known, isBundled: (await import('./registry-attest.ts')).bundledAgents() };
  return boundaries && known;
}

/** Whether some agent is named after a registry. Only then is it worth the time to ask the log whether there was one. */
function namesAgents(config: Json): boolean {
  const all = isObject(config) ? objectAt(config, 'materia') : {};
  return Object.keys(all).some((id) => given(objectAt(all, id), 'identity') !== undefined);
}

/** Once there was a registry, there has to be one. */
async function hadRegistry(stateDir: string): Promise<boolean> {
  const file = join(stateDir, 'log.sqlite');
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  const { withEvidence } = await import('../log/sqlite/evidence.ts');
  try {
    const loaded = { after: 0, limit: 1, kinds: ['registry.loaded'] };
    return await withEvidence(file, async (evidence) => (await evidence.rows(loaded)).length > 0);
  } catch {
    return false; // A log that cannot be read is told of by whoever needs it.
  }
}
