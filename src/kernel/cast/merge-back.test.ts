// Items that walk side by side in worktrees of their own, and what becomes of the merge that each of them owes.
import { expect, test } from 'vitest';
import { always, graph, notSatisfied } from '../../../test/loadouts.ts';
import { play, replayed } from '../../../test/play.ts';
import { envelope, result, TEAM, type Wish } from '../../../test/team.ts';
import type { MergeEnd } from '../input.ts';
import type { JsonObject } from '../json.ts';
import { taskOf } from '../ledger/state.ts';
import { heldLocks } from '../ledger/wire.ts';
import { watchOf } from './packet.ts';
import { walkOf } from './state.ts';

const MERGED: MergeEnd = { ok: true, commit: 'abc' };
const CLASH: MergeEnd = { ok: false, reason: 'it cannot be merged', files: ['src/x.ts', 'docs/y.md'] };

/** A team in a worktree that stands after the plan; the test answers the workers and the merges. */
function team(wishes: readonly Wish[], config: JsonObject = TEAM, root: string | null = 'trees/c') {
  const agents = { Lead: [envelope(...wishes)], Worker: ['x', '$repeat'], Judge: ['x', '$repeat'], Sum: ['ok'] };
  const cast = play({ config, agents, hold: true, ...(root === null ? {} : { root }) });
  const open = (id: string) => {
    const turn = Object.values(cast.cast.turns).find(({ task }) => task === id);
    if (!turn) throw new Error(`nobody works on ${id}`);
    return turn;
  };
  const say = (id: string, output: JsonObject) => {
    const { id: turn, attempt } = open(id);
    return cast.tell({ kind: 'attempt.output', cast: 'c', turn, attempt, output: JSON.stringify(output) });
  };
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(envelope(...wishes)) });
  return {
    cast,
    open,
    say,
    done: (id: string) => say(id, result(id)),
    merge(id: string, merge: MergeEnd) {
      const { id: turn, attempt } = open(id);
      return cast.tell({ kind: 'turn.merged', cast: 'c', turn, attempt, merge });
    },
    status: (id: string) => taskOf(cast.state.ledger, 'c', id)?.status,
    place: (id: string) => walkOf(cast.cast, open(id))?.place ?? null,
    /** The turns whose merge is owed. */
    owed: () => cast.owed.flatMap((effect) => (effect.kind === 'merge' ? [effect.turn] : [])),
  };
}

const TWO: readonly Wish[] = [{ id: 'T-1' }, { id: 'T-2' }];

test.each<[string, readonly Wish[], string | null, (number | null)[]]>([
  ['two at once in a worktree', TWO, 'trees/c', [1, 2]],
  ['two at once in the directory itself', TWO, null, [null, null]],
  ['one alone', [{ id: 'T-1' }, { id: 'T-2', dependencies: ['T-1'] }], 'trees/c', [null]],
])('%s: which items get a worktree of their own', (_what, wishes, root, places) => {
  const { place } = team(wishes, TEAM, root);
  expect(places.map((_, index) => place(`T-${index + 1}`))).toEqual(places);
});

