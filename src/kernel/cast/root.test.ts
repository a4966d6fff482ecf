// Casts that work in folders of their own, and how a turn finds its folder when it begins.
import { expect, test } from 'vitest';
import { graph } from '../../../test/loadouts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import { envelope, TEAM } from '../../../test/team.ts';
import { resolve } from '../graph/resolve.ts';
import { MAIN_ROOT } from '../ledger/lock-tree.ts';
import { tasksOf } from '../ledger/state.ts';
import { heldLocks } from '../ledger/wire.ts';
import { hasWriters } from './lock-scope.ts';
import { watchOf } from './packet.ts';

const WRITER = graph({ 'Socket-1': { materia: 'Write' } });
const SCRIPT = { Write: ['x', '$repeat'] };

/** Cast `c` works in the workspace itself and holds everything there. */
function besides(root?: string): Play {
  const cast = play({ config: WRITER, agents: SCRIPT, hold: true });
  const start = { cast: 'd', request: 'x', loadout: 'Flow', rules: resolve(WRITER, 'Flow'), script: SCRIPT };
  cast.tell({ kind: 'cast.start', ...start, ...(root === undefined ? {} : { root }) });
  return cast;
}

test('casts in two folders are not in each other’s way; in the same one they are', () => {
  const apart = besides('/trees/d');
  expect(apart.state.casts.d?.turns[1]?.phase).toBe('running');
  expect(heldLocks(apart.state.ledger).map(({ run, root, path }) => [run, root, path])).toEqual([
    ['c', MAIN_ROOT, '.'],
    ['d', '/trees/d', '.'],
  ]);
  expect(apart.state.casts.d?.root).toBe('/trees/d');
  expect(replayed(apart.entries)).toEqual(apart.state);
  expect(besides().state.casts.d?.turns[1]?.phase).toBe('held');
});

test('the tasks that an orchestrator assigns lie in the folder of its cast', () => {
  const cast = play({ config: TEAM, agents: { Lead: [envelope({ id: 'T-1' })] }, hold: true });
  const rules = resolve(TEAM, 'Flow');
  const script = { Lead: [envelope({ id: 'T-1' })] };
  cast.tell({ kind: 'cast.start', cast: 'd', request: 'x', loadout: 'Flow', rules, script, root: '/trees/d' });
  cast.tell({
    kind: 'attempt.output',
    cast: 'd',
    turn: 1,
    attempt: 1,
    output: JSON.stringify(envelope({ id: 'T-1' })),
  });
  expect(tasksOf(cast.state.ledger, 'd').map(({ root }) => root)).toEqual(['/trees/d']);
});

test('what a turn was seen to change excuses others in the same folder only', () => {
  const cast = play({ config: WRITER });
  const rules = resolve(WRITER, 'Flow');
  const trees = { d: '/trees/x', e: '/trees/x' } as const;
  for (const [id, root] of Object.entries(trees)) {
    cast.tell({ kind: 'cast.start', cast: id, request: 'x', loadout: 'Flow', rules, script: null, root });
  }
  for (const id of ['c', 'd']) cast.tell({ kind: 'turn.prepared', cast: id, turn: 1, attempt: 1, seal: 's' });
  const open = cast.state.casts.e?.turns[1];
  if (open) open.seal = 's'; // As if it had begun: in one folder it would have had to wait for its lock.
  cast.tell({ kind: 'attempt.output', cast: 'd', turn: 1, attempt: 1, output: 'x' });
  cast.tell({ kind: 'turn.verified', cast: 'd', turn: 1, attempt: 1, seal: 's', changes: { 'a.txt': 'sha256:1' } });
  expect(open?.excused).toEqual({ 'a.txt': 'sha256:1' });
  expect(cast.cast.turns[1]?.excused).toEqual({});
});

test.each<[string, boolean]>([
  ['Write', true],
  ['Judge', false],
  ['Tool', false],
])('whether a cast of %s may write is known before it starts: %s', (materia, expected) => {
  expect(hasWriters(resolve(graph({ 'Socket-1': { materia } }), 'Flow'))).toBe(expected);
});

test('a tool whose scope is written down may write', () => {
  expect(hasWriters(resolve(graph({ 'Socket-1': { materia: 'Tool', lockScope: ['out'] } }), 'Flow'))).toBe(true);
});

const JSON_WRITER = graph({ 'Socket-1': { materia: 'Write', parse: 'json' } });

/** How the turn begins after each of these has happened to its first attempt. */
function beginsAfter(config: typeof WRITER, happen: (cast: Play) => void): string {
  const cast = play({ config });
  cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1, seal: 's' });
  happen(cast);
  return watchOf(cast.state, cast.cast, cast.turn).begins;
}

const first = { cast: 'c', turn: 1, attempt: 1 } as const;
const lost = (cast: Play) => cast.tell({ kind: 'attempt.lost', ...first, mayHaveRun: true, reason: 'killed' });
const broken = (cast: Play, attempt = 1) => cast.tell({ kind: 'attempt.output', ...first, attempt, output: 'no json' });
const again = (cast: Play) => cast.tell({ kind: 'turn.prepared', ...first, attempt: 2 });
const publisher = graph({ 'Socket-1': { materia: 'Publish', lockScope: ['.'] } });

test.each<[string, typeof WRITER, (cast: Play) => void, string]>([
  ['cut off by a crash', WRITER, lost, 'over'],
  ['stopped by a person', WRITER, (cast) => cast.tell({ kind: 'cast.pause', cast: 'c', reason: 'x' }), 'over'],
  ['refused once', JSON_WRITER, broken, 'on'],
  [
    'refused for good and recast',
    JSON_WRITER,
    (cast) => {
      broken(cast);
      again(cast);
      broken(cast, 2);
      cast.tell({ kind: 'cast.recast', cast: 'c' });
    },
    'over',
  ],
  [
    'cut off while it repaired',
    JSON_WRITER,
    (cast) => {
      broken(cast);
      again(cast);
      cast.tell({ kind: 'attempt.lost', ...first, attempt: 2, mayHaveRun: true, reason: 'killed' });
    },
    'on',
  ],
  [
    'failed and tried once more',
    WRITER,
    (cast) => cast.tell({ kind: 'attempt.failed', ...first, fault: 'crash', reason: 'x' }),
    'on',
  ],
  [
    'run again by a person’s decision',
    publisher,
    (cast) => {
      lost(cast);
      cast.tell({ kind: 'turn.decide', cast: 'c', turn: 1, choice: 'rerun' });
    },
    'on',
  ],
])('a turn that was %s', (_what, config, happen, begins) => {
  expect(beginsAfter(config, happen)).toBe(begins);
});

test('a turn that was never dispatched begins for the first time', () => {
  const cast = play({ config: WRITER });
  expect(watchOf(cast.state, cast.cast, cast.turn)).toMatchObject({ begins: 'first', beside: null, label: 'Write' });
});
