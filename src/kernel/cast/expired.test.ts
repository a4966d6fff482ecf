// Permissions that nobody gives in time: those who look are told, those who steer note it down, and a cast that goes on beside
// it is woken for it.
import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import { asBlock, reportOf } from '../../../test/reports.ts';
import type { SealedRequest } from '../approval/request.ts';
import type { Request } from '../input.ts';
import { pending } from '../pending.ts';
import { isExpired, reasonNow, type StatusText } from './asked.ts';

const END = Date.parse('2026-01-02T00:00:00.000Z');
const waits: StatusText = { status: 'waiting', code: 'APPROVAL_NEEDED', reason: 'asks', until: END };

const ROWS: [string, StatusText, number, string | null][] = [
  ['before its time', waits, END - 1, 'APPROVAL_NEEDED'],
  ['at its time', waits, END, 'APPROVAL_EXPIRED'],
  ['after its time', waits, END + 1, 'APPROVAL_EXPIRED'],
  ['without an end', { status: 'waiting', code: 'APPROVAL_NEEDED', reason: 'asks' }, END, 'APPROVAL_NEEDED'],
  ['waiting for an answer', { ...waits, code: 'ANSWER_NEEDED' }, END, 'ANSWER_NEEDED'],
  ['aborted', { ...waits, status: 'aborted', code: 'ABORTED' }, END, 'ABORTED'],
];

test.each(ROWS)('a cast that waits for a permission, %s', (_name, stands, now, code) => {
  const said = reasonNow('c', stands, now);
  expect(said.code).toBe(code);
  expect(isExpired(stands, now)).toBe(code === 'APPROVAL_EXPIRED');
  expect(said.reason).toBe(code === 'APPROVAL_EXPIRED' ? said.reason : 'asks');
  if (code === 'APPROVAL_EXPIRED') expect(said.reason).toContain('expired at 2026-01-02T00:00:00.000Z');
});

const SEALED: SealedRequest = {
  ...{ id: 'P-1', commands: [], cwd: '/w', env: [], envMarks: {}, path: '/bin', files: {}, policy: 'p', log: 'l' },
  ...{ requester: 'a1', operation: 'deploy', scope: 'prod', riskLevel: 'HIGH', rationale: 'needed', rollback: null },
  ...{ verification: 'look', expiresAt: END, grantMs: 1, fingerprint: 'f', keyId: 'k', relays: null, refusal: null },
};

function asking(over: Partial<SealedRequest> = {}): Play {
  const config = graph(
    { 'Socket-1': { materia: 'Ops', parse: 'json', contract: 'gaia', edges: [always('end')] } },
    { materia: { Ops: { tools: 'none', prompt: 'Do it.' } } },
  );
  const wish = { operation: 'deploy', exact_content: 'deploy', rollback: 'none', verification: 'look' };
  const output = asBlock(reportOf('APPROVAL_REQUEST', { more: { approval_request: wish } }));
  const cast = play({ config, agents: { Ops: [output, asBlock(reportOf('COMPLETE'))] }, hold: true });
  const where = { cast: 'c', turn: 1, attempt: 1 } as const;
  cast.tell({ kind: 'turn.prepared', ...where });
  cast.tell({ kind: 'attempt.output', ...where, output });
  cast.tell({ kind: 'turn.verified', ...where, seal: '', approval: { ...SEALED, ...over } });
  expect(cast.cast).toMatchObject({ status: 'waiting', code: 'APPROVAL_NEEDED', until: END });
  return cast;
}

test('while something else of the cast goes on, it is owed a wake at the end of the permission', () => {
  const { cast } = asking();
  expect(pending(cast)).toEqual([]);
  expect(pending({ ...cast, status: 'running' })).toEqual([{ kind: 'timer', cast: 'c', at: END }]);
});

const STEERING: [string, Request, string][] = [
  ['the clock', { kind: 'clock.rang', cast: 'c' }, 'completed'],
  ['a resume', { kind: 'cast.resume', cast: 'c', reason: 'on' }, 'completed'],
  ['an answer to another question', { kind: 'turn.answer', cast: 'c', turn: 7, output: 'x' }, 'completed'],
  ['a decision about the turn', { kind: 'turn.decide', cast: 'c', turn: 1, choice: 'fail' }, 'failed'],
  ['an abort', { kind: 'cast.abort', cast: 'c', reason: 'enough' }, 'aborted'],
];

