// What the log knows about trust, for commands that look, and how it first hears of a registry.
import { join } from 'node:path';
import type { Door } from '../engine/door.ts';
import type { Log } from '../engine/ports.ts';
import { applyTrust } from '../kernel/trust/apply.ts';
import { isTrustFact } from '../kernel/trust/fact.ts';
import { noTrust, type Trust } from '../kernel/trust/state.ts';
import type { Workspace } from '../workspace/locate.ts';
import { hasRegistry } from '../workspace/registry-lock.ts';
import { person } from './session.ts';

/** Registry and quarantine as the log tells them. */
export async function trustIn(log: Pick<Log, 'read'>): Promise<Trust> {
  const trust = noTrust();
  const facts = [
    ...(await log.read({ after: 0, kindPrefix: 'registry.' })),
    ...(await log.read({ after: 0, kindPrefix: 'quarantine.' })),
  ].toSorted((a, b) => a.seq - b.seq);
  for (const { fact, at } of facts) if (isTrustFact(fact)) applyTrust(trust, fact, Date.parse(at));
  return trust;
}

/**
 * A registry that stands in a workspace holds from the first dispatch on, and taking it away later is no way around it:
 * so the log has to know of it before anything is dispatched or judged.
 */
export async function bringIntoForce(door: Pick<Door, 'read' | 'submit'>, { dir }: Workspace): Promise<void> {
  if (!hasRegistry(join(dir, '.baton'))) return;
  const [known] = await door.read({ after: 0, kindPrefix: 'registry.', limit: 1 });
  if (known) return;
  const { registryFound } = await import('../workspace/registry-attest.ts');
  const registry = registryFound(dir);
  if (registry) await door.submit({ kind: 'registry.load', registry, reason: 'found in the workspace' }, person());
}
