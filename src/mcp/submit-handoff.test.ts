import fc from 'fast-check';
import { expect, test } from 'vitest';
import { graph, satisfied } from '../../test/loadouts.ts';
import { play } from '../../test/play.ts';
import { newTurn } from '../kernel/cast/bookkeeping.ts';
import { CODES } from '../kernel/codes.ts';
import { judgeHandoff } from './submit-handoff.ts';

const turnAt = (socket: string) =>
  newTurn({ kind: 'turn.started', cast: 'c', turn: 1, socket, visit: 1, item: null, budgeted: false });

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const { cast } = play({
  config: graph({
    'Socket-1': { materia: 'Judge', edges: [satisfied('end')], limits: { maxOutputBytes: 200 } },
    'Socket-2': { materia: 'Judge', contract: 'gaia' },
    'Socket-3': { materia: 'Judge', contract: 'text' },
  }),
});

test.each([
  ['Socket-1', 'x'.repeat(201), 'CONTRACT_VIOLATION'],
  ['Socket-1', 'é'.repeat(101), 'CONTRACT_VIOLATION'],
  ['Socket-1', 'done', 'NOT_JSON'],
  ['Socket-1', '{"context":"x"}', 'CONTRACT_VIOLATION'],
  ['Socket-1', '{"satisfied":true}', 'OK'],
  ['Socket-2', 'done', 'NO_BLOCK'],
  ['Socket-3', 'done', 'OK'],
])('at %s the handoff %j: %s', (socket, output, code) => {
  expect(judgeHandoff(cast, turnAt(socket), output).code).toBe(code);
});

test('a refusal that can be mended says how', () => {
  expect(judgeHandoff(cast, turnAt('Socket-1'), '{"satisfied":"yes"}').details.repair).toContain('satisfied');
});

test('whatever is submitted gets a verdict, and the same one again', () => {
  const handoff = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.json({ maxDepth: 3 }),
    fc.record({ satisfied: fc.jsonValue(), context: fc.string() }).map((one) => JSON.stringify(one)),
  );
  fc.assert(
    fc.property(handoff, fc.constantFrom('Socket-1', 'Socket-2', 'Socket-3'), (output, socket) => {
      const verdict = judgeHandoff(cast, turnAt(socket), output);
      expect(verdict.allow ? verdict.code : Object.hasOwn(CODES, verdict.code)).toBe(verdict.allow ? 'OK' : true);
      expect(judgeHandoff(cast, turnAt(socket), output)).toEqual(verdict);
    }),
    { numRuns: RUNS },
  );
});
