// A report that names a command as run whose approval was refused, expired or never used is refused; one that tells the
// truth is not.
import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import { asks, opsTeam, says, sealed } from '../../../test/wishes.ts';
import type { Request } from '../input.ts';
import type { SealedCommand, SealedRequest } from './request.ts';

const LATER = Date.parse('2026-02-01T00:00:00.000Z');
const executor = { host: 'h', pid: 7, startTime: 's' };
const decide = (choice: 'approve' | 'reject'): Request => ({
  ...{ kind: 'approval.decide', id: 'P-1', choice, reason: '', isAgent: false },
});
const presented = {
  ...{ argv: ['deploy'], marks: ['0:deploy'], seal: 's', cwd: '/w', programs: {}, places: {}, files: {} },
  ...{ envMarks: {}, policy: 'p', log: 'l', keyId: 'k', decision: null },
};
const use: Request = { kind: 'approval.use', id: 'P-1', requester: 'a1', executor, presented };
const ended = (exit: number | null): Request => ({ kind: 'approval.finish', id: 'P-1', index: 0, executor, exit });
const claims = (...commands_run: string[]) => says('COMPLETE', { commands_run });

/** The agent of turn 1 asks for `deploy`. */
function asking(over: Partial<SealedRequest>, config = opsTeam): Play {
  const cast = play({ config, agents: { Ops: [asks, '$repeat'] }, hold: true });
  const where = { cast: 'c', turn: 1, attempt: 1 } as const;
  cast.tell({ kind: 'turn.prepared', ...where });
  cast.tell({ kind: 'attempt.output', ...where, output: asks });
  cast.tell({ kind: 'turn.verified', ...where, seal: '', approval: sealed('P-1', over) });
  return cast;
}

function report(cast: Play, text: string, turn = 1): void {
  const { attempt, phase } = cast.turn;
  const next = { cast: 'c', turn, attempt: phase === 'owed' ? attempt + 1 : attempt } as const;
  if (phase === 'owed') cast.tell({ kind: 'turn.prepared', ...next });
  cast.tell({ kind: 'attempt.output', ...next, output: text });
  cast.tell({ kind: 'turn.verified', ...next, seal: '' });
  expect(replayed(cast.entries)).toEqual(cast.state);
}

test.each<[string, readonly Request[], string, string | null]>([
  ['never used', [decide('approve')], claims('deploy'), 'approved and not run'],
  ['never used, by its id', [decide('approve')], claims('baton exec --approval P-1 -- deploy'), 'approved and not run'],
  ['never used, with a result', [decide('approve')], claims('deploy -> ok'), 'approved and not run'],
  ['refused', [decide('reject')], claims('deploy'), 'refused by a person'],
  ['ended by a signal', [decide('approve'), use, ended(null)], claims('deploy'), null],
  ['used', [decide('approve'), use, ended(0)], claims('deploy'), null],
  ['used, and failed', [decide('approve'), use, ended(3)], claims('deploy'), null],
  ['never used, and said so', [decide('approve')], claims('deploy (not run)'), null],
  ['never used, and not named', [decide('approve')], claims('ls'), null],
  ['refused, and not named', [decide('reject')], claims(), null],
])('a report about a command whose approval was %s', (_what, between, text, outcome) => {
  const cast = asking({});
  for (const request of between) expect(cast.tell(request).code).toBe('OK');
  report(cast, text);
  const refused = cast.all('attempt.refused').map(({ verdict }) => verdict);
  if (outcome === null) expect([refused, cast.cast.status]).toEqual([[], 'completed']);
  else {
    expect(refused).toMatchObject([{ code: 'APPROVAL_NOT_RUN', details: { approval: 'P-1', outcome } }]);
    expect(cast.cast.status).toBe('running');
  }
});

test.each<[string, Partial<SealedRequest>, readonly Request[], string]>([
  ['a yes', {}, [decide('approve')], 'approved and not run'],
  ['a request', { expiresAt: LATER - 1 }, [], 'expired'],
])('%s that expired is no reason to say that it ran', (_what, over, before, outcome) => {
  const cast = asking(over);
  for (const request of before) cast.tell(request);
  // Whoever carries the cast on notes what is over.
  if (before.length === 0) cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'on' }, LATER);
  else cast.tell({ kind: 'approval.sweep' }, LATER);
  report(cast, claims('deploy'));
  expect(cast.all('approval.expired')).toHaveLength(1);
  expect(cast.all('attempt.refused').map(({ verdict }) => verdict)).toMatchObject([
    { code: 'APPROVAL_NOT_RUN', details: { outcome } },
  ]);
});

