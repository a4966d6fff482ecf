import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { check } from '../kernel/graph/check.ts';
import { resolve } from '../kernel/graph/resolve.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { compile, type Surroundings } from './compile.ts';
import { defineLoadout, placeText } from './define.ts';
import { readSource } from './source.ts';

const NOTHING: Surroundings = { materia: {} };

const BUGFIX = `
defaults: { runner: claude }
steps:
  - collect: { makes: items, tools: read }
  - each: collect
    do:
      - triage: { tools: read, reject: skip }
      - fix: { tools: write }
      - review: { tools: run, reject: { to: fix, max: 3, then: park } }
  - summary: { tools: read }
`;

async function compiled(text: string, around = NOTHING): Promise<JsonObject> {
  const source = readSource(text, 'yaml');
  if (!source.ok) throw new Error(JSON.stringify(source.mistakes));
  const result = compile('team', source.value, around);
  if (!result.ok) throw new Error(JSON.stringify(result.mistakes));
  return result.config;
}

async function loadoutOf(text: string): Promise<JsonObject> {
  const { loadouts } = (await compiled(text)) as { loadouts: { team: JsonObject } };
  return loadouts.team;
}

async function mistakesIn(text: string, around = NOTHING): Promise<string[]> {
  const source = readSource(text, 'yaml');
  if (!source.ok) return source.mistakes.map(({ line, message }) => `${line}: ${message}`);
  const result = compile('team', source.value, around);
  if (result.ok) return [];
  return result.mistakes.map(
    ({ code, place, message }) => `${source.positionOf(place).line} ${code} ${placeText(place)}: ${message}`,
  );
}

test('a team that triages, fixes and reviews each item', async () => {
  const advance = { cursor: 'workItemIndex', items: 'state.workItems' };
  expect(await loadoutOf(BUGFIX)).toEqual({
    entry: 'Socket-1',
    sockets: {
      'Socket-1': {
        label: 'collect',
        materia: 'collect',
        parse: 'json',
        assign: { workItems: '$.workItems' },
        edges: [{ when: 'always', to: 'Socket-2' }],
      },
      'Socket-2': {
        label: 'triage',
        materia: 'triage',
        parse: 'json',
        advance: { ...advance, when: 'not_satisfied' },
        edges: [
          { when: 'satisfied', to: 'Socket-3' },
          { when: 'always', to: 'Socket-2' },
        ],
      },
      'Socket-3': { label: 'fix', materia: 'fix', parse: 'text', edges: [{ when: 'always', to: 'Socket-4' }] },
      'Socket-4': {
        label: 'review',
        materia: 'review',
        parse: 'json',
        advance: { ...advance, when: 'satisfied' },
        edges: [
          { when: 'satisfied', to: 'Socket-2' },
          { when: 'not_satisfied', to: 'Socket-3', maxTraversals: 3, then: 'park' },
        ],
      },
      'Socket-5': { label: 'summary', materia: 'summary', parse: 'text' },
    },
    loops: {
      'each-collect': {
        sockets: ['Socket-2', 'Socket-3', 'Socket-4'],
        consumes: { from: 'Socket-1', output: 'workItems' },
        exits: [
          { id: 'exit:Socket-2:always', from: 'Socket-2', condition: 'always', targetSocketId: 'Socket-5' },
          { id: 'exit:Socket-4:always', from: 'Socket-4', condition: 'always', targetSocketId: 'Socket-5' },
        ],
      },
    },
  });
  const agent = { type: 'agent', runner: 'claude' };
  expect((await compiled(BUGFIX)).materia).toEqual({
    collect: { ...agent, promptFile: 'prompts/collect.md', tools: 'readOnly', generator: true },
    triage: { ...agent, promptFile: 'prompts/triage.md', tools: 'readOnly' },
    fix: { ...agent, promptFile: 'prompts/fix.md', tools: 'coding' },
    review: { ...agent, promptFile: 'prompts/review.md', tools: 'readAndRun' },
    summary: { ...agent, promptFile: 'prompts/summary.md', tools: 'readOnly' },
  });
});

