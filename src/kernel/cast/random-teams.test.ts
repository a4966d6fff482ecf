// What holds for every team, whatever was planned, whatever the workers report, whoever interferes.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hangingCasts } from '../../../test/hanging-casts.ts';
import { type Play, play, replayed } from '../../../test/play.ts';
import { envelope, result, TEAM, type Wish } from '../../../test/team.ts';
import type { Request } from '../input.ts';
import { overlaps } from '../ledger/path.ts';
import { inconsistencies } from '../ledger/run-index.ts';
import { type Task, tasksOf } from '../ledger/state.ts';
import { heldLocks } from '../ledger/wire.ts';

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };
const PATIENCE = { timeout: 120_000 + RUNS.numRuns * 200 };
const SCOPES = [['src'], ['src/a'], ['src/a/b'], ['docs'], ['docs/x', 'test'], ['test/y']];

const wishes: fc.Arbitrary<Wish[]> = fc
  .array(
    fc.record({
      scope: fc.constantFrom(...SCOPES),
      priority: fc.constantFrom('low', 'normal', 'high', 'critical'),
      type: fc.constantFrom('parallelizable', 'parallelizable', 'parallelizable', 'serial'),
      after: fc.array(fc.nat(7), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((drawn) =>
    drawn.map(({ scope, priority, type, after }, index) => ({
      id: `T-${index + 1}`,
      lock_scope: scope,
      priority,
      type,
      dependencies: [...new Set(after.filter((other) => other < index).map((other) => `T-${other + 1}`))],
    })),
  );

type Deed = { readonly kind: string; readonly which: number };

const deed: fc.Arbitrary<Deed> = fc.record({
  kind: fc.oneof(
    { weight: 10, arbitrary: fc.constant('done') },
    {
      weight: 7,
      arbitrary: fc.constantFrom(
        ...['blocked', 'failed', 'lie', 'garbage', 'timeout', 'crash', 'lost', 'stray', 'hold', 'unhold', 'expire'],
        ...['pause', 'resume', 'abort', 'recast', 'clash', 'free'],
      ),
    },
  ),
  which: fc.nat(20),
});

test('a team keeps its promises whatever happens to it, and an honest end is always in reach', PATIENCE, () => {
  fc.assert(
    fc.property(wishes, fc.array(deed, { maxLength: 30 }), fc.boolean(), (wishes, deeds, hasTree) => {
      const plan = envelope(...wishes);
      const agents = { Lead: [plan], Worker: ['x', '$repeat'], Sum: ['ok', '$repeat'] };
      const cast = play({ config: TEAM, agents, hold: true, ...(hasTree ? { root: 'trees/c' } : {}) });
      cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(plan) });
      holds(cast);
      for (const each of deeds) {
        const request = requestFor(cast, each);
        if (request) cast.tell(request);
        holds(cast);
      }
      cast.tell({ kind: 'ledger.unhold', reason: 'enough' });
      // However it stands, somebody who carries it on with honest workers brings it to its end.
      for (let step = 0; step < 500 && cast.cast.status !== 'completed'; step++) {
        const next = mergeIn(cast, true) ?? workIn(cast, 0);
        if (next) cast.tell(next);
        else if (cast.cast.status === 'failed' || cast.cast.status === 'aborted')
          cast.tell({ kind: 'cast.recast', cast: 'c' });
        else cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'carry on' });
        holds(cast);
      }
      expect(cast.cast.status).toBe('completed');
      expect(heldLocks(cast.state.ledger)).toEqual([]);
      expect(replayed(cast.entries)).toEqual(cast.state);
    }),
    { ...RUNS, examples: FOUND },
  );
});

/** Cases that failed once. */
const FOUND: [Wish[], Deed[], boolean][] = [
  // All places were taken by turns that gave way to a task without a place.
  [
    [
      { id: 'T-1', lock_scope: ['src'], priority: 'low', type: 'serial', dependencies: [] },
      { id: 'T-2', lock_scope: ['src'], priority: 'low', type: 'parallelizable', dependencies: [] },
      { id: 'T-3', lock_scope: ['src'], priority: 'critical', type: 'parallelizable', dependencies: [] },
      { id: 'T-4', lock_scope: ['docs'], priority: 'low', type: 'parallelizable', dependencies: [] },
      { id: 'T-5', lock_scope: ['test/y'], priority: 'high', type: 'parallelizable', dependencies: [] },
    ],
    [
      { kind: 'blocked', which: 0 },
      { kind: 'abort', which: 0 },
    ],
    false,
  ],
  // A blocked task was moved to todo while the cast was paused, and nobody opened its turn again.
  [
    [
      { id: 'T-1', lock_scope: ['docs/x', 'test'], priority: 'low', type: 'parallelizable', dependencies: [] },
      { id: 'T-2', lock_scope: ['src'], priority: 'low', type: 'parallelizable', dependencies: [] },
      { id: 'T-3', lock_scope: ['src'], priority: 'low', type: 'parallelizable', dependencies: [] },
      { id: 'T-4', lock_scope: ['src'], priority: 'low', type: 'parallelizable', dependencies: [] },
      { id: 'T-5', lock_scope: ['docs/x', 'test'], priority: 'low', type: 'parallelizable', dependencies: [] },
    ],
    [
      { kind: 'done', which: 0 },
      { kind: 'blocked', which: 3 },
      { kind: 'pause', which: 0 },
      { kind: 'free', which: 4 },
    ],
    false,
  ],
];

