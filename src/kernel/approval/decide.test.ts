// Which approval a request leads to: one that is open already, a new one, or none. Nothing is granted twice, and nobody is
// given what another one asked for.
import { expect, test } from 'vitest';
import { type Play, play } from '../../../test/play.ts';
import { asks, opsTeam, sealed } from '../../../test/wishes.ts';
import { dialects } from '../../dialects/index.ts';
import type { Fact } from '../fact.ts';
import type { Input, Request } from '../input.ts';
import { newPen } from '../pen.ts';
import { emptyState, type Pen } from '../state.ts';
import { decideApproval, requestApproval } from './decide.ts';
import { NOT_SAID, type Origin, type SealedCommand, type SealedRequest, type Words } from './request.ts';

const NOW = 1_000;
const LATER = 1e9;
const turn4: Origin = { cast: 'c', turn: 4, attempt: 2 };
const turn5: Origin = { ...turn4, turn: 5 };
const otherCast: Origin = { ...turn4, cast: 'd' };
const executor = { host: 'h', pid: 7, startTime: 's' };

const commands = (...names: string[]): readonly SealedCommand[] =>
  sealed('').commands.flatMap((one) =>
    names.map((name) => ({ ...one, display: name, argv: [name], marks: [`0:${name}`] })),
  );

const requested = (id: string, from: Origin | null = null, over: Partial<SealedRequest> = {}): Fact => ({
  ...{ kind: 'approval.requested', id, sealed: sealed(id, over) },
  ...(from ?? {}),
});
const approved = (id: string): Fact => ({
  ...{ kind: 'approval.approved', id, by: 'user:ann', reason: 'fine', until: LATER },
});
const used = (id: string, index = 0): Fact => ({
  ...{ kind: 'approval.used', id, index, round: 0, requester: 'a1', executor },
});
const finished = (id: string, index = 0): Fact => ({ kind: 'approval.finished', id, index, exit: 0 });

/** A log in which this was written. */
function after(...facts: readonly Fact[]): Pen {
  const state = emptyState();
  const pen = newPen(state, 0, dialects);
  for (const fact of facts) pen.write(fact);
  return newPen(state, NOW, dialects);
}

const brief = (facts: readonly Fact[]) =>
  facts.map((fact) => `${fact.kind.replace('approval.', '')} ${'id' in fact ? fact.id : ''}`);

function submit(pen: Pen, request: Request) {
  return decideApproval(pen, { ...request, at: NOW, by: 'user:ann' } as Extract<Input, { kind: 'approval.request' }>);
}

const ask = (pen: Pen, over: Partial<SealedRequest> = {}) =>
  submit(pen, { kind: 'approval.request', sealed: sealed('P-9', over), from: null });

type Row = readonly [string, readonly Fact[], Partial<SealedRequest>, Origin | null, readonly string[]];
const anew = ['requested P-9'];

const NAMED: readonly Row[] = [
  ['one that waits', [requested('P-1')], {}, turn4, ['linked P-1']],
  ['one of its own turn', [requested('P-1', turn4)], {}, turn4, []],
  ['one of another turn', [requested('P-1', turn4)], {}, turn5, ['linked P-1']],
  ['one of the same turn in another cast', [requested('P-1', turn4)], {}, otherCast, ['linked P-1']],
  ['one of another requester', [requested('P-1')], { requester: 'a2' }, turn4, anew],
  ['one that is not there', [], {}, turn4, anew],
  [
    'one that was granted to nobody yet',
    [requested('P-1'), approved('P-1')],
    {},
    turn4,
    ['linked P-1', 'approved P-1'],
  ],
  [
    'one that was granted to another turn',
    [requested('P-1', turn4), approved('P-1')],
    {},
    turn5,
    ['linked P-1', 'approved P-1'],
  ],
  [
    'one that was granted to another cast',
    [requested('P-1', turn4), approved('P-1')],
    {},
    otherCast,
    ['linked P-1', 'approved P-1'],
  ],
  [
    'one that its turn knows to be granted',
    [requested('P-1', turn4), approved('P-1')],
    {},
    turn4,
    ['withdrawn P-1', ...anew],
  ],
  ['one that was granted, outside of a turn', [requested('P-1'), approved('P-1')], {}, null, anew],
  [
    'one of which a command ran',
    [requested('P-1', null, { commands: commands('a', 'b') }), approved('P-1'), used('P-1'), finished('P-1')],
    { commands: commands('b') },
    turn4,
    anew,
  ],
  [
    'a list, for a part of it',
    [requested('P-1', null, { commands: commands('a', 'b') })],
    { commands: commands('b') },
    turn4,
    ['linked P-1'],
  ],
  [
    'one that covers only a part',
    [requested('P-1', null, { commands: commands('a') })],
    { commands: commands('a', 'b') },
    turn4,
    anew,
  ],
];

test.each(NAMED)('a request that names %s', (_name, facts, over, from, expected) => {
  const asked = requestApproval(after(...facts), sealed('P-9', { relays: 'P-1', ...over }), from);
  expect(brief(asked.facts)).toEqual(expected);
});

