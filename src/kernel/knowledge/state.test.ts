import { expect, test } from 'vitest';
import { dialects } from '../../dialects/index.ts';
import { apply } from '../apply.ts';
import { decide } from '../decide.ts';
import type { Fact } from '../fact.ts';
import type { Request } from '../input.ts';
import { newPen } from '../pen.ts';
import { emptyState } from '../state.ts';
import { suggestMemory } from './memory.ts';
import { writeSections } from './write.ts';

const AT = Date.parse('2026-03-01T12:00:00.000Z');
const at = new Date(AT).toISOString();

/** Two casts and a person, one after the other. */
function story() {
  const state = emptyState();
  const facts: Fact[] = [];
  const report = (cast: string, port: number, note: string) => {
    const pen = newPen(state, AT, dialects);
    const who = { agent: 'backend', agentId: 'a00c0ffee', cast, turn: 1 };
    writeSections(
      pen,
      [
        { contract: 's', payload: { port } },
        { contract: 'no', payload: {} },
      ],
      { ...who, writable: ['s'], attempt: 1, artifacts: {} },
    );
    suggestMemory(pen, { memory_suggestions: [note] }, who);
    facts.push(...pen.facts);
  };
  const ask = (request: Request) =>
    facts.push(...decide(dialects, state, { ...request, at: AT, by: 'user:ada' }).facts);
  report('c1', 80, 'first');
  report('c2', 81, 'second');
  ask({ kind: 'memory.accept', id: 'm1', section: 's', isAgent: false });
  ask({ kind: 'memory.drop', id: 'm2', reason: 'no', isAgent: false });
  ask({ kind: 'context.write', section: 's', payload: { open: true }, replace: false, isAgent: false });
  ask({ kind: 'context.revert', section: 's', to: 1, value: { port: 80 }, seen: 3, reason: 'no', isAgent: false });
  return { state, facts };
}

test('the facts alone give the state back', () => {
  const { state, facts } = story();
  const again = emptyState();
  for (const fact of facts) apply(again, { at, fact });
  expect(again).toEqual(state);
  expect(state.knowledge).toMatchObject({
    sections: { s: { value: { port: 80 }, version: 4, by: 'user:ada' } },
    open: {},
    memory: { m1: { body: 'first', section: 's' } },
    suggested: 2,
  });
});

test.each(['c1', 'c2'])('the facts of %s applied once more change nothing', (cast) => {
  const { state, facts } = story();
  const before = structuredClone(state.knowledge);
  const own = facts.filter((fact) => 'cast' in fact && fact.cast === cast);
  expect(own.length).toBeGreaterThan(2);
  for (const fact of own) apply(state, { at, fact });
  expect(state.knowledge).toEqual(before);
});
