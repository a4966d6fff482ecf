// Whatever is asked wrongly is answered in one line that says how to ask rightly, with exit code 2, and changes nothing.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agent, BATON, baton, flow, json, project } from './baton.ts';

const good = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text' } });
const files = {
  'good.json': good,
  'broken.json': '{\n  "materia": {},\n  "loadouts": oops\n}\n',
  'twice.json': '{"materia": {}, "materia": {}}',
  'agents.json': { A: ['x'] },
  'empty.json': '',
};
const casting = ['cast', '--file', 'good.json', '--agents', 'agents.json'];

test.each<[args: readonly string[], words: readonly string[]]>([
  [['frobnicate'], ['there is no command frobnicate', 'baton --help']],
  [['help', 'frobnicate'], ['there is no command frobnicate']],
  [['--frobnicate'], ['--frobnicate', 'baton --help']],
  [['--json'], ['name a command', 'baton --help']],
  [
    ['status', '--frobnicate'],
    ["'--frobnicate'", 'baton status --help'],
  ],
  [
    ['status', '-x'],
    ["'-x'", 'baton status --help'],
  ],
  [
    ['task', 'claim', 'T-1', '--onwer', 'ann'],
    ["'--onwer'", 'did you mean --owner?', 'baton task --help'],
  ],
  [
    ['-C', '.', 'status', '--metrcs'],
    ['did you mean --metrics?', 'baton -C . status --help'],
  ],
  [
    ['show', '-C', '.'],
    ['no casts yet in', 'baton -C . cast'],
  ],
  [
    ['log', '--after'],
    ['--after', 'baton log --help'],
  ],
  [
    ['status', '--json=yes'],
    ['--json', 'baton status --help'],
  ],
  [['status', 'extra'], ['say: baton status']],
  [['show', 'one', 'two'], ['say: baton show [CAST]']],
  [['cast'], ['say: baton cast', 'REQUEST']],
  [['cast', '  '], ['say: baton cast REQUEST']],
  [
    ['-C', 'nowhere', 'casts'],
    ['there is no folder', 'nowhere'],
  ],
  [
    ['-C', 'good.json', 'casts'],
    ['there is no folder', 'good.json'],
  ],
  [['cast', '--file', 'missing.json', 'x'], ['missing.json: there is no such file']],
  [['cast', '--file', '.', 'x'], ['this is a folder; name a file']],
  [['cast', '--file', 'good.json/deeper', 'x'], ['a part of this path is a file']],
  [['cast', '--file', 'broken.json', 'x'], ['broken.json:3:15: ']],
  [
    ['cast', '--file', 'twice.json', 'x'],
    ['twice.json:1:17: ', 'materia'],
  ],
  [['cast', '--file', 'empty.json', 'x'], ['empty.json:1:1: ']],
  [['cast', '--file', 'good.json', '--agents', 'missing.json', 'x'], ['missing.json: there is no such file']],
  [['cast', '--file', 'good.json', '--agents', 'broken.json', 'x'], ['broken.json:3:15: ']],
  [
    [...casting, '-l', 'Nope', 'x'],
    ['there is no loadout Nope', 'use one of: L'],
  ],
  [['check', 'missing.json'], ['missing.json: there is no such file']],
  [['show'], ['no casts yet in', 'baton cast']],
  [['watch', 'latest'], ['no casts yet in']],
  [['resume'], ['no casts yet in']],
  [['continue'], ['no casts yet in']],
  [['abort'], ['no casts yet in']],
  [
    ['budget', 'latest', '--tokens', 'many'],
    ['--tokens must be a number', 'many'],
  ],
  [
    ['budget', 'latest', '--tokens=-5'],
    ['--tokens must be a number', '-5'],
  ],
  [['budget', 'latest', '--tokens', '1.5'], ['--tokens must be a whole number']],
  [['budget', 'latest', '--minutes', ''], ['--minutes must be a number']],
  [['decide', 'latest:1'], ['say: baton decide TURN rerun|accept|fail']],
  [['decide', 'latest', 'rerun'], ['say: baton decide CAST:NUMBER rerun|accept|fail']],
  [['decide', 'latest:1', 'perhaps'], ['there is no choice perhaps; there are: rerun, accept, fail']],
  [['decide', 'latest:1', 'fail', '--output', 'good.json'], ['--output goes with accept only']],
  [['decide', 'latest:1', 'accept', '--output', 'missing.json'], ['missing.json: there is no such file']],
  [
    ['log', '--after', 'soon'],
    ['--after must be a sequence number', 'soon'],
  ],
  [['log', '--cast', 'latest'], ['no casts yet in']],
  [
    ['explain', 'NO_SUCH_CODE'],
    ['there is no code NO_SUCH_CODE', 'baton explain'],
  ],
  [['validate'], ['say: baton validate KIND']],
  [
    ['validate', 'nonsense'],
    ['there is no kind nonsense', 'materia'],
  ],
])('baton %j', async (args, words) => {
  const dir = project(files);
  const ran = await baton(dir, args);
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringMatching(/^baton: .+\n$/)]);
  for (const word of words) expect(ran.stderr).toContain(word);
  if (!args.includes('--json')) expect(ran.stdout).toBe('');
  expect(existsSync(join(dir, '.baton/state'))).toBe(false);
});

