// A command that was allowed, began, and was cut off: whoever asks for it waits until a person has settled the approval there
// is, no other is made for it, and the person's word carries the turn on.
import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import { asBlock, reportOf } from '../../../test/reports.ts';
import type { Request } from '../input.ts';
import type { SealedCommand, SealedRequest } from './request.ts';

const command = (name: string): SealedCommand => ({
  ...{ display: name, digest: 'd', seal: 's', tier: 'T3', because: 'it does', argv: [name], marks: [`0:${name}`] },
  ...{ programs: {}, places: {}, files: {} },
});
const sealed = (id: string, over: Partial<SealedRequest> = {}): SealedRequest => ({
  ...{ id, commands: [command('deploy')], cwd: '/w', env: [], envMarks: {}, path: '/bin', files: {}, policy: 'p' },
  ...{ log: 'l', requester: 'a1', operation: 'deploy', scope: 'prod', riskLevel: 'HIGH', rationale: 'needed' },
  ...{ rollback: null, verification: 'look', expiresAt: 9e15, grantMs: 1e9, fingerprint: id, keyId: 'k' },
  ...{ relays: null, refusal: null },
  ...over,
});
const config = graph(
  { 'Socket-1': { materia: 'Ops', parse: 'json', contract: 'gaia', edges: [always('end')] } },
  { materia: { Ops: { tools: 'none', prompt: 'Do it.' } } },
);
const wish = { operation: 'deploy', exact_content: 'deploy', rollback: 'none', verification: 'look' };
const asks = asBlock(reportOf('APPROVAL_REQUEST', { more: { approval_request: wish } }));
const done = asBlock(reportOf('COMPLETE'));

const executor = { host: 'h', pid: 7, startTime: 's' };
const uses = (id: string, name = 'deploy'): Request => ({
  ...{ kind: 'approval.use', id, requester: 'a1', executor, gone: [executor] },
  presented: {
    ...{ argv: [name], marks: [`0:${name}`], seal: 's', cwd: '/w', programs: {}, places: {}, files: {} },
    ...{ envMarks: {}, policy: 'p', log: 'l', keyId: 'k', decision: null },
  },
});
const says = (choice: 'approve' | 'reject', again = false, gone = [executor]): Request => ({
  ...{ kind: 'approval.decide', id: 'P-1', choice, reason: 'it ran', isAgent: false, gone },
  ...(again ? { again } : {}),
});
const finish: Request = { kind: 'approval.finish', id: 'P-1', index: 0, executor, exit: 0 };

/** Turn 1 was allowed to run P-1; its second attempt began it, and nobody has said how it ended. */
function begun(commands = [command('deploy')]): Play {
  const cast = play({ config, agents: { Ops: [asks, asks, done] }, hold: true });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  report(cast, 1, sealed('P-1', { commands }));
  cast.tell(says('approve'));
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 2 });
  expect(cast.tell(uses('P-1')).code).toBe('OK');
  return cast;
}

function report(cast: Play, attempt: number, approval: SealedRequest): void {
  const where = { cast: 'c', turn: 1, attempt } as const;
  cast.tell({ kind: 'attempt.output', ...where, output: asks });
  cast.tell({ kind: 'turn.verified', ...where, seal: '', approval });
}

/** The agent of turn 1 has asked for it again. */
function cutOff(): Play {
  const cast = begun();
  report(cast, 2, sealed('P-2', { relays: 'P-1' }));
  return cast;
}

const SAME: [string, Partial<SealedRequest>][] = [
  ['by its id', { relays: 'P-1' }],
  ['by its id, from another folder', { relays: 'P-1', cwd: '/elsewhere' }],
  ['by its id, with a command that holds a secret', { relays: 'P-1', commands: [] }],
  ['by its command', {}],
  ['among others', { commands: [command('look'), command('deploy')] }],
];

