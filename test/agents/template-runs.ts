// One run of each template that `init` offers: a real agent program works on a small project, and a model on loopback says what
// each step asks for. What came of it is the recording, which is played again without the program.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import { isObject, type Json, type JsonObject } from '../../src/kernel/json.ts';
import { type Answer, type ModelRequest, modelServer, type ToolCall } from '../../src/testing/index.ts';
import { CLI } from './contenders.ts';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const BATON = join(CHECKOUT, 'bin', 'baton');
const RECORDINGS = join(CHECKOUT, 'test', 'agents', 'fixtures', 'templates');

/** What a step does when it is told about an item: commands and files first, then its answer. */
type Part = { readonly runs?: string; readonly writes?: Readonly<Record<string, string>>; readonly says: Json };

type Story = {
  readonly request: string;
  /** By step, or by step and item, its visits in order. */
  readonly parts: Readonly<Record<string, readonly Part[]>>;
};

/** The project before the cast: two functions, one of them with a bug, and a test that passes. */
export const PROJECT: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n',
  'stats.js': `export function mean(list) {
  return sum(list) / list.length;
}

export function sum(list) {
  return list.reduce((total, each) => total + each);
}
`,
  'stats.test.js': `import assert from 'node:assert';
import { test } from 'node:test';
import { sum } from './stats.js';

test('the sum of numbers', () => assert.equal(sum([1, 2]), 3));
`,
  '.gitignore': 'node_modules/\n',
};

const REPAIRED = (PROJECT['stats.js'] ?? '').replace('total + each)', 'total + each, 0)');
const TESTED = `${PROJECT['stats.test.js']}test('the sum of nothing is 0', () => assert.equal(sum([]), 0));\n`;

const file = (name: string): Record<string, string> => ({
  [`${name}.js`]: `export function ${name}(list) {\n  return Math.${name}(...list);\n}\n`,
  [`${name}.test.js`]: `import assert from 'node:assert';
import { test } from 'node:test';
import { ${name} } from './${name}.js';

test('${name}', () => assert.equal(${name}([2]), 2));
`,
});

export const STORIES: Readonly<Record<string, Story>> = {
  bugfix: {
    request: 'The reports in the issue tracker: sum of an empty list, mean of an empty list',
    parts: {
      collect: [
        {
          runs: 'node --test',
          says: {
            workItems: [
              { title: 'Empty list crashes sum', context: 'sum([]) throws: Reduce of empty array. stats.js:6' },
              { title: 'Mean of nothing is NaN', context: 'mean([]) is NaN. stats.js:2' },
            ],
          },
        },
      ],
      'triage Empty list crashes sum': [{ runs: 'cat stats.js', says: { satisfied: true, context: 'It throws.' } }],
      'triage Mean of nothing is NaN': [{ says: { satisfied: false, context: 'NaN is what the mean of nothing is.' } }],
      'fix Empty list crashes sum': [
        { writes: { 'stats.js': REPAIRED }, says: 'reduce had no start. It has one now.' },
        { writes: { 'stats.test.js': TESTED }, runs: 'node --test', says: 'The test is "the sum of nothing is 0".' },
      ],
      'review Empty list crashes sum': [
        {
          runs: 'node --test',
          says: { satisfied: false, context: 'No test holds it: stats.test.js has none for [].' },
        },
        { runs: 'node --test', says: { satisfied: true } },
      ],
      summary: [{ says: 'sum([]) is 0 now, and a test holds it. The mean of an empty list was skipped.' }],
    },
  },
  feature: {
    request: 'Add min and max',
    parts: {
      plan: [
        {
          says: {
            workItems: ['min', 'max'].map((name) => ({
              title: `Add ${name}`,
              context: `${name}.js exports ${name}(list), with a test. Touch no other file.`,
            })),
          },
        },
      ],
      'build Add min': [{ writes: file('min'), says: 'min.js and its test are there.' }],
      'build Add max': [{ writes: file('max'), says: 'max.js and its test are there.' }],
      'review Add min': [{ runs: 'node --test', says: { satisfied: true } }],
      'review Add max': [{ runs: 'node --test', says: { satisfied: true } }],
      integrate: [
        {
          writes: { 'index.js': ['max', 'min', 'stats'].map((name) => `export * from './${name}.js';\n`).join('') },
          runs: 'node --test',
          says: 'index.js exports all of it.',
        },
      ],
      summary: [{ says: 'min and max are there, with tests, and index.js exports them.' }],
    },
  },
  review: {
    request: 'stats.js: what happens with empty lists?',
    parts: {
      scope: [{ says: { workItems: [{ title: 'Empty lists', context: 'sum and mean in stats.js' }] } }],
      'examine Empty lists': [
        { says: 'stats.js:2 divides by zero.' },
        { says: 'stats.js:6: sum([]) throws. stats.js:2: mean([]) throws through it.' },
      ],
      'confirm Empty lists': [
        { says: { satisfied: false, context: 'mean calls sum first, which throws before anything is divided.' } },
        { says: { satisfied: true } },
      ],
      report: [{ says: 'Both throw for an empty list, because reduce has no start: stats.js:6.' }],
    },
  },
};

