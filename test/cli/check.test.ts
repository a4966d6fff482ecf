// `baton check`: all issues at once, for people and for scripts.
import { expect, test } from 'vitest';
import type { Issue } from '../../src/kernel/graph/config.ts';
import { agent, always, baton, flow, json, project, put } from './baton.ts';

type Checked = { allow: boolean; code: string; reason: string; details: { file: string; issues: Issue[] } };

/** Many faults in one file: each of them is told, whatever the others are. */
const faulty = {
  materia: {
    NoTools: { prompt: 'x' },
    Both: { type: 'utility', utility: 'echo', command: ['true'] },
    Lost: { tools: 'none', promptFile: 'missing.md' },
    Plan: { ...agent, generator: true, parse: 'text' },
    Good: agent,
  },
  loadouts: {
    One: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'Nobody', edges: [{ when: 'sometimes', to: 'Socket-2' }, always('Socket-9')] },
        'Socket-2': { materia: 'Good', edges: [always('end'), { when: 'always', to: 'Socket-1' }] },
        'Socket-03': { materia: 'Good' },
      },
    },
    Two: { sockets: { 'Socket-1': { materia: 'Good', edges: [{ when: 'always' }] } } },
  },
};
const CODES = [
  'MISSING_ENDPOINT',
  'UNKNOWN_ENDPOINT',
  'INVALID_SOCKET_ID',
  'INVALID_EDGE_CONDITION',
  'UNREACHABLE_EDGE',
  'UNKNOWN_MATERIA',
  'INVALID_MATERIA',
  'INVALID_GENERATOR',
];

test('every issue is told, in the text as in the JSON', async () => {
  const dir = project({ 'c.json': faulty });
  const ran = await baton(dir, ['check', 'c.json', '--json']);
  const { allow, code, details } = json<Checked>(ran);
  expect([ran.code, ran.stderr, allow]).toEqual([1, '', false]);
  expect([...new Set(details.issues.map((issue) => issue.code))]).toEqual(expect.arrayContaining(CODES));
  expect(code).toBe(details.issues[0]?.code);
  for (const { level, path, message } of details.issues) {
    expect(['error', 'warning']).toContain(level);
    expect(path).toMatch(/^(loadouts\.(One|Two)|materia\.\w+|activeLoadout)/);
    expect(message).not.toBe('');
  }
  const told = await baton(dir, ['check', 'c.json']);
  expect(told.code).toBe(1);
  for (const issue of details.issues) expect(told.stdout).toContain(`${issue.code}  ${issue.path}`);
  const errors = details.issues.filter(({ level }) => level === 'error').length;
  expect(told.stdout).toContain(`${errors} errors`);
});

test('a file that is no JSON is an issue, and a file that is not there is wrong usage', async () => {
  const dir = project({ 'c.json': '{"loadouts": ', '.baton/config.json': '{' });
  for (const args of [['c.json'], []]) {
    const ran = await baton(dir, ['check', ...args, '--json']);
    const { allow, code, details } = json<Checked>(ran);
    expect([ran.code, allow, code]).toEqual([1, false, 'INVALID_CONFIG']);
    expect(details.issues).toMatchObject([{ code, level: 'error', message: expect.stringMatching(/json:1:\d+: /) }]);
    const shown = await baton(dir, ['check', ...args]);
    expect([shown.code, shown.stdout]).toEqual([1, expect.stringMatching(/in \S+\.json\n$/)]);
  }
  expect((await baton(dir, ['check', 'none.json', '--json'])).code).toBe(2);
});

test('warnings pass, and fail under --strict', async () => {
  const config = flow(
    { A: { ...agent, prompt: 'Use {{state.nothing}}.' } },
    { 'Socket-1': { materia: 'A', parse: 'text' }, 'Socket-2': { materia: 'A', parse: 'text' } },
  );
  const dir = project({ 'c.json': config });
  const loose = await baton(dir, ['check', 'c.json', '--json']);
  const { details } = json<Checked>(loose);
  expect(loose.code).toBe(0);
  expect(details.issues.map(({ code, level }) => `${level} ${code}`)).toEqual(
    expect.arrayContaining(['warning UNREACHABLE_SOCKET', 'warning UNASSIGNED_SLOT']),
  );
  const strict = await baton(dir, ['check', '--strict', 'c.json', '--json']);
  expect([strict.code, json<Checked>(strict).details.issues.every(({ level }) => level === 'error')]).toEqual([
    1,
    true,
  ]);
});

test.each([
  ['a utility that does not exist', { utility: 'noop2' }, 'There is no built-in utility "noop2". Did you mean noop?'],
  [
    'a script that does not exist',
    { script: { kind: 'shippedUtility', name: 'Detect-VC' } },
    'There is no script "Detect-VC". Did you mean Detect-VCS?',
  ],
])('%s is an error that names those that do', async (_what, utility, message) => {
  const dir = project({ 'c.json': flow({ U: utility }, { 'Socket-1': { materia: 'U' } }) });
  const { code, stdout } = await baton(dir, ['check', 'c.json']);
  expect([code, stdout]).toEqual([1, expect.stringContaining(message)]);
  const refused = await baton(dir, ['cast', '--file', 'c.json', '--json', 'x']);
  expect([refused.code, json(refused).code]).toEqual([1, 'INVALID_MATERIA']);
});

