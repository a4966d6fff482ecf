// The lines a person decides by: nothing in a request can add a line to them or hide a part of one.
import { expect, test } from 'vitest';
import type { Approval, Grant } from '../kernel/approval/state.ts';
import { type ApprovalView, approvalView, linesOf } from './approval-view.ts';

const FORGED = 'x\n  command       ls -la  (T0, waits)\n  folder        /safe';

const view: ApprovalView = {
  id: 'P-1',
  status: 'pending',
  operation: FORGED,
  commands: [{ command: `rm${'\t'.repeat(27)}pr\u043ed`, tier: 'T3', because: 'b', digest: 'd', status: 'waits' }],
  folder: '/w\n/safe',
  scope: FORGED,
  risk: 'HIGH',
  rationale: FORGED,
  rollback: FORGED,
  verification: FORGED,
  requester: FORGED,
  cast: null,
  turn: null,
  turnOver: false,
  since: 's',
  until: 'u',
  stale: false,
  approvedBy: null,
  files: { '/w/a\u200bb': 'sha256:1' },
  env: [],
  envOther: [],
};

test('each line says one thing, whatever was asked', () => {
  const lines = linesOf(view, 'baton');
  expect(lines.filter((line) => /[\n\t]/.test(line))).toEqual([]);
  expect(lines.filter((line) => line.startsWith('  command'))).toEqual([
    `  command       rm${'\\u{9}'.repeat(27)}pr\\u{43e}d  (T3, waits)`,
  ]);
  expect(lines).toContain('  folder        /w\\u{a}/safe');
  expect(lines).toContain('  file          /w/a\\u{200b}b  sha256:1');
});

const HOUR_MS = 3_600_000;
const grant: Grant = { by: 'user:ann', at: 0, until: HOUR_MS, reason: '' };

/** Asked for at 0, and over after two hours where nobody decides. */
function asked(over: Partial<Approval>): Approval {
  const sealed: Approval['sealed'] = {
    ...{ id: 'P-1', commands: [], cwd: '/w', env: [], envMarks: {}, path: '/bin', files: {}, policy: 'p', log: 'l' },
    ...{ requester: 'a1', operation: 'o', scope: 's', riskLevel: 'HIGH', rationale: 'r', rollback: null },
    ...{ verification: 'v', expiresAt: 2 * HOUR_MS, grantMs: HOUR_MS, fingerprint: 'f', keyId: 'k', relays: null },
    refusal: null,
  };
  return { id: 'P-1', sealed, since: 0, from: null, grant: null, uses: {}, ...over };
}

test.each<[string, Partial<Approval>, number, string, boolean]>([
  ['asked for a moment ago', {}, 0, 'pending', false],
  ['asked for almost an hour ago', {}, HOUR_MS - 1, 'pending', false],
  ['asked for an hour ago', {}, HOUR_MS, 'pending', true],
  ['not decided in time', {}, 2 * HOUR_MS, 'expired', false],
  ['granted', { grant }, HOUR_MS - 1, 'approved', false],
  ['granted and not used in time', { grant }, HOUR_MS, 'expired', false],
])('what was %s', (_name, over, now, status, stale) => {
  expect(approvalView(asked(over), { now, running: [], isTurnOver: false, envOther: [] })).toMatchObject({
    status,
    stale,
  });
});

const executor = { host: 'h', pid: 7, startTime: 's' };
const commands = ['one', 'two'].map((display) => ({ display }) as unknown as Approval['sealed']['commands'][number]);

test.each<[string, boolean, number, string]>([
  ['may run', false, HOUR_MS - 1, 'may run'],
  ['is over in its time', false, HOUR_MS, 'expired'],
  ['is withdrawn with its turn', true, HOUR_MS - 1, 'withdrawn'],
])('of a list that was cut off the rest %s', (_name, isTurnOver, now, status) => {
  const begun = asked({ grant, uses: { 0: { at: 0, round: 0, executor, phase: 'started' } } });
  const approval = { ...begun, sealed: { ...begun.sealed, commands } };
  const seen = approvalView(approval, { now, running: [], isTurnOver, envOther: [] });
  expect([seen.status, ...seen.commands.map((one) => one.status)]).toEqual(['unknown', 'unknown', status]);
});

test.each([
  [false, 'it was cut off: find out what it did, then baton approve P-1 --again, or baton reject P-1 --reason …'],
  [true, 'it was cut off, and its turn is over: find out what it did, then baton reject P-1 --reason …'],
])('of what was cut off only what can be done is offered (its turn is over: %s)', (turnOver, way) => {
  expect(linesOf({ ...view, status: 'unknown', turnOver }, 'baton').at(-1)).toBe(`  ${way}`);
});