export const RECORDED = Object.keys(STORIES);

/** What a run came to, the same whoever plays the agents. */
export type Outcome = {
  readonly status: string;
  readonly items: Json;
  /** Of each step and item, what was said at its visits. */
  readonly said: Readonly<Record<string, readonly Json[]>>;
  /** The files that the cast changed, as they are on its branch. */
  readonly files: Readonly<Record<string, string>>;
};

export type Recording = {
  readonly template: string;
  readonly request: string;
  readonly outcome: Outcome;
  /** Agents that do without a model what the real program did. */
  readonly agents: Readonly<Record<string, readonly Json[]>>;
};

export function recordingOf(template: string): Recording {
  return JSON.parse(readFileSync(join(RECORDINGS, `${template}.json`), 'utf8')) as Recording;
}

export function keep(recording: Recording): void {
  mkdirSync(RECORDINGS, { recursive: true });
  writeFileSync(join(RECORDINGS, `${recording.template}.json`), `${JSON.stringify(recording, null, 2)}\n`);
}

/** Runs a program to its end; it must end well. */
type Run = (program: string, ...args: readonly string[]) => Promise<string>;

function runIn(cwd: string, env: NodeJS.ProcessEnv): Run {
  return (program, ...args) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (chunk: Buffer) => {
        stdout += chunk;
      });
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk;
      });
      child.on('error', reject);
      child.on('close', (code) => {
        if (code === 0) resolve(stdout);
        else reject(new Error(`${program} ${args.join(' ')} ended with ${code}:\n${stderr}${stdout}`));
      });
    });
}

