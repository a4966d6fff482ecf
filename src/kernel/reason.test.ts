// Whatever reason is given for something, no credential in it is stored.
import { expect, test } from 'vitest';
import { dialects } from '../dialects/index.ts';
import { decide } from './decide.ts';
import type { Input, Request } from './input.ts';
import { emptyState } from './state.ts';
import { keyOfBlocked } from './trust/state.ts';

const TOKEN = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
const reason = `with ${TOKEN}`;
const registry = { digest: 'd', lock: 'l', version: '1.0.0', agents: {} };
const context = `sha256:${'c'.repeat(64)}`;
const blocks = { agent: null, hash: null, context };

function stateWithBlock() {
  const state = emptyState();
  const key = keyOfBlocked(blocks);
  const at = { first: 0, last: 0, times: 1 };
  Object.assign(state.trust.quarantine, { [key]: { key, ...blocks, pin: null, code: 'INJECTION_KEY', ...at } });
  return state;
}

test.each<[Request['kind'], Request]>([
  ['registry.load', { kind: 'registry.load', registry, reason }],
  [
    'quarantine.release',
    { kind: 'quarantine.release', id: keyOfBlocked(blocks), reason, isAgent: false, registry: null, faults: {} },
  ],
  ['ledger.hold', { kind: 'ledger.hold', reason }],
])('%s', (_, request) => {
  const { verdict, facts } = decide(dialects, stateWithBlock(), { ...request, at: 0, by: 'user:ann' } as Input);
  expect(verdict.allow).toBe(true);
  expect(JSON.stringify([verdict, facts])).not.toContain(TOKEN);
  expect(JSON.stringify(facts)).toContain('with [secret:');
});