test('a bad loadout leaves the others castable', async () => {
  const good = { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Good', parse: 'text' } } };
  const config = { ...faulty, loadouts: { ...faulty.loadouts, Good: good }, activeLoadout: 'Good' };
  const dir = project({ '.baton/config.json': config, 'a.json': { Good: ['x'] } });
  expect((await baton(dir, ['check'])).code).toBe(1);
  expect((await baton(dir, ['cast', '--agents', 'a.json', 'x'])).code).toBe(0);
  expect((await baton(dir, ['cast', '--agents', 'a.json', '-l', 'One', 'x'])).code).toBe(1);
});

test('of several loadouts a cast runs the one it names; without a name it is told how', async () => {
  const good = { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Good', parse: 'text' } } };
  const config = { materia: { Good: agent }, loadouts: { One: good, Two: good } };
  const dir = project({ '.baton/config.json': config, 'a.json': { Good: ['x'] } });
  expect(json<Checked>(await baton(dir, ['check', '--json'])).code).toBe('INVALID_CONFIG');
  expect((await baton(dir, ['cast', '--agents', 'a.json', '-l', 'Two', 'x'])).code).toBe(0);
  const refused = await baton(dir, ['cast', '--agents', 'a.json', '--json', 'x']);
  expect([refused.code, json(refused).code]).toEqual([1, 'INVALID_CONFIG']);
  expect(json(refused).reason).toMatch(/Set activeLoadout to one of: One, Two; a cast can name one with -l\.$/);
});

test('it says which file it looked at', async () => {
  const dir = project();
  expect((await baton(dir, ['check'])).stdout).toBe('ok: no issues in the bundled configuration\n');
  await baton(dir, ['init']);
  expect((await baton(dir, ['check'])).stdout).toBe(`ok: no issues in ${dir}/.baton/loadouts/software.yaml\n`);
});

test('files that a configuration names are read beside it, and never outside the project', async () => {
  const config = {
    materia: {
      Near: { tools: 'none', promptFile: 'prompts/near.md' },
      Far: { tools: 'none', promptFile: '../../secret.md' },
      Gone: { tools: 'none', promptFile: 'prompts/gone.md' },
    },
    loadouts: { L: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Near', parse: 'text' } } } },
  };
  const dir = project({ 'secret.md': 'x', 'work/.baton/config.json': config, 'work/.baton/prompts/near.md': 'Near.' });
  const { details } = json<Checked>(await baton(dir, ['-C', 'work', 'check', '--json']));
  const errors = details.issues
    .filter(({ level }) => level === 'error')
    .map(({ path, message }) => `${path} ${message}`);
  expect(errors).toEqual([
    expect.stringMatching(/^materia\.Far\.promptFile .*outside the project/),
    expect.stringMatching(/^materia\.Gone\.promptFile there is no file .baton\/prompts\/\S+; create it$/),
  ]);
});

test('something that is no configuration at all', async () => {
  const dir = project({ 'list.json': [1], 'text.json': '"x"' });
  for (const file of ['list.json', 'text.json']) {
    const ran = await baton(dir, ['check', file, '--json']);
    expect([ran.code, json<Checked>(ran).code]).toEqual([1, 'INVALID_CONFIG']);
    const cast = await baton(dir, ['cast', '--file', file, '--json', 'x']);
    expect([cast.code, json(cast)]).toEqual([1, expect.objectContaining({ cast: null, code: 'INVALID_CONFIG' })]);
  }
});

test('the last line counts the files that were looked at', async () => {
  const step = 'steps: [{ a: { prompt: Do it. } }]';
  const dir = project({ '.baton/loadouts/one.yaml': step, '.baton/loadouts/two.yaml': step });
  const checked = await baton(dir, ['check']);
  expect(checked.stdout).toBe(`ok: no issues in ${dir}/.baton/loadouts/one.yaml and 1 other file\n`);
});

test('a loadout of the short form is checked by its name, and a file of that name comes first', async () => {
  const steps = 'steps:\n  - tell: { prompt: Tell it., tools: none }\n';
  const dir = project({ '.baton/loadouts/good.yaml': steps, '.baton/loadouts/bad.yaml': `${steps}odd: 1\n` });
  const answer = async (word: string) => json<Checked>(await baton(dir, ['check', word, '--json']));
  expect((await answer('good')).allow).toBe(true);
  const bad = await answer('bad');
  expect([bad.allow, bad.details.file]).toEqual([false, expect.stringContaining('bad.yaml')]);
  put(dir, { good: '{}' });
  expect((await answer('good')).details.file).toBe(`${dir}/good`);
  expect((await baton(dir, ['check', 'nope'])).code).toBe(2);
});
