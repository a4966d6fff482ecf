// A person who decides before the agent asks in its report: it hears of that with the report, however many attempts later,
// and nobody is asked twice.
import { expect, test } from 'vitest';
import { type Play, play, replayed } from '../../../test/play.ts';
import { asks, opsTeam, says, sealed } from '../../../test/wishes.ts';
import type { Request } from '../input.ts';
import type { SealedRequest } from './request.ts';

type Where = { readonly cast: 'c'; readonly turn: 1; readonly attempt: number };

/** The attempt that goes on now, or begins. */
function attempt(cast: Play): Where {
  const { phase, attempt } = cast.turn;
  const where = { cast: 'c', turn: 1, attempt: phase === 'owed' ? attempt + 1 : attempt } as const;
  if (phase === 'owed') expect(cast.tell({ kind: 'turn.prepared', ...where }).code).toBe('OK');
  return where;
}

/** A hook has held the agent of turn 1 back with P-0, and a person has decided before the agent says anything. */
function decided(choice: 'approve' | 'reject'): Play {
  const cast = play({ config: opsTeam, agents: { Ops: [asks, '$repeat'] }, hold: true });
  cast.tell({ kind: 'approval.request', sealed: sealed('P-0'), from: attempt(cast) });
  expect(cast.tell(decision('P-0', choice)).code).toBe('OK');
  return cast;
}

function decision(id: string, choice: 'approve' | 'reject'): Request {
  return { kind: 'approval.decide', id, choice, reason: 'it is late', isAgent: false };
}

function report(cast: Play, id: string, over: Partial<SealedRequest>): void {
  const where = attempt(cast);
  cast.tell({ kind: 'attempt.output', ...where, output: asks });
  expect(cast.tell({ kind: 'turn.verified', ...where, seal: '', approval: sealed(id, over) }).code).toBe('OK');
}

const BETWEEN: Readonly<Record<string, (cast: Play) => void>> = {
  'at once': () => undefined,
  'after a broken report': (cast) => cast.tell({ kind: 'attempt.output', ...attempt(cast), output: 'no block' }),
  'after an attempt that failed by itself': (cast) =>
    cast.tell({ kind: 'attempt.failed', ...attempt(cast), fault: 'crash', reason: 'exit 1' }),
  'after an attempt that was lost': (cast) =>
    cast.tell({ kind: 'attempt.lost', ...attempt(cast), mayHaveRun: false, reason: 'killed' }),
  'after a report that it goes on': (cast) =>
    cast.tell({ kind: 'attempt.output', ...attempt(cast), output: says('IN_PROGRESS') }),
};

/** By the id that it was given, or by asking for the very same. */
const NAMED: Readonly<Record<string, Partial<SealedRequest>>> = {
  'named by its id': { relays: 'P-0', fingerprint: 'as the report has it' },
  'asked for in the same words': { fingerprint: 'P-0' },
};

const TOLD = { approve: /P-0 is approved\. Run exactly/, reject: /P-0 was rejected: it is late\. Do not run it/ };

const ROWS = Object.keys(BETWEEN).flatMap((when) =>
  Object.keys(NAMED).flatMap((how) => (['approve', 'reject'] as const).map((choice) => [choice, how, when] as const)),
);

test.each(ROWS)('an early %s, %s %s, is told and asked for once', (choice, how, when) => {
  const cast = decided(choice);
  BETWEEN[when]?.(cast);
  report(cast, 'P-1', NAMED[how] ?? {});
  expect(cast.all('turn.answered').at(-1)?.text).toMatch(TOLD[choice]);
  expect(cast.all('approval.requested').map(({ id }) => id)).toEqual(['P-0']);
  expect([cast.cast.status, cast.all('cast.waiting')]).toEqual(['running', []]);
  // Who has heard of it and asks all the same waits for a person.
  report(cast, 'P-2', NAMED[how] ?? {});
  expect(cast.all('approval.requested').map(({ id }) => id)).toEqual(['P-0', 'P-2']);
  expect(cast.cast.code).toBe('APPROVAL_NEEDED');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('a hook says no to what was refused to this turn before, and asks nobody', () => {
  const cast = decided('reject');
  const again = cast.tell({
    kind: 'approval.request',
    sealed: sealed('P-1', { fingerprint: 'P-0' }),
    from: attempt(cast),
  });
  expect(again).toMatchObject({ code: 'APPROVAL_REJECTED', reason: expect.stringContaining('(it is late)') });
  expect(cast.all('approval.refused')).toMatchObject([{ id: 'P-0', cast: 'c', turn: 1, code: 'APPROVAL_REJECTED' }]);
  const other = cast.tell({ kind: 'approval.request', sealed: sealed('P-2'), from: attempt(cast) });
  expect(other).toMatchObject({ code: 'OK', details: { approval: 'P-2', status: 'pending' } });
});

test('what policy refuses is told by the refusal itself', () => {
  const cast = play({ config: opsTeam, agents: { Ops: [asks] }, hold: true });
  const refusal = { allow: false, code: 'COMMAND_BLOCKED', reason: 'never', details: {} } as const;
  cast.tell({ kind: 'approval.request', sealed: sealed('P-0', { refusal }), from: attempt(cast) });
  expect(cast.turn.untold).toBeUndefined();
});

test('an early yes that has expired is asked for again', () => {
  const cast = decided('approve');
  report(cast, 'P-1', { relays: 'P-0' });
  const late = decided('approve');
  late.tell({ kind: 'approval.sweep' }, 8e12);
  report(late, 'P-1', { relays: 'P-0' });
  expect([cast.cast.status, late.cast.code]).toEqual(['running', 'APPROVAL_NEEDED']);
});
