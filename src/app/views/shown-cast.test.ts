import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import type { Entry, Fact } from '../../kernel/fact.ts';
import { foldAll } from './cast-view.ts';
import { type CastView, pathOf, shownCast } from './shown-cast.ts';
import { foldTurn, noTurns } from './turn-record.ts';

const LINE = graph(
  { 'Socket-1': { materia: 'First', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Then' } },
  { materia: { First: { prompt: 'Say.', tools: 'none' }, Then: { prompt: 'Go on.', tools: 'none' } } },
);

/** The trust of a cast of two agents, of which those with these numbers were attested. */
function trustOf(attested: readonly number[]): CastView['trust'] {
  const { facts } = play({ config: LINE, agents: { First: ['one'], Then: ['two'] } });
  const entries = facts.map((fact, index) => {
    const isOn = fact.kind === 'attempt.started' && attested.includes(fact.turn);
    return {
      v: 1,
      seq: index + 1,
      at: '',
      prev: '',
      by: '',
      fact: (isOn ? { ...fact, attestation: {} } : fact) as Fact,
    };
  });
  return shownCast(foldAll(entries), { seq: 0, hash: '' }, false).trust;
}

test.each([
  [[], 'off'],
  [[1], 'off'],
  [[2], 'off'],
  [[1, 2], 'on'],
])('of two agents %j were attested: trust is %s', (attested, trust) => {
  expect(trustOf(attested)).toBe(trust);
});

test('before an agent was dispatched nothing is said of trust', () => {
  const { entries } = play({ config: LINE, hold: true });
  expect(shownCast(foldAll(entries), { seq: 0, hash: '' }, false).trust).toBeNull();
});

function turnsOf(facts: readonly Fact[]) {
  const record = noTurns();
  for (const fact of facts) foldTurn(record, { fact } as Entry, null);
  return record;
}

test('of visits that begin together, the path does not tell which one was ready first', () => {
  const started = (turn: number, item: string): Fact =>
    ({
      kind: 'turn.started',
      cast: 'c',
      turn,
      socket: 'Socket-2',
      visit: turn,
      item: { key: item },
    }) as unknown as Fact;
  const dispatched = (turn: number, attempt = 1): Fact =>
    ({ kind: 'attempt.started', cast: 'c', turn, attempt }) as unknown as Fact;
  const facts = [started(1, 'WI-1'), started(2, 'WI-2'), started(3, 'WI-3')];
  const steps = (...more: Fact[]) => pathOf(turnsOf([...facts, ...more])).map(({ item, visit }) => [item, visit]);
  expect(steps(dispatched(3), dispatched(1), dispatched(1, 2))).toEqual([
    ['WI-1', 1],
    ['WI-3', 3],
  ]);
  expect(steps(dispatched(2), dispatched(3), dispatched(1))).toEqual(
    steps(dispatched(1), dispatched(2), dispatched(3)),
  );
});
