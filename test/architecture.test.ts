// Holds the borders of the architecture: what may import what, what the kernel may not touch, and what no file is called.
// It reads the sources as text, with comments and the contents of strings taken out.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { importsOf, programs, ROOT, scan, shapeOf, targetOf } from './sources.ts';

/** What the files of a folder may import besides its own: folders or files of `src`, packages, and modules of Node. */
type Border = { readonly src: readonly string[]; readonly npm: readonly string[]; readonly node: boolean };

const PORTS = ['engine/ports.ts', 'engine/ports.ts'];

/** From the inside to the outside. Whoever adds a folder says here what it may see. */
const BORDERS: Readonly<Record<string, Border>> = {
  kernel: { src: [], npm: [], node: false },
  dialects: { src: ['kernel'], npm: ['ajv', 'secure-json-parse'], node: false },
  /** Who may hand to whom: registries, envelopes and what is attested of them. */
  trust: {
    src: ['kernel', 'dialects/json-text.ts', 'dialects/json-answer.ts'],
    npm: ['canonicalize'],
    node: true,
  },
  /** Every kind of payload by its name: what checks it, and its published schema. */
  contracts: { src: ['kernel', 'dialects', 'trust'], npm: [], node: false },
  engine: { src: ['kernel'], npm: [], node: true },
  log: { src: ['kernel', ...PORTS], npm: [], node: true },
  audit: { src: ['kernel', 'log', ...PORTS, 'access/user-folder.ts'], npm: [], node: true },
  access: { src: ['kernel', 'log', 'agents'], npm: [], node: true },
  /** The one place that runs git. */
  git: { src: ['kernel', 'access/user-folder.ts'], npm: [], node: true },
  utilities: { src: ['kernel', 'git'], npm: [], node: true },
  // Settings of Gemini CLI may hold comments.
  agents: { src: ['kernel', 'utilities', ...PORTS], npm: ['jsonc-parser'], node: true },
  /** Lines of shell: what they run, where they write, and which of that is dangerous. */
  shell: { src: ['kernel'], npm: [], node: true },
  /** Sealed permissions: how risky a command is, and who asks, by the actor name of the log. */
  approvals: {
    src: ['kernel', 'engine', 'git', 'access', 'agents/environment.ts', 'shell', 'workspace/sections.ts'],
    npm: [],
    node: true,
  },
  /** A loadout as people write it: read from text and compiled to the long form. */
  'short-form': { src: ['kernel'], npm: ['yaml', 'jsonc-parser'], node: true },
  /** The model of the loadout editor. It runs in a browser, so it sees only what is pure of the short form. */
  editor: {
    src: ['kernel', 'dialects', 'short-form/compile.ts', 'short-form/table.ts', 'short-form/read-text.ts'],
    npm: ['yaml', 'jsonc-parser'],
    node: false,
  },
  workspace: {
    src: [
      ...['kernel', 'short-form', 'editor', 'dialects', 'trust', 'git', 'log', 'shell'],
      ...['approvals/seal.ts', 'approvals/seal-request.ts'],
      'agents/inside-attempt.ts',
      'utilities/detect-project.ts',
      'access/user-folder.ts',
      ...PORTS,
    ],
    npm: ['ajv'],
    node: true,
  },
  /** The HTTP server: routes, streams, the page and MCP on one listener. */
  server: {
    src: [
      'kernel',
      'app',
      'mcp',
      'access',
      'engine/ports.ts',
      'log/filed-under.ts',
      ...['agents/live-watch.ts', 'agents/process/process-identity.ts', 'workspace/locate.ts'],
    ],
    npm: ['hono', '@hono/node-server', '@modelcontextprotocol/sdk'],
    node: true,
  },
  /** What people look at, made from entries. It runs in a browser, too, so it is as pure as the kernel. */
  'app/views': { src: ['kernel'], npm: [], node: false },
  /** The use cases: who may, what was given, and what is done. No arguments, no output, no exit codes. */
  app: {
    src: [
      ...['kernel', 'dialects', 'engine', 'log', 'agents', 'utilities', 'git', 'workspace', 'access', 'audit'],
      ...['trust', 'contracts', 'shell', 'approvals', 'hooks', 'editor'],
    ],
    npm: [],
    node: true,
  },
  mcp: {
    src: ['kernel', 'dialects', 'app', ...PORTS, 'agents', 'access', 'approvals/approval-view.ts'],
    npm: ['@modelcontextprotocol/sdk'],
    node: true,
  },
  /** For programs that use the library: a workspace whose methods are the operations. */
  api: {
    src: ['kernel', 'workspace/locate.ts', 'access', 'app'],
    npm: [],
    node: true,
  },
  /** For programs that use a server. It runs in browsers, too: of other folders it takes types and how a verdict is made. */
  client: {
    src: ['kernel', 'api/methods.ts', 'app', 'engine/ports.ts'],
    npm: [],
    node: false,
  },
  hooks: {
    src: [
      ...['kernel', 'dialects', 'contracts', 'engine', 'log', 'workspace', 'shell', 'approvals', 'access/actor.ts'],
      ...['access/attempt.ts', 'agents/pi-guard.ts'],
    ],
    npm: ['jsonc-parser'],
    node: true,
  },
  /** What users' own tests may use: a model without a network. */
  testing: { src: ['kernel'], npm: [], node: true },
  cli: { src: ['*'], npm: ['@modelcontextprotocol/sdk'], node: true },
  /** Files right in `src`: what the package gives to others. */
  '': {
    src: [
      'kernel',
      'dialects',
      'trust',
      'contracts',
      'engine',
      'log',
      'agents',
      'utilities',
      'workspace',
      'short-form',
      'api',
      'app/views',
    ],
    npm: [],
    node: false,
  },
};

