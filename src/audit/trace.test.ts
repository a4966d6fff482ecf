// From a file back to the turns behind it, and from a prompt forward to what it touched.
import { expect, test } from 'vitest';
import type { Fact } from '../kernel/fact.ts';
import { chain, NO_PREV, textDigest } from '../log/line.ts';
import { readStoredLine, type StoredLine } from '../log/stored-line.ts';
import { aheadOf, behindFile, turnsOf } from './trace.ts';

const LONG = `Build it. ${'x'.repeat(300)}`;
const rules = {
  graph: {
    sockets: { 'Socket-1': { materia: 'Plan' }, 'Socket-2': { materia: 'Build' }, 'Socket-3': { materia: 'Check' } },
  },
  materia: {
    Plan: { runner: 'claude', model: 'opus', prompt: 'Plan it.' },
    Build: { runner: 'codex', model: null, prompt: LONG },
    Check: { utility: 'x' },
  },
};

const story = [
  { kind: 'cast.started', rules },
  ...turn(1, 'Socket-1', null, { touched: { 'plan.md': 'sha256:p' } }),
  { kind: 'edge.taken', turn: 1, from: 'Socket-1', to: 'Socket-2', item: null },
  ...turn(2, 'Socket-2', 'WI-1', { touched: { 'a.ts': 'sha256:a' } }),
  ...turn(3, 'Socket-2', 'WI-2', { touched: { 'b.ts': null }, script: { key: 'Build', index: 0 } }),
  { kind: 'edge.taken', turn: 3, from: 'Socket-2', to: 'Socket-3', item: 'WI-2' },
  { kind: 'edge.taken', turn: 2, from: 'Socket-2', to: 'Socket-3', item: 'WI-1' },
  ...turn(4, 'Socket-3', 'WI-2', {}),
  ...turn(5, 'Socket-3', 'WI-1', {}),
  { kind: 'turn.decided', turn: 5, choice: 'rerun', reason: '' },
  { kind: 'turn.started', turn: 6, socket: 'Socket-9', visit: 1, item: null },
];
const turns = turnsOf('c', lines(story));

function turn(
  id: number,
  socket: string,
  item: string | null,
  { touched, script = null }: { touched?: object; script?: object | null },
) {
  return [
    { kind: 'turn.started', turn: id, socket, visit: 1, item: item === null ? null : { key: item } },
    { kind: 'attempt.started', turn: id, attempt: 1, brief: `brief ${id}`, script },
    { kind: 'turn.accepted', turn: id, attempt: 1, output: `output ${id}`, ...(touched ? { touched } : {}) },
  ];
}

function lines(facts: readonly object[]): (StoredLine & { by: string })[] {
  return facts.map((fact, index) => {
    const append = { fact: { cast: 'c', ...fact } as unknown as Fact, by: 'ann', at: 0 };
    return { ...(readStoredLine(chain(append, index + 1, NO_PREV, '').line) as StoredLine), by: 'ann' };
  });
}

test('each turn has its materia, model, prompt, brief and output, and the turn that handed on to it', () => {
  expect(turns.map(({ turn: id, after, materia, runner, model }) => [id, after, materia, runner, model])).toEqual([
    [1, null, 'Plan', 'claude', 'opus'],
    [2, 1, 'Build', 'codex', null],
    [3, 1, 'Build', 'scripted', null],
    [4, 3, 'Check', null, null],
    [5, 2, 'Check', null, null],
    [6, null, '', null, null],
  ]);
  expect(turns[1]).toMatchObject({
    prompt: textDigest(LONG),
    brief: textDigest('brief 2'),
    output: textDigest('output 2'),
    accepted: 8,
  });
  expect(turns[4]?.decisions).toEqual([{ seq: 20, kind: 'turn.decided', by: 'ann' }]);
  expect(turns[5]).toMatchObject({ brief: null, output: null, accepted: null });
});

test.each<[string, object, string | null]>([
  ['a utility without a written scope', { utility: 'x' }, 'who changed it is not known'],
  ['a reader', { type: 'agent', tools: 'readOnly' }, 'which may change nothing'],
  ['a coder', { type: 'agent', tools: 'coding' }, null],
  ['a reader in a worktree', { type: 'agent', tools: 'readOnly', root: 'w' }, null],
])('what changed beside %s is remarked on', (_who, { root, ...materia }: { root?: string }, remark) => {
  const own = { graph: { sockets: { S: { materia: 'M' } } }, materia: { M: { type: 'utility', ...materia } } };
  const facts = [
    { kind: 'cast.started', rules: own, ...(root ? { root } : {}) },
    ...turn(1, 'S', null, { touched: { a: null } }),
  ];
  const [found] = turnsOf('c', lines(facts));
  expect(found?.remark).toEqual(remark === null ? null : expect.stringContaining(remark));
});

test.each<[string, number[]]>([
  ['plan.md', [1]],
  ['a.ts', [1, 2]],
  ['b.ts', [1, 3]],
  ['c.ts', []],
  ['__proto__', []],
])('behind %s are the turns %j', (path, ids) => {
  expect(behindFile(turns, path).map(({ turn: id }) => id)).toEqual(ids);
});

test.each<[string, string, number[]]>([
  ['a prompt in its line', textDigest('Plan it.'), [1, 2, 3, 4, 5]],
  ['a prompt beside its line', textDigest(LONG), [2, 3, 4, 5]],
  ['a brief', textDigest('brief 3'), [3, 4]],
  ['an output', textDigest('output 5'), [5]],
  ['the content of a file', 'sha256:a', [2, 5]],
  ['nothing known', 'sha256:z', []],
])('ahead of %s (%s) are the turns %j', (_, digest, ids) => {
  expect(aheadOf(turns, digest).map(({ turn: id }) => id)).toEqual(ids);
});

test('a cast whose beginning was erased or is odd is followed as far as it goes', () => {
  expect(
    turnsOf('c', lines([{ kind: 'cast.started', rules: '[erased]' }, ...turn(1, 'Socket-1', null, {})])),
  ).toMatchObject([{ turn: 1, materia: '', prompt: null }]);
  expect(turnsOf('c', [])).toEqual([]);
});

test('a handoff to an orchestrator that mediated leads to the turn that it was for', () => {
  const [started, attempt, accepted] = turn(1, 'Socket-1', null, {});
  const envelope = { handoff_id: 'h2', mediation: { agent: 'desk', handoff_id: 'h1', envelope: {} } };
  const mediated = turnsOf(
    'c',
    lines([{ kind: 'cast.started', rules }, started, { ...attempt, envelope }, accepted] as object[]),
  );
  for (const id of ['h1', 'h2']) expect(aheadOf(mediated, id).map((each) => each.turn)).toEqual([1]);
  expect(aheadOf(mediated, 'h3')).toEqual([]);
});
