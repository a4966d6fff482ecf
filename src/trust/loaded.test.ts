// What of a registry is remembered with the log.
import { expect, test } from 'vitest';
import type { Registry } from './agent.ts';
import { loadedFrom } from './registry.ts';

const agents = [
  { id: 'build', version: '1.0.0', lockedHash: 'h1' },
  { id: 'plan', version: '2.0.0', lockedHash: null },
];
const registry = (over: Partial<Registry> = {}): Registry =>
  ({
    ...{ usable: true, digest: 'd1', version: '3.0.0', agents: new Map(agents.map((one) => [one.id, one])) },
    ...over,
  }) as unknown as Registry;

test('its digest, its lock, its version and what it pins', () => {
  expect(loadedFrom(registry(), 'l1')).toEqual({
    digest: 'd1',
    lock: 'l1',
    version: '3.0.0',
    agents: { build: { version: '1.0.0', hash: 'h1' }, plan: { version: '2.0.0', hash: '' } },
  });
  expect(loadedFrom(registry({ version: null }), 'l1')?.version).toBe('');
});

test('nothing of one that cannot be used or has no digest', () => {
  expect(loadedFrom(registry({ usable: false }), 'l1')).toBeNull();
  expect(loadedFrom(registry({ digest: null }), 'l1')).toBeNull();
});
