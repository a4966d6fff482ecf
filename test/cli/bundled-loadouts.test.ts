// The loadouts that come with Baton: each checks without a warning, is offered where a loadout is chosen, and is cast.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { BUNDLED_LOADOUTS } from '../../src/app/operations/project.ts';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { BUNDLED } from '../../src/workspace/find-config.ts';
import { baton, json, project, put, read } from './baton.ts';
import { git, repository } from './repository.ts';

const bundled = JSON.parse(readFileSync(BUNDLED, 'utf8'));
const yes: Json = { satisfied: true };
const no = (context: string): Json => ({ satisfied: false, context });
const items = (...titles: readonly string[]) => titles.map((title) => ({ title, context: `Do it: ${title}.` }));
const wrote = (output: Json, file: string, text: string): Json => ({ $turn: { output, write: { [file]: text } } });
const builders = {
  Build: [wrote('Built one.', 'one.txt', '1\n'), wrote('Built two.', 'two.txt', '2\n'), '$repeat'],
  'Auto-Eval': [yes, '$repeat'],
  Maintain: [yes, '$repeat'],
  Narrate: ['All is done.'],
};
const two = { workItems: items('One', 'Two') };

type Row = { readonly agents: JsonObject; readonly path: string };

/** What scripted agents say, and the way the cast takes. */
const CASTS: Readonly<Record<(typeof BUNDLED_LOADOUTS)[number], Row>> = {
  'Full-Auto': { agents: { ...builders, 'Auto-Plan': [two] }, path: '1 2 3 4 5 6 4 5 6 7' },
  'Plan-Together': {
    agents: { ...builders, 'Consult-Plan': ['Shall it be two?', { $answer: 'Yes.' }, 'Good.', '$continue', two] },
    path: '1 2 3 4 5 6 4 5 6 7',
  },
  'Architect-First': {
    agents: { ...builders, Architect: ['The design.'], 'Auto-Plan': [two] },
    path: '1 2 3 4 5 6 7 5 6 7 8',
  },
  'Review-Only': {
    agents: {
      'Review-Scope': [two],
      'Review-Area': ['a.ts:1 is wrong', 'a.ts:2 is wrong', 'Nothing found.'],
      'Review-Confirm': [no('a.ts:1 is right'), { satisfied: true, context: 'a.ts:2' }, yes],
      'Review-Report': ['One finding.'],
    },
    path: '1 2 3 2 3 2 3 4',
  },
  'Parallel-Build': {
    agents: {
      ...builders,
      'Parallel-Plan': [
        {
          ...two,
          parallelSchedule: { version: 1, streams: ['a', 'b'].map((name, at) => ({ name, workItemIndexes: [at] })) },
        },
      ],
      'Integration-Review': [no('one.txt does not know two.txt'), yes],
      Integrate: [wrote('Joined.', 'one.txt', '1 and 2\n')],
    },
    path: '1 2 3 4 4 5 5 6 7 6 8',
  },
};

test('the list in the code is that of the configuration', () => {
  expect(Object.keys(bundled.loadouts)).toEqual(BUNDLED_LOADOUTS);
});

test('the edges of Full-Auto are those of the picture: unsatisfied, Maintain does not advance and leads back to Build', () => {
  const { sockets, loops } = bundled.loadouts['Full-Auto'];
  const edgesOf = (id: string) => sockets[id].edges.map(({ when, to }: JsonObject) => [sockets[id].materia, when, to]);
  expect(['Socket-4', 'Socket-5', 'Socket-6'].flatMap(edgesOf)).toEqual([
    ['Build', 'always', 'Socket-5'],
    ['Auto-Eval', 'satisfied', 'Socket-6'],
    ['Auto-Eval', 'not_satisfied', 'Socket-4'],
    ['Maintain', 'always', 'Socket-4'],
  ]);
  expect(sockets['Socket-6']).toMatchObject({ parse: 'json', advance: { when: 'satisfied' } });
  expect(Object.values(loops)).toHaveLength(1);
});

