// A person's yes runs a command only with the seal that was made for it: for this approval, by this person, until then, and
// for these rounds.
import { expect, test } from 'vitest';
import { type Play, play } from '../../../test/play.ts';
import { withSeals } from '../../../test/seal-requests.ts';
import { opsTeam, sealed } from '../../../test/wishes.ts';
import type { ApprovalFact, ApprovalRequest } from './request.ts';
import { applyApproval } from './state.ts';

const executor = { host: 'h', pid: 7, startTime: 's' };
const approve: Extract<ApprovalRequest, { kind: 'approval.decide' }> = {
  ...{ kind: 'approval.decide', id: 'P-1', choice: 'approve', reason: '', isAgent: false },
  gone: [executor],
};
const use: Extract<ApprovalRequest, { kind: 'approval.use' }> = {
  ...{ kind: 'approval.use', id: 'P-1', requester: 'a1', executor, gone: [executor] },
  presented: {
    ...{ argv: ['deploy'], marks: ['0:deploy'], seal: 's', cwd: '/w', programs: {}, places: {}, files: {} },
    ...{ envMarks: {}, policy: 'p', log: 'l', keyId: 'k', decision: null },
  },
};

function asked(): Play {
  const cast = play({ config: opsTeam, agents: { Ops: [] }, hold: true });
  expect(cast.tell({ kind: 'approval.request', sealed: sealed('P-1'), from: null }).code).toBe('OK');
  return cast;
}

function granted(): Play {
  const cast = asked();
  expect(cast.tell(approve).code).toBe('OK');
  return cast;
}

/** Writes a fact past the rules, as whoever appends to the file of the log does. */
function forge(cast: Play, fact: ApprovalFact): void {
  applyApproval(cast.state.approvals, fact, Date.parse('2026-01-01T00:00:01.000Z'));
}

function grantOf(cast: Play): Extract<ApprovalFact, { kind: 'approval.approved' }> {
  const [fact] = cast.all('approval.approved');
  if (!fact) throw new Error('nothing was approved');
  return fact;
}

/** The fact that is appended, made from the genuine one. */
const FORGED: [string, (genuine: ReturnType<typeof grantOf>) => ApprovalFact][] = [
  ['without a seal', ({ mac: _mac, ...fact }) => fact],
  ['with a made up seal', (fact) => ({ ...fact, mac: 'f'.repeat(64) })],
  ['for longer', (fact) => ({ ...fact, until: fact.until + 1 })],
  ['by somebody else', (fact) => ({ ...fact, by: 'user:eve' })],
  ['for another run', (fact) => ({ ...fact, again: [0] })],
];

test.each(FORGED)('a yes %s runs nothing, and a person may say it again', (_what, forged) => {
  const cast = granted();
  forge(cast, forged(grantOf(cast)));
  expect(cast.tell(use)).toMatchObject({ code: 'DECISION_UNSEALED', reason: expect.stringContaining('approve P-1') });
  expect(cast.all('approval.used')).toEqual([]);
  expect(cast.all('approval.refused')).toMatchObject([{ id: 'P-1', code: 'DECISION_UNSEALED' }]);
  expect(cast.tell(approve).code).toBe('OK');
  expect(cast.tell(use).code).toBe('OK');
});

test('the genuine yes, written once more, lets nothing run once more', () => {
  const cast = granted();
  expect(cast.tell(use).code).toBe('OK');
  expect(cast.tell({ ...approve, again: true }).code).toBe('OK');
  const again = cast.all('approval.approved').at(-1);
  if (!again) throw new Error('nothing was approved');
  expect(again).toMatchObject({ again: [0], mac: expect.any(String) });
  expect(cast.tell(use).code).toBe('OK');
  forge(cast, { kind: 'approval.unknown', id: 'P-1', index: 0 });
  forge(cast, again);
  expect(cast.tell(use).code).toBe('DECISION_UNSEALED');
  expect(cast.all('approval.used')).toHaveLength(2);
});

test('a yes that others hear of once more keeps its seal', () => {
  const cast = granted();
  forge(cast, { ...grantOf(cast), relayed: true });
  expect(cast.tell(use).code).toBe('OK');
});

test('a yes to a later run keeps its seal when it is relayed', () => {
  const cast = granted();
  cast.tell(use);
  cast.tell({ ...approve, again: true });
  const { again: _again, ...fact } = cast.all('approval.approved').at(-1) ?? grantOf(cast);
  forge(cast, { ...fact, relayed: true });
  expect(cast.tell(use).code).toBe('OK');
});

test('a seal that was compared with another yes than the one that is there by now does not count', () => {
  const cast = granted();
  const looked = withSeals(cast.state.approvals, use, 'test', 0);
  forge(cast, { ...grantOf(cast), until: 9e15 });
  expect(cast.tell(looked).code).toBe('DECISION_UNSEALED');
});

test('a yes that holds is not given twice, and one without a seal not while its command runs', () => {
  const cast = granted();
  expect(cast.tell(approve).code).toBe('NOT_ALLOWED_NOW');
  cast.tell(use);
  const { mac: _mac, ...bare } = grantOf(cast);
  forge(cast, bare);
  expect(cast.tell({ ...approve, gone: [] })).toMatchObject({
    code: 'NOT_ALLOWED_NOW',
    reason: expect.stringContaining('it runs at this moment'),
  });
  expect(cast.tell(approve).code).toBe('OUTCOME_UNKNOWN');
});

test.each<[string, number]>([
  ['is over', 0],
  ['holds longer than a yes may', 1e9 + 1],
])('a decision that %s by the time it arrives is not taken', (_what, ms) => {
  const cast = asked();
  const at = Date.parse('2026-01-02T00:00:00.000Z');
  const request = withSeals(cast.state.approvals, approve, 'test', at + ms - 1e9);
  expect(cast.tell(request, at)).toMatchObject({
    code: 'NOT_ALLOWED_NOW',
    reason: expect.stringContaining('decide again'),
  });
  expect(cast.all('approval.approved')).toEqual([]);
});

test('a decision that was sealed for another run than is asked for now is not taken', () => {
  const cast = granted();
  const first = withSeals(
    cast.state.approvals,
    { ...approve, again: true },
    'test',
    Date.parse('2026-01-01T00:00:00Z'),
  );
  cast.tell(use);
  expect(cast.tell(first).code).toBe('NOT_ALLOWED_NOW');
  expect(cast.all('approval.approved')).toHaveLength(1);
});

test('a no is sealed, and counts without a seal too', () => {
  const said = asked();
  said.tell({ ...approve, choice: 'reject' });
  expect(said.all('approval.rejected')).toMatchObject([{ mac: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
  const bare = asked();
  const sealing = { until: 1, decision: { text: 'of something else', mac: 'x' } };
  expect(bare.tell({ ...approve, choice: 'reject', sealing }).code).toBe('OK');
  expect(bare.all('approval.rejected')[0]).not.toHaveProperty('mac');
});