/** What crosses a border all the same, and why. An entry that is not needed any more fails the test. */
const CROSSINGS: Readonly<Record<string, string>> = {
  'dialects/json-text.ts imports node:module':
    'loads the guard against poisoned prototypes for the first text that needs it',
  'dialects/user-schema.ts imports node:module': 'loads the validator library when the first schema is used',
  'dialects/user-schema.ts imports node:vm': 'runs the patterns of a schema where they can be stopped',
  'engine/store-worker.ts imports dialects/index.ts': 'the program of the worker thread: it puts the parts together',
  'engine/store-worker.ts imports log/sqlite/log.ts': 'the program of the worker thread: it puts the parts together',
  'engine/store-worker.ts imports workspace/find-links.ts':
    'the program of the worker thread: it puts the parts together',
  'engine/lease.ts imports agents/process/process-identity.ts':
    'whether a process lives is asked of the system in one place',
  'engine/heartbeat.ts imports agents/process/process-identity.ts':
    'what a process does is asked of the system in one place',
  'engine/worker-store.ts imports ../bin/own-sources.cjs':
    'a thread of its own needs the same way to its sources as the main one',
  'utilities/index.ts imports ../bin/own-sources.cjs':
    'the process of a shipped utility needs the same way to its sources as the main one',
  'utilities/utility.ts imports agents/process/utility-protocol.ts': 'the type of the message a utility gets',
};