test('an unsatisfied Maintain leads back to Build, and is stopped where nothing gets done', async () => {
  const agents = { ...builders, 'Auto-Plan': [{ workItems: items('One') }], Maintain: [no('not tidy'), '$repeat'] };
  const dir = project({ 'agents.json': agents });
  const ran = await baton(dir, ['cast', '-l', 'Full-Auto', '--agents', 'agents.json', '--json', 'Do it']);
  const { status, code, path } = json<CastView>(ran);
  expect([ran.code, status, code]).toEqual([1, 'failed', 'NO_PROGRESS']);
  expect(path.map(({ socket }) => socket.slice(7)).join(' ')).toBe(`1 2 3${' 4 5 6'.repeat(4)}`);
});

test.each(BUNDLED_LOADOUTS)('%s is cast', async (name) => {
  const { agents, path } = CASTS[name];
  const dir = repository({ 'agents.json': agents });
  const ran = await baton(dir, ['cast', '-l', name, '--agents', 'agents.json', '--json', 'Do it']);
  const cast = json<CastView>(ran);
  expect([ran.code, cast.status, cast.reason]).toEqual([0, 'completed', 'completed']);
  expect(cast.path.map(({ socket }) => socket.slice(7)).join(' ')).toBe(path);
  const shown = await baton(dir, ['graph', 'latest']);
  expect(shown.stdout.split('\n')[0]).toBe(name);
  if (name !== 'Parallel-Build') return;
  const at = (file: string) => git(dir, 'show', `baton/${cast.cast}:${file}`);
  expect([at('one.txt'), at('two.txt')]).toEqual(['1 and 2', '2']);
});

test('all of them check without a warning, and their prompts are pinned', async () => {
  const dir = project();
  const checked = await baton(dir, ['check', '--strict']);
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('ok: no issues')]);
  const { prompts } = JSON.parse(readFileSync(join(dirname(BUNDLED), 'versions/prompt-lock.json'), 'utf8'));
  const agents = Object.values<JsonObject>(bundled.materia).filter(({ promptFile }) => promptFile !== undefined);
  expect(agents.map(({ identity }) => identity).filter((id) => !Object.hasOwn(prompts, String(id)))).toEqual([]);
});

test('they are listed beside the loadouts of the project, whose own come first', async () => {
  const own = { 'Review-Only': bundled.loadouts['Review-Only'] };
  const dir = project({ '.baton/config.json': { materia: {}, loadouts: own } });
  const listed = json<{ name: string; isBundled?: boolean }[]>(await baton(dir, ['loadouts', '--json']));
  const others = BUNDLED_LOADOUTS.filter((name) => name !== 'Review-Only');
  expect(listed.map(({ name, isBundled = false }) => [name, isBundled])).toEqual([
    ['Review-Only', false],
    ...others.map((name) => [name, true]),
  ]);
  const shown = await baton(dir, ['loadouts']);
  expect(shown.stdout).toMatch(/Plan-Together +bundled +Plans in a conversation with you/);
});

test.each(BUNDLED_LOADOUTS)('init writes a copy of %s that checks, pins nothing and is cast', async (name) => {
  const dir = repository({ 'agents.json': CASTS[name].agents });
  const { written } = json<{ written: string[] }>(await baton(dir, ['init', '--template', name, '--json']));
  expect(written.filter((file) => !existsSync(join(dir, file)))).toEqual([]);
  const config = read(dir, '.baton/config.json');
  expect([config.includes('identity'), JSON.parse(config).activeLoadout]).toEqual([false, name]);
  expect((await baton(dir, ['check', '--strict'])).stdout).toMatch(/^ok: no issues/);
  put(dir, { '.baton/prompts/build.md': 'My own words.\n' });
  const ran = await baton(dir, ['cast', '--agents', 'agents.json', '--json', 'Do it']);
  expect([json<CastView>(ran).status, ran.code]).toEqual(['completed', 0]);
});
