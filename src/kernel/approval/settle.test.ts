// Approvals that nobody waits for any more: which step of a cast ends them, and which leaves them open.
import { expect, test } from 'vitest';
import { type Play, play, replayed } from '../../../test/play.ts';
import { asks, opsTeam, says, sealed } from '../../../test/wishes.ts';
import type { Fact } from '../fact.ts';
import type { Request } from '../input.ts';
import type { SealedRequest } from './request.ts';
import { approvalKeysNeeded, approvalKeysUsedBy } from './settle.ts';

/** The agent of turn 1 has asked for P-1; what it says next comes after it. */
function asking(next: readonly string[], over: Partial<SealedRequest> = {}): Play {
  const cast = play({ config: opsTeam, agents: { Ops: [asks, ...next] }, hold: true });
  const where = { cast: 'c', turn: 1, attempt: 1 } as const;
  cast.tell({ kind: 'turn.prepared', ...where });
  // Held back by a hook while the agent worked, and not named by its report.
  cast.tell({ kind: 'approval.request', sealed: sealed('P-0'), from: where });
  cast.tell({ kind: 'attempt.output', ...where, output: asks });
  cast.tell({ kind: 'turn.verified', ...where, seal: '', approval: sealed('P-1', over) });
  expect(cast.cast.code).toBe('APPROVAL_NEEDED');
  return cast;
}

const approve: Request = { kind: 'approval.decide', id: 'P-1', choice: 'approve', reason: '', isAgent: false };
const decide = (choice: 'rerun' | 'fail'): Request => ({ kind: 'turn.decide', cast: 'c', turn: 1, choice });
const uses = (id: string): Request => ({
  ...{ kind: 'approval.use', id, requester: 'a1', executor: { host: 'h', pid: 7, startTime: 's' } },
  presented: {
    ...{ argv: ['deploy'], marks: ['0:deploy'], seal: 's', cwd: '/w', programs: {}, places: {}, files: {} },
    ...{ envMarks: {}, policy: 'p', log: 'l', keyId: 'k', decision: null },
  },
});

test('what a hook sealed and the report does not name is over with the report', () => {
  const cast = asking([]);
  expect(cast.all('approval.withdrawn')).toMatchObject([{ id: 'P-0', cast: 'c', turn: 1, what: 'request' }]);
  expect(Object.keys(cast.state.approvals)).toEqual(['P-1']);
});

test('what of a list names no command is told beside the report, and to who decides', () => {
  const cast = asking([], { leftOut: [1, 2] });
  const left = 'approval_request.command_set.1: it names no command and is left out';
  expect(cast.all('report.noted').at(-1)?.warnings).toEqual([left, left.replace('1', '2')]);
  const asked = cast.tell({ kind: 'approval.request', sealed: sealed('P-7', { leftOut: [1] }), from: null });
  expect(asked.details.warnings).toEqual([left]);
});

/** What is said, what the agent answers, and why P-1 is over then; null where it stays. */
const ROWS: readonly (readonly [string, readonly Request[], readonly string[], string | null])[] = [
  ['the cast is aborted', [{ kind: 'cast.abort', cast: 'c', reason: 'enough' }], [], 'its cast is aborted'],
  ['the agent is given up', [decide('fail')], [], 'a person decided about its turn: fail'],
  ['the agent is sent on without it', [decide('rerun')], [], 'a person decided about its turn: rerun'],
  ['it was given and the turn is accepted without it', [approve], [says('COMPLETE')], 'its turn was accepted'],
  ['it was given and the agent asks first', [approve], [says('NEEDS_INPUT')], null],
  ['it was given and the agent is blocked', [approve], [says('BLOCKED', { open_gaps: ['x'] })], null],
  [
    'it was given, and then the cast fails',
    [approve, { kind: 'turn.decide', cast: 'c', turn: 1, choice: 'fail' }],
    [says('NEEDS_INPUT')],
    'its cast is failed',
  ],
];

test.each(ROWS)('%s', (_name, requests, next, reason) => {
  const cast = asking(next);
  for (const request of requests) cast.say(request);
  const [withdrawn] = cast.all('approval.withdrawn').filter(({ id }) => id === 'P-1');
  expect(withdrawn?.reason ?? null).toBe(reason);
  expect(Object.keys(cast.state.approvals)).toEqual(reason === null ? ['P-1'] : []);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('what began to run and is not settled stays, whatever becomes of the turn', () => {
  const cast = asking([says('NEEDS_INPUT')]);
  cast.say(approve);
  expect(cast.tell(uses('P-1')).code).toBe('OK');
  cast.say({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  expect(Object.keys(cast.state.approvals)).toEqual(['P-1']);
});

test('a late decision is answered with a code and why, and so is a late use', () => {
  const cast = asking([]);
  cast.say({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  const keys = cast.facts.flatMap((fact: Fact) => approvalKeysUsedBy(fact));
  for (const request of [approve, { ...approve, choice: 'reject' as const }, uses('P-1')]) {
    const used = Object.fromEntries(
      approvalKeysNeeded(request, cast.state.approvals).flatMap((key) => (keys.includes(key) ? [[key, 1]] : [])),
    );
    const verdict = cast.tell(Object.assign({ used }, request));
    expect(verdict).toMatchObject({ code: 'APPROVAL_WITHDRAWN', reason: expect.stringContaining('ended, or went on') });
  }
});

test('a permission in words is told as that, covers no command, and is over with its turn', () => {
  const cast = asking([says('IN_PROGRESS'), says('COMPLETE')], { commands: [], operation: 'move the release' });
  cast.tell(approve);
  expect(cast.all('turn.answered').at(-1)?.text).toMatch(
    /covers no command.*: move the release\. .*Do not use baton exec/,
  );
  expect(cast.tell(uses('P-1')).code).toBe('APPROVAL_IN_WORDS');
  cast.run();
  expect([cast.cast.status, Object.keys(cast.state.approvals)]).toEqual(['completed', []]);
});
