// A small repository on which a real program works: planned, built, evaluated and maintained by the program itself, with a
// model that says what a test tells it to say in each role.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProgramName } from '../../src/agents/detect.ts';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import {
  type Answer,
  type ModelRequest,
  type ModelServer,
  modelServer,
  type ToolCall,
} from '../../src/testing/index.ts';
import { batonProcess as baton, json, project, type Ran, type Started, start } from '../cli/baton.ts';
import { worktreesOf } from '../cli/repository.ts';
import { CLI, homeFolder } from './contenders.ts';

/** Work in the folder itself, where casts of a repository would otherwise have one of their own. */
const IN_PLACE = 'in-place' in (COMMANDS.find(({ name }) => name === 'cast')?.options ?? {}) ? ['--in-place'] : [];

export type Role = 'plan' | 'build' | 'evaluate' | 'maintain';
/** What the model says to a request in a role. `tools` counts the results of tools the agent has had in this turn. */
export type Part = (asked: { readonly tools: number; readonly request: ModelRequest }) => Answer | Promise<Answer>;
export type Parts = Partial<Readonly<Record<Role, Part>>>;

export type RealProgram = {
  readonly name: ProgramName;
  /** How many times as long as the quickest it may take to start. */
  readonly slowness: number;
  readonly tellsDenials: boolean;
  readonly tellsModel: boolean;
  readonly tellsCost: boolean;
  /** Its stream says what it uses before it comes to its end. */
  readonly tellsOnTheWay: boolean;
  write(dir: string, file: string, text: string): ToolCall;
  shell(command: string): ToolCall;
  /** The call of our own tool that hands the work on. */
  submit(handoff: Json): ToolCall;
  /** How its materia and its home know where the model is. */
  setUp(url: string, home: string): { readonly materia: JsonObject; readonly env: NodeJS.ProcessEnv };
};

export const REAL: readonly RealProgram[] = [
  {
    name: 'claude',
    slowness: 1,
    tellsDenials: true,
    tellsModel: true,
    tellsCost: true,
    tellsOnTheWay: true,
    write: (dir, file, content) => ({ name: 'Write', input: { file_path: join(dir, file), content } }),
    shell: (command) => ({ name: 'Bash', input: { command, description: 'run it' } }),
    submit: (handoff) => ({ name: 'mcp__baton__submit_handoff', input: { handoff } }),
    setUp: (baseUrl) => ({ materia: { model: 'some-model', baseUrl }, env: { ANTHROPIC_API_KEY: 'key' } }),
  },
  {
    name: 'codex',
    slowness: 1,
    tellsDenials: false,
    tellsModel: false,
    tellsCost: false,
    tellsOnTheWay: false,
    write: (_dir, file, text) => ({ name: 'exec_command', input: { cmd: `printf %s '${text}' > ${file}` } }),
    shell: (cmd) => ({ name: 'exec_command', input: { cmd } }),
    submit: (handoff) => ({ name: 'submit_handoff', namespace: 'mcp__baton', input: { handoff } }),
    setUp: (url) => ({ materia: { model: 'some-model', baseUrl: `${url}/v1` }, env: { OPENAI_API_KEY: 'key' } }),
  },
  {
    name: 'pi',
    slowness: 1,
    tellsDenials: true,
    tellsModel: true,
    tellsCost: false,
    tellsOnTheWay: true,
    write: (_dir, path, content) => ({ name: 'write', input: { path, content } }),
    shell: (command) => ({ name: 'bash', input: { command } }),
    submit: (handoff) => ({ name: 'submit_handoff', input: { handoff } }),
    setUp(url, home) {
      const models = [{ id: 'some-model', reasoning: true }];
      const provider = { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'PI_TEST_KEY', models };
      mkdirSync(join(home, '.pi', 'agent'), { recursive: true });
      writeFileSync(join(home, '.pi', 'agent', 'models.json'), JSON.stringify({ providers: { baton: provider } }));
      // A key that is not one of its own has to be listed, or it would not get there.
      return { materia: { model: 'baton/some-model', env: ['PI_TEST_KEY'] }, env: { PI_TEST_KEY: 'key' } };
    },
  },
  {
    name: 'gemini',
    slowness: 3,
    tellsDenials: true,
    tellsModel: true,
    tellsCost: false,
    tellsOnTheWay: false,
    write: (dir, file, content) => ({ name: 'write_file', input: { file_path: join(dir, file), content } }),
    shell: (command) => ({ name: 'run_shell_command', input: { command } }),
    submit: (handoff) => ({ name: 'mcp_baton_submit_handoff', input: { handoff } }),
    setUp: (baseUrl) => ({ materia: { model: 'some-model', baseUrl }, env: { GEMINI_API_KEY: 'key' } }),
  },
  {
    name: 'opencode',
    slowness: 6,
    tellsDenials: true,
    tellsModel: true,
    tellsCost: false,
    tellsOnTheWay: true,
    write: (dir, file, content) => ({ name: 'write', input: { filePath: join(dir, file), content } }),
    shell: (command) => ({ name: 'bash', input: { command, description: 'run it' } }),
    submit: (handoff) => ({ name: 'baton_submit_handoff', input: { handoff } }),
    setUp: (url) => ({ materia: { model: 'some-model', baseUrl: `${url}/v1` }, env: { OPENAI_API_KEY: 'key' } }),
  },
];

export type Studio = {
  readonly dir: string;
  readonly home: string;
  readonly server: ModelServer;
  /** The requests of a role, in order. */
  asked(role: Role): readonly ModelRequest[];
  cast(...more: string[]): Promise<CastView>;
  begin(): Started;
  baton(...args: string[]): Promise<Ran>;
  facts(): Promise<readonly (JsonObject & { readonly kind: string })[]>;
};

