import { expect, test } from 'vitest';
import { always, crew, graph, plan, workflow } from '../../../test/loadouts.ts';
import { play, replayed } from '../../../test/play.ts';
import { resolve } from '../graph/resolve.ts';
import { taskOf } from '../ledger/state.ts';
import { heldLocks } from '../ledger/wire.ts';
import { pending } from '../pending.ts';
import type { Cast } from './state.ts';

const WRITER = graph({ 'Socket-1': { materia: 'Write' } });
const SCRIPT = { Write: ['x', '$repeat'] };

/** Cast `c` holds everything; cast `d` wants the same. */
function rivals(config = WRITER) {
  const cast = play({ config: WRITER, agents: SCRIPT, hold: true });
  const rules = resolve(config, 'Flow');
  cast.tell({ kind: 'cast.start', cast: 'd', request: 'do it', loadout: 'Flow', rules, script: SCRIPT });
  const d = () => cast.state.casts.d?.turns[1];
  const answer = (id: string) => cast.tell({ kind: 'attempt.output', cast: id, turn: 1, attempt: 1, output: 'x' });
  return { cast, d, answer };
}

test('two casts that would write to the same paths take turns: the second is put off and says who is in its way', () => {
  const { cast, d, answer } = rivals();
  expect(d()).toMatchObject({ phase: 'held', held: { code: 'LOCK_CONFLICT', until: null } });
  expect(d()?.held?.reason).toContain('(Write)');
  expect(pending(cast.state.casts.d as never)).toEqual([]);
  answer('c');
  expect(cast.cast.status).toBe('completed');
  expect(d()).toMatchObject({ phase: 'running', held: null, fence: 2 });
  answer('d');
  expect(cast.state.casts.d?.status).toBe('completed');
  expect(heldLocks(cast.state.ledger)).toEqual([]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test.each(['abort', 'fail'] as const)('what a cast held is free when it ends by %s', (how) => {
  const { cast, d } = rivals();
  if (how === 'abort') cast.tell({ kind: 'cast.abort', cast: 'c', reason: 'enough' });
  else cast.tell({ kind: 'attempt.failed', cast: 'c', turn: 1, attempt: 1, fault: 'timeout', reason: 'silent' });
  expect(d()?.phase).toBe('running');
  expect(taskOf(cast.state.ledger, 'c', 'T-1')?.status).toBe('blocked');
});

test('a paused cast keeps what it holds', () => {
  const { cast, d } = rivals();
  cast.tell({ kind: 'cast.pause', cast: 'c', reason: 'later' });
  expect(d()?.phase).toBe('held');
});

test('scopes that do not meet let two casts run at the same time', () => {
  const one = graph({ 'Socket-1': { materia: 'Write', lockScope: ['src/a'] } });
  const other = graph({ 'Socket-1': { materia: 'Write', lockScope: ['src/b'] } });
  const cast = play({ config: one, agents: SCRIPT, hold: true });
  cast.tell({
    kind: 'cast.start',
    cast: 'd',
    request: 'x',
    loadout: 'Flow',
    rules: resolve(other, 'Flow'),
    script: SCRIPT,
  });
  expect([cast.cast.turns[1]?.phase, cast.state.casts.d?.turns[1]?.phase]).toEqual(['running', 'running']);
});

test('a held workspace hands nothing out, what runs goes on, and everything starts when it is released', () => {
  const cast = play({
    config: graph({
      'Socket-1': { materia: 'Judge', parse: 'text', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'Judge', parse: 'text' },
    }),
    agents: { Judge: ['a', 'b'] },
    hold: true,
  });
  cast.tell({ kind: 'ledger.hold', reason: 'deploying' });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: 'a' });
  expect(cast.cast.turns[2]).toMatchObject({ phase: 'held', held: { code: 'NOT_ALLOWED_NOW' } });
  expect(cast.cast.turns[2]?.held?.reason).toContain('deploying');
  cast.tell({ kind: 'ledger.unhold', reason: 'done' });
  expect(cast.cast.turns[2]?.phase).toBe('running');
});

test('every item is a task, in progress from its first dispatch until its cursor moves on, through rework too', () => {
  const cast = play({
    config: workflow(),
    agents: crew({
      Plan: [plan(2)],
      Eval: [{ satisfied: false, context: 'no' }, { satisfied: true }, { satisfied: true }],
    }),
  });
  expect(cast.cast.status).toBe('completed');
  const moves = cast.facts.flatMap((fact) => {
    if (fact.kind === 'task.claimed') return [[fact.task, 'in_progress']];
    return fact.kind === 'task.moved' ? [[fact.task, fact.to]] : [];
  });
  expect(moves.filter(([task]) => task === 'T-1' || task === 'T-2')).toEqual([
    ['T-1', 'in_progress'],
    ['T-1', 'done'],
    ['T-2', 'in_progress'],
    ['T-2', 'done'],
  ]);
  expect(taskOf(cast.state.ledger, 'c', 'T-1')?.title).toBe('Item 1');
});

test('a lock scope may name the item, and one that leads out of the workspace fails the cast', () => {
  const config = (path: string) =>
    graph({ 'Socket-1': { materia: 'Write', foreach: { items: 'state.files', cursor: 'i' }, lockScope: [path] } });
  const good = play({ config: config('src/{{item}}'), data: { files: ['a.ts'] }, agents: SCRIPT, hold: true });
  expect(heldLocks(good.state.ledger).map(({ path }) => path)).toEqual(['src/a.ts']);
  const bad = play({ config: config('src/{{item}}'), data: { files: ['../../etc'] }, agents: SCRIPT, hold: true });
  expect([bad.cast.status, bad.cast.code]).toEqual(['failed', 'SCOPE_VIOLATION']);
});

test.each([
  ['an item that names settings of a program', ['{{item}}'], '.claude/settings.json', 'SCOPE_VIOLATION'],
  ['a part of the path that does', ['docs/{{item}}'], 'x/.mcp.json', 'SCOPE_VIOLATION'],
  ['settings that a person names as well', ['{{item}}', '.claude/skills'], '.claude/skills/a', null],
  ['other settings than those', ['{{item}}', '.claude/skills'], '.claude/hooks', 'SCOPE_VIOLATION'],
  ['an ordinary file', ['{{item}}'], 'src/a.ts', null],
])('a lock scope with a slot and %s', (_, lockScope, item, code) => {
  const config = graph({
    'Socket-1': { materia: 'Write', foreach: { items: 'state.files', cursor: 'i' }, lockScope },
  });
  expect(play({ config, data: { files: [item] }, agents: SCRIPT, hold: true }).cast.code).toBe(code);
});

test('a task of a cast is not handed out or finished by hand', () => {
  const { cast } = rivals();
  for (const request of [
    { kind: 'task.claim', run: 'd', task: 'T-1', owner: 'me' },
    { kind: 'task.move', run: 'd', task: 'T-1', to: 'canceled', reason: 'no' },
    { kind: 'task.next', owner: 'me' },
  ] as const) {
    expect(cast.tell(request)).toMatchObject({ allow: false, code: 'NOT_ALLOWED_NOW' });
  }
});

test('who gives way to a task that stopped asking knows until when, and goes on then', () => {
  const scoped = (...lockScope: string[]) => graph({ 'Socket-1': { materia: 'Write', lockScope } });
  const cast = play({ config: scoped('src'), agents: SCRIPT, hold: true });
  const begin = (id: string, path: string) => {
    const rules = resolve(scoped(path), 'Flow');
    cast.tell({ kind: 'cast.start', cast: id, request: 'x', loadout: 'Flow', rules, script: SCRIPT });
  };
  const answer = (id: string) => cast.tell({ kind: 'attempt.output', cast: id, turn: 1, attempt: 1, output: 'x' });
  begin('large', '.');
  for (const id of ['s1', 's2']) {
    begin(id, 'docs');
    answer(id);
  }
  // It was refused three times, so others stay off its paths; and then a person stops it.
  cast.tell({ kind: 'cast.pause', cast: 'large', reason: 'later' });
  begin('other', 'src');
  begin('small', 'docs');
  // What the other one waits for is given back, and it gives way as well.
  answer('c');
  const other = cast.state.casts.other as never as Cast;
  expect(other.turns[1]?.held?.reason).toContain('goes first');
  expect(pending(other)).toMatchObject([{ kind: 'timer', cast: 'other' }]);
  const small = () => cast.state.casts.small as never as Cast;
  expect(small().turns[1]).toMatchObject({ phase: 'held', held: { code: 'LOCK_CONFLICT' } });
  expect(small().turns[1]?.held?.reason).toContain('goes first');
  const [timer] = pending(small());
  expect(timer).toMatchObject({ kind: 'timer', cast: 'small' });
  cast.tell({ kind: 'clock.rang', cast: 'small' }, timer?.kind === 'timer' ? timer.at : 0);
  expect(small().turns[1]?.phase).toBe('running');
});