const SAME: readonly Row[] = [
  ['waits for no turn', [requested('P-1')], {}, turn4, ['linked P-1']],
  ['waits for this turn', [requested('P-1', turn4)], {}, turn4, []],
  ['waits for a turn, outside of one', [requested('P-1', turn4)], {}, null, []],
  ['waits for another turn', [requested('P-1', turn4)], {}, turn5, anew],
  ['waits for the same turn in another cast', [requested('P-1', turn4)], {}, otherCast, anew],
];

test.each(SAME)('a request for the very same that %s', (_name, facts, over, from, expected) => {
  const asked = requestApproval(after(...facts), sealed('P-9', { fingerprint: 'P-1', ...over }), from);
  expect(brief(asked.facts)).toEqual(expected);
});

/** P-1 was granted to turn 4, which asks for the same commands with P-9 and does not name it. */
const AGAIN: readonly Row[] = [
  ['the same', [requested('P-1', turn4), approved('P-1')], {}, turn4, ['withdrawn P-1', ...anew]],
  [
    'the same and more',
    [requested('P-1', turn4, { commands: commands('a') }), approved('P-1')],
    { commands: commands('a', 'b') },
    turn4,
    ['withdrawn P-1', ...anew],
  ],
  [
    'a part of it',
    [requested('P-1', turn4, { commands: commands('a', 'b') }), approved('P-1')],
    { commands: commands('a') },
    turn4,
    anew,
  ],
  ['the same for another turn', [requested('P-1', turn4), approved('P-1')], {}, turn5, anew],
  ['the same for another cast', [requested('P-1', turn4), approved('P-1')], {}, otherCast, anew],
  ['the same outside of a turn', [requested('P-1', turn4), approved('P-1')], {}, null, anew],
  ['what was granted outside of a turn', [requested('P-1'), approved('P-1')], {}, turn4, anew],
  ['the same as another requester', [requested('P-1', turn4), approved('P-1')], { requester: 'a2' }, turn4, anew],
  ['the same in another folder', [requested('P-1', turn4), approved('P-1')], { cwd: '/other' }, turn4, anew],
  ['what waits', [requested('P-1', turn4)], {}, turn4, anew],
  [
    'what ran in part',
    [requested('P-1', turn4, { commands: commands('a', 'b') }), approved('P-1'), used('P-1'), finished('P-1')],
    { commands: commands('a', 'b') },
    turn4,
    anew,
  ],
  [
    'a command beside a permission in words',
    [requested('P-1', turn4, { commands: [] }), approved('P-1')],
    {},
    turn4,
    anew,
  ],
];

test.each(AGAIN)('a grant that is not used ends when its turn asks again, and no other: %s', (_name, ...row) => {
  const [facts, over, from, expected] = row;
  expect(brief(requestApproval(after(...facts), sealed('P-9', over), from).facts)).toEqual(expected);
});

test('a request is written with the attempt that asks', () => {
  const pen = after();
  requestApproval(pen, sealed('P-9'), turn4);
  expect(pen.state.approvals['P-9']?.from).toEqual(turn4);
});

const KNOWN = { operation: 'o', scope: 's', rollback: 'r', verification: 'v' };
const SILENT = { operation: NOT_SAID, scope: NOT_SAID, rollback: null, verification: null };

test.each<[string, Partial<SealedRequest>, Words | undefined]>([
  ['nothing', SILENT, undefined],
  ['the same', KNOWN, undefined],
  ['another operation', { ...SILENT, operation: 'x' }, { operation: 'x' }],
  ['another scope', { ...SILENT, scope: 'x' }, { scope: 'x' }],
  ['another rollback', { ...SILENT, rollback: 'x' }, { rollback: 'x' }],
  ['another verification', { ...SILENT, verification: 'x' }, { verification: 'x' }],
])('a report that says %s about an approval', (_name, over, words) => {
  const { facts } = requestApproval(
    after(requested('P-1', turn5, KNOWN)),
    sealed('P-9', { relays: 'P-1', ...over }),
    turn4,
  );
  expect(facts).toEqual([{ kind: 'approval.linked', id: 'P-1', ...turn4, ...(words ? { words } : {}) }]);
});

test.each([
  [null, 'P-1'],
  ['P-1', 'P-1'],
  ['P-2', 'P-2'],
])('two approvals of a command are cut off and a request names %s: it is about %s', (relays, id) => {
  const facts = ['P-1', 'P-2'].flatMap((one) => [requested(one), approved(one), used(one)]);
  expect(requestApproval(after(...facts), sealed('P-9', { relays }), turn4)).toMatchObject({ id, status: 'unknown' });
  const refused = submit(after(...facts), {
    ...{ kind: 'approval.request', sealed: sealed('P-9', { relays }), from: null, gone: [executor] },
  });
  expect(refused).toMatchObject({ code: 'OUTCOME_UNKNOWN', details: { approval: id } });
});