/** Turn 1 asks for `deploy`; turn 2, of the same agent or another one, reports afterwards. */
function later(before: readonly Request[], text: string): Play {
  const gaia = { parse: 'json', contract: 'gaia' };
  const config = graph(
    {
      'Socket-1': { materia: 'Ops', ...gaia, edges: [always('Socket-2')] },
      'Socket-2': { materia: 'Ops', ...gaia, edges: [always('end')] },
    },
    { materia: { Ops: { tools: 'none', prompt: 'Do it.' } } },
  );
  const cast = asking({}, config);
  for (const request of before) expect(cast.tell(request).code).toBe('OK');
  report(cast, claims());
  report(cast, text, 2);
  return cast;
}

test.each<[string, readonly Request[], string, string | null]>([
  ['refused', [decide('reject')], claims('deploy -> ok'), 'refused by a person'],
  ['given and not used', [decide('approve')], claims('deploy'), 'approved and not run'],
  ['used', [decide('approve'), use, ended(0)], claims('deploy'), null],
  ['refused, and not named', [decide('reject')], claims('ls'), null],
])('a later turn reports about a command whose approval was %s', (_what, before, text, outcome) => {
  const cast = later(before, text);
  const refused = cast.all('attempt.refused').map(({ verdict }) => verdict);
  if (outcome === null) expect([refused, cast.cast.status]).toEqual([[], 'completed']);
  else expect(refused).toMatchObject([{ code: 'APPROVAL_NOT_RUN', details: { approval: 'P-1', outcome } }]);
});

test('what ran in another folder under an approval of its own ran', () => {
  const cast = asking({});
  const [command] = sealed('P-2').commands;
  const other = sealed('P-2', { commands: [{ ...command, digest: 'e' } as SealedCommand], cwd: '/v' });
  const all: readonly Request[] = [
    decide('reject'),
    { kind: 'approval.request', sealed: other, from: { cast: 'c', turn: 1, attempt: 2 } },
    { kind: 'approval.decide', id: 'P-2', choice: 'approve', reason: '', isAgent: false },
    { kind: 'approval.use', id: 'P-2', requester: 'a1', executor, presented: { ...presented, cwd: '/v' } },
    { kind: 'approval.finish', id: 'P-2', index: 0, executor, exit: 0 },
  ];
  for (const request of all) expect(cast.tell(request).code).toBe('OK');
  report(cast, claims('deploy'));
  expect(cast.all('attempt.refused')).toEqual([]);
});

test('what ran once under one approval is not called not run because of another one', () => {
  const cast = asking({});
  for (const request of [decide('approve'), use, ended(0)]) cast.tell(request);
  cast.tell({ kind: 'approval.request', sealed: sealed('P-2'), from: { cast: 'c', turn: 1, attempt: 2 } });
  report(cast, claims('deploy'));
  expect([cast.all('attempt.refused'), cast.cast.status]).toEqual([[], 'completed']);
});

// A person who decides before the agent asks in its report: it hears of that with the report, however many attempts later,
// and nobody is asked twice.
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

function reportOf(cast: Play, id: string, over: Partial<SealedRequest>): void {
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
  reportOf(cast, 'P-1', NAMED[how] ?? {});
  expect(cast.all('turn.answered').at(-1)?.text).toMatch(TOLD[choice]);
  expect(cast.all('approval.requested').map(({ id }) => id)).toEqual(['P-0']);
  expect([cast.cast.status, cast.all('cast.waiting')]).toEqual(['running', []]);
  // Who has heard of it and asks all the same waits for a person.
  reportOf(cast, 'P-2', NAMED[how] ?? {});
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
  reportOf(cast, 'P-1', { relays: 'P-0' });
  const late = decided('approve');
  late.tell({ kind: 'approval.sweep' }, 8e12);
  reportOf(late, 'P-1', { relays: 'P-0' });
  expect([cast.cast.status, late.cast.code]).toEqual(['running', 'APPROVAL_NEEDED']);
});
