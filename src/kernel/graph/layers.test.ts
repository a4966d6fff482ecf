// How layers of the configuration are laid over each other, which keys stay, and why a value is what it is.
import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { type ConfigLayer, explainKey, type LayerName, layerOf, mergeLayers } from './layers.ts';

const layer = (name: LayerName, config: JsonObject): ConfigLayer => ({ name, file: `${name}.json`, config });
const NO = () => false;
const YES = () => true;

const GRAPH = { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'A' } }, loops: {} };

test.each<[string, readonly ConfigLayer[], JsonObject]>([
  [
    'members of a section are merged',
    [layer('user', { budget: { maxTokens: 1 } }), layer('project', { budget: { maxCost: 2 } })],
    { budget: { maxTokens: 1, maxCost: 2 } },
  ],
  [
    'the higher layer wins',
    [layer('user', { budget: { maxTokens: 1 } }), layer('file', { budget: { maxTokens: 2 } })],
    { budget: { maxTokens: 2 } },
  ],
  [
    'null deletes a member, a section and an entry',
    [
      layer('user', { budget: { maxTokens: 1 }, language: 'German', checkers: { a: { command: ['x'] } } }),
      layer('file', { budget: { maxTokens: null }, language: null, checkers: { a: null } }),
    ],
    { budget: {}, checkers: {} },
  ],
  ['null where nothing is deletes nothing', [layer('project', { budget: { maxTokens: null } })], { budget: {} }],
  [
    'an entry of a map is replaced as a whole',
    [layer('user', { checkers: { a: { command: ['x'] } } }), layer('file', { checkers: { a: { file: 'y' } } })],
    { checkers: { a: { file: 'y' } } },
  ],
  [
    'a list is replaced',
    [layer('user', { approvals: { blocked: ['a'] } }), layer('file', { approvals: { blocked: ['b'] } })],
    { approvals: { blocked: ['b'] } },
  ],
  [
    'a materia without a behaviour changes fields',
    [layer('user', { materia: { A: { prompt: 'p', model: 'm' } } }), layer('file', { materia: { A: { model: 'n' } } })],
    { materia: { A: { prompt: 'p', model: 'n' } } },
  ],
  [
    'one with a prompt or a command gets nothing of the other',
    [
      layer('user', { materia: { A: { prompt: 'p', env: ['TOKEN'] } } }),
      layer('file', { materia: { A: { command: ['x'] } } }),
    ],
    { materia: { A: { command: ['x'] } } },
  ],
  [
    'sockets come with their loops',
    [
      layer('user', { loadouts: { F: { ...GRAPH, description: 'd', loops: { l: {} } } } }),
      layer('file', { loadouts: { F: { sockets: {} } } }),
    ],
    { loadouts: { F: { description: 'd', sockets: {} } }, activeLoadout: 'F' },
  ],
  [
    'a layer with loadouts says which one is usual',
    [layer('project', { activeLoadout: 'F', loadouts: { F: GRAPH } }), layer('file', { loadouts: { G: GRAPH } })],
    { loadouts: { F: GRAPH, G: GRAPH }, activeLoadout: 'G' },
  ],
  [
    'limits of runners of a user hold elsewhere',
    [layer('user', { runners: { claude: { maxConcurrent: 1 } } }), layer('project', {})],
    {},
  ],
])('%s', (_, layers, config) => {
  expect(mergeLayers(layers, YES).config).toEqual(config);
});

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  [
    'a key',
    { locked: ['budget.maxTokens'], budget: { maxTokens: 1 } },
    { budget: { maxTokens: 2 } },
    ['budget.maxTokens'],
  ],
  [
    'the same value',
    { locked: ['budget.maxTokens'], budget: { maxTokens: 1 } },
    { budget: { maxTokens: 1 } },
    ['budget.maxTokens'],
  ],
  ['its deletion', { locked: ['budget.maxTokens'] }, { budget: { maxTokens: null } }, ['budget.maxTokens']],
  ['the section above it', { locked: ['budget.maxTokens'] }, { budget: null }, ['budget.maxTokens']],
  ['a key below it', { locked: ['approvals'] }, { approvals: { writes: 'T0' } }, ['approvals']],
  ['a key beside it', { locked: ['budget.maxTokens'] }, { budget: { maxCost: 2 } }, []],
  [
    'a materia by its lockState',
    { materia: { A: { prompt: 'p', lockState: 'locked' } } },
    { materia: { A: { model: 'm' } } },
    ['materia.A'],
  ],
  [
    'a name with a dot',
    { locked: ['materia.a.b'], materia: { 'a.b': { prompt: 'p' } } },
    { materia: { 'a.b': { model: 'm' } } },
    ['materia.a.b'],
  ],
])('a locked key: %s is refused to a higher layer, and the locked value stays', (_, own, above, keys) => {
  for (const name of ['administrator', 'user'] as const) {
    for (const higher of ['project', 'file', 'flags'] as const) {
      const merged = mergeLayers([layer(name, own), layer(higher, above)], YES);
      expect(merged.locks.map(({ key }) => key)).toEqual(keys);
      if (keys.length === 0) continue;
      expect(merged.locks[0]).toMatchObject({ lockedBy: { file: `${name}.json` }, setBy: { file: `${higher}.json` } });
      const { locked: _locked, ...rest } = own;
      for (const [section, value] of Object.entries(rest)) expect(merged.config[section]).toEqual(value);
    }
  }
});