/** What the planner may do, and for how long; and whether the agents are offered our tools. It works on no task, so that a time limit ends the cast. */
export type Planning = {
  readonly tools?: string;
  readonly timeoutMs?: number;
  readonly mcp?: boolean;
  /** All agents run in a sandbox. */
  readonly sandbox?: boolean;
  /** The cast has a worktree of its own, as casts of a repository have where nobody says otherwise. */
  readonly worktree?: boolean;
};

const ANSWERS: Readonly<Record<Role, string>> = {
  plan: '{"workItems":[{"title":"Greet","context":"greet.txt says hello"}]}',
  build: '{"context":"greet.txt is written"}',
  evaluate: '{"satisfied":true}',
  maintain: '{"context":"the notes are kept"}',
};

/** What goes well: the builder and the maintainer each write a file with the program's own tool, then answer. */
function wellDone(program: RealProgram, folder: () => string): Required<Parts> {
  const writes = (role: Role, file: string, text: string): Part => {
    return ({ tools }) =>
      tools > 0 ? ANSWERS[role] : { text: 'I write.', toolCalls: [program.write(folder(), file, text)] };
  };
  return {
    plan: () => ANSWERS.plan,
    build: writes('build', 'greet.txt', 'hello'),
    evaluate: () => ANSWERS.evaluate,
    maintain: writes('maintain', 'NOTES.md', 'greets'),
  };
}

export async function studio(
  program: RealProgram,
  parts: (dir: string) => Parts,
  planning: Planning = {},
): Promise<Studio & { close(): Promise<void> }> {
  const dir = project({ 'README.md': '# Greeter\n', '.gitignore': '.baton/state/\n' });
  const home = homeFolder();
  const { worktree = false, sandbox = false } = planning;
  const folder = () => (worktree ? (worktreesOf(dir)[0] ?? '') : dir);
  const where = worktree ? [] : IN_PLACE;
  const played = { ...wellDone(program, folder), ...parts(dir) };
  const server = await modelServer({
    answers: (request) => played[roleOf(request)]({ tools: toolsIn(request), request }),
  });
  const { materia, env } = program.setUp(server.url, home);
  const agent = (role: Role, tools: string, more: JsonObject = {}): JsonObject => ({
    ...{ runner: program.name, tools, prompt: `ROLE=${role}. Do your part of: {{request}}`, ...materia, ...more },
    ...(sandbox ? { sandbox: 'bwrap' } : {}),
  });
  const config = configOf(agent, planning);
  writeFileSync(join(dir, '.baton', 'config.json'), JSON.stringify(config));
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'begin'],
  ])
    git(dir, ...args);
  const PATH = `${join(CLI, 'node_modules', '.bin')}:${process.env.PATH}`;
  // What programs keep for themselves is no part of the project, and no home lies below it.
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'baton-tmp-')));
  const how = { env: { ...env, HOME: home, PATH, TMPDIR: temporary } };
  return {
    dir,
    home,
    server,
    asked: (role) => server.requests.filter((request) => roleOf(request) === role),
    cast: async (...more) =>
      json<CastView>(await baton(dir, ['cast', ...where, '--json', '--turns', ...more, 'greet'], how)),
    begin: () => start(dir, ['cast', ...where, '--json', 'greet'], how),
    baton: (...args) => baton(dir, args, how),
    facts: async () => json(await baton(dir, ['log', '--json', '--after', '0'], how)),
    async close() {
      await server.close();
      for (const folder of [home, temporary]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function configOf(
  agent: (role: Role, tools: string, more?: JsonObject) => JsonObject,
  { tools = 'readOnly', timeoutMs = 600_000, mcp = true }: Planning,
): JsonObject {
  const always = (to: string) => ({ edges: [{ when: 'always', to }] });
  return {
    mcp,
    materia: {
      Plan: agent('plan', tools, { generator: true }),
      Build: agent('build', 'coding'),
      Evaluate: agent('evaluate', 'readOnly'),
      Maintain: agent('maintain', 'coding'),
    },
    loadouts: {
      L: {
        entry: 'Socket-1',
        sockets: {
          'Socket-1': { materia: 'Plan', ...always('Socket-2'), limits: { timeoutMs } },
          'Socket-2': { materia: 'Build', parse: 'json', ...always('Socket-3') },
          'Socket-3': {
            ...{ materia: 'Evaluate', parse: 'json' },
            edges: [
              { when: 'satisfied', to: 'Socket-4' },
              { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 2 },
            ],
          },
          'Socket-4': {
            ...{ materia: 'Maintain', parse: 'json', advance: { cursor: 'workItemIndex', items: 'state.workItems' } },
            ...always('Socket-2'),
          },
        },
        loops: {
          items: {
            sockets: ['Socket-2', 'Socket-3', 'Socket-4'],
            consumes: { from: 'Socket-1', output: 'workItems' },
          },
        },
      },
    },
  };
}

/** The role of the last prompt in a conversation. */
function roleOf({ messages }: ModelRequest): Role {
  const roles = messages.flatMap(({ role, text }) => {
    return role === 'user' ? Array.from(text.matchAll(/ROLE=(plan|build|evaluate|maintain)/g), ([, name]) => name) : [];
  });
  return (roles.at(-1) ?? 'plan') as Role;
}

function toolsIn({ messages }: ModelRequest): number {
  return messages.filter(({ role }) => role === 'tool').length;
}

function git(dir: string, ...args: readonly string[]): void {
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  execFileSync('git', ['-C', dir, ...who, ...args], { stdio: 'ignore' });
}
