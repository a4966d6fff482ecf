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