test('with --json the line is a verdict as well', async () => {
  const ran = await baton(project(files), ['cast', '--json', '--file', 'broken.json', 'x']);
  const { allow, code, reason, details } = json(ran);
  expect([ran.code, allow, code, details]).toEqual([2, false, 'BAD_USAGE', {}]);
  expect(ran.stderr).toBe(`baton: ${reason}\n`);
});

test('a cast that does not exist is told by its own code', async () => {
  const dir = project(files);
  await baton(dir, [...casting, 'x']);
  const ran = await baton(dir, ['show', 'nope', '--json']);
  expect([ran.code, json(ran).code, json(ran).reason]).toEqual([
    2,
    'UNKNOWN_CAST',
    expect.stringContaining('baton casts'),
  ]);
});

test('a beginning that fits several casts is not guessed at', async () => {
  const dir = project(files);
  await baton(dir, [...casting, 'x']);
  await baton(dir, [...casting, 'y']);
  const ran = await baton(dir, ['show', '2']);
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('2 fits 2 casts')]);
});

test('what follows -- is the request, dashes and all', async () => {
  const ran = await baton(project(files), [...casting, '--json', '--', '--help', '-x']);
  expect([ran.code, json(ran).request]).toEqual([0, '--help -x']);
});

test('names of files start from -C, as if baton were started there', async () => {
  const dir = project(Object.fromEntries(Object.entries(files).map(([name, content]) => [`inner/${name}`, content])));
  const ran = await baton(dir, ['-C', 'inner', ...casting, '--json', 'x']);
  expect([ran.code, json(ran).status]).toEqual([0, 'completed']);
  expect([existsSync(join(dir, 'inner/.baton/state')), existsSync(join(dir, '.baton/state'))]).toEqual([true, false]);
});

test('from a folder inside, the workspace above is found', async () => {
  const dir = project({ ...files, 'deep/er/x.txt': '' });
  await baton(dir, [...casting, 'x']);
  expect(json<unknown[]>(await baton(join(dir, 'deep/er'), ['casts', '--json']))).toHaveLength(1);
});

test('a reader that goes away is no fault', async () => {
  const dir = project(files);
  await baton(dir, [...casting, 'x']);
  const piped = `"${BATON}" log --after 0 | head -n 1; "${BATON}" log --after 0 --json | head -c 1`;
  const { code, stdout, stderr } = await baton(dir, ['-c', piped], { program: ['/bin/sh'] });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/cast\.started.*\n\[$/);
});
