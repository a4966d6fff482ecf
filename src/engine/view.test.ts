import { expect, test } from 'vitest';
import { always, graph } from '../../test/loadouts.ts';
import { play } from '../../test/play.ts';
import type { Fact } from '../kernel/fact.ts';
import { viewOf } from './view.ts';

const LINE = graph(
  { 'Socket-1': { materia: 'First', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Then' } },
  { materia: { First: { prompt: 'Say.', tools: 'none' }, Then: { prompt: 'Go on.', tools: 'none' } } },
);

/** The trust of a cast of two agents, of which those with these numbers were attested. */
function trustOf(attested: readonly number[]): string {
  const { cast, facts } = play({ config: LINE, agents: { First: ['one'], Then: ['two'] } });
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
  return viewOf(cast, entries, { seq: 0, hash: '', at: '' } as never, false).trust;
}

test.each([
  [[], 'off'],
  [[1], 'off'],
  [[2], 'off'],
  [[1, 2], 'on'],
])('of two agents %j were attested: trust is %s', (attested, trust) => {
  expect(trustOf(attested)).toBe(trust);
});
