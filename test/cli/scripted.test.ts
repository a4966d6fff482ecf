// Scripted agents: every cast can be run and repeated without a model.
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { agent, always, baton, cast, flow, json, project, put, read, script } from './baton.ts';

const text = { materia: 'A', parse: 'text' };
const one = flow({ A: agent }, { 'Socket-1': text });
/** Three sockets in a row, the first and the last of the same materia. */
const three = flow(
  { A: agent, B: agent },
  {
    'Socket-1': { ...text, edges: [always('Socket-2')] },
    'Socket-2': { ...text, materia: 'B', edges: [always('Socket-3')] },
    'Socket-3': text,
  },
);
const asJson = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'json', assign: { got: '$.context' } } });
const hasty = flow({ A: { ...agent, timeoutMs: 40 } }, { 'Socket-1': text });

type Row = [
  what: string,
  config: JsonObject,
  agents: JsonObject,
  outputs: readonly (string | null)[],
  code: string | null,
];

test.each<Row>([
  ['a string is the raw output', one, { A: ['hello'] }, ['hello'], null],
  ['a JSON value is sent as its text', one, { A: [{ a: [1, null] }] }, ['{"a":[1,null]}'], null],
  ['a number too', one, { A: [7] }, ['7'], null],
  ['$turn with a string', one, { A: [{ $turn: { output: 'hello' } }] }, ['hello'], null],
  ['$turn with a value', asJson, { A: [{ $turn: { output: { context: 'c' } } }] }, ['{"context":"c"}'], null],
  ['$turn without output says nothing', one, { A: [{ $turn: {} }] }, [''], null],
  ['a pause', one, { A: [{ $turn: { output: 'late', delayMs: 5 } }] }, ['late'], null],
  ['$repeat repeats the one before', three, { A: ['x', '$repeat'], B: ['y'] }, ['x', 'y', 'x'], null],
  ['a list is shared by the sockets of a materia', three, { A: ['1', '2'], B: ['y'] }, ['1', 'y', '2'], null],
  ['a socket before its materia', three, { 'Socket-3': ['own'], A: ['1'], B: ['y'] }, ['1', 'y', 'own'], null],
  ['the list runs out', three, { A: ['1'], B: ['y'] }, ['1', 'y', null], 'AGENT_FAILED'],
  ['an empty list', one, { A: [] }, [null], 'AGENT_FAILED'],
  ['no entry', three, { A: ['1', '2'] }, ['1', null], 'AGENT_FAILED'],
  ['a crash is tried once more', one, { A: [{ $turn: { fail: 'crash' } }, 'ok'] }, [null, 'ok'], null],
  ['so is a transport fault', one, { A: [{ $turn: { fail: 'transport' } }, 'ok'] }, [null, 'ok'], null],
  [
    'two crashes',
    one,
    { A: [{ $turn: { fail: 'crash' } }, { $turn: { fail: 'crash' } }, 'ok'] },
    [null, null],
    'AGENT_FAILED',
  ],
  ['a timeout is not tried again', one, { A: [{ $turn: { fail: 'timeout' } }, 'ok'] }, [null], 'AGENT_TIMEOUT'],
  ['a pause beyond timeoutMs', hasty, { A: [{ $turn: { delayMs: 60_000 } }] }, [null], 'AGENT_TIMEOUT'],
  [
    'a broken answer gets one repair turn',
    asJson,
    { A: ['oops', { context: 'c' }] },
    ['oops', '{"context":"c"}'],
    null,
  ],
  ['and only one', asJson, { A: ['oops', 'oops', { context: 'c' }] }, ['oops', 'oops'], 'CONTRACT_VIOLATION'],
])('%s', async (_what, config, agents, outputs, code) => {
  const view = await cast(project(), config, agents);
  expect(view.turns?.map(({ output }) => output)).toEqual(outputs);
  expect([view.status, view.code]).toEqual([code === null ? 'completed' : 'failed', code]);
});

test('usage is counted, of failed and refused attempts too', async () => {
  const used = (input: number): JsonObject => ({ input, output: 1, cost: 0.5 });
  const agents = {
    A: [
      { $turn: { fail: 'crash', usage: used(100) } },
      { $turn: { output: 'oops', usage: used(20) } },
      { $turn: { output: { context: 'c' }, usage: used(3) } },
    ],
  };
  const { usage, status } = await cast(project(), asJson, agents);
  expect({ status, usage }).toEqual({ status: 'completed', usage: { input: 123, output: 3, tokens: 126, cost: 1.5 } });
});

