import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { check } from './check.ts';
import { software } from './fixtures/software.ts';

const agent = (edits: Record<string, Json>): Json => ({ tools: 'none', prompt: 'Do it.', ...edits });
const utility = (edits: Record<string, Json>): Json => ({ type: 'utility', utility: 'noop', ...edits });

// Each row: the rule, a definition of the materia X, and every issue that follows.
const rows: [rule: string, materia: Json, issues: string[]][] = [
  ['an agent needs a prompt and tools', agent({}), []],
  [
    'an agent may say more',
    agent({
      type: 'agent',
      label: 'X',
      description: 'd',
      group: 'g',
      color: 'c',
      model: 'm',
      thinking: 'xhigh',
      multiTurn: true,
      identity: 'builder',
      runner: 'codex',
      onCrash: 'wait',
      timeoutMs: 1,
      parse: 'json',
      assign: { a: '$.b' },
      generator: true,
      parallel: true,
      parallelSafe: false,
      schema: {},
      contract: 'operator',
      lockScope: ['src'],
      lockState: 'locked',
      catalogOrigin: {},
      x_own: 1,
    }),
    [],
  ],
  ['a utility may say more', utility({ params: {}, timeoutMs: 5, assign: { a: '$' }, parse: 'json', once: true }), []],
  ['a command makes a utility', { command: ['node', './x.mjs'] }, []],
  ['a shipped script makes a utility', { script: { kind: 'shippedUtility', name: 'Detect-VCS', runtime: 'node' } }, []],

  ['a materia is an object', 7, ['INVALID_MATERIA ']],
  ['`systemPrompt` is obsolete', agent({ systemPrompt: 'x' }), ['INVALID_MATERIA .systemPrompt']],
  ['`generates` is obsolete', agent({ generates: {} }), ['INVALID_MATERIA .generates']],
  ['`generates: null` says nothing', agent({ generates: null }), []],
  ['`type` is agent or utility', agent({ type: 'robot' }), ['INVALID_MATERIA .type']],
  ['an agent has a prompt', { tools: 'none' }, ['INVALID_MATERIA .prompt']],
  ['a prompt is not blank', agent({ prompt: ' ' }), ['INVALID_MATERIA .prompt']],
  ['a prompt is text', agent({ prompt: 3 }), ['INVALID_MATERIA .prompt']],
  ['a prompt may stand in a file', { tools: 'none', promptFile: 'build.md' }, []],
  ['a prompt stands in one place', agent({ promptFile: 'build.md' }), ['INVALID_MATERIA .promptFile']],
  ['an agent has tools', { prompt: 'x' }, ['INVALID_MATERIA .tools']],
  ['tools are a known scope', agent({ tools: 'all' }), ['INVALID_MATERIA .tools']],
  ['custom tools are named', agent({ tools: { type: 'custom', tools: ['read', 3] } }), ['INVALID_MATERIA .tools']],
  ['tools may be custom', agent({ tools: { type: 'custom', tools: ['read'] } }), []],
  ['`model` is a string', agent({ model: 4 }), ['INVALID_MATERIA .model']],
  ['`thinking` is a known level', agent({ thinking: 'hard' }), ['INVALID_MATERIA .thinking']],
  ['`multiTurn` is a boolean', agent({ multiTurn: 'yes' }), ['INVALID_MATERIA .multiTurn']],
  ['`generator` is a boolean', agent({ generator: 'yes' }), ['INVALID_MATERIA .generator']],
  ['`parallel` is a boolean', agent({ generator: true, parallel: 2 }), ['INVALID_MATERIA .parallel']],
  ['`parallelSafe` is a boolean', agent({ parallelSafe: 1 }), ['INVALID_MATERIA .parallelSafe']],
  ['only a generator is parallel', agent({ parallel: true }), ['INVALID_MATERIA .parallel']],
  ['`parse` is text or json', agent({ parse: 'xml' }), ['INVALID_MATERIA .parse']],
  ['`timeoutMs` is a positive whole number', utility({ timeoutMs: 0 }), ['INVALID_MATERIA .timeoutMs']],
  ['`lockState` is locked or unlocked', agent({ lockState: 'open' }), ['INVALID_MATERIA .lockState']],
  ['`catalogOrigin` is an object', agent({ catalogOrigin: 'x' }), ['INVALID_MATERIA .catalogOrigin']],
  ['`runner` is known', agent({ runner: 'bash' }), ['INVALID_MATERIA .runner']],
  [
    'an agent may say how its runner is used',
    agent({
      ...{ system: 'Be brief.', env: ['MY_KEY'], args: ['--x', ''], baseUrl: 'http://127.0.0.1:1/v1', model: 'm' },
      fallbacks: [{ model: 'n' }, { runner: 'codex' }, { runner: 'openai', model: 'o', baseUrl: 'https://x' }],
    }),
    [],
  ],
  ['a template makes an agent', agent({ runner: 'command', command: ['a', ['-m', '{{model}}'], '{{prompt}}'] }), []],
  [
    'a slot that nothing fills is named',
    agent({ runner: 'command', command: ['a', ['-m', '{{modl}}'], '{{.Name}}'] }),
    ['INVALID_MATERIA .command'],
  ],
  ['the runner command needs one', agent({ runner: 'command' }), ['INVALID_MATERIA .command']],
  [
    'the program of a template is not optional',
    agent({ runner: 'command', command: [['a']] }),
    ['INVALID_MATERIA .command'],
  ],
  ['`system` is a text', agent({ system: ' ' }), ['INVALID_MATERIA .system']],
  ['`env` lists names, not values', agent({ env: ['A=1'] }), ['INVALID_MATERIA .env']],
  ['a utility may list them too', { type: 'utility', command: ['x'], env: ['MY_KEY'] }, []],
  ['`args` is a list', agent({ args: '--x' }), ['INVALID_MATERIA .args']],
  ['`baseUrl` is an address', agent({ baseUrl: 'localhost:11434' }), ['INVALID_MATERIA .baseUrl']],
  [
    '`baseUrl` holds no credential',
    agent({ baseUrl: 'https://ann:hunter2@h/v1', fallbacks: [{ model: 'm', baseUrl: 'http://ann@h' }] }),
    ['INVALID_MATERIA .baseUrl', 'INVALID_MATERIA .fallbacks[0].baseUrl', 'COMMAND_HOLDS_SECRET .baseUrl'],
  ],
  ['an @ behind the host is none', agent({ baseUrl: 'https://h/v1/@ann:x' }), []],
  ['a fallback names something', agent({ fallbacks: [{}] }), ['INVALID_MATERIA .fallbacks']],
  ['a fallback is on a known runner', agent({ fallbacks: [{ runner: 'gpt' }] }), ['INVALID_MATERIA .fallbacks']],
  ['a fallback has an address', agent({ fallbacks: [{ model: 'm', baseUrl: 'x' }] }), ['INVALID_MATERIA .fallbacks']],
  ['a model has no tools', agent({ runner: 'openai', model: 'm', tools: 'coding' }), ['INVALID_MATERIA .tools']],
  [
    'a model that stands in has none either',
    agent({ tools: 'coding', fallbacks: [{ runner: 'codex' }, { runner: 'openai', model: 'm' }] }),
    ['INVALID_MATERIA .fallbacks[1].runner'],
  ],
  [
    'that a model has no tools is said once',
    agent({ runner: 'openai', model: 'm', tools: 'coding', fallbacks: [{ model: 'n' }] }),
    ['INVALID_MATERIA .tools'],
  ],
  ['a model is named', agent({ runner: 'openai', tools: 'none' }), ['INVALID_MATERIA .model']],
  ['a blank model is none', agent({ runner: 'anthropic', tools: 'none', model: ' ' }), ['INVALID_MATERIA .model']],
  [
    'a fallback on a model names it',
    agent({ fallbacks: [{ runner: 'codex' }, { runner: 'openai' }] }),
    ['INVALID_MATERIA .fallbacks[1].model'],
  ],
  ['a fallback has a known wire', agent({ fallbacks: [{ model: 'm', wire: 'x' }] }), ['INVALID_MATERIA .fallbacks']],
  [
    'a fallback can be called',
    agent({ fallbacks: [{ runner: 'command' }, { runner: 'scripted' }, { runner: 'person' }] }),
    [0, 1].map((index) => `INVALID_MATERIA .fallbacks[${index}].runner`),
  ],
  [
    'the wire is a known one, the key a name',
    agent({ runner: 'openai', model: 'm', tools: 'none', wire: 'telex', keyVariable: 'sk-1 2' }),
    ['INVALID_MATERIA .wire', 'INVALID_MATERIA .keyVariable'],
  ],
  ['a folder below the workspace', agent({ cwd: 'packages/api..v2' }), []],
  ['a utility works in one too', utility({ cwd: './sub' }), []],
  ['`cwd` does not lead up', agent({ cwd: 'a/../..' }), ['INVALID_MATERIA .cwd']],
  ['`cwd` does not lead elsewhere', utility({ cwd: '/tmp' }), ['INVALID_MATERIA .cwd']],
  ['`cwd` is no template', agent({ cwd: 'packages/{{item.name}}' }), ['INVALID_MATERIA .cwd']],
  ['only a model has a key', agent({ keyVariable: 'MY_KEY' }), ['INVALID_MATERIA .keyVariable']],
  ['a model works nowhere', agent({ runner: 'openai', model: 'm', tools: 'none', cwd: 'a' }), ['INVALID_MATERIA .cwd']],
  ['a person has no model', agent({ runner: 'person', model: 'm' }), ['INVALID_MATERIA .model']],
  ['`mcp` is true or false', agent({ mcp: 'no' }), ['INVALID_MATERIA .mcp']],
  ['`onCrash` is rerun or wait', agent({ onCrash: 'retry' }), ['INVALID_MATERIA .onCrash']],
  ['`identity` is a name', agent({ identity: '' }), ['INVALID_MATERIA .identity']],
  ['`contract` is one of four', agent({ contract: 'xml' }), ['INVALID_MATERIA .contract']],
  ['`schema` is an object or a file name', agent({ schema: [] }), ['INVALID_MATERIA .schema']],
  ['a contract decides how it is parsed', agent({ contract: 'gaia', parse: 'text' }), ['INVALID_MATERIA .parse']],
  ['assignments are paths', agent({ assign: { 'a.__proto__': '$' } }), ['INVALID_MATERIA .assign.a.__proto__']],
  ['an agent executes nothing', agent({ type: 'agent', command: ['ls'] }), ['INVALID_MATERIA .command']],

  ['a utility has no prompt', utility({ prompt: 'x' }), ['INVALID_MATERIA .prompt']],
  ['a utility executes something', { type: 'utility', params: { output: 'x' } }, ['INVALID_MATERIA .utility']],
  ['a utility executes one thing', utility({ command: ['ls'] }), ['INVALID_MATERIA .command']],
  ['an alias is a name', { type: 'utility', utility: '' }, ['INVALID_MATERIA .utility']],
  ['a command is not empty', { command: [] }, ['INVALID_MATERIA .command']],
  ['a command is a list, never a line for a shell', { command: 'rm -rf x' }, ['INVALID_MATERIA .command']],
  ['the parts of a command are not blank', { command: ['ls', ''] }, ['INVALID_MATERIA .command']],
  ['a script is a shipped one', { script: { kind: 'file', name: 'x' } }, ['INVALID_MATERIA .script']],
  [
    'a script runs on node',
    { script: { kind: 'shippedUtility', name: 'x', runtime: 'deno' } },
    ['INVALID_MATERIA .script'],
  ],
  ['`params` is an object', utility({ params: [] }), ['INVALID_MATERIA .params']],
  ['`once` is a boolean', utility({ once: 1 }), ['INVALID_MATERIA .once']],
  ['`writes` is a list of files', utility({ writes: [1] }), ['INVALID_MATERIA .writes']],
  ['`writes` may name files', utility({ writes: ['.gitignore'] }), []],

  ['a generator returns JSON', agent({ generator: true, parse: 'text' }), ['INVALID_GENERATOR .parse']],
  ['a generator does not speak gaia', agent({ generator: true, contract: 'gaia' }), ['INVALID_GENERATOR .contract']],
  ['a generator does not speak text', agent({ generator: true, contract: 'text' }), ['INVALID_GENERATOR .contract']],
  [
    'a generator takes workItems from its output',
    agent({ generator: true, assign: { workItems: 'state.other' } }),
    ['INVALID_GENERATOR .assign.workItems'],
  ],
  ['unknown fields are pointed out', agent({ promt: 'x' }), ['INVALID_CONFIG .promt']],
];

test.each(rows)('%s', (_rule, materia, issues) => {
  const found = check(software({ 'materia.X': materia }));
  expect(found.map(({ code, path }) => `${code} ${path.replace('materia.X', '')}`)).toEqual(issues);
});

test.each([
  ['promt', 'error', 'Did you mean prompt?'],
  ['edge', 'warning', 'Correct its name'],
  ['comment', 'warning', 'Correct its name'],
])('the unknown field %s is found: %s', (field, level, fix) => {
  const [issue] = check(software({ 'materia.X': agent({ [field]: 'x' }) }));
  expect([issue?.level, issue?.message]).toEqual([level, expect.stringContaining(fix)]);
});

test.each(['', '__proto__'])('%j is no id of a materia', (id) => {
  const config = { ...software(), materia: JSON.parse(`{"${id}": {"tools": "none", "prompt": "x"}}`) };
  expect(check(config)[0]).toMatchObject({ code: 'INVALID_MATERIA', path: `materia.${id}` });
});
