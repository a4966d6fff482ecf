// Brings the registry and the quarantine of a workspace into its log, and keeps the quarantine outside of the state folder.
import { join } from 'node:path';
import { type KeptBlock, keepBlocks, keptBlocks } from '../audit/kept-quarantine.ts';
import { ENGINE, type Store, type Submitter } from '../engine/store.ts';
import { timeOf } from '../kernel/fact.ts';
import { applyTrust, isTrustFact, noTrust } from '../kernel/trust/state.ts';
import { hasRegistry } from '../workspace/registry-lock.ts';
import type { Workspace } from './workspace.ts';

/**
 * The registry of a workspace counts from the first dispatch on, and taking it away later is no way around it:
 * so the log has to know of it before anything is dispatched or judged.
 */
export async function bringIntoForce(
  store: Pick<Store, 'read' | 'submit'>,
  workspace: Pick<Workspace, 'dir' | 'env'>,
  actor: Submitter,
): Promise<void> {
  await loadFound(store, workspace, actor);
  await carryQuarantine(store, workspace);
}

async function loadFound(
  store: Pick<Store, 'read' | 'submit'>,
  { dir }: Pick<Workspace, 'dir'>,
  actor: Submitter,
): Promise<void> {
  if (!hasRegistry(join(dir, '.baton'))) return;
  const [known] = await store.read({ after: 0, kindPrefix: 'registry.', limit: 1 });
  if (known) return;
  const { registryFound } = await import('../workspace/registry-lock.ts');
  const found = registryFound(dir);
  if (!found) return;
  const texts = found.texts ? { texts: found.texts } : {};
  const reason = 'found in the workspace';
  await store.submit({ kind: 'registry.load', registry: found.loaded, ...texts, reason }, actor);
}

type Reading = Pick<Store, 'read' | 'submit'>;
type Where = Pick<Workspace, 'dir' | 'env'>;

/** Carries blocks of other state folders over, before anything is dispatched or judged. */
async function carryQuarantine(store: Reading, { dir, env }: Where): Promise<void> {
  const kept = keptBlocks(dir, env);
  if (kept.length === 0) return;
  const missing = missingIn(await blocksIn(store), kept);
  if (missing.length > 0) await store.submit({ kind: 'quarantine.carry', blocked: missing }, ENGINE);
}

/** After something may have been blocked or released. A failure to keep it is reported, and changes nothing else. */
export async function keepQuarantine(store: Reading, { dir, env }: Where, note: (line: string) => void): Promise<void> {
  try {
    const kept = keptBlocks(dir, env);
    const found = await blocksIn(store);
    if (kept.length > 0 || found.open.size > 0)
      keepBlocks(dir, env, [...found.open.values(), ...missingIn(found, kept)]);
  } catch (error) {
    note(`What is blocked was not kept outside of the state folder: ${(error as Error).message}`);
  }
}

/** The blocks that are kept, and that this log neither has open nor has released since. */
function missingIn({ open, releasedAt }: Found, kept: readonly KeptBlock[]): readonly KeptBlock[] {
  return kept.filter(({ key, since }) => !open.has(key) && (releasedAt.get(key) ?? 0) < since);
}

type Found = { readonly open: ReadonlyMap<string, KeptBlock>; readonly releasedAt: ReadonlyMap<string, number> };

/** What the log has open, and when each key was last released. */
async function blocksIn(store: Pick<Store, 'read'>): Promise<Found> {
  const trust = noTrust();
  const releasedAt = new Map<string, number>();
  for (const entry of await store.read({ after: 0, kindPrefix: 'quarantine.' })) {
    if (!isTrustFact(entry.fact)) continue;
    applyTrust(trust, entry.fact, timeOf(entry));
    if (entry.fact.kind === 'quarantine.released') releasedAt.set(entry.fact.key, timeOf(entry));
  }
  const open = Object.values(trust.quarantine).map(({ times: _, ...block }): [string, KeptBlock] => [block.key, block]);
  return { open: new Map(open), releasedAt };
}