test('what somebody else has open does not matter', () => {
  const pen = after(requested('P-1', null, { requester: 'a2' }), approved('P-1'), used('P-1'));
  expect(ask(pen).details).toEqual({ approval: 'P-9', status: 'pending' });
});

test('a list of which a command ran is not approved already', () => {
  const list = commands('a', 'b');
  const facts = [requested('P-1', null, { commands: list }), approved('P-1')];
  const same = { commands: list, fingerprint: 'P-1' };
  expect(ask(after(...facts), same).details).toEqual({ approval: 'P-1', status: 'approved' });
  const ran = ask(after(...facts, used('P-1'), finished('P-1')), same);
  expect(ran).toMatchObject({ reason: 'P-9: it waits for a person', details: { approval: 'P-9', status: 'pending' } });
});

test('a sweep says what has expired', () => {
  const facts = ['P-1', 'P-2', 'P-3'].map((id) => requested(id, null, { expiresAt: id === 'P-3' ? LATER : NOW }));
  const pen = after(...facts);
  expect(submit(pen, { kind: 'approval.sweep' })).toMatchObject({
    reason: 'expired: P-1, P-2',
    details: { expired: ['P-1', 'P-2'] },
  });
  expect(submit(pen, { kind: 'approval.sweep' })).toMatchObject({
    reason: 'nothing has expired',
    details: { expired: [] },
  });
});

const where = { cast: 'c', turn: 1, attempt: 1 } as const;

/** The agent of turn 1 works; a hook has asked for P-0, and a person has decided. */
function decided(
  choice: 'approve' | 'reject',
  reason: string,
  from: Origin | null,
  over: Partial<SealedRequest> = {},
): Play {
  const cast = play({ config: opsTeam, agents: { Ops: [asks, '$repeat'] }, hold: true });
  cast.tell({ kind: 'turn.prepared', ...where });
  cast.tell({ kind: 'approval.request', sealed: sealed('P-0', over), from });
  expect(cast.tell({ kind: 'approval.decide', id: 'P-0', choice, reason, isAgent: false }).code).toBe('OK');
  return cast;
}

function report(cast: Play, over: Partial<SealedRequest>): void {
  cast.tell({ kind: 'attempt.output', ...where, output: asks });
  cast.tell({ kind: 'turn.verified', ...where, seal: '', approval: sealed('P-1', over) });
}

const uses: Request = {
  ...{ kind: 'approval.use', id: 'P-0', requester: 'a1', executor },
  presented: {
    ...{ argv: ['deploy'], marks: ['0:deploy'], seal: 's', cwd: '/w', programs: {}, places: {}, files: {} },
    ...{ envMarks: {}, policy: 'p', log: 'l', keyId: 'k', decision: null },
  },
};

test('a yes that is told with a later request stays as the person gave it, and can be used', () => {
  const cast = decided('approve', 'fine', null);
  const { grant } = structuredClone(cast.state.approvals['P-0']) ?? {};
  const asked = cast.tell({ kind: 'approval.request', sealed: sealed('P-1', { relays: 'P-0' }), from: where });
  expect(asked).toMatchObject({
    reason: 'P-0: it is approved already',
    details: { approval: 'P-0', status: 'approved' },
  });
  expect(cast.all('approval.approved').at(-1)).toMatchObject({ cast: 'c', turn: 1, relayed: true });
  expect(cast.state.approvals['P-0']?.grant).toEqual(grant);
  expect(cast.tell(uses).code).toBe('OK');
});

test('a no that is told with the report is not a second decision', () => {
  const cast = decided('reject', 'no', where);
  report(cast, { relays: 'P-0' });
  expect(cast.all('approval.rejected').map(({ relayed = false }) => relayed)).toEqual([false, true]);
});

test.each([
  ['it is late', 'P-0 was rejected by a person (it is late);'],
  ['', 'P-0 was rejected by a person;'],
])('a hook is refused what a person has rejected with the reason "%s"', (reason, said) => {
  const request = { kind: 'approval.request', sealed: sealed('P-1', { relays: 'P-0' }), from: where } as const;
  expect(decided('reject', reason, where).tell(request)).toMatchObject({
    code: 'APPROVAL_REJECTED',
    reason: expect.stringContaining(said),
    details: { approval: 'P-0' },
  });
});

test('an early yes of which a command ran is not told as news: the list is asked for again', () => {
  const list = commands('deploy', 'look');
  const cast = decided('approve', '', where, { commands: list });
  expect(cast.tell(uses).code).toBe('OK');
  expect(cast.tell({ kind: 'approval.finish', id: 'P-0', index: 0, executor, exit: 0 }).code).toBe('OK');
  report(cast, { fingerprint: 'P-0', commands: list });
  expect(cast.all('approval.requested').map(({ id }) => id)).toEqual(['P-0', 'P-1']);
  expect(cast.cast.code).toBe('APPROVAL_NEEDED');
});