/** The end of the merge that is owed, if one is. */
function mergeIn(cast: Play, ok: boolean): Request | null {
  const owed = cast.owed.find(({ kind }) => kind === 'merge');
  if (owed?.kind !== 'merge') return null;
  const merge = ok ? ({ ok, commit: 'abc' } as const) : ({ ok: false, reason: 'no', files: ['src/a'] } as const);
  return { kind: 'turn.merged', cast: 'c', turn: owed.turn, attempt: owed.attempt, merge };
}

/** An honest answer to what runs: of a worker, or of whoever sums up. */
function workIn(cast: Play, which: number): Request | null {
  const running = Object.values(cast.cast.turns).filter(({ phase }) => phase === 'running');
  const turn = cast.cast.status === 'running' ? running[which % Math.max(1, running.length)] : undefined;
  if (!turn) return null;
  const said = turn.task && turn.lane !== null ? JSON.stringify(result(turn.task)) : 'ok';
  return { kind: 'attempt.output', cast: 'c', turn: turn.id, attempt: turn.attempt, output: said };
}

function requestFor(cast: Play, { kind, which }: Deed): Request | null {
  const honest = workIn(cast, which);
  const at = honest?.kind === 'attempt.output' ? { cast: 'c', turn: honest.turn, attempt: honest.attempt } : null;
  const task = at ? (cast.cast.turns[at.turn]?.task ?? '') : '';
  const say = (over: Parameters<typeof result>[1]): Request | null =>
    at && { kind: 'attempt.output', ...at, output: JSON.stringify(result(task, over)) };
  switch (kind) {
    case 'done':
      return (which % 2 === 0 ? mergeIn(cast, true) : null) ?? honest;
    case 'clash':
      return mergeIn(cast, false);
    case 'blocked':
    case 'failed':
      return say({ status: kind, acceptance_check: [] });
    case 'lie':
      return say({ acceptance_check: [{ criterion: 'something else', status: 'pass', evidence: 'x' }] });
    case 'stray':
      return say({ task_id: 'T-99' });
    case 'garbage':
      return at && { kind: 'attempt.output', ...at, output: 'I am done!' };
    case 'timeout':
    case 'crash':
      return at && { kind: 'attempt.failed', ...at, fault: kind, reason: kind };
    case 'lost':
      return at && { kind: 'attempt.lost', ...at, mayHaveRun: true, reason: 'gone' };
    case 'expire':
      return { kind: 'task.expire', run: 'c', task: `T-${(which % 8) + 1}`, lastHeartbeatAt: null, why: 'gone' };
    case 'free': {
      const to = which % 3 === 0 ? 'blocked' : 'todo';
      return { kind: 'task.move', run: 'c', task: `T-${(which % 8) + 1}`, to, reason: 'others need it' };
    }
    case 'hold':
    case 'unhold':
      return { kind: `ledger.${kind}`, reason: 'because' };
    case 'recast':
      return { kind: 'cast.recast', cast: 'c' };
    default:
      return { kind: `cast.${kind}` as 'cast.pause', cast: 'c', reason: 'because' };
  }
}

function holds(cast: Play): void {
  const { ledger } = cast.state;
  expect(hangingCasts(cast.state, Date.parse(cast.entries.at(-1)?.at ?? ''))).toEqual([]);
  const tasks = tasksOf(ledger, 'c');
  const running = tasks.filter(({ status }) => status === 'in_progress');
  expect(inconsistencies(ledger, 'c')).toEqual([]);
  for (const a of running) for (const b of running) expect(a === b || !meet(a, b)).toBe(true);
  if (running.some(({ type }) => type === 'serial')) expect(running).toHaveLength(1);
  expect(running.length).toBeLessThanOrEqual(4);
  if (cast.cast.status !== 'running') expect(cast.owed).toEqual([]);
  expect(cast.owed.filter(({ kind }) => kind === 'merge').length).toBeLessThanOrEqual(1);
  const places = Object.values(cast.cast.lanes).flatMap(({ walks }) => Object.values(walks).map(({ place }) => place));
  const taken = places.filter((place) => place !== undefined);
  expect(new Set(taken).size).toBe(taken.length);
}

function meet(a: Task, b: Task): boolean {
  return a.lockScope.some((path) => b.lockScope.some((other) => overlaps(path, other)));
}
