// Chains of handoffs, each judged with those before it: how long they may be, and that they do not go round in circles.
import { expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import type { Registry } from './agent.ts';
import { envelope, ID, put, verify, world } from './fixtures/world.ts';
import type { LookupParent, PastHandoff } from './lineage.ts';

const A = 'domain-05-product';
const B = 'domain-02-analysis';

/** Hands on one after the other; each handoff follows the one before and is remembered with its verdict. */
function chained(registry: Registry, hops: readonly (readonly [string, string, string])[]): string[] {
  const known = new Map<string, PastHandoff>();
  const lookupParent: LookupParent = (id) => known.get(id) ?? null;
  let parent: string | null = null;
  return hops.map(([source, target, description], hop) => {
    const id = `${ID.slice(0, -2)}${String(hop + 10)}`;
    const links: JsonObject = parent === null ? {} : { links: { parent_handoff_id: parent } };
    const input = put(
      { ...envelope(source, target, registry), ...links, handoff_id: id },
      '/context/request/description',
      description,
    );
    const { allow, code, details } = verify(input, { registry, lookupParent });
    known.set(id, { accepted: allow, source, target, requestDigest: String(details.request_digest), parent });
    parent = id;
    return code;
  });
}

const BOTH_WAYS = world({
  agents: {
    [A]: { collaboration: { allow: [{ target: B }] } },
    [B]: { collaboration: { allow: [{ target: A }] } },
  },
});

test('the same request to the same agent a second time within a chain goes round in a circle', () => {
  const [there, back] = [[A, B, 'Check it'] as const, [B, A, 'Check it'] as const];
  expect(chained(BOTH_WAYS, [there, back, there])).toEqual(['OK', 'OK', 'CYCLE']);
  expect(chained(BOTH_WAYS, [there, back, [A, B, 'Check it once more']])).toEqual(['OK', 'OK', 'OK']);
});

test('sixteen handoffs are a chain, and the seventeenth is one too many', () => {
  const hops = Array.from({ length: 17 }, (_, hop) => {
    const [source, target] = hop % 2 === 0 ? [A, B] : [B, A];
    return [source, target, `Step ${hop}`] as const;
  });
  expect(chained(BOTH_WAYS, hops)).toEqual([...Array(16).fill('OK'), 'HOP_LIMIT']);
});