test.each<[string, string, Readonly<Record<string, Json | undefined>>]>([
  ['a step leads to the following one', 'steps: [a, b]', { edges: [{ when: 'always', to: 'Socket-2' }] }],
  ['the last step leads nowhere', 'steps: [a]', { edges: undefined }],
  ['`next` names another', 'steps: [{ a: { next: c } }, b, c]', { edges: [{ when: 'always', to: 'Socket-3' }] }],
  ['`next: end` ends', 'steps: [{ a: { next: end } }, b]', { edges: [{ when: 'always', to: 'end' }] }],
  [
    'a rejection forwards has no bound',
    'steps: [{ a: { reject: c } }, b, c]',
    {
      parse: 'json',
      edges: [
        { when: 'satisfied', to: 'Socket-2' },
        { when: 'not_satisfied', to: 'Socket-3' },
      ],
    },
  ],
  [
    'a rejection to itself has one',
    'steps: [{ a: { reject: a } }]',
    { edges: [{ when: 'not_satisfied', to: 'Socket-1', maxTraversals: 3 }] },
  ],
  [
    'a bound and what follows are copied',
    'steps: [{ a: { reject: { to: b, max: 2, then: ask } } }, b]',
    {
      edges: [
        { when: 'satisfied', to: 'Socket-2' },
        { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 2, then: 'ask' },
      ],
    },
  ],
  ['an agent that reports', 'steps: [{ a: { answers: gaia } }]', { contract: 'gaia' }],
  ['an agent with a result', 'steps: [{ a: { answers: operator } }]', { contract: 'operator' }],
  [
    'limits of a step',
    'steps: [{ a: { timeout: 90s, lock: [src], check: [test] } }]',
    {
      limits: { timeoutMs: 90_000 },
      lockScope: ['src'],
      checkers: ['test'],
    },
  ],
  ['a limit for all', 'defaults: { timeout: 2h }\nsteps: [a]', { limits: { timeoutMs: 7_200_000 } }],
  ['own fields', 'steps: [{ a: { x_team: [1] } }]', { x_team: [1] }],
])('%s', async (_, text, socket) => {
  const { sockets } = (await loadoutOf(text)) as { sockets: Record<string, JsonObject> };
  for (const [field, value] of Object.entries(socket)) expect(sockets['Socket-1']?.[field]).toEqual(value);
});

test.each<[string, string, string, Json]>([
  ['a prompt in place', 'steps: [{ a: { prompt: Hi. } }]', 'a', { type: 'agent', tools: 'readOnly', prompt: 'Hi.' }],
  [
    'a command',
    'steps: [{ a: { run: [npm, test], once: true } }]',
    'a',
    { type: 'utility', command: ['npm', 'test'], once: true },
  ],
  [
    'a built-in utility',
    'steps: [{ a: { use: vcs.detect } }]',
    'a',
    { type: 'utility', utility: 'vcs.detect', parse: 'json' },
  ],
  [
    'a shipped script',
    'steps: [{ a: { use: Detect-VCS } }]',
    'a',
    {
      type: 'utility',
      script: { kind: 'shippedUtility', name: 'Detect-VCS' },
      parse: 'json',
    },
  ],
  [
    'an agent that talks and runs once',
    'steps: [{ a: { talk: true, once: true } }]',
    'a',
    {
      type: 'agent',
      promptFile: 'prompts/a.md',
      tools: 'readOnly',
      onCrash: 'wait',
      multiTurn: true,
    },
  ],
  [
    'its own choice before the default',
    'defaults: { tools: read, model: m }\nsteps: [{ a: { tools: write } }]',
    'a',
    {
      type: 'agent',
      promptFile: 'prompts/a.md',
      tools: 'coding',
      model: 'm',
    },
  ],
  [
    'an agent of the file',
    'agents: { r: { promptFile: p.md, tools: run } }\nsteps: [{ a: { agent: r } }, { b: { agent: r } }]',
    'r',
    {
      type: 'agent',
      promptFile: 'p.md',
      tools: 'readAndRun',
    },
  ],
  [
    'the agent of a later step',
    'steps: [{ a: { agent: b } }, b]',
    'b',
    { type: 'agent', promptFile: 'prompts/b.md', tools: 'readOnly' },
  ],
])('%s', async (_, text, id, materia) => {
  expect(((await compiled(text)).materia as JsonObject)[id]).toEqual(materia);
});

test('an agent of the file may be a command; its paths, limits and checkers are those of its steps', async () => {
  const text = `agents:
  suite: { run: [npm, test], timeout: 5m }
  coder: { tools: write, lock: [src], check: [unit] }
steps: [{ a: { agent: coder } }, { b: { agent: suite } }, { c: { agent: coder, lock: [docs] } }]`;
  const { materia, loadouts } = (await compiled(text)) as { materia: JsonObject; loadouts: Record<string, JsonObject> };
  expect(materia.suite).toEqual({ type: 'utility', command: ['npm', 'test'] });
  expect(Object.values(loadouts.team?.sockets ?? {})).toMatchObject([
    { lockScope: ['src'], checkers: ['unit'] },
    { limits: { timeoutMs: 300_000 } },
    { lockScope: ['docs'], checkers: ['unit'] },
  ]);
});