/** A project with the team of a template in it, as `init` writes it. */
export async function withTeam<T>(
  template: string,
  more: NodeJS.ProcessEnv,
  work: (run: Run, dir: string) => Promise<T>,
): Promise<T> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'baton-template-')));
  const [dir, home] = [join(top, 'stats'), join(top, 'home')];
  for (const folder of [dir, home]) mkdirSync(folder);
  for (const [name, text] of Object.entries(PROJECT)) writeFileSync(join(dir, name), text);
  const who = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'Test'],
    [`GIT_${role}_EMAIL`, 'test@example.com'],
  ]);
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1', ...Object.fromEntries(who), ...more };
  const run = runIn(dir, env);
  try {
    await run('git', 'init', '-q', '-b', 'main');
    await run(BATON, 'init', '--template', template, '--agent', 'claude');
    await run('git', 'add', '-A');
    await run('git', 'commit', '-qm', 'begin');
    return await work(run, dir);
  } finally {
    rmSync(top, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Plays the recording: the same project and team, with a script for the agents. */
export function played({ template, request, agents }: Recording): Promise<Outcome> {
  return withTeam(template, {}, async (run, dir) => {
    const script = join(dir, '..', 'agents.json');
    writeFileSync(script, JSON.stringify(agents));
    await run(BATON, 'cast', '--json', '--agents', script, request);
    return outcomeOf(run);
  });
}

/** A model on loopback that says what each step of the template asks for. */
export function storyModel(template: string): ReturnType<typeof modelServer> {
  const story = STORIES[template];
  if (!story) throw new Error(`no story is written for ${template}`);
  const prompts = promptsOf(template);
  const visits = new Map<string, string[]>();
  return modelServer({ answers: (request) => answerTo(request, story, prompts, visits) });
}

/** What the real program needs to be found, and to ask that model. */
export function programEnv(url: string): { PATH: string; ANTHROPIC_BASE_URL: string; ANTHROPIC_API_KEY: string } {
  const PATH = `${join(CLI, 'node_modules', '.bin')}:${process.env.PATH}`;
  return { PATH, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'key' };
}

/** Casts the template with the real program. */
export async function recorded(template: string): Promise<Recording> {
  const server = await storyModel(template);
  const { request = '' } = STORIES[template] ?? {};
  try {
    return await withTeam(template, programEnv(server.url), async (run) => {
      await run(BATON, 'cast', '--json', request);
      const agents = await agentsIn(run);
      return { template, request, outcome: await outcomeOf(run), agents };
    });
  } finally {
    await server.close();
  }
}

export async function outcomeOf(run: Run): Promise<Outcome> {
  const view = JSON.parse(await run(BATON, 'show', '--json', '--turns')) as CastView;
  const names = view.sockets ?? {};
  const said: Record<string, Json[]> = {};
  for (const { socket, item, output } of view.turns ?? []) {
    const title = item === null ? '' : ` ${item}`;
    const key = `${names[socket]?.name ?? socket}${title}`;
    said[key] = [...(said[key] ?? []), jsonOf(output ?? '')];
  }
  const files = view.branch ? await changedIn(run, view.branch) : {};
  const ordered = Object.fromEntries(Object.entries(said).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return { status: view.status, items: (view.items ?? null) as Json, said: ordered, files };
}

async function changedIn(run: Run, branch: string): Promise<Record<string, string>> {
  const names = (await run('git', 'diff', '--name-only', `main..${branch}`)).trim().split('\n').filter(Boolean);
  const files: Record<string, string> = {};
  for (const name of names) files[name] = await run('git', 'show', `${branch}:${name}`);
  return files;
}

type LogFact = JsonObject & { readonly kind: string };

/** By step, its turns in the order in which they began: what each wrote, and what it said. */
async function agentsIn(run: Run): Promise<Recording['agents']> {
  const facts = JSON.parse(await run(BATON, 'log', '--json', '--after', '0')) as LogFact[];
  const view = JSON.parse(await run(BATON, 'show', '--json')) as CastView;
  const wrote = view.branch ? await writtenBy(run, view.branch) : {};
  const agents: Record<string, Json[]> = {};
  for (const { turn, socket } of facts.filter(({ kind }) => kind === 'turn.started')) {
    const name = view.sockets?.[String(socket)]?.name ?? String(socket);
    const accepted = facts.find((fact) => fact.kind === 'turn.accepted' && fact.turn === turn);
    const output = jsonOf(String(accepted?.output));
    const write = wrote[String(turn)];
    agents[name] = [...(agents[name] ?? []), write ? { $turn: { output, write } } : output];
  }
  return agents;
}

/** By turn, the files of its commit. */
async function writtenBy(run: Run, branch: string): Promise<Readonly<Record<string, Record<string, string>>>> {
  const format = '%H %(trailers:key=Baton-Turn,valueonly,separator=%x20)';
  const lines = (await run('git', 'log', '--no-merges', `--format=${format}`, `main..${branch}`)).trim().split('\n');
  const wrote: Record<string, Record<string, string>> = {};
  for (const line of lines.filter(Boolean)) {
    const [commit = '', turn = ''] = line.split(' ');
    const names = await run('git', 'show', '--name-only', '--format=', commit);
    const files: Record<string, string> = {};
    for (const name of names.trim().split('\n')) files[name] = await run('git', 'show', `${commit}:${name}`);
    wrote[turn] = files;
  }
  return wrote;
}

function jsonOf(output: string): Json {
  try {
    const value = JSON.parse(output) as Json;
    return isObject(value) ? value : output;
  } catch {
    return output;
  }
}

/** By the first line of its prompt, the step that it is of. */
function promptsOf(template: string): readonly (readonly [line: string, step: string])[] {
  const folder = join(CHECKOUT, 'src', 'bundled', 'templates', template, 'prompts');
  return readdirSync(folder).map((name) => {
    const [line = ''] = readFileSync(join(folder, name), 'utf8').split('\n');
    return [line, name.replace('.md', '')] as const;
  });
}

/** What a brief says of the item that it is about; other items may be named elsewhere in it. */
const ITEM = /## (?:Current item|Item)[\s\S]{0,300}/;

/** The tools first, one in each answer, then what the step says. */
function answerTo(
  request: ModelRequest,
  { parts }: Story,
  prompts: ReturnType<typeof promptsOf>,
  visits: Map<string, string[]>,
): Answer {
  const text = [request.system, ...request.messages.map((message) => message.text)].join('\n');
  const [, step = ''] = prompts.find(([line]) => text.includes(line)) ?? [];
  const about = ITEM.exec(text)?.[0] ?? '';
  const key = Object.keys(parts).find(
    (each) => each === step || (each.startsWith(`${step} `) && about.includes(each.slice(step.length + 1))),
  );
  const known = (key && visits.get(key)) || [];
  const conversations = known.includes(request.conversation) ? known : [...known, request.conversation];
  if (key) visits.set(key, conversations);
  // Work that comes back goes on in the conversation in which it was done.
  const begins = request.messages.flatMap(({ role }, at) =>
    role === 'user' && request.messages[at - 1]?.role === 'assistant' ? [at] : [],
  );
  const part = key && parts[key]?.[conversations.indexOf(request.conversation) + begins.length];
  if (!part) return { status: 400, message: `the story has no part for ${step}, ${key ?? 'no item'}` };
  const calls = callsOf(part, text);
  const next = calls[request.messages.slice(begins.at(-1) ?? 0).filter(({ role }) => role === 'tool').length];
  if (next) return { toolCalls: [next], usage: { input: 100, output: 20 } };
  return {
    text: typeof part.says === 'string' ? part.says : JSON.stringify(part.says),
    usage: { input: 100, output: 20 },
  };
}

function callsOf({ writes = {}, runs }: Part, text: string): readonly ToolCall[] {
  const [, folder = ''] = /Primary working directory: (\S+)/.exec(text) ?? [];
  const files = Object.entries(writes).flatMap(([name, content]): ToolCall[] => {
    const at = join(folder, name);
    // It writes over no file that it has not read.
    const read = Object.hasOwn(PROJECT, name) ? [{ name: 'Read', input: { file_path: at } }] : [];
    return [...read, { name: 'Write', input: { file_path: at, content } }];
  });
  return [...files, ...(runs === undefined ? [] : [{ name: 'Bash', input: { command: runs, description: runs } }])];
}
