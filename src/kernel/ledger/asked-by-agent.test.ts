import { expect, test } from 'vitest';
import { refuseAgent } from './decide.ts';
import type { LedgerRequest } from './fact.ts';
import { packet } from './fixtures/book.ts';
import { emptyLedger } from './state.ts';

const pen = () => ({ ledger: emptyLedger(false), at: 0, write() {} });

const AGENT = 'agent:Socket-1@cast-1.1';
const claims: readonly LedgerRequest[] = [
  { kind: 'task.claim', task: 'T-1', owner: 'bob', isAgent: true },
  { kind: 'task.next', owner: 'bob', isAgent: true },
  { kind: 'task.move', task: 'T-1', to: 'in_progress', reason: 'x', owner: 'bob', actor: 'agent' },
  { kind: 'deltas.apply', run: 'r', stream: [{ task_id: 'T-1', status: 'in_progress' }], isAgent: true },
];

test.each(claims)('an agent asks for $kind, whatever its name', (request) => {
  expect(refuseAgent(pen(), { ...request, by: AGENT })?.code).toBe('NOT_ALLOWED_NOW');
  expect(refuseAgent(pen(), { ...request, by: 'user:ann' })?.code).toBe('NOT_ALLOWED_NOW');
});

test.each(claims)('a person asks for $kind, whatever the name', (request) => {
  const asked =
    request.kind === 'task.move' ? { ...request, actor: 'person' as const } : { ...request, isAgent: false };
  expect(refuseAgent(pen(), { ...asked, by: 'user:ann' })).toBeNull();
  expect(refuseAgent(pen(), { ...asked, by: AGENT })).toBeNull();
});

test.each<[LedgerRequest]>([
  [{ kind: 'task.move', task: 'T-1', to: 'blocked', reason: 'x', actor: 'agent' }],
  [{ kind: 'deltas.apply', run: 'r', stream: [{ task_id: 'T-1', status: 'blocked' }], isAgent: true }],
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
  expect(refuseAgent(pen(), { ...request, isAgent: true, by: AGENT })?.code).toBe(code);
  expect(refuseAgent(pen(), { ...request, isAgent: false, by: 'user:ann' })).toBeNull();
});

test('the folder of a task counts, too', () => {
  const request = { kind: 'task.create', root: '.claude', packet: packet('T-1', { lock_scope: ['hooks'] }) } as const;
  expect(refuseAgent(pen(), { ...request, isAgent: true, by: AGENT })?.code).toBe('SCOPE_VIOLATION');
});
