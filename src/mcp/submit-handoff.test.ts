import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { graph, satisfied } from '../../test/loadouts.ts';
import { play } from '../../test/play.ts';
import type { Attempt } from '../access/attempt.ts';
import { CAPABILITIES } from '../kernel/capabilities.ts';
import { newTurn } from '../kernel/cast/bookkeeping.ts';
import { CODES } from '../kernel/codes.ts';
import { readContext } from './agent-tools.ts';
import { callTool } from './server.ts';
import { judgeHandoff } from './submit-handoff.ts';
import type { ToolContext } from './tool.ts';

const AGENT = { tools: 'none', prompt: 'Build it.', runner: 'claude' };

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

describe('words of a person reach an agent between two calls of its tools', () => {
  const at = { cast: 'c', turn: 1, attempt: 1, fence: null, dir: '/nowhere' };
  const current = { signal: new AbortController().signal, progress: async () => undefined };
  function working(more: Partial<typeof at> = {}) {
    const made = play({
      config: graph({ 'Socket-1': { materia: 'Build', parse: 'text' } }, { materia: { Build: AGENT } }),
      capabilities: CAPABILITIES,
    });
    made.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
    const attempt = { ...at, ...more } as Attempt;
    const context = { workspace: {}, isAgent: true, attempt, cast: async () => made.cast } as unknown as ToolContext;
    return { made, ask: () => callTool(context, readContext, {}, current) };
  }
  const say = (text: string, item: string | null = null) => ({ kind: 'cast.say', cast: 'c', item, text }) as const;

  test('the next call has them, the one after that has not, and the next brief has them again', async () => {
    const { made, ask } = working({ dir: '/one' });
    expect((await ask()).details).not.toHaveProperty('said');
    made.tell(say('Use tabs.'));
    expect(await ask()).toMatchObject({
      reason: expect.stringContaining('A person says'),
      details: { said: ['Use tabs.'] },
    });
    expect((await ask()).details).not.toHaveProperty('said');
    made.tell(say('Use tabs.'));
    expect((await ask()).details).toMatchObject({ said: ['Use tabs.'] });
    made.tell({ kind: 'attempt.lost', cast: 'c', turn: 1, attempt: 1, mayHaveRun: true, reason: 'cut off' });
    made.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 2 });
    expect(made.turn.brief).toContain('Use tabs.');
  });

  test('an agent of an attempt that is over does not get them', async () => {
    const { made, ask } = working({ attempt: 2 });
    made.tell(say('Use tabs.'));
    expect((await ask()).details).not.toHaveProperty('said');
  });
});