test.each(SAME)('a report that asks for it again, %s, waits for what became of it', (_what, over) => {
  const cast = begun();
  report(cast, 2, sealed('P-2', over));
  expect(cast.cast).toMatchObject({ status: 'waiting', code: 'OUTCOME_UNKNOWN' });
  expect(cast.cast.reason).toContain('its end is unknown: deploy;');
  expect(cast.cast.reason).toContain('baton approve P-1 --again or baton reject P-1');
  expect(cast.turn.asks).toMatchObject({ what: 'approval', approval: 'P-1' });
  expect(cast.turn.asks?.until).toBeUndefined();
  expect(Object.keys(cast.state.approvals)).toEqual(['P-1']);
  expect(cast.all('approval.unknown')).toMatchObject([{ id: 'P-1', cast: 'c', turn: 1, index: 0 }]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

const OTHER: [string, Partial<SealedRequest>][] = [
  ['another command under its id', { relays: 'P-1', commands: [command('look')] }],
  ['the same command elsewhere', { cwd: '/elsewhere' }],
  ['the same command for somebody else', { requester: 'a2' }],
];

test.each(OTHER)('%s is asked for anew', (_what, over) => {
  const cast = begun();
  report(cast, 2, sealed('P-2', over));
  expect(cast.cast.code).toBe('APPROVAL_NEEDED');
  expect(cast.turn.asks?.approval).toBe('P-2');
});

test.each(SAME)('asked for outside of a report, %s, it is refused with what to report', (_what, over) => {
  const cast = begun();
  const asked = cast.tell({ kind: 'approval.request', sealed: sealed('P-2', over), from: null, gone: [executor] });
  expect(asked).toMatchObject({ code: 'OUTCOME_UNKNOWN', details: { approval: 'P-1' } });
  expect(asked.reason).toContain('report APPROVAL_REQUEST with approval_request.approval_id "P-1"');
  expect(cast.all('approval.refused')).toMatchObject([{ id: 'P-1', code: 'OUTCOME_UNKNOWN', turn: 1 }]);
  expect(Object.keys(cast.state.approvals)).toEqual(['P-1']);
});

test('asked for outside of a report while it runs, it is refused with that', () => {
  const cast = begun();
  const request = { kind: 'approval.request', sealed: sealed('P-2'), from: null } as const;
  const asked = cast.tell(request);
  expect(asked).toMatchObject({ code: 'APPROVAL_USED', details: { approval: 'P-1' } });
  expect(asked.reason).toContain('P-1 runs at this moment');
  expect(cast.all('approval.refused')).toMatchObject([{ id: 'P-1', code: 'APPROVAL_USED', turn: 1 }]);
  expect(cast.tell({ ...request, gone: [executor] }).code).toBe('OUTCOME_UNKNOWN');
});

test('of a list the person is asked about what began, and about nothing else', () => {
  const cast = begun([command('deploy'), command('look')]);
  report(cast, 2, sealed('P-2', { commands: [command('deploy'), command('other')] }));
  expect(cast.cast.code).toBe('OUTCOME_UNKNOWN');
  expect(cast.cast.reason).toContain('its end is unknown: deploy;');
});

test('what of a list has not begun when its turn is over does not begin any more', () => {
  const cast = begun([command('deploy'), command('look')]);
  cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  expect(cast.tell(uses('P-1', 'look')).code).toBe('APPROVAL_WITHDRAWN');
  expect(cast.tell(says('approve', true))).toMatchObject({
    code: 'NOT_ALLOWED_NOW',
    reason: expect.stringContaining('the turn that asked for it is over'),
  });
  expect(cast.tell(says('reject')).code).toBe('OK');
  expect(cast.state.approvals).toEqual({});
});

test('what a person allowed again does not begin either once its turn is over', () => {
  const cast = begun([command('deploy'), command('look')]);
  const other = { host: 'h', pid: 8, startTime: 't' };
  expect(cast.tell({ ...uses('P-1', 'look'), executor: other } as Request).code).toBe('OK');
  expect(cast.tell(says('approve', true)).details.again).toEqual([0]);
  cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  expect(cast.tell(uses('P-1')).code).toBe('APPROVAL_WITHDRAWN');
});

test.each<[string, Request, RegExp]>([
  ['a person has settled it', says('reject'), /P-1 was rejected: it ran/],
  ['it has come to its end', finish, /P-1 has come to its end: exit 0/],
])('an agent that is done is not, before %s', (_what, settles, told) => {
  const cast = begun();
  const early = cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 2, output: done });
  expect(early.code).toBe('OUTCOME_UNKNOWN');
  expect(cast.cast).toMatchObject({ status: 'waiting', code: 'OUTCOME_UNKNOWN' });
  expect([cast.all('turn.accepted'), cast.all('report.noted').length]).toEqual([[], 1]);
  expect(cast.tell(settles).code).toBe('OK');
  expect(cast.all('turn.answered').at(-1)?.text).toMatch(told);
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 3 });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 3, output: done });
  expect(cast.cast.status).toBe('completed');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('while it runs nobody says no to it', () => {
  const cast = begun();
  const no = cast.tell(says('reject', false, []));
  expect(no).toMatchObject({
    code: 'NOT_ALLOWED_NOW',
    reason: expect.stringContaining('end process 7 on h, or `baton abort c`'),
  });
  expect(Object.keys(cast.state.approvals)).toEqual(['P-1']);
});

