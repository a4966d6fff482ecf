import { expect, test } from 'vitest';
import { refuseAgent } from './decide.ts';
import type { LedgerRequest } from './fact.ts';
import { packet } from './fixtures/book.ts';
import { emptyLedger } from './state.ts';

const pen = () => ({ ledger: emptyLedger(false), at: 0, write() {} });

const AGENT = 'agent:Socket-1@cast-1.1';
const claims: readonly LedgerRequest[] = [
  { kind: 'task.claim', task: 'T-1', owner: 'bob' },
  { kind: 'task.next', owner: 'bob' },
  { kind: 'task.move', task: 'T-1', to: 'in_progress', reason: 'x', owner: 'bob' },
  { kind: 'deltas.apply', run: 'r', stream: [{ task_id: 'T-1', status: 'in_progress' }] },
];

test.each([
  [AGENT, 'NOT_ALLOWED_NOW'],
  ['agent:unknown', 'NOT_ALLOWED_NOW'],
  ['user:ann', undefined],
  ['token:ci', undefined],
])('%s claims a task by hand, in any way: %s', (by, code) => {
  const asked = claims.map((request) => refuseAgent(pen(), { ...request, by })?.code);
  expect(asked).toEqual(claims.map(() => code));
});

test.each<[LedgerRequest]>([
  [{ kind: 'task.move', task: 'T-1', to: 'blocked', reason: 'x' }],
  [{ kind: 'deltas.apply', run: 'r', stream: [{ task_id: 'T-1', status: 'blocked' }] }],
])('an agent may ask for what starts no task', (request) => {
  expect(refuseAgent(pen(), { ...request, by: AGENT })).toBeNull();
});

test.each([
  ['.mcp.json', 'SCOPE_VIOLATION'],
  ['.claude', 'SCOPE_VIOLATION'],
  ['a/../src/.Claude/settings.json', 'SCOPE_VIOLATION'],
  ['.git/hooks', 'SCOPE_VIOLATION'],
  ['src', undefined],
  ['.', undefined],
])('a task that an agent creates for %s: %s', (path, code) => {
  const request = { kind: 'task.create', packet: packet('T-1', { lock_scope: ['src', path] }) } as const;
  expect(refuseAgent(pen(), { ...request, by: AGENT })?.code).toBe(code);
  expect(refuseAgent(pen(), { ...request, by: 'user:ann' })).toBeNull();
});

test('the folder of a task counts, too', () => {
  const request = { kind: 'task.create', root: '.claude', packet: packet('T-1', { lock_scope: ['hooks'] }) } as const;
  expect(refuseAgent(pen(), { ...request, by: AGENT })?.code).toBe('SCOPE_VIOLATION');
});
