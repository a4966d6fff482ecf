// The loadouts that a cast can run, as the composer of the page lists them.
import { expect, test } from 'vitest';
import { openWorkspace } from '../../src/api/open-workspace.ts';
import { agent, always, environment, flow, project } from '../cli/baton.ts';

const good = flow({ Build: agent }, { 'Socket-1': { materia: 'Build', edges: [always('end')] } });
const SMALL = { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Build' } } };
const SHORT = 'steps:\n  - build: { tools: none, prompt: Do it. }\n';

test.each([
  ['one in config.json', { '.baton/config.json': good }, [{ name: 'L', steps: ['Build'], isUsual: true, issue: null }]],
  [
    'one with a mistake',
    { '.baton/config.json': flow({ Build: agent }, { 'Socket-1': { materia: 'Biuld' } }) },
    [{ name: 'L', issue: { code: expect.any(String), path: expect.stringContaining('Socket-1') } }],
  ],
  [
    'several of which none is active: each runs when it is named',
    { '.baton/config.json': { materia: { Build: agent }, loadouts: { L: SMALL, M: SMALL } } },
    ['L', 'M'].map((name) => ({ name, isUsual: false, issue: null })),
  ],
  ['none of its own: those that ship', {}, [{ name: expect.any(String), issue: null }]],
])('%s', async (_, files, loadouts) => {
  const dir = project(files);
  const listed = await openWorkspace(dir, { env: environment(dir) }).loadout.list();
  expect(listed).toMatchObject({ allow: true, details: { loadouts: expect.any(Array) } });
  expect((listed.details.loadouts as unknown[]).slice(0, loadouts.length)).toMatchObject(loadouts);
});

test('short forms are listed beside config.json, each with its own file', async () => {
  const dir = project({
    '.baton/config.json': good,
    '.baton/loadouts/short.yaml': SHORT,
    '.baton/loadouts/torn.yaml': 'steps: [',
  });
  const listed = await openWorkspace(dir, { env: environment(dir) }).loadout.list();
  const loadouts = listed.details.loadouts as { name: string; file: string; issue: unknown }[];
  expect(
    loadouts.slice(0, 3).map(({ name, file, issue }) => [name, file.replace(`${dir}/.baton/`, ''), issue === null]),
  ).toEqual([
    ['L', 'config.json', true],
    ['short', 'loadouts/short.yaml', true],
    ['torn', 'loadouts/torn.yaml', false],
  ]);
});