test('the next item takes the place that is free; what is blocked keeps its own', () => {
  const wishes = [...TWO, { id: 'T-3', dependencies: ['T-2'] }, { id: 'T-4', dependencies: ['T-3'] }];
  const { done, merge, say, place, cast } = team(wishes);
  done('T-2');
  merge('T-2', MERGED);
  expect([place('T-1'), place('T-3')]).toEqual([1, 2]);
  say('T-1', result('T-1', { status: 'blocked', acceptance_check: [] }));
  done('T-3');
  merge('T-3', MERGED);
  // T-1 is blocked, so nobody runs beside this one.
  expect(place('T-4')).toBeNull();
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('an accepted item is not over, and holds its paths, until it is merged', () => {
  const { cast, done, merge, status, owed, open } = team([...TWO, { id: 'T-3', dependencies: ['T-1'] }]);
  expect(done('T-1').code).toBe('OK');
  expect([status('T-1'), open('T-1').phase, owed()]).toEqual(['in_progress', 'merging', [open('T-1').id]]);
  expect(heldLocks(cast.state.ledger).map(({ task }) => task)).toEqual(['T-1', 'T-2']);
  expect(watchOf(cast.state, cast.cast, open('T-1'))).toMatchObject({ task: 'T-1', place: 1 });
  expect(merge('T-1', MERGED).code).toBe('OK');
  expect([status('T-1'), status('T-3')]).toEqual(['done', 'in_progress']);
  expect(cast.all('turn.merged')).toMatchObject([{ commit: 'abc' }]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('merges come one after the other, in the order in which the items were accepted', () => {
  const { cast, done, merge, owed, open } = team([...TWO, { id: 'T-3' }]);
  done('T-3');
  done('T-1');
  done('T-2');
  const order = ['T-3', 'T-1', 'T-2'].map((id) => open(id).id);
  for (const [index, id] of ['T-3', 'T-1', 'T-2'].entries()) {
    expect(owed()).toEqual([order[index]]);
    merge(id, MERGED);
  }
  expect([owed(), cast.cast.merges]).toEqual([[], undefined]);
  cast.run();
  expect(cast.cast.status).toBe('completed');
});

test('a conflict begins the item once more in the same place, with the files named, while its task stays its own', () => {
  const { cast, done, merge, status, place, open, owed } = team(TWO);
  done('T-1');
  const first = open('T-1').id;
  const verdict = merge('T-1', CLASH);
  expect([verdict.code, verdict.details.files]).toEqual(['MERGE_CONFLICT', ['src/x.ts', 'docs/y.md']]);
  expect([status('T-1'), place('T-1'), open('T-1').phase, owed()]).toEqual(['in_progress', 1, 'running', []]);
  expect(open('T-1').id).not.toBe(first);
  const brief = cast.briefs('Socket-2').at(-1) ?? '';
  for (const word of ['MERGE_CONFLICT', '"src/x.ts", "docs/y.md"', '<<<<<<<']) expect(brief).toContain(word);
  done('T-1');
  expect(merge('T-1', MERGED).code).toBe('OK');
  expect([status('T-1'), cast.cast.rework]).toEqual(['done', {}]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('what never can be merged is blocked after the rounds that are allowed; the others go on, and a person goes on with it', () => {
  const { cast, done, merge, status } = team(TWO);
  for (let round = 0; round < 4; round++) {
    done('T-1');
    merge('T-1', CLASH);
  }
  expect([status('T-1'), status('T-2'), cast.cast.status]).toEqual(['blocked', 'in_progress', 'running']);
  expect(taskOf(cast.state.ledger, 'c', 'T-1')?.code).toBe('MERGE_CONFLICT');
  done('T-2');
  merge('T-2', MERGED);
  expect([cast.cast.status, cast.cast.code]).toEqual(['waiting', 'MERGE_CONFLICT']);
  cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'mended by hand' });
  done('T-1');
  merge('T-1', MERGED);
  cast.run();
  expect(cast.cast.status).toBe('completed');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

const JUDGED = graph(
  {
    'Socket-1': { materia: 'Lead', contract: 'operator', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Worker', contract: 'operator', edges: [always('Socket-3')] },
    'Socket-3': {
      materia: 'Judge',
      parse: 'json',
      advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
      edges: [notSatisfied('Socket-2', 2), always('end')],
    },
  },
  {
    loops: { work: { sockets: ['Socket-2', 'Socket-3'], consumes: { from: 'Socket-1', output: 'workItems' } } },
    materia: {
      Lead: { prompt: 'Assign.', tools: 'none', generator: true },
      Worker: { prompt: 'Do.', tools: 'coding' },
      Judge: { prompt: 'Judge.', tools: 'readOnly' },
    },
  },
);

test('an item of several turns is merged once, at its end, and a conflict leads back to where it began', () => {
  const { done, say, merge, open, owed } = team(TWO, JUDGED);
  done('T-1');
  expect([open('T-1').socket, owed()]).toEqual(['Socket-3', []]);
  say('T-1', { satisfied: true });
  expect(owed()).toEqual([open('T-1').id]);
  merge('T-1', CLASH);
  expect(open('T-1').socket).toBe('Socket-2');
});

test.each<[string, (cast: ReturnType<typeof team>['cast']) => void]>([
  [
    'paused and resumed',
    (cast) => {
      cast.tell({ kind: 'cast.pause', cast: 'c', reason: 'x' });
      expect(cast.owed).toEqual([]);
      cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'x' });
    },
  ],
  [
    'aborted and recast',
    (cast) => {
      cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'x' });
      cast.tell({ kind: 'cast.recast', cast: 'c' });
    },
  ],
  [
    'its claim ran out',
    (cast) => cast.tell({ kind: 'task.expire', run: 'c', task: 'T-1', lastHeartbeatAt: null, why: 'gone' }),
  ],
])('%s while it is merged: the same merge is owed again, and nothing is done twice', (_what, happens) => {
  const { cast, done, merge, open, owed, status } = team(TWO);
  done('T-1');
  const { id } = open('T-1');
  happens(cast);
  expect(owed()).toEqual([id]);
  expect(merge('T-1', MERGED).code).toBe('OK');
  expect([status('T-1'), cast.all('turn.accepted').length]).toEqual(['done', 2]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('a cast whose other items wait for a person still merges what was accepted', () => {
  const config = { ...JUDGED, materia: { ...(JUDGED.materia as JsonObject), Judge: { ...PERSON } } };
  const { cast, ready, act } = watched(config);
  act('T-1', result('T-1'), {});
  act('T-2', result('T-2'), {});
  ready();
  expect([cast.cast.status, cast.cast.code]).toEqual(['waiting', 'ANSWER_NEEDED']);
  const { id: turn = 0, attempt = 0 } = Object.values(cast.cast.turns).find(({ task }) => task === 'T-1') ?? {};
  cast.tell({ kind: 'turn.answer', cast: 'c', turn, output: '{"satisfied": true}' });
  cast.tell({ kind: 'turn.verified', cast: 'c', turn, attempt, seal: 's', changes: {} });
  expect([cast.cast.status, cast.owed.map(({ kind }) => kind)]).toEqual(['running', ['merge']]);
  cast.tell({ kind: 'turn.merged', cast: 'c', turn, attempt, merge: MERGED });
  expect([cast.cast.status, taskOf(cast.state.ledger, 'c', 'T-1')?.status]).toEqual(['waiting', 'done']);
});

const PERSON = { prompt: 'Judge.', tools: 'readOnly', runner: 'person' };

test('a merge of an attempt that is over changes nothing', () => {
  const { cast, done, open, merge } = team(TWO);
  const { id: turn } = open('T-1');
  expect(merge('T-1', MERGED).code).toBe('STALE_ATTEMPT');
  done('T-1');
  const late = { kind: 'turn.merged', cast: 'c', turn, attempt: 9, merge: MERGED } as const;
  expect(cast.tell(late).code).toBe('STALE_ATTEMPT');
});

/** A team without a script that stands after the plan of two: the test prepares, answers and looks. */
function watched(config: JsonObject) {
  const cast = play({ config, root: 'trees/c' });
  const ready = () => {
    for (const effect of cast.owed) {
      if (effect.kind !== 'prepare') continue;
      cast.tell({ kind: 'turn.prepared', cast: 'c', turn: effect.turn, attempt: effect.attempt, seal: 's' });
    }
  };
  const act = (task: string | null, output: JsonObject, changes: Record<string, string>) => {
    const turn = Object.values(cast.cast.turns).find((each) => each.task === task);
    const at = { cast: 'c', turn: turn?.id ?? 0, attempt: turn?.attempt ?? 0 };
    cast.tell({ kind: 'attempt.output', ...at, output: JSON.stringify(output) });
    return cast.tell({ kind: 'turn.verified', ...at, seal: 's', changes }).code;
  };
  ready();
  act(null, envelope(...TWO) as JsonObject, {});
  ready();
  return { cast, ready, act };
}

test('in a worktree of its own what lies in another’s paths is no other’s work', () => {
  const { act } = watched(TEAM);
  expect(act('T-2', result('T-2'), { 'src/T-1.ts': 'x' })).toBe('SCOPE_VIOLATION');
  expect(act('T-1', result('T-1'), { 'src/T-1.ts': 'x', 'worklogs/T-1.jsonl': 'x' })).toBe('OK');
});