/** A clock, chance, timers, the outside world, and what differs from machine to machine. */
const IMPURE: readonly (readonly [string, RegExp])[] = [
  ['Date.now', /\bDate\s*\.\s*now\b/],
  ['Date without an argument', /\bDate\s*\(\s*\)|\bnew\s+Date\b(?!\s*\()/],
  ['Math.random', /\bMath\s*\.\s*random\b/],
  ['a timer', /(?<![.\w])(?:set|clear)(?:Timeout|Interval|Immediate)\b|(?<![.\w])queueMicrotask\b/],
  ['the outside', /(?<![.\w])(?:process|crypto|performance|fetch|console|globalThis|require|Buffer)\b(?!\s*:)/],
  ['import.meta', /\bimport\s*\.\s*meta\b/],
  ['the locale', /\.\s*(?:localeCompare|toLocale\w*)\b|(?<![.\w])Intl\b/],
];

/** The names of dialects and runners that mean nothing else. The rules ask `capabilities.ts` for an ability and never for these. */
const NAMES = ['gaia', 'operator', 'governed', 'claude', 'codex', 'pi', 'openai', 'anthropic'];
const NAMELESS = /^(?:kernel|engine|app)\//;
/** Where such a word is a name of something else. */
const NAMED: readonly string[] = [
  'kernel/capabilities.ts',
  'app/operations/people.ts', // an example of a role
];
/** A question for a dialect or a runner by its name. */
const BY_NAME =
  /\b(?:runner|contract|dialect)\s*[!=]==\s*"(\d+)"|"(\d+)"\s*[!=]==\s*[\w.]*\b(?:runner|contract|dialect)\b/;

const DRAWERS = /^(?:utils?|helpers?|commons?|types?|misc|shared)$/;

const PURE: readonly string[] = ['kernel', 'app/views', 'editor'];

/** The folder whose border holds for a file of `src`. */
function folderOf(path: string): string {
  if (path.startsWith('app/views/')) return 'app/views';
  return path.includes('/') ? (path.split('/')[0] ?? '') : '';
}

/** Everything a source file does that its place forbids. `path` is relative to `src`. */
function violationsIn(path: string, source: string): string[] {
  const folder = folderOf(path);
  const border = BORDERS[folder];
  if (!border) return [`${path} lies in a folder without a border`];
  const { code, strings } = scan(source);
  const forbidden = [...new Set(importsOf(code, strings))]
    .map((specifier) => targetOf(path, specifier))
    .filter((target) => !isAllowed(path, target, folder, border))
    .map((target) => `${path} imports ${target}`);
  const impure = PURE.includes(folder) ? IMPURE.filter(([, pattern]) => pattern.test(code)) : [];
  const isNameless = NAMELESS.test(path) && !NAMED.includes(path);
  const named = isNameless ? NAMES.filter((name) => strings.includes(name)) : [];
  const asks = isNameless && BY_NAME.test(code) ? [`${path} asks for a dialect or runner by its name`] : [];
  return [
    ...forbidden,
    ...impure.map(([what]) => `${path} uses ${what}`),
    ...named.map((name) => `${path} names ${name}`),
    ...asks,
  ];
}

function isAllowed(path: string, target: string, folder: string, { src, npm, node }: Border): boolean {
  // Only the adapter knows its database.
  if (target === 'node:sqlite') return path.startsWith('log/sqlite/');
  if (target.startsWith('node:')) return node;
  if (target.startsWith('..')) return false;
  if (!/\.(?:ts|js|json)$/.test(target)) return npm.includes(target);
  const its = folderOf(target);
  const names = ['*', its, its.split('/')[0] ?? '', target];
  return its === folder || its.startsWith(`${folder}/`) || names.some((name) => src.includes(name));
}

test.each<[string, string, string, string[]]>([
  ['the kernel sees itself', 'kernel/a/b.ts', `import { x } from '../c.ts'; export { y } from './d.ts';`, []],
  [
    'the kernel sees no dialect',
    'kernel/a.ts',
    `import type { X } from '../dialects/x.ts';`,
    ['imports dialects/x.ts'],
  ],
  ['the kernel names no runner', 'kernel/a.ts', `const RUNNERS = ['claude'];`, ['names claude']],
  [
    'the kernel asks for an ability',
    'kernel/a.ts',
    `if (contract === 'text') return;`,
    ['asks for a dialect or runner by its name'],
  ],
  ['the kernel sees no package', 'kernel/a.ts', `import Ajv from 'ajv/dist/2020.js';`, ['imports ajv']],
  ['the kernel sees no Node', 'kernel/a.ts', `import { hash } from 'node:crypto';`, ['imports node:crypto']],
  ['the adapter knows its database', 'log/sqlite/a.ts', `import { DatabaseSync } from 'node:sqlite';`, []],
  ['nothing else does', 'audit/a.ts', `import type { X } from 'node:sqlite';`, ['imports node:sqlite']],
  [
    'an import may be spread over lines',
    'kernel/a.ts',
    `import {\n  x,\n} from\n  "../log/x.ts";`,
    ['imports log/x.ts'],
  ],
  ['an export is an import', 'kernel/a.ts', `export * from '../engine/x.ts';`, ['imports engine/x.ts']],
  ['a late import is one', 'kernel/a.ts', `const x = await import('../cli/x.ts');`, ['imports cli/x.ts']],
  ['the type of a module is one', 'kernel/a.ts', `type X = import('../log/x.ts').X;`, ['imports log/x.ts']],
  ['an import for its effect is one', 'kernel/a.ts', `import '../log/x.ts';`, ['imports log/x.ts']],
  [
    'a file beside it is one',
    'kernel/a.ts',
    `new URL('../log/x.ts', import.meta.url)`,
    ['imports log/x.ts', 'uses import.meta'],
  ],
  ['a comment is none', 'kernel/a.ts', `// import x from '../log/x.ts'\n/* Date.now() */`, []],
  ['a text is none', 'kernel/a.ts', `const a = "import x from '../log/x.ts'"; const b = 'Date.now()';`, []],
  ['nor is a pattern', 'kernel/a.ts', `const a = /[/'"]process/; const b = 1 / 2; const c = 'x';`, []],
  [
    'an expression in a template is code',
    'kernel/a.ts',
    'const a = `console §{{ b: Date.now() }.b} fetch §{from} "x"`;',
    ['uses Date.now'],
  ],
  ['what follows a template too', 'kernel/a.ts', 'const a = `§{b}\\``; Math.random();', ['uses Math.random']],
  [
    'dialects see the kernel and their packages',
    'dialects/a/b.ts',
    `import a from '../../kernel/a.ts'; import b from 'ajv/dist/2020.js'; import c from 'secure-json-parse';`,
    [],
  ],
  ['dialects see no engine', 'dialects/a/b.ts', `import a from '../../engine/ports.ts';`, ['imports engine/ports.ts']],
  ['dialects see no other package', 'dialects/a.ts', `import a from '@scope/zod/x.js';`, ['imports @scope/zod']],
  ['dialects see no Node', 'dialects/a.ts', `import a from 'node:fs';`, ['imports node:fs']],
  [
    'the engine sees the kernel and Node',
    'engine/a.ts',
    `import a from '../kernel/a.ts'; import b from 'node:path';`,
    [],
  ],
  [
    'the engine sees no adapter',
    'engine/a.ts',
    `import a from '../log/sqlite/log.ts'; import b from '../agents/index.ts';`,
    ['imports log/sqlite/log.ts', 'imports agents/index.ts'],
  ],
  ['an adapter sees the ports', 'log/a.ts', `import a from '../engine/ports.ts'; import b from './b.ts';`, []],
  [
    'an adapter sees nothing else of the engine',
    'agents/a.ts',
    `import a from '../engine/decider.ts';`,
    ['imports engine/decider.ts'],
  ],
  ['an adapter sees no other adapter', 'log/a.ts', `import a from '../agents/a.ts';`, ['imports agents/a.ts']],
  ['nobody sees the command line', 'workspace/a.ts', `import a from '../cli/a.ts';`, ['imports cli/a.ts']],
  ['the package does not give it to others', 'index.ts', `export * from './cli/main.ts';`, ['imports cli/main.ts']],
  ['the server does not either', 'server/a.ts', `import a from '../cli/a.ts';`, ['imports cli/a.ts']],
  [
    'the command line sees everybody',
    'cli/a/b.ts',
    `import a from '../../agents/a.ts'; import b from '../../log/b.ts';`,
    [],
  ],
  ['nobody sees the tests', 'cli/a.ts', `import a from '../../test/play.ts';`, ['imports ../test/play.ts']],
  ['a new folder needs a border', 'stuff/a.ts', '', ['lies in a folder without a border']],
  [
    'the kernel has no clock',
    'kernel/a.ts',
    'Date.now(); new Date(); new Date; Date();',
    ['uses Date.now', 'uses Date without an argument'],
  ],
  ['a given time is fine', 'kernel/a.ts', 'new Date(at).toISOString(); Date.parse(x);', []],
  ['what people look at sees the kernel', 'app/views/a.ts', `import a from '../../kernel/a.ts';`, []],
  ['and no store', 'app/views/a.ts', `import a from '../store.ts';`, ['imports app/store.ts']],
  ['and no clock', 'app/views/why/a.ts', 'Date.now();', ['uses Date.now']],
  ['no chance', 'kernel/a.ts', 'const a = Math.random();', ['uses Math.random']],
  ['no timers', 'kernel/a.ts', 'setTimeout(f, 1);', ['uses a timer']],
  ['no process', 'kernel/a.ts', 'if (process.env.X) f();', ['uses the outside']],
  ['no hashing of the system', 'kernel/a.ts', 'crypto.randomUUID();', ['uses the outside']],
  ['no network', 'kernel/a.ts', 'await fetch(url);', ['uses the outside']],
  ['no screen', 'kernel/a.ts', 'console.log(1);', ['uses the outside']],
  ['no way around it', 'kernel/a.ts', `globalThis['Date'];`, ['uses the outside']],
  ['no locale', 'kernel/a.ts', 'a.localeCompare(b);', ['uses the locale']],
  ['a member may have any name', 'kernel/a.ts', 'a.process = { fetch: b.console };', []],
  ['others may look at the clock', 'engine/a.ts', 'Date.now(); setTimeout(f, 1);', []],
])('%s', (_, path, source, expected) => {
  // The rows write § for the dollar sign, which the linter takes for a forgotten template.
  expect(violationsIn(path, source.replaceAll('§', '$'))).toEqual(expected.map((what) => `${path} ${what}`));
});

/** How large the sources are. A value is lowered with the sources; only a new feature may raise `files` and `lines`. */
const SHAPE_MAX = { files: 532, lines: 109_000, namesWithManyHomes: 10 };

test('the sources grow no further', () => {
  const { namesWithManyHomes, cycles: _, ...size } = shapeOf(programs());
  const found = { ...size, namesWithManyHomes: namesWithManyHomes.length };
  const larger = Object.entries(found).filter(([what, value]) => value > SHAPE_MAX[what as keyof typeof SHAPE_MAX]);
  expect(larger, `\`npm run shape -- --list\` shows where`).toEqual([]);
});

test('no files import each other in a circle, for types neither', () => {
  expect(shapeOf(programs()).cycles).toEqual([]);
});

test.each<[string, Record<string, string>, string[], string[][]]>([
  ['two files may have names of their own', { 'a.ts': 'export const a = 1;', 'b.ts': 'export const b = 1;' }, [], []],
  ['a name in two files has two homes', { 'a.ts': 'export type A = 1;', 'b.ts': 'export class A {}' }, ['A'], []],
  ['a type and a value in one file have one', { 'a.ts': 'export type A = 1; export const A = 1;' }, [], []],
  ['a name given on has one', { 'a.ts': 'export const a = 1;', 'b.ts': `export { a } from './a.ts';` }, [], []],
  [
    'a list of names is exported too',
    { 'a.ts': 'const b = 1; export { b as a };', 'b.ts': 'export async function a() {}' },
    ['a'],
    [],
  ],
  [
    'types close a cycle too',
    { 'a.ts': `import type { B } from './b.ts';`, 'b.ts': `import './c.ts';`, 'c.ts': `export * from './a.ts';` },
    [],
    [['a.ts', 'b.ts', 'c.ts']],
  ],
  [
    'a diamond is no cycle',
    { 'a.ts': `import './b.ts'; import './c.ts';`, 'b.ts': `import './c.ts';`, 'c.ts': '' },
    [],
    [],
  ],
])('%s', (_, files, names, cycles) => {
  const shape = shapeOf(Object.entries(files));
  expect([shape.namesWithManyHomes.map(([name]) => name), shape.cycles]).toEqual([names, cycles]);
});

test('no import points outward, and the kernel touches nothing', () => {
  const files = programs();
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap(([path, source]) => violationsIn(path, source));
  expect(found.sort()).toEqual(Object.keys(CROSSINGS).sort());
});

/** From the inside to the outside: a folder that imports only those before it closes no cycle. */
const ORDER = [
  ...[
    'kernel',
    'testing',
    'shell',
    'dialects',
    'trust',
    'contracts',
    'engine',
    'log',
    'agents',
    'access',
    'git',
    'utilities',
    'short-form',
    'editor',
  ],
  ...['approvals', 'workspace', 'hooks', 'audit', 'app/views', 'app', 'mcp', 'server', 'api', 'client', 'cli'],
];

/** Imports that point outward and so close a cycle between folders. The list may only shrink. */
const CYCLES: readonly string[] = [
  'agents/utility.ts → utilities/index.ts',
  'engine/store-worker.ts → log/sqlite/log.ts',
  'engine/store-worker.ts → workspace/find-links.ts',
  'engine/lease.ts → agents/process/process-identity.ts',
  'engine/heartbeat.ts → agents/process/process-identity.ts',
  // The policy is a section of the configuration like any other, and that is merged in one place.
  'approvals/risk.ts → workspace/sections.ts',
];

test('no other import closes a cycle between folders', () => {
  const found = programs().flatMap(([path, source]) => outwardIn(path, source));
  expect(found.filter((each) => !CYCLES.includes(each))).toEqual([]);
});

function outwardIn(path: string, source: string): string[] {
  const at = ORDER.indexOf(folderOf(path));
  if (at === -1) return folderOf(path) === '' ? [] : [`${path} lies in a folder without a place in the order`];
  const { code, strings } = scan(source);
  const targets = new Set(importsOf(code, strings).map((specifier) => targetOf(path, specifier)));
  return [...targets].filter((target) => ORDER.indexOf(folderOf(target)) > at).map((target) => `${path} → ${target}`);
}

test.each<[string, string, string[]]>([
  ['engine/a.ts', `import a from '../kernel/a.ts'; import b from './b.ts';`, []],
  ['engine/a.ts', `import type { A } from '../log/a.ts';`, ['engine/a.ts → log/a.ts']],
  ['kernel/a/b.ts', `const a = await import('../../cli/a.ts');`, ['kernel/a/b.ts → cli/a.ts']],
  ['stuff/a.ts', '', ['stuff/a.ts lies in a folder without a place in the order']],
])('%s with %s points outward: %j', (path, source, expected) => {
  expect(outwardIn(path, source)).toEqual(expected);
});

/** Where a skin reaches past the operations, and why. The list may only shrink. */
const PAST_OPERATIONS: Readonly<Record<string, string>> = {
  'cli/commands/streams.ts imports approvals/use-approval.ts':
    'the streams of this process, for the command that was approved',
  'cli/main.ts imports engine/ports.ts': 'the exit code of a fault of the storage',
  'cli/serving.ts imports access/rights.ts': 'whoever serves is a person, which is asked before a server begins',
  'cli/show-operation.ts imports git/folder-trust.ts': 'a person at the terminal says that a folder is trusted',
  'cli/show/casts.ts imports approvals/approval-view.ts': 'how an approval is shown',
  'mcp/operation-tools.ts imports approvals/approval-view.ts': 'how an approval is shown',
  'mcp/agent-tools.ts imports dialects/index.ts': 'an agent asks how to report before it reports',
  'mcp/server.ts imports access/rights.ts': 'a tool that a role may not use is not offered',
  'mcp/server.ts imports dialects/user-schema.ts': 'the arguments of a tool fit its schema',
  'mcp/submit-handoff.ts imports dialects/index.ts':
    'a handoff is read at once, so that the agent learns what is wrong',
  'mcp/submit-handoff.ts imports kernel/gate/before-accept.ts':
    'a handoff is read at once, so that the agent learns what is wrong',
  'mcp/submit-handoff.ts imports agents/handoff-file.ts': 'a handoff is handed in by a file of the attempt',
  'mcp/submit-handoff.ts imports agents/hidden-texts.ts': 'known secrets are taken out of it first',
  'mcp/submit-handoff.ts imports agents/process/attempt-folder.ts': 'a handoff is handed in by a file of the attempt',
  'mcp/tool.ts imports agents/inside-attempt.ts': 'which tools are offered',
  'server/calls.ts imports access/rights.ts': 'an operation that a role may not use is not offered',
  'server/event-hub.ts imports log/filed-under.ts': 'which cast an entry of the stream belongs to',
  'server/live-feed.ts imports agents/live-watch.ts': 'what agents say right now is in files, and no operation',
  'server/openapi.ts imports access/rights.ts': 'the document names the role that each operation needs',
  'server/running-server.ts imports agents/process/process-identity.ts': 'whether the server that is noted still lives',
};

test('the command line and the tools decide nothing: they reach rules and the log by operations only', () => {
  const behind =
    /^(?:engine|log|agents|approvals|audit|git|utilities|dialects)\/|^kernel\/(?:decide|gate\/)|^access\/(?:rights|tokens)/;
  const found = programs().flatMap(([path, source]) => {
    if (!['cli', 'mcp', 'server'].includes(folderOf(path))) return [];
    const { code, strings } = scan(source);
    // A type is no rule.
    const values = code.replaceAll(/\bimport\s+type\b[^;]*;/g, '');
    const targets = new Set(importsOf(values, strings).map((specifier) => targetOf(path, specifier)));
    return [...targets].filter((target) => behind.test(target)).map((target) => `${path} imports ${target}`);
  });
  expect(found.sort()).toEqual(Object.keys(PAST_OPERATIONS).sort());
});

/** What a skin may start a process for. An answer is a call; the list may only shrink. */
const STARTS: Readonly<Record<string, string>> = {
  'cli/commands/demo.ts': 'the program that the demo wrote',
  'cli/build-page.ts': 'the build of the page in a checkout',
  'cli/page.ts': 'the browser, and the cast beside the page: its agents are not below its server',
  'agents/pi-guard.ts': 'runs within Pi, and asks the guard',
  'hooks/install/plan.ts': 'Claude Code, to see whether it reads its settings',
};

test('no skin starts another process of ours for an answer', () => {
  const skins = programs().filter(([path]) => ['cli', 'mcp', 'hooks', 'server', 'api'].includes(folderOf(path)));
  const starting = skins.filter(([, source]) => {
    const { code, strings } = scan(source);
    return importsOf(code, strings).includes('node:child_process');
  });
  expect(starting.map(([path]) => path).filter((path) => !Object.hasOwn(STARTS, path))).toEqual([]);
});

test.each([
  ['kernel/utils.ts', true],
  ['kernel/helpers/a.ts', true],
  ['kernel/types.test.ts', true],
  ['common.ts', true],
  ['kernel/cast/types/a.ts', true],
  ['utilities/utility.ts', false],
  ['kernel/graph/nameOfTypes.ts', false],
])('%s is a drawer: %s', (path, expected) => {
  expect(isDrawer(path)).toBe(expected);
});

test('a log is opened in one place', () => {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'));
  const opening = files.flatMap((file) =>
    readFileSync(`${ROOT}/${file}`, 'utf8')
      .split('\n')
      .flatMap((line) => (/new SqliteLog\(/.test(line) ? [`${file}: ${line.trim()}`] : [])),
  );
  expect(opening).toEqual(['src/log/sqlite/log.ts: return new SqliteLog(file, options);']);
});

test('no file is a drawer for everything', () => {
  const files = globSync('{src,test,bench,scripts,verifier}/**/*.{ts,js,mjs,cjs}', {
    cwd: ROOT,
    exclude: ['**/node_modules/**'],
  });
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter(isDrawer)).toEqual([]);
});

/** A file that says nothing of what is in it. */
function isDrawer(path: string): boolean {
  return path.split('/').some((part) => DRAWERS.test(part.split('.')[0] ?? ''));
}
