// What is owed follows from the state: one thing for each open turn, and a timer while there is one.
import { expect, test } from 'vitest';
import { graph } from '../../test/loadouts.ts';
import { play } from '../../test/play.ts';
import type { CastStatus, TurnPhase } from './cast/state.ts';
import { pending } from './pending.ts';

const socket = { 'Socket-1': { materia: 'Write' } };

test.each<[TurnPhase, object | null]>([
  ['owed', { kind: 'prepare', cast: 'c', turn: 1, attempt: 2 }],
  ['running', { kind: 'dispatch', cast: 'c', turn: 1, attempt: 1 }],
  ['verifying', { kind: 'verify', cast: 'c', turn: 1, attempt: 1 }],
  ['accepted', null],
  ['unknown', null],
  ['failed', null],
])('a turn that is %s is owed %j', (phase, effect) => {
  const { cast, turn } = play({ config: graph(socket), agents: { Write: ['x'] }, hold: true });
  turn.phase = phase;
  expect(pending(cast)).toEqual(effect === null ? [] : [effect]);
});

test.each<CastStatus>(['waiting', 'paused', 'completed', 'failed', 'aborted'])(
  'a %s cast is owed nothing',
  (status) => {
    const { cast } = play({ config: graph(socket), agents: { Write: ['x'] }, hold: true });
    cast.status = status;
    expect(pending(cast)).toEqual([]);
  },
);

test('a timer is owed beside work, and not without it', () => {
  const config = graph(socket, { budget: { maxDurationMs: 1000 } });
  const { cast, turn } = play({ config, agents: { Write: ['x'] }, hold: true });
  expect(pending(cast).map(({ kind }) => kind)).toEqual(['dispatch', 'timer']);
  turn.phase = 'unknown';
  expect(pending(cast)).toEqual([]);
});