test('items side by side, a person who talks and one who is asked', async () => {
  const advance = { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' };
  const text = `steps:
  - plan: { makes: items, talk: true, tools: read }
  - each: plan
    parallel: 3
    do:
      - build: { tools: write, check: [test] }
      - review: { tools: run, reject: { to: build, max: 3, then: ask } }
  - integrate: { tools: write, lock: ["."] }
  - summary: { tools: read }
`;
  expect(await loadoutOf(text)).toEqual({
    entry: 'Socket-1',
    sockets: {
      'Socket-1': {
        ...{ label: 'plan', materia: 'plan', parse: 'json', assign: { workItems: '$.workItems' } },
        edges: [{ when: 'always', to: 'Socket-2' }],
      },
      'Socket-2': {
        ...{ label: 'build', materia: 'build', parse: 'text', checkers: ['test'] },
        edges: [{ when: 'always', to: 'Socket-3' }],
      },
      'Socket-3': {
        ...{ label: 'review', materia: 'review', parse: 'json', advance },
        edges: [
          { when: 'satisfied', to: 'Socket-2' },
          { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 3, then: 'ask' },
        ],
      },
      'Socket-4': {
        ...{ label: 'integrate', materia: 'integrate', parse: 'text', lockScope: ['.'] },
        edges: [{ when: 'always', to: 'Socket-5' }],
      },
      'Socket-5': { label: 'summary', materia: 'summary', parse: 'text' },
    },
    loops: {
      'each-plan': {
        sockets: ['Socket-2', 'Socket-3'],
        consumes: { from: 'Socket-1', output: 'workItems' },
        parallel: { maxConcurrency: 3 },
        exits: [{ id: 'exit:Socket-3:always', from: 'Socket-3', condition: 'always', targetSocketId: 'Socket-4' }],
      },
    },
  });
  expect((await compiled(text)).materia).toMatchObject({ plan: { multiTurn: true, generator: true } });
});

test('a loop at the end has no exits; items go side by side where it says so', async () => {
  const { loops } = await loadoutOf(
    'steps:\n  - plan\n  - each: plan\n    parallel: 3\n    do: [{ build: { answers: verdict } }]',
  );
  expect(loops).toEqual({
    'each-plan': {
      sockets: ['Socket-2'],
      consumes: { from: 'Socket-1', output: 'workItems' },
      parallel: { maxConcurrency: 3 },
    },
  });
});

test.each([
  ['steps: [{ fix: { tols: read } }]', '1 INVALID_CONFIG steps[0].fix.tols', 'tools'],
  ['step: [a]', '1 INVALID_CONFIG step', 'steps'],
  ['steps: [a, a]', '1 INVALID_CONFIG steps[1]', 'a step a already'],
  ['steps: [end]', '1 INVALID_CONFIG steps[0]', 'reserved'],
  ['steps: [Fix It]', '1 INVALID_CONFIG steps[0]', 'small letters'],
  ['steps: [{ a: {}, b: {} }]', '1 INVALID_CONFIG steps[0]', 'one name'],
  ['steps:\n  - fix: { next: revew }\n  - review', '2 UNKNOWN_ENDPOINT steps[0].fix.next', 'Did you mean review?'],
  ['steps: [{ a: { reject: skip } }]', '1 INVALID_LOOP steps[0].a.reject', 'Only a step of a loop'],
  ['steps: [{ a: { answers: verdict } }]', '1 INVALID_CONFIG steps[0].a.answers', 'Nothing follows'],
  ['steps: [{ a: { answers: text, reject: a } }]', '1 INVALID_CONFIG steps[0].a.answers', 'A text rejects nothing'],
  ['steps: [{ a: { run: [x], prompt: y } }]', '1 INVALID_CONFIG steps[0].a', 'one of prompt, run'],
  ['steps: [{ a: { run: [x], tools: read } }]', '1 INVALID_CONFIG steps[0].a.tools', 'runs no agent'],
  ['steps: [{ a: { agent: b2 } }, b]', '1 UNKNOWN_MATERIA steps[0].a.agent', 'b2'],
  ['steps: [{ each: plan, do: [b] }]', '1 UNKNOWN_ENDPOINT steps[0].each', 'no step plan'],
  ['steps: [{ each: b, do: [b] }]', '1 INVALID_LOOP steps[0].each', 'before the loop'],
  ['steps: [a, { each: a, do: [b] }, { each: a, do: [c] }]', '1 INVALID_LOOP steps[2].each', 'Two loops'],
  ['steps: [a, { each: a, do: [{ each: a, do: [b] }] }]', '1 INVALID_LOOP steps[1].do[0]', 'do not nest'],
  [
    'steps: [a, { each: a, do: [{ b: { next: end } }, c] }]',
    '1 INVALID_LOOP steps[1].do[0].b.next',
    'cannot lead to end',
  ],
  [
    'steps: [a, { each: a, do: [b, { c: { reject: skip } }] }]',
    '1 INVALID_LOOP steps[1].do[1].c.reject',
    'last step of a loop',
  ],
  [
    'steps: [a, { each: a, do: [b, { c: { answers: text } }] }]',
    '1 INVALID_LOOP steps[1].do[1].c.answers',
    'answers a verdict',
  ],
  ['steps: [a, { each: a, do: [b, c] }, { d: { reject: c } }]', '1 INVALID_LOOP steps[2].d.reject', 'inside the loop'],
  ['steps: [{ a: { reject: { to: b, then: ask } } }, b]', '1 INVALID_CONFIG steps[0].a.reject.then', 'Add `max`'],
  [
    'agents: { t: { run: [x] } }\nsteps: [{ a: { agent: t, tools: run } }]',
    '2 INVALID_CONFIG steps[0].a.tools',
    'runs no agent',
  ],
  [
    'agents: { t: { run: [x], model: m } }\nsteps: [{ a: { agent: t } }]',
    '1 INVALID_CONFIG agents.t.model',
    'no agent',
  ],
  ['agents: { t: { rnu: [x] } }\nsteps: [{ a: { agent: t } }]', '1 INVALID_CONFIG agents.t.rnu', 'did you mean run?'],
  [
    'steps: [a, { each: a, do: [{ b: { reject: { to: skip } } }, c] }]',
    '1 UNKNOWN_ENDPOINT steps[1].do[0].b.reject.to',
    'Write `reject: skip`',
  ],
  ['steps: [{ a: { timeout: 5 } }]', '1 INVALID_CONFIG steps[0].a.timeout', '10m'],
  [
    'agents: { r: { tools: run } }\nsteps: [{ a: { agent: r, tools: read } }]',
    '2 INVALID_CONFIG steps[0].a',
    'another tools',
  ],
])('%s is refused at its place', async (text, place, words) => {
  const found = await mistakesIn(text);
  expect(found).toHaveLength(1);
  expect(found[0]?.slice(0, place.length)).toBe(place);
  expect(found[0]).toContain(words);
});

test.each([
  ['steps: &x [a]', 'Anchors'],
  ['a: &x 1\nsteps: *x', 'not supported'],
  ['steps: !!set [a]', 'Tags'],
  ['a: { x: 1 }\nsteps:\n  - b:\n      <<: { tools: read }', 'Merge keys'],
  ['steps: [a]\nsteps: [b]', 'twice'],
  ['steps: [a]\n---\nsteps: [b]', 'one document'],
  ['steps: [', ''],
  ['', 'empty'],
  [`steps: [a]\n# ${'x'.repeat(65_536)}`, 'at most 65536'],
])('YAML that is not read: %.30s', async (text, words) => {
  const found = await mistakesIn(text);
  expect(found.length).toBeGreaterThan(0);
  expect(found[0]).toContain(words);
});

test('JSONC reads the same value, with comments, and refuses a name that is there twice', async () => {
  const source = readSource('// a team\n{ "steps": ["a", { "b": { "tools": "read", }, }, ] }', 'jsonc');
  expect(source).toMatchObject({ ok: true, value: { steps: ['a', { b: { tools: 'read' } }] } });
  if (source.ok) expect(source.positionOf(['steps', 1, 'b', 'tools'])).toEqual({ line: 2, column: 27 });
  expect(readSource('{ "steps": [], "steps": [] }', 'jsonc')).toMatchObject({
    ok: false,
    mistakes: [{ line: 1, column: 16, message: 'This name is in the object twice. Remove one.' }],
  });
});

test('what is compiled passes the checks of the long form', async () => {
  const config = await compiled(
    BUGFIX.replace(', then: park', '').replaceAll(/tools: (read|run|write)/g, (all) => `${all}, prompt: Do it.`),
  );
  expect(check(config).filter(({ level }) => level === 'error')).toEqual([]);
  expect(Object.keys(resolve(config, 'team').graph.sockets)).toHaveLength(5);
});

test('every example of the documentation compiles', async () => {
  const page = readFileSync(new URL('../../docs/short-form.md', import.meta.url), 'utf8');
  const examples = Array.from(page.matchAll(/```yaml\n([\s\S]*?)```/g), ([, text = '']) => text);
  expect(examples.length).toBeGreaterThan(2);
  for (const text of examples) expect([text, await mistakesIn(text)]).toEqual([text, []]);
});

test('the steps of a loadout in TypeScript are checked by type, and everything else when it is defined', () => {
  const file = defineLoadout({
    steps: ['plan', { each: 'plan', do: [{ fix: { tools: 'write', next: 'review' } }, 'review'] }],
  });
  expect(file.steps).toHaveLength(2);
  // @ts-expect-error there is no step `reviw`
  expect(() => defineLoadout({ steps: ['plan', { fix: { next: 'reviw' } }] })).toThrow(
    'steps[1].fix.next: There is no step reviw',
  );
  // @ts-expect-error `tols` is no option
  expect(() => defineLoadout({ steps: [{ fix: { tols: 'write' } }] })).toThrow('steps[0].fix.tols');
});

const TYPED = `import { defineLoadout } from 'baton-run';

const lanes: number = 3;

export default defineLoadout({
  steps: [
    'plan',
    { each: 'plan', parallel: lanes, do: [{ build: { tools: 'write' } }, { review: { reject: 'build' } }] },
  ],
});
`;

test('a file in TypeScript is run, and says the same as one in YAML', () => {
  const source = readSource(TYPED, 'ts');
  const steps = [
    'plan',
    { each: 'plan', parallel: 3, do: [{ build: { tools: 'write' } }, { review: { reject: 'build' } }] },
  ];
  expect(source).toMatchObject({ ok: true, value: { steps } });
  if (!source.ok) return;
  expect(source.positionOf(['steps', 1, 'do', 1, 'review', 'reject'])).toEqual({ line: 8, column: 86 });
  expect(source.positionOf(['steps', 0])).toEqual({ line: 6, column: 3 });
});

test.each<[string, string, string]>([
  ['a name that is not known', 'const a = 1;\nb();\nexport default {};', '2 b is not defined'],
  ['text that is no TypeScript', 'export default {', '1 Unexpected token'],
  ['no default export', 'export const steps = [];', '1 It has no default export'],
  ['an early end', 'process.exit(0);', '1 It ended before it exported a loadout'],
  ['another module', "import 'node:fs';\nexport default {};", 'imports node:fs'],
  ['another module, later', "export default await import('node:child_process');", 'imports node:child_process'],
  [
    'a module of Node by another way',
    "export default process.getBuiltinModule('fs').readdirSync('/');",
    'not a function',
  ],
  ['the network', "export default await fetch('http://127.0.0.1:9');", 'fetch is not defined'],
  ['too long a text', `export default {}; // ${'x'.repeat(65_536)}`, 'at most 65536'],
])('a file in TypeScript with %s is refused', (_what, text, words) => {
  const source = readSource(text, 'ts');
  expect(source.ok).toBe(false);
  if (!source.ok) expect(source.mistakes.map(({ line, message }) => `${line} ${message}`).join('; ')).toContain(words);
});

test('a file in TypeScript sees nothing of our environment', () => {
  process.env.BATON_TEST_SECRET = 'hidden';
  const source = readSource('export default { steps: [], description: JSON.stringify(process.env) };', 'ts');
  delete process.env.BATON_TEST_SECRET;
  expect(source).toMatchObject({ ok: true, value: { description: '{}' } });
});

test('layout says by name where steps are drawn, and nothing else', async () => {
  const text = 'steps: [plan, build]\nlayout: { build: { x: 10, y: -20.5 } }';
  expect(await loadoutOf(text)).toMatchObject({ layout: { sockets: { 'Socket-2': { x: 10, y: -20.5 } } } });
  expect(await mistakesIn('steps: [plan, build]\nlayout: { biuld: { x: 1, y: 2 } }')).toEqual([
    '2 UNKNOWN_ENDPOINT layout.biuld: There is no step biuld. Did you mean build? There are: plan, build.',
  ]);
  expect(await mistakesIn('steps: [plan]\nlayout: { plan: { x: 1 } }')).toEqual([
    expect.stringContaining('INVALID_CONFIG layout.plan.y'),
  ]);
});
