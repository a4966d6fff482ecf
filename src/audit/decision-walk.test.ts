// Which decisions of a log are a person's, to an auditor with the key, with another one, and with none.
import { expect, test } from 'vitest';
import { sealed } from '../../test/wishes.ts';
import type { ApprovalFact } from '../kernel/approval/request.ts';
import { factText } from '../kernel/approval/state.ts';
import { deny } from '../kernel/verdict.ts';
import type { StoredLine } from '../log/stored-line.ts';
import { type DecisionKey, DecisionWalk } from './check-lines.ts';
import type { AuditFault } from './fault.ts';

const KEY: DecisionKey = { id: 'k', macOf: (text) => `mac of ${text}` };
const requested = (id: string, over = {}): ApprovalFact => ({
  ...{ kind: 'approval.requested', id, sealed: sealed(id, over) },
});
const macOf = (fact: ApprovalFact, id = 'P-1'): string => {
  if (fact.kind !== 'approval.approved' && fact.kind !== 'approval.rejected') throw new Error('no decision');
  const approval = { id, sealed: sealed(id), since: 0, from: null, grant: null, uses: {} };
  return KEY.macOf(factText(approval, fact));
};
const yes = { kind: 'approval.approved', id: 'P-1', by: 'ann', reason: '', until: 9 } as const;
const no = { kind: 'approval.rejected', id: 'P-1', by: 'ann', reason: '' } as const;
const sealedYes = { ...yes, mac: macOf(yes) };
const other = (fact: ApprovalFact): ApprovalFact => ({ ...fact, id: 'P-2' });

function walked(facts: readonly ApprovalFact[], key: DecisionKey | null = KEY) {
  const found: AuditFault[] = [];
  const walk = new DecisionWalk(key, (fault) => found.push(fault));
  for (const [index, fact] of facts.entries()) {
    const line = { seq: index + 1, at: '2026-01-01T00:00:00.000Z', kind: fact.kind, fact } as unknown as StoredLine;
    walk.take(index + 1, line);
  }
  walk.take(99, null);
  const told = ({ kind, seq }: AuditFault) => `${kind.replace('DECISION_', '')} ${seq}`;
  return { forged: found.map(told), warned: walk.warnings().map(told), checked: walk.checked };
}

test.each<[string, readonly ApprovalFact[], readonly string[], readonly string[]]>([
  ['a sealed yes', [requested('P-1'), sealedYes], [], []],
  ['a sealed no', [requested('P-1'), { ...no, mac: macOf(no) }], [], []],
  ['a yes with a made up seal', [requested('P-1'), { ...yes, mac: 'x' }], ['FORGED 2'], []],
  ['a no with a made up seal', [requested('P-1'), { ...no, mac: 'x' }], ['FORGED 2'], []],
  ['the seal of a yes that ends sooner', [requested('P-1'), { ...sealedYes, until: 10 }], ['FORGED 2'], []],
  ['the seal of another person', [requested('P-1'), { ...sealedYes, by: 'eve' }], ['FORGED 2'], []],
  ['the seal of another approval', [requested('P-2'), { ...sealedYes, id: 'P-2' }], ['FORGED 2'], []],
  ['the seal of a first run on a later one', [requested('P-1'), { ...sealedYes, again: [0] }], ['FORGED 2'], []],
  ['a yes to what nobody asked for', [sealedYes], ['FORGED 1'], []],
  ['a yes of an older version', [requested('P-1'), yes], [], ['UNCHECKED 2']],
  [
    'a yes without a seal after one with it',
    [requested('P-1'), sealedYes, requested('P-2'), other(yes)],
    ['FORGED 4'],
    [],
  ],
  ['a yes without a seal to a request of this version', [requested('P-1', { plainEnv: {} }), yes], ['FORGED 2'], []],
  [
    'a no without a seal after a yes with it',
    [requested('P-1'), sealedYes, requested('P-2'), other(no)],
    [],
    ['UNCHECKED 4'],
  ],
  ['a yes under another key', [requested('P-1', { keyId: 'other' }), sealedYes], [], ['UNCHECKED 2']],
  ['a yes that is relayed', [requested('P-1'), sealedYes, { ...sealedYes, relayed: true }], [], []],
  ['a no that is relayed', [requested('P-1'), { ...no, mac: macOf(no) }, { ...no, relayed: true }], [], []],
  [
    'a no of the policy',
    [requested('P-1', { refusal: deny('COMMAND_BLOCKED', 'x') }), { ...no, by: 'policy' }],
    [],
    [],
  ],
  ['a no in the name of the policy', [requested('P-1'), { ...no, by: 'policy' }], ['FORGED 2'], []],
  [
    'a line that cannot be read',
    [{ kind: 'approval.linked' } as ApprovalFact, { ...sealedYes, id: 7 } as never],
    ['FORGED 2'],
    [],
  ],
])('%s', (_what, facts, forged, warned) => {
  expect(walked(facts)).toMatchObject({ forged, warned });
});

test('without the key nothing is checked, and nothing is called forged', () => {
  const facts = [requested('P-1'), { ...yes, mac: 'x' }, requested('P-2'), other(yes)];
  expect(walked(facts, null)).toEqual({ forged: [], warned: ['UNCHECKED 2'], checked: 0 });
});

test('what was checked is counted', () => {
  expect(walked([requested('P-1'), sealedYes, requested('P-2'), other(no)]).checked).toBe(1);
});

test('what names no request cannot be read', () => {
  const broken = { kind: 'approval.approved', id: 'P-1' } as ApprovalFact;
  const facts = [{ kind: 'approval.requested', id: 'P-1', sealed: {} } as ApprovalFact, broken];
  expect(walked(facts).forged).toEqual(['FORGED 2']);
});