test('what is asked for again is granted once', () => {
  const cast = play({ config, agents: { Ops: [asks, asks, done] }, hold: true });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  report(cast, 1, sealed('P-1'));
  cast.tell(says('approve'));
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 2 });
  report(cast, 2, sealed('P-2', { commands: [command('deploy')] }));
  expect(Object.keys(cast.state.approvals)).toEqual(['P-2']);
  expect(cast.all('approval.withdrawn')).toMatchObject([{ id: 'P-1', what: 'grant', turn: 1 }]);
});

test('whoever would run it again is told what to report', () => {
  const refused = begun().tell(uses('P-1'));
  expect(refused.code).toBe('OUTCOME_UNKNOWN');
  expect(refused.reason).toContain('report APPROVAL_REQUEST with approval_request.approval_id "P-1"');
});

test.each<[string, Request, string, string]>([
  ['that it may run once more', says('approve', true), 'OK', 'P-1 is approved once more. Run exactly'],
  ['that it is left', says('reject'), 'APPROVAL_REJECTED', 'P-1 was rejected: it ran. Do not run it, nor again'],
])('a person says %s: the agent is told and goes on', (_what, request, code, told) => {
  const cast = cutOff();
  expect(cast.tell(request).code).toBe('OK');
  expect(cast.cast.status).toBe('running');
  expect(cast.turn.asks).toBeNull();
  expect(cast.all('turn.answered').at(-1)?.text).toContain(told);
  const used = { 'approval:P-1': 1, ...(code === 'OK' ? {} : { 'approval-rejected:P-1': 1 }) };
  expect(cast.tell({ ...uses('P-1'), used } as unknown as Request).code).toBe(code);
});

test('what comes to its end after all is told to the agent that waits for it', () => {
  const cast = cutOff();
  expect(cast.tell(finish).code).toBe('OK');
  expect(cast.cast.status).toBe('running');
  expect(cast.all('turn.answered').at(-1)?.text).toContain('P-1 has come to its end: exit 0.');
  expect(cast.state.approvals).toEqual({});
});

test('nothing else carries the cast on', () => {
  const cast = cutOff();
  const before = cast.facts.length;
  expect(cast.tell(says('approve')).code).toBe('OUTCOME_UNKNOWN');
  expect(cast.tell(says('approve', true, [])).reason).toContain('it runs at this moment');
  expect(cast.tell({ kind: 'cast.resume', cast: 'c', reason: '' }).reason).toContain('baton approve P-1 --again');
  const answer = cast.tell({ kind: 'turn.answer', cast: 'c', output: 'go on' });
  expect(answer.reason).toContain('use: baton approve P-1 --again or baton reject P-1');
  expect(cast.tell({ kind: 'approval.sweep' }).code).toBe('OK');
  expect([cast.cast.code, cast.facts.length]).toEqual(['OUTCOME_UNKNOWN', before]);
});

test.each([
  ['reports it', [], 'running', ['P-1']],
  ['mends a broken report with it', ['no block'], 'running', ['P-1']],
  ['was told, breaks its report, and asks once more', [asks, 'no block'], 'waiting', ['P-1', 'P-2']],
])('what a person allowed while the agent worked, when its agent %s', (_what, before, status, ids) => {
  const cast = play({ config, agents: { Ops: [asks, asks, asks, done] }, hold: true });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  const from = { cast: 'c', turn: 1, attempt: 1 };
  expect(cast.tell({ kind: 'approval.request', sealed: sealed('P-1'), from }).code).toBe('OK');
  expect(cast.tell(says('approve')).code).toBe('OK');
  for (const [index, output] of before.entries()) {
    if (output === asks) report(cast, index + 1, sealed('P-2', { relays: 'P-1' }));
    else cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: index + 1, output });
    cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: index + 2 });
  }
  report(cast, before.length + 1, sealed('P-2', { relays: 'P-1' }));
  expect(cast.cast.status).toBe(status);
  expect(cast.all('approval.requested').map(({ id }) => id)).toEqual(ids);
  expect(replayed(cast.entries)).toEqual(cast.state);
});