test('an administrator locks also for the user, and a project locks nothing', () => {
  const merged = mergeLayers(
    [layer('administrator', { locked: ['language'] }), layer('user', { language: 'German' })],
    YES,
  );
  expect([merged.locks.length, merged.config]).toEqual([1, {}]);
  const open = mergeLayers([layer('project', { locked: ['language'] }), layer('file', { language: 'German' })], YES);
  expect([open.locks, open.config]).toEqual([[], { language: 'German' }]);
});

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['adds a section', { language: 'German' }, { budget: { maxTokens: 1 } }, []],
  ['adds a member', { budget: { maxTokens: 1 } }, { budget: { maxCost: 1 } }, []],
  ['repeats a value', { budget: { maxTokens: 1 } }, { budget: { maxTokens: 1 } }, []],
  ['raises a budget', { budget: { maxTokens: 1 } }, { budget: { maxTokens: 9 } }, ['budget.maxTokens']],
  [
    'takes a protection away',
    { approvals: { blocked: ['rm'] } },
    { approvals: { blocked: null } },
    ['approvals.blocked'],
  ],
  [
    'sends elsewhere',
    { notify: { webhook: 'https://a.b/c' } },
    { notify: { webhook: 'https://x.y/z' } },
    ['notify.webhook'],
  ],
  [
    'adds arguments to an agent of the user',
    { materia: { A: { prompt: 'p', env: ['TOKEN'] } } },
    { materia: { A: { args: ['--x'] } } },
    ['materia.A'],
  ],
  ['deletes everything', { language: 'German' }, { language: null }, ['language']],
])('a project that is not trusted: it %s', (_, own, project, keys) => {
  const layers = [layer('user', own), layer('project', project)];
  const merged = mergeLayers(layers, NO);
  expect(merged.untrusted.map(({ key }) => key)).toEqual(keys);
  if (keys.length > 0)
    for (const [section, value] of Object.entries(own)) expect(merged.config[section]).toEqual(value);
  expect(mergeLayers(layers, YES).untrusted).toEqual([]);
});

test('a key is explained from the highest layer to the lowest', () => {
  const layers = [
    layer('user', { budget: { maxTokens: 1, maxCost: 3 }, locked: ['budget.maxCost'] }),
    layer('project', { budget: { maxTokens: 2, maxCost: 4 } }),
    layer('flags', { budget: { maxTokens: 3 } }),
  ];
  const merged = mergeLayers(layers, YES);
  const rows = (key: string) =>
    explainKey(key, layers, merged).layers.map(({ layer: name, value, wins, why }) => [name, value, wins, why]);
  expect(rows('budget.maxTokens')).toEqual([
    ['flags', 3, true, 'counts'],
    ['project', 2, false, 'flags is a higher layer'],
    ['user', 1, false, 'flags is a higher layer'],
  ]);
  expect(rows('budget.maxCost')).toEqual([
    ['project', 4, false, 'refused: user.json locks budget.maxCost'],
    ['user', 3, true, 'counts, and is locked'],
  ]);
  expect(explainKey('budget.maxCost', layers, merged).why).toBe('user (user.json) sets it and locks it');
  expect(explainKey('budget', layers, merged)).toMatchObject({ value: { maxTokens: 3, maxCost: 3 } });
  expect(rows('budget').map(([name, , wins]) => [name, wins])).toEqual([
    ['flags', true],
    ['project', true],
    ['user', true],
  ]);
  expect(explainKey('language', layers, merged)).toMatchObject({ value: null, layers: [], why: 'no layer sets it' });
});

test('the layer of a place leaves out those that were refused', () => {
  const layers = [
    layer('user', { locked: ['notify.webhook'], notify: { webhook: 'a' } }),
    layer('project', { notify: { webhook: 'b', bell: true } }),
  ];
  const merged = mergeLayers(layers, YES);
  expect(layerOf(layers, ['notify', 'webhook'], merged)?.name).toBe('user');
  expect(layerOf(layers, ['notify', 'bell'], merged)?.name).toBe('project');
  expect(layerOf(layers, ['language'], merged)).toBeNull();
});