test('a turn writes files of the project, in folders it makes', async () => {
  const dir = project();
  await cast(dir, one, { A: [{ $turn: { output: 'done', write: { 'src/a.txt': 'new', 'b.txt': 'b' } } }] });
  expect([read(dir, 'src/a.txt'), read(dir, 'b.txt')]).toEqual(['new', 'b']);
});

test.each([
  ['a parent', '../outside.txt'],
  ['a parent, hidden in the middle', 'src/../../outside.txt'],
  ['an absolute path', '/tmp/baton-outside.txt'],
  ['a link that leads out', 'link/outside.txt'],
])('writing outside the project is refused before a byte is written: %s', async (_what, path) => {
  const dir = project({ 'inner/keep.txt': '' });
  const inner = join(dir, 'inner');
  mkdirSync(join(inner, '.baton'));
  symlinkSync(dir, join(inner, 'link'));
  const view = await cast(inner, one, {
    A: [{ $turn: { output: 'done', write: { 'inside.txt': 'x', [path]: 'x' } } }],
  });
  expect([view.status, view.code]).toEqual(['failed', 'AGENT_FAILED']);
  expect(view.reason).toContain(path);
  expect([join(dir, 'outside.txt'), '/tmp/baton-outside.txt', join(inner, 'inside.txt')].map(existsSync)).toEqual([
    false,
    false,
    false,
  ]);
});

test('a utility with a scripted key uses the script, the others run', async () => {
  const run = "import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[2], ''); console.log('{}');";
  const config = flow(
    {
      U: { ...script('u.mjs'), command: ['node', './u.mjs', 'first'] },
      V: { ...script('u.mjs'), command: ['node', './u.mjs', 'second'] },
    },
    { 'Socket-1': { materia: 'U', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'V' } },
  );
  const dir = project({ 'u.mjs': run });
  const view = await cast(dir, config, { U: [{ context: 'scripted' }] });
  expect(view.status).toBe('completed');
  expect(['first', 'second'].map((name) => existsSync(join(dir, name)))).toEqual([false, true]);
});

test('the script is frozen with the cast: what the file says later does not count', async () => {
  const dir = project();
  const failed = await cast(dir, three, { A: ['1', '2'], B: [{ $turn: { fail: 'timeout' } }, 'y'] });
  expect(failed.code).toBe('AGENT_TIMEOUT');
  put(dir, { 'agents.json': { A: ['other', '$repeat'], B: ['other', '$repeat'] }, 'cast.json': {} });
  const view = json(await baton(dir, ['recast', '--json', '--turns'])) as {
    status: string;
    turns: { output: string }[];
  };
  expect(view.turns.map(({ output }) => output)).toEqual(['1', null, 'y', '2']);
});

test.each<[string, Json, string]>([
  ['no object', [], 'a script is an object of lists of turns'],
  ['no list', { A: 'hello' }, 'the turns of A must be a list'],
  ['$repeat alone', { A: ['$repeat'] }, '"$repeat" under A must be the last of at least two elements'],
  ['$repeat in the middle', { A: ['x', '$repeat', 'y'] }, '"$repeat" under A must be the last'],
  ['something beside $turn', { A: [{ $turn: {}, output: 'x' }] }, 'turn 1 of A: output is next to $turn'],
  ['$turn is no object', { A: ['x', { $turn: 5 }] }, 'turn 2 of A: $turn is a number'],
  ['an unknown member', { A: [{ $turn: { outptu: 'x' } }] }, '$turn has no outptu'],
  ['an unknown fault', { A: [{ $turn: { fail: 'explode' } }] }, 'fail must be one of crash, timeout, transport'],
  ['a pause that is none', { A: [{ $turn: { delayMs: '5' } }] }, 'delayMs must be a number'],
  ['usage that is none', { A: [{ $turn: { usage: { input: -1 } } }] }, 'input must be a number, 0 or above'],
])('a script that cannot be played is wrong usage: %s', async (_what, agents, words) => {
  const dir = project({ 'cast.json': one, 'agents.json': agents });
  const ran = await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it']);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain(words);
  expect(existsSync(join(dir, '.baton/state'))).toBe(false);
});

test('a name that the loadout does not know is pointed out', async () => {
  const dir = project({ 'cast.json': one, 'agents.json': { A: ['x'], Biuld: ['y'] } });
  const ran = await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it']);
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('the script speaks for Biuld')]);
});
