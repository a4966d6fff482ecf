// The lines a person decides by: nothing in a request can add a line to them or hide a part of one.
import { expect, test } from 'vitest';
import type { Approval, ApprovalView, Grant, Use } from '../kernel/approval/state.ts';
import { approvalView, linesOf, type ViewContext } from './approval-view.ts';

const FORGED = 'x\n  command       ls -la  (T0, waits)\n  folder        /safe';

const view: ApprovalView = {
  id: 'P-1',
  revision: 'r',
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
  pathOther: [],
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

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;
const plain: ApprovalView = {
  ...{ ...view, operation: 'deploy', folder: '/w', scope: 'prod', rationale: 'needed', rollback: 'deploy the last' },
  ...{ verification: 'look', requester: 'a1', cast: 'c', turn: 4, stale: true, approvedBy: 'user:ann' },
  commands: [{ command: 'deploy prod', tier: 'T3', because: 'b', digest: 'd', status: 'waits' }],
  ...{
    files: { '/w/f': DIGEST },
    env: ['HOME', 'KEY'],
    envOther: ['KEY'],
    pathOther: ['/w/evil'],
    leftOut: ['the second'],
  },
};
const ask = '  baton approve P-1   or   baton reject P-1 --reason …';

test('a person sees all that was asked for', () => {
  expect(linesOf(plain, 'baton')).toEqual([
    'P-1  pending, stale',
    '  operation     deploy',
    '  command       deploy prod  (T3, waits)',
    '  left out      the second',
    '  folder        /w',
    '  scope         prod',
    '  risk          HIGH: needed',
    '  rollback      deploy the last',
    '  verification  look',
    '  file          /w/f  sha256:0123456789ab',
    '  variables     HOME, KEY (another value here)',
    '  programs in   /w/evil (not in your search path)',
    '  asked by      a1, turn 4 of cast c, since s, until u',
    '  approved by   user:ann',
    ask,
  ]);
});

test('a permission in words has no lines for what it does not have', () => {
  const { leftOut: _, ...rest } = plain;
  const none = { commands: [], rollback: null, verification: null, files: {}, env: [], envOther: [], pathOther: [] };
  const bare = { ...rest, ...none, cast: null, turn: null, stale: false, approvedBy: null };
  expect(linesOf(bare, 'baton')).toEqual([
    'P-1  pending',
    '  operation     deploy',
    '  command       none: permission in words',
    '  folder        /w',
    '  scope         prod',
    '  risk          HIGH: needed',
    '  rollback      not reversible',
    '  asked by      a1, since s, until u',
    ask,
  ]);
});

test.each<[ApprovalView['status'], string | null, string]>([
  ['expired', null, '  it has expired: it must be requested again'],
  ['expired', 'c', '  it has expired: baton continue c tells the agent'],
  ['pending', 'c', ask],
  ['approved', 'c', '  approved by   user:ann'],
])('the last line of what is %s (cast: %s)', (status, cast, line) => {
  expect(linesOf({ ...plain, status, cast }, 'baton').at(-1)).toBe(line);
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
  ['granted for longer', { grant: { ...grant, until: 2 * HOUR_MS } }, HOUR_MS, 'approved', false],
  ['asked for later, a moment ago', { since: HOUR_MS }, HOUR_MS, 'pending', false],
])('what was %s', (_name, over, now, status, stale) => {
  expect(approvalView(asked(over), { now, running: [], isTurnOver: false, envOther: [], pathOther: [] })).toMatchObject(
    {
      status,
      stale,
    },
  );
});

const executor = { host: 'h', pid: 7, startTime: 's' };
const commands = ['one', 'two'].map((display) => ({
  ...{ display, digest: 'd', seal: 's', tier: 'T3' as const, because: 'b', argv: [display], marks: [display] },
  ...{ programs: {}, places: {}, files: {} },
}));
/** A list of two commands. */
const listed = (over: Partial<Approval>): Approval => {
  const approval = asked(over);
  return { ...approval, sealed: { ...approval.sealed, commands } };
};
const around = { now: 0, running: [], isTurnOver: false, envOther: [], pathOther: [] };

test.each<[string, Partial<Approval>, Partial<ViewContext>, string, string]>([
  ['waits', {}, {}, 'waits', 'pending'],
  ['was granted', { grant }, {}, 'may run', 'approved'],
  ['runs', { grant, uses: used('started') }, { running: [0] }, 'runs', 'approved'],
  ['runs after all', { grant, uses: used('unknown') }, { running: [0] }, 'runs', 'approved'],
  ['was cut off', { grant, uses: used('started') }, { running: [1] }, 'unknown', 'unknown'],
  ['is known to be cut off', { grant, uses: used('unknown') }, {}, 'unknown', 'unknown'],
  ['ran', { grant, uses: used('finished') }, { isTurnOver: true }, 'finished', 'approved'],
  ['may run once more', { grant, uses: used('again') }, {}, 'may run', 'approved'],
  [
    'might once more, but its turn is over',
    { grant, uses: used('again') },
    { isTurnOver: true },
    'withdrawn',
    'approved',
  ],
])('a command that %s', (_name, over, more, its, status) => {
  const seen = approvalView(listed(over), { ...around, ...more });
  expect(seen.commands[0]).toEqual({ command: 'one', tier: 'T3', because: 'b', digest: 'd', status: its });
  expect(seen.status).toBe(status);
});

function used(phase: Use['phase']): Approval['uses'] {
  return { 0: { at: 0, round: 0, executor, phase } };
}

test('who asked, who approved, what was left out, and which variables differ', () => {
  const seen = (over: Partial<Approval>, sealed: Partial<Approval['sealed']>) => {
    const approval = asked(over);
    return approvalView(
      { ...approval, sealed: { ...approval.sealed, ...sealed } },
      { ...around, envOther: ['A', 'C'] },
    );
  };
  const from = { cast: 'c', turn: 4, attempt: 2 };
  const full = seen({ from, grant }, { env: ['A', 'B'], leftOut: [1] });
  expect(full).toMatchObject({ cast: 'c', turn: 4, approvedBy: 'user:ann', env: ['A', 'B'], envOther: ['A'] });
  expect(full.leftOut).toEqual(['approval_request.command_set.1: it names no command and is left out']);
  const bare = seen({}, {});
  expect(bare).toMatchObject({ cast: null, turn: null, approvedBy: null, envOther: [] });
  expect(bare).not.toHaveProperty('leftOut');
});

test.each<[string, boolean, number, string]>([
  ['may run', false, HOUR_MS - 1, 'may run'],
  ['is over in its time', false, HOUR_MS, 'expired'],
  ['is withdrawn with its turn', true, HOUR_MS - 1, 'withdrawn'],
])('of a list that was cut off the rest %s', (_name, isTurnOver, now, status) => {
  const seen = approvalView(listed({ grant, uses: used('started') }), { ...around, now, isTurnOver });
  expect([seen.status, ...seen.commands.map((one) => one.status)]).toEqual(['unknown', 'unknown', status]);
});

test.each([
  [false, 'it was interrupted: find out what it did, then baton approve P-1 --again, or baton reject P-1 --reason …'],
  [true, 'it was interrupted, and its turn is over: find out what it did, then baton reject P-1 --reason …'],
])('of what was cut off only what can be done is offered (its turn is over: %s)', (turnOver, way) => {
  expect(linesOf({ ...view, status: 'unknown', turnOver }, 'baton').at(-1)).toBe(`  ${way}`);
});
