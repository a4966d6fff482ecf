// `baton test` through the command line: recorded trials are played again, and a path that parts is shown in names.
import { expect, test } from 'vitest';
import { openDocument } from '../../src/editor/document.ts';
import { testOf } from '../../src/editor/recording.ts';
import { playTrial } from '../../src/editor/trial.ts';
import { recordingOf } from '../../src/editor/trial-script.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { baton, json, personToken, project, put, read } from './baton.ts';

const CONFIG = {
  materia: { build: { tools: 'coding', prompt: 'Build.' }, review: { tools: 'readOnly', prompt: 'Review.' } },
  loadouts: {
    Team: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'build', edges: [{ when: 'always', to: 'Socket-2' }] },
        'Socket-2': {
          materia: 'review',
          parse: 'json',
          edges: [
            { when: 'not_satisfied', to: 'Socket-1', maxTraversals: 3 },
            { when: 'satisfied', to: 'end' },
          ],
        },
      },
    },
  },
};

function recording(): JsonObject {
  const document = openDocument(CONFIG, 'Team');
  const answers = [
    { socket: 'Socket-1', text: 'built' },
    { socket: 'Socket-2', text: '{"satisfied": false, "context": "no tests"}' },
    { socket: 'Socket-1', text: 'built with tests' },
    { socket: 'Socket-2', text: '{"satisfied": true}' },
  ];
  const played = playTrial(document, { request: 'do it', answers });
  if (!played.ok) throw new Error(played.issues[0]?.message);
  return testOf(document, recordingOf(document.name, played.trial), 'sent back once') as unknown as JsonObject;
}

test('a trial is kept, played again, and a path that parts is told in names with exit 1', async () => {
  const dir = project({ '.baton/config.json': CONFIG, 'trial.json': recording() });
  const person = { env: { BATON_TOKEN: personToken() } };
  expect((await baton(dir, ['test'])).stdout).toBe(
    'there are no tests in .baton/tests; the editor saves a trial as one\n',
  );
  const saved = await baton(dir, ['test', 'save', 'trial.json'], person);
  expect([saved.code, saved.stdout]).toEqual([0, 'saved tests/Team/sent-back-once.json\n']);
  expect(read(dir, '.baton/tests/Team/sent-back-once.json')).toContain(
    '"path": ["Socket-1", "Socket-2", "Socket-1", "Socket-2"]',
  );
  expect(await baton(dir, ['test', 'save', 'trial.json'], person)).toMatchObject({ code: 1 });
  const green = await baton(dir, ['test']);
  expect([green.code, green.stdout]).toEqual([0, '✓ sent back once  Team\n1 test passed\n']);

  const { 'Socket-2': review, ...others } = CONFIG.loadouts.Team.sockets;
  const strict = { ...review, edges: [{ when: 'always', to: 'end' }] };
  const changed = { ...CONFIG, loadouts: { Team: { entry: 'Socket-1', sockets: { ...others, 'Socket-2': strict } } } };
  put(dir, { '.baton/config.json': changed as unknown as Json });
  const red = await baton(dir, ['test', '--loadout', 'Team']);
  expect([red.code, red.stdout]).toEqual([
    1,
    `✗ sent back once  Team
    After build, review it stops, where it went on to build.
    2 of 4 answers are not asked for any more.
1 of 1 test failed
`,
  ]);
  expect(json(await baton(dir, ['test', '--json']))).toMatchObject({
    allow: false,
    code: 'TESTS_FAILED',
    details: { tests: [{ test: 'sent back once', passed: false, path: ['build', 'review'], end: 'completed' }] },
  });
  expect(json(await baton(dir, ['test', '--json', '--loadout', 'Other']))).toMatchObject({
    allow: false,
    code: 'UNKNOWN_LOADOUT',
  });
  put(dir, { '.baton/loadouts/bare.yaml': 'steps: [build]' });
  expect(json(await baton(dir, ['test', '--json', '--loadout', 'bare']))).toMatchObject({
    allow: true,
    details: { tests: [] },
  });
});

test('a file that is no test, and one of a loadout that is gone, fail with the reason', async () => {
  const gone = { ...recording(), loadout: 'Gone' };
  const dir = project({
    '.baton/config.json': CONFIG,
    '.baton/tests/a.json': '[',
    '.baton/tests/b.json': gone,
    '.baton/tests/c.json': {},
  });
  const { code, stdout } = await baton(dir, ['test']);
  expect(code).toBe(1);
  expect(stdout).toContain('There is no loadout Gone.');
  expect(stdout).toContain('The file is no test: test and loadout are names.');
  expect(stdout).toContain('3 of 3 tests failed');
});
