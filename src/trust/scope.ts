// Whether the target covers what the request asks for. Only scopes that the request names count; nothing is guessed
// from its description.

import { type Problem, pointer, quote } from '../kernel/trust/problem.ts';
import { constituents } from './composition.ts';
import type { Policy } from './policy.ts';
import type { Agent, Registry } from './registry.ts';

/** The scopes an agent can work in. */
export function coveredScopes(registry: Registry, agent: Agent): ReadonlySet<string> {
  switch (agent.type) {
    case 'domain':
      return new Set(agent.scopes);
    case 'archetype':
      return new Set(constituents(agent).flatMap((id) => registry.agents.get(id)?.scopes ?? []));
    case 'orchestrator':
      return registry.scopes;
  }
}

export function checkScope(
  registry: Registry,
  target: Agent,
  scopes: readonly string[] | undefined,
  policy: Pick<Policy, 'requireScopes'>,
): Problem[] {
  if (scopes === undefined) {
    if (!policy.requireScopes) return [];
    return [{ code: 'SCOPE_MISSING', pointer: '/context/request/scopes', message: 'the request must name its scopes' }];
  }
  const covered = coveredScopes(registry, target);
  const unknown: Problem[] = [];
  const uncovered: Problem[] = [];
  scopes.forEach((scope, index) => {
    const at = pointer('context', 'request', 'scopes', index);
    if (!registry.scopes.has(scope)) {
      unknown.push({ code: 'SCOPE_UNKNOWN', pointer: at, message: `no agent declares the scope ${quote(scope)}` });
    } else if (!covered.has(scope)) {
      const message = `${target.id} does not cover the scope ${quote(scope)}`;
      uncovered.push({ code: 'SCOPE_NOT_COVERED', pointer: at, message });
    }
  });
  return [...unknown, ...uncovered];
}

/** Whether two domains both cover everything asked, so that the handoff was not needed. */
export function sourceCouldDoIt(source: Agent, target: Agent, scopes: readonly string[] | undefined): boolean {
  if (scopes === undefined || source.type !== 'domain' || target.type !== 'domain') return false;
  return scopes.every((scope) => source.scopes.includes(scope));
}