test.each(STEERING)('%s notes at its time that the permission is over, and not before', (_name, request, status) => {
  const early = asking();
  early.tell(request, END - 1);
  expect(early.all('approval.expired')).toEqual([]);
  const late = asking();
  late.say(request, END);
  expect(late.all('approval.expired')).toMatchObject([{ id: 'P-1', cast: 'c', turn: 1, what: 'request' }]);
  expect(late.cast.status).toBe(status);
  expect(late.cast.until).toBeUndefined();
  if (status === 'completed')
    expect(late.all('attempt.started').at(-1)?.brief).toContain('P-1 expired before it was used');
  expect(replayed(late.entries)).toEqual(late.state);
});

const EXECUTOR = { host: 'h', pid: 1, startTime: '1' };
const PRESENTED = {
  ...{ argv: ['deploy'], marks: [], seal: 's', cwd: '/w', programs: {}, places: {}, files: {}, envMarks: {} },
  ...{ policy: 'p', log: 'l', keyId: 'k', decision: null },
};
const ALONE: [string, Request, string][] = [
  ['a change of the budget', { kind: 'budget.change', cast: 'c', maxTokens: 1_000_000 }, 'OK'],
  ['a pause', { kind: 'cast.pause', cast: 'c', reason: 'stop' }, 'NOT_ALLOWED_NOW'],
  ['another cast', { kind: 'cast.abort', cast: 'other', reason: 'enough' }, 'UNKNOWN_CAST'],
  [
    'another approval',
    { kind: 'approval.decide', id: 'P-2', choice: 'approve', reason: '', isAgent: false },
    'UNKNOWN_APPROVAL',
  ],
  [
    'an agent that decides',
    { kind: 'approval.decide', id: 'P-1', choice: 'approve', reason: '', isAgent: true },
    'APPROVER_IS_AGENT',
  ],
  ['a sweep', { kind: 'approval.sweep' }, 'OK'],
  [
    'its use',
    { kind: 'approval.use', id: 'P-1', presented: PRESENTED, requester: 'a1', executor: EXECUTOR },
    'APPROVAL_EXPIRED',
  ],
];

test.each(ALONE)(
  'a cast that stands still is not set to work by who does not carry it on: %s',
  (_name, request, code) => {
    const cast = asking();
    expect(cast.tell(request, END).code).toBe(code);
    expect(cast.cast.status).toBe('waiting');
    expect([...cast.all('approval.expired'), ...cast.all('cast.resumed')]).toEqual([]);
  },
);

test.each([
  ['approve', { kind: 'approval.decide', id: 'P-1', choice: 'approve', reason: '', isAgent: false }],
  ['reject', { kind: 'approval.decide', id: 'P-1', choice: 'reject', reason: 'no', isAgent: false }],
  ['answer', { kind: 'turn.answer', cast: 'c', turn: 1, output: 'x' }],
  ['decide', { kind: 'turn.decide', cast: 'c', turn: 1, choice: 'accept' }],
] as const)('%s comes too late, and the agent that waits is told', (_name, request) => {
  const cast = asking();
  expect(cast.tell(request, END)).toMatchObject({
    code: 'APPROVAL_EXPIRED',
    reason: expect.stringContaining('expired'),
  });
  expect(cast.all('approval.expired')).toHaveLength(1);
  expect(cast.cast.status).toBe('running');
});

test('whoever carries on a cast that waits for a permission is told how it is given or refused', () => {
  const cast = asking();
  const resumed = cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'on' });
  expect([resumed.code, resumed.reason]).toEqual([
    'NOT_ALLOWED_NOW',
    expect.stringContaining('baton approve P-1 or baton reject P-1'),
  ]);
  // So it is where items walk side by side: trying again would change nothing.
  cast.cast.lanes.l = { entry: 'Socket-1', from: null, held: null, walks: {} };
  expect(cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'on' }).code).toBe('NOT_ALLOWED_NOW');
});

test('a wish that is not shown to the end leads to the list, with its id', () => {
  const { cast } = asking({ operation: 'x'.repeat(2_000) });
  expect(cast.reason).toContain('look with: baton approvals (it is P-1; to refuse it: baton reject P-1)');
  expect(cast.reason).not.toContain('baton approve P-1');
});
