// When the work of an item in a worktree of its own is merged: before its walk ends, and before it leaves its loop.
import { expect, test } from 'vitest';
import { always, graph, notSatisfied, satisfied } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import { envelope, result } from '../../../test/team.ts';
import type { Json } from '../json.ts';
import { isToMerge } from './item.ts';
import type { Turn } from './state.ts';

const advance = { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' };
/** Workers (2) and a judge (3) for each item. What is rejected goes to a helper (4) in another loop. */
const config = graph(
  {
    'Socket-1': { materia: 'Lead', contract: 'operator', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Worker', contract: 'operator', edges: [always('Socket-3')] },
    'Socket-3': { materia: 'Judge', advance, edges: [satisfied('Socket-2'), notSatisfied('Socket-4')] },
    'Socket-4': { materia: 'Write' },
  },
  {
    loops: {
      help: { sockets: ['Socket-4'] },
      work: { sockets: ['Socket-2', 'Socket-3'], consumes: { from: 'Socket-1', output: 'workItems' } },
    },
    materia: {
      Lead: { prompt: 'Assign.', tools: 'none', generator: true },
      Worker: { prompt: 'Do.', tools: 'coding' },
    },
  },
);

/** Two items side by side: the judge has the first, a worker the second. */
function judged(root?: string) {
  const plan = envelope({ id: 'T-1' }, { id: 'T-2' });
  const agents = { Lead: [plan], Worker: ['x', '$repeat'], Judge: ['x', '$repeat'], Write: ['ok', '$repeat'] };
  const cast = play({ config, agents, hold: true, ...(root ? { root } : {}) });
  const say = (turn: number, output: Json) =>
    cast.tell({ kind: 'attempt.output', cast: 'c', turn, attempt: 1, output: JSON.stringify(output) });
  say(1, plan);
  say(2, result('T-1'));
  const turn = Object.values(cast.cast.turns).find(({ task }) => task === 'T-1') as Turn;
  expect(turn.socket).toBe('Socket-3');
  return { cast, turn, say };
}
const handoff = (isSatisfied: boolean | null) => ({ handoff: { satisfied: isSatisfied } as Turn['handoff'] }) as const;

test.each<[string, Partial<Turn>, boolean, boolean, string?]>([
  ['its walk is over', handoff(true), true, true],
  ['its walk is over, and it was merged already', { ...handoff(true), merged: true }, true, false],
  ['its walk is over, and it has no worktree of its own', handoff(true), true, false, 'in place'],
  ['it leaves its loop', handoff(false), false, true],
  ['it leaves its loop without a worktree of its own', handoff(false), false, false, 'in place'],
  ['it stays in its loop', handoff(true), false, false],
  ['it leads nowhere', handoff(null), false, false],
  ['it handed nothing on', { handoff: null }, false, false],
])('an accepted turn is merged or not: %s', (_what, change, isOver, isDue, where) => {
  const { cast, turn } = judged(where === 'in place' ? undefined : 'trees/c');
  expect(isToMerge(cast.cast, { ...turn, ...change }, isOver)).toBe(isDue);
});

test('an item that leaves its loop is merged before the next socket begins', () => {
  const { cast, turn, say } = judged('trees/c');
  say(turn.id, { satisfied: false, context: 'help' });
  expect(cast.owed).toContainEqual({ kind: 'merge', cast: 'c', turn: turn.id, attempt: 1 });
  expect(cast.all('turn.started').some(({ socket }) => socket === 'Socket-4')).toBe(false);
  cast.tell({ kind: 'turn.merged', cast: 'c', turn: turn.id, attempt: 1, merge: { ok: true, commit: 'abc' } });
  expect(cast.all('turn.started').at(-1)?.socket).toBe('Socket-4');
});
