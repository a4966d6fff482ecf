import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../kernel/json.ts';
import { checkComposition, remarksOnShares } from './boundary.ts';
import { world } from './fixtures/world.ts';
import { readComposition } from './manifest.ts';
import { type Policy, TRUST_POLICY } from './stage.ts';

const [A, B, C, D] = ['domain-05-product', 'domain-02-analysis', 'domain-09-technical', 'domain-01-content'] as const;

function check(
  composition: Json | undefined,
  policy: Partial<Policy> = {},
  lock = (before: JsonObject): Json => before,
) {
  const record = composition === undefined ? {} : { composition };
  const registry = world({
    agents: { 'product-thinker': null },
    manifest: (manifest) => ({
      ...manifest,
      archetypes: { blend: { file: 'prompts/router.md', version: '1.0.0', ...record } },
    }),
    lock,
  });
  const agent = registry.agents.get('blend');
  if (!agent) throw new Error('the archetype was not loaded');
  return checkComposition(registry, agent, '/source_agent/agent_id', { ...TRUST_POLICY, ...policy });
}

test.each<[Json | undefined, string[]]>([
  [undefined, ['COMPOSITION_MISSING']],
  [{}, ['COMPOSITION_MISSING']],
  [[50, 50], ['COMPOSITION_MISSING']],
  [{ [A]: 50, 'domain-77-none': 50 }, ['COMPOSITION_UNKNOWN_DOMAIN']],
  [{ [A]: 50, blend: 50 }, ['COMPOSITION_UNKNOWN_DOMAIN']],
  [{ [A]: 50, router: 50 }, ['COMPOSITION_UNKNOWN_DOMAIN']],
  [{ [A]: 50, constructor: 50 }, ['COMPOSITION_UNKNOWN_DOMAIN']],
  [{ [A]: 150, [B]: -50 }, ['COMPOSITION_BAD_SHARE']],
  [{ [A]: 150, [B]: 50 }, ['COMPOSITION_BAD_SHARE']],
  [{ [A]: 100, [B]: 0 }, ['COMPOSITION_BAD_SHARE']],
  [{ [A]: 50.001, [B]: 49.999 }, ['COMPOSITION_BAD_SHARE']],
  [{ [A]: '50', [B]: 50 }, ['COMPOSITION_BAD_SHARE']],
  [{ [A]: 50, [B]: 30, [C]: 19 }, ['COMPOSITION_SUM']],
  [{ [A]: 33.3, [B]: 33.3, [C]: 33.3 }, ['COMPOSITION_SUM']],
  [{ [A]: 100 }, ['COMPOSITION_SIZE']],
  [{ [A]: 50, [B]: 30, [C]: 20 }, []],
  [{ [A]: 33.33, [B]: 33.33, [C]: 33.34 }, []],
  [{ [A]: 0.5, [B]: 0.3, [C]: 0.2 }, []],
  [{ [A]: 0.1, [B]: 0.2, [C]: 0.7 }, []],
  [{ [A]: 0.5, [B]: 0.3, [C]: 0.1 }, ['COMPOSITION_SUM']],
  [{ [A]: 25, [B]: 25, [C]: 25, [D]: 25 }, []],
  [{ [A]: 60, 'domain-77-none': 30 }, ['COMPOSITION_UNKNOWN_DOMAIN', 'COMPOSITION_SUM']],
])('%j has the problems %j', (composition, codes) => {
  expect(check(composition).map(({ code }) => code)).toEqual(codes);
});

test('the message of a wrong sum gives the sum', () => {
  expect(check({ [A]: 50, [B]: 30, [C]: 19 })[0]?.message).toContain('99');
});

test('five domains are too many, and one is enough where size does not matter', () => {
  const five = { [A]: 20, [B]: 20, [C]: 20, [D]: 20, 'domain-99-more': 20 };
  expect(check(five).map(({ code }) => code)).toContain('COMPOSITION_SIZE');
  expect(check({ [A]: 100 }, { compositionSize: false })).toEqual([]);
});

test('a constituent without a lock entry makes the archetype unusable', () => {
  const unlocked = (lock: JsonObject) => {
    const { [B]: _dropped, ...prompts } = lock.prompts as JsonObject;
    return { ...lock, prompts };
  };
  const codes = check({ [A]: 50, [B]: 50 }, {}, unlocked).map(({ code }) => code);
  expect(codes).toEqual(['COMPOSITION_CONSTITUENT_UNVERIFIED']);
});

test('changed bytes or quarantine of a constituent count only where the policy asks for them', () => {
  const registry = world({ files: { [`prompts/${B}.md`]: 'changed' } });
  const agent = registry.agents.get('product-thinker');
  if (!agent) throw new Error('the archetype was not loaded');
  const strict = { ...TRUST_POLICY, constituentBytes: true };
  expect(checkComposition(registry, agent, '', TRUST_POLICY)).toEqual([]);
  expect(checkComposition(registry, agent, '', strict)[0]?.code).toBe('COMPOSITION_CONSTITUENT_UNVERIFIED');
  const clean = world();
  const quarantined = checkComposition(clean, agent, '', strict, ({ id }) => id === B);
  expect(quarantined[0]?.code).toBe('COMPOSITION_CONSTITUENT_UNVERIFIED');
});

test('fractions become percentages without noise', () => {
  expect(readComposition({ [A]: 0.7, [B]: 0.29, [C]: 0.01 })).toEqual([
    [A, 70],
    [B, 29],
    [C, 1],
  ]);
});

test.each([
  [{ [A]: 50, [B]: 50 }, 1],
  [{ [A]: 90, [B]: 10 }, 1],
  [{ [A]: 60, [B]: 40 }, 0],
])('%j gets %i remarks on emphasis', (composition, count) => {
  const registry = world({ agents: { 'product-thinker': { composition } } });
  const agent = registry.agents.get('product-thinker');
  expect(agent && remarksOnShares(agent)).toHaveLength(count);
});
