// The door of the kernel: what is refused before any rule of the graph is asked.
import { expect, test } from 'vitest';
import { always, crew, graph, workflow } from '../../test/loadouts.ts';
import { play, replayed } from '../../test/play.ts';
import type { Request } from './input.ts';

const config = graph({
  'Socket-1': { materia: 'Write', edges: [always('Socket-2')] },
  'Socket-2': { materia: 'Write' },
});
const output = (turn: number, attempt: number): Request => ({
  kind: 'attempt.output',
  cast: 'c',
  turn,
  attempt,
  output: 'x',
});

test.each<[string, Request, string]>([
  ['a cast nobody started', { kind: 'cast.abort', cast: 'd', reason: '' }, 'UNKNOWN_CAST'],
  [
    'a cast called like a part of every object',
    { kind: 'cast.abort', cast: 'constructor', reason: '' },
    'UNKNOWN_CAST',
  ],
  ['and like another', { kind: 'cast.pause', cast: '__proto__', reason: '' }, 'UNKNOWN_CAST'],
  ['a turn that was never started', output(2, 1), 'UNKNOWN_TURN'],
  ['a decision about such a turn', { kind: 'turn.decide', cast: 'c', turn: 0, choice: 'rerun' }, 'UNKNOWN_TURN'],
  ['an attempt that is not the last', output(1, 0), 'STALE_ATTEMPT'],
  ['an attempt that is still to come', output(1, 2), 'STALE_ATTEMPT'],
  [
    'a fault of such an attempt',
    { kind: 'attempt.failed', cast: 'c', turn: 1, attempt: 2, fault: 'crash', reason: '' },
    'STALE_ATTEMPT',
  ],
  ['its loss', { kind: 'attempt.lost', cast: 'c', turn: 1, attempt: 2, mayHaveRun: true, reason: '' }, 'STALE_ATTEMPT'],
  ['a preparation of what runs already', { kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 2 }, 'STALE_ATTEMPT'],
  [
    'a verification nobody asked for',
    { kind: 'turn.verified', cast: 'c', turn: 1, attempt: 1, seal: 's' },
    'STALE_ATTEMPT',
  ],
  ['a decision nobody waits for', { kind: 'turn.decide', cast: 'c', turn: 1, choice: 'rerun' }, 'NOT_ALLOWED_NOW'],
])('%s is refused, and nothing happens', (_what, request, code) => {
  const cast = play({ config, agents: { Write: ['x', '$repeat'] }, hold: true });
  const facts = cast.entries.length;
  expect([cast.tell(request).code, cast.entries.length]).toEqual([code, facts]);
});

test.each(['paused', 'aborted'])('an answer to a %s cast comes too late', (status) => {
  const cast = play({ config, agents: { Write: ['x', '$repeat'] }, hold: true });
  cast.tell({ kind: status === 'paused' ? 'cast.pause' : 'cast.abort', cast: 'c', reason: '' });
  expect([cast.tell(output(1, 1)).code, cast.all('turn.accepted')]).toEqual(['STALE_ATTEMPT', []]);
});

test('a clock that rings early, or for a cast that does not run, changes nothing', () => {
  const cast = play({ config, agents: { Write: ['x', '$repeat'] }, hold: true });
  const facts = cast.entries.length;
  expect(cast.tell({ kind: 'clock.rang', cast: 'c' })).toMatchObject({ code: 'OK', reason: 'nothing is due' });
  expect(cast.entries.length).toBe(facts);
});

test('an attempt that a crash cut off runs again under a new number', () => {
  const cast = play({ config, agents: { Write: ['a', 'b'] }, hold: true });
  cast.say({ kind: 'attempt.lost', cast: 'c', turn: 1, attempt: 1, mayHaveRun: true, reason: 'killed' });
  expect([cast.cast.status, cast.path]).toEqual(['completed', ['Socket-1', 'Socket-2']]);
  expect(cast.all('turn.accepted').map(({ turn, attempt }) => [turn, attempt])).toEqual([
    [1, 2],
    [2, 1],
  ]);
});

test('the facts alone lead to the same state', () => {
  const cast = play({ config: workflow(), agents: crew() });
  expect(replayed(cast.entries)).toEqual(cast.state);
});
