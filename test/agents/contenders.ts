// Everybody who must keep the promises of an agent: the model interfaces, the five programs from their pinned folder, any
// command, a script and a person. Each is told where the model server is, has a home of its own, brings the one tool call
// that writes a file, and says which promises are not his to keep, and why.

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { AgentSettings, OfferTools, Program } from '../../src/agents/agent-call.ts';
import { anthropic } from '../../src/agents/anthropic.ts';
import { type ApiSettings, apiRunner, type ModelApi } from '../../src/agents/api-runner.ts';
import { claude } from '../../src/agents/claude.ts';
import { codex } from '../../src/agents/codex.ts';
import { command } from '../../src/agents/command.ts';
import type { RetryRules } from '../../src/agents/fault.ts';
import { gemini } from '../../src/agents/gemini.ts';
import { openai } from '../../src/agents/openai.ts';
import { opencode } from '../../src/agents/opencode.ts';
import { pi } from '../../src/agents/pi.ts';
import { programRunner } from '../../src/agents/program-runner.ts';
import { scripted } from '../../src/agents/scripted.ts';
import type { AttemptDirs, Runner } from '../../src/engine/ports.ts';
import type { Packet } from '../../src/kernel/cast/packet.ts';
import type { AgentMateria } from '../../src/kernel/graph/config.ts';
import type { Json } from '../../src/kernel/json.ts';
import type { Answer, Answers, ModelRequest, ToolCall } from '../../src/testing/index.ts';
import { personRunner } from './person.ts';

/** The folder with the programs; a cache may keep it elsewhere. */
export const CLI = process.env.BATON_AGENTS_CLI ?? fileURLToPath(new URL('./cli', import.meta.url));

/** A project folder, a home and a place for one agent. */
export type Ground = {
  readonly cwd: string;
  readonly home: string;
  place(attempt?: string): AttemptDirs;
  remove(): void;
};

/** What is promised. Each is a row of the suite, or several. */
export type Promised =
  | 'usage'
  | 'model'
  | 'told'
  | 'instructed'
  | 'heard'
  | 'tooLong'
  | 'cutShort'
  | 'rateLimit'
  | 'codes'
  | 'noOutput'
  | 'badEnd'
  | 'timeout'
  | 'abort'
  | 'tools'
  | 'conversation';

export type Contender = {
  readonly name: string;
  readonly model: string;
  /** The promises that do not apply, each with the reason. */
  readonly lacks: Readonly<Partial<Record<Promised, string>>>;
  /** The call of its own tool that writes `text` to `file` in the project folder; null for those without tools. */
  readonly write: ((ground: Ground, file: string, text: string) => ToolCall) | null;
  /** The call of its own tool that runs a command; null for those without tools. */
  readonly shell: ((command: string) => ToolCall) | null;
  /** Its interface tells the text piece by piece. */
  readonly streams: boolean;
  /** It is a program, which takes its time to start and outlives whoever started it. */
  readonly isProgram: boolean;
  /** How many times as long as the quickest program it may take to start. */
  readonly slowness?: number;
  runner(url: string, ground: Ground, more?: More): Runner;
  /** What it is given instead of a model, where it asks none. */
  script?(answers: Answers): Packet['scripted'];
};

/**
 * Gemini CLI and OpenCode take seconds of processor time for each start. An ordinary run shows with them what only they can show;
 * with `AGENTS=all` they go through all that the quick programs do.
 */
export function showsAll({ slowness = 1 }: { readonly slowness?: number }): boolean {
  return slowness === 1 || process.env.AGENTS === 'all';
}

export type More = {
  readonly retry?: RetryRules;
  readonly offer?: OfferTools;
  /** Another program in the place of its own. */
  readonly program?: string;
};

export const PATIENT: RetryRules = { retriesMax: 2, firstMs: 10, waitMaxMs: 5_000 };
export const IMPATIENT: RetryRules = { retriesMax: 0, firstMs: 10, waitMaxMs: 5_000 };

export function ground(): Ground {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-agent-')));
  const cwd = join(root, 'project');
  const home = homeFolder();
  mkdirSync(cwd);
  return {
    cwd,
    home,
    place: (attempt = 'c-1.1') => ({ cwd, configDir: cwd, attemptDir: join(root, 'state', 'attempts', attempt) }),
    remove() {
      for (const folder of [root, home]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A home for an agent, not below the folder for temporary files: codex would not put its sandbox helper there. */
export function homeFolder(): string {
  return realpathSync(mkdtempSync(join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), 'baton-home-')));
}

/** For what programs keep for themselves: it is no part of a project. It goes with the test. */
export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-tmp-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export function packet(
  contender: Pick<Contender, 'model' | 'slowness'> & { readonly name?: string },
  more: Partial<Packet> = {},
  tools: AgentMateria['tools'] = 'none',
  options: Partial<AgentMateria> = {},
): Packet {
  const runner = contender.name ?? 'claude';
  const own = { type: 'agent', id: 'M', label: 'M', runner, tools, model: contender.model, thinking: null };
  const materia = { ...own, ...options };
  const turn = { cast: 'c', turn: 1, attempt: 1, socket: 'Socket-1', brief: 'Say it.', scripted: null, utility: null };
  return {
    ...turn,
    session: null,
    task: null,
    timeoutMs: 60_000 * (contender.slowness ?? 1),
    maxOutputBytes: 10_000,
    retriesMax: 4,
    modelSilenceMs: 600_000,
    materia,
    ...more,
  } as unknown as Packet;
}

function api(name: string, wire: ModelApi, settings: (url: string) => ApiSettings): Contender {
  return {
    name,
    model: 'some-model',
    write: null,
    shell: null,
    streams: true,
    isProgram: false,
    lacks: { tools: 'a model alone has none', conversation: 'every request is one of its own' },
    runner: (url, _ground, { retry = PATIENT } = {}) => apiRunner(wire, settings(url), { retry, silenceMaxMs: 5_000 }),
  };
}

export const APIS: readonly Contender[] = [
  api('anthropic', anthropic, (baseUrl) => ({ baseUrl, env: { ANTHROPIC_API_KEY: 'key' } })),
  api('openai', openai, (url) => ({ baseUrl: `${url}/v1`, wire: 'responses', env: { OPENAI_API_KEY: 'key' } })),
  api('openai chat', openai, (url) => ({ baseUrl: `${url}/v1`, env: { OPENAI_API_KEY: 'key' } })),
];

type Own = Pick<Contender, 'model' | 'write' | 'shell' | 'streams' | 'lacks' | 'slowness'> & {
  settings(url: string, ground: Ground): AgentSettings;
};

function program(made: Program, { settings, ...own }: Own): Contender {
  return {
    name: made.name,
    isProgram: true,
    ...own,
    runner(url, at, { retry = PATIENT, offer, program = join(CLI, 'node_modules', '.bin', made.name) } = {}) {
      const { env = {}, ...rest } = settings(url, at);
      return programRunner(made, { program, ...rest, env: { HOME: at.home, ...env } }, { retry, offer: offer ?? null });
    },
  };
}

export const PROGRAMS: readonly Contender[] = [
  program(claude, {
    model: 'some-model',
    streams: true,
    lacks: {},
    shell: (command) => ({ name: 'Bash', input: { command, description: 'run it' } }),
    write: ({ cwd }, file, content) => ({ name: 'Write', input: { file_path: join(cwd, file), content } }),
    settings: (baseUrl) => ({ baseUrl, env: { ANTHROPIC_API_KEY: 'key' } }),
  }),
  program(codex, {
    model: 'some-model',
    streams: false,
    lacks: { model: 'it does not say which one answered' },
    shell: (cmd) => ({ name: 'exec_command', input: { cmd } }),
    write: (_ground, file, text) => ({ name: 'exec_command', input: { cmd: `printf %s '${text}' > ${file}` } }),
    settings: (url) => ({ baseUrl: `${url}/v1`, env: { OPENAI_API_KEY: 'key' } }),
  }),
  program(pi, {
    model: 'baton/some-model',
    streams: true,
    lacks: {},
    shell: (command) => ({ name: 'bash', input: { command } }),
    write: (_ground, path, content) => ({ name: 'write', input: { path, content } }),
    settings(url, { home }) {
      const models = [{ id: 'some-model', reasoning: true }];
      const provider = { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'PI_TEST_KEY', models };
      mkdirSync(join(home, '.pi', 'agent'), { recursive: true });
      writeFileSync(join(home, '.pi', 'agent', 'models.json'), JSON.stringify({ providers: { baton: provider } }));
      return { env: { PI_TEST_KEY: 'key' } };
    },
  }),
  program(gemini, {
    model: 'some-model',
    streams: true,
    slowness: 3,
    lacks: { cutShort: 'its events do not say why an answer ended' },
    shell: (command) => ({ name: 'run_shell_command', input: { command } }),
    write: ({ cwd }, file, content) => ({ name: 'write_file', input: { file_path: join(cwd, file), content } }),
    settings: (baseUrl) => ({ baseUrl, env: { GEMINI_API_KEY: 'key' } }),
  }),
  program(opencode, {
    model: 'some-model',
    streams: true,
    slowness: 6,
    lacks: {},
    shell: (command) => ({ name: 'bash', input: { command, description: 'run it' } }),
    write: ({ cwd }, file, content) => ({ name: 'write', input: { filePath: join(cwd, file), content } }),
    settings: (url) => ({ baseUrl: `${url}/v1`, env: { OPENAI_API_KEY: 'key' } }),
  }),
];

const ASK_MODEL = fileURLToPath(new URL('./fixtures/ask-model.mjs', import.meta.url));

/** Any other program, by a template. */
export const COMMAND: Contender = {
  name: 'command',
  model: 'some-model',
  write: null,
  shell: null,
  streams: false,
  isProgram: true,
  lacks: {
    usage: 'what it prints is its answer, and nothing about it',
    model: 'what it prints is its answer, and nothing about it',
    cutShort: 'what it prints is its answer, and nothing about it',
    tools: 'they are its own, and a template cannot limit them',
    conversation: 'only a template with a slot for one has it',
  },
  runner(url, _ground, { retry = PATIENT, program } = {}) {
    const start = program === undefined ? [process.execPath, ASK_MODEL] : [program];
    const template = [...start, ['--model', '{{model}}'], ['--system', '{{system}}']];
    return programRunner(command(template), { env: { MODEL_URL: url } }, { retry });
  },
};

const NO_MODEL = 'it asks no model';

/** A script: what is answered stands in it. */
export const SCRIPTED: Contender = {
  name: 'scripted',
  model: 'none',
  write: null,
  shell: null,
  streams: false,
  isProgram: false,
  lacks: {
    model: NO_MODEL,
    told: 'a script is written beforehand, and told nothing',
    instructed: 'a script is written beforehand, and told nothing',
    heard: 'what it says is said at once',
    tooLong: 'it is given back whole, and refused whole',
    cutShort: NO_MODEL,
    rateLimit: NO_MODEL,
    codes: NO_MODEL,
    noOutput: 'a script may say nothing, and that is its answer; having no turn left is its fault',
    tools: 'the files it writes stand in the script',
    conversation: 'the next turn of a script is the next attempt’s',
  },
  runner: () => scripted,
  script(answers) {
    const answer = typeof answers === 'function' ? answers({} as ModelRequest) : answers[0];
    if (answer === undefined || answer instanceof Promise) throw new Error('a script needs an answer to begin with');
    return { turn: turnOf(answer) };
  },
};

function turnOf(answer: Answer): Json {
  if (typeof answer === 'string') return { $turn: { output: answer } };
  if ('stall' in answer) return { $turn: { output: 'too late', delayMs: 600_000 } };
  if ('cut' in answer) return { $turn: { output: 'half', fail: 'crash' } };
  if ('status' in answer) return { $turn: { fail: 'transport' } };
  const { text = '', usage, floodBytes = 0 } = answer;
  return { $turn: { output: text + 'x'.repeat(floodBytes), ...(usage ? { usage: { ...usage } } : {}) } };
}

const HIS_TURN = 'his turn ends when he answers, and not before';

/** A person, who thinks by asking the model: nothing is dispatched for him, his cast waits. */
export const PERSON: Contender = {
  name: 'person',
  model: 'some-model',
  write: null,
  shell: null,
  streams: false,
  isProgram: false,
  lacks: {
    usage: 'a person uses no tokens',
    model: 'a person is no model',
    instructed: 'what stands beside the brief is for models',
    heard: 'nobody listens to him before he answers',
    tooLong: 'what he says is read at once: too much is refused, and asked for again',
    cutShort: 'a person is no model',
    rateLimit: 'no provider stands between',
    codes: 'no provider stands between',
    noOutput: HIS_TURN,
    badEnd: 'nothing is started that could end badly',
    timeout: HIS_TURN,
    abort: 'nothing is started that could be ended',
    tools: 'they are his own',
    conversation: 'he remembers by himself',
  },
  runner: (url) => personRunner(url),
};

/** One for each runner that a configuration can name; `openai` speaks in two ways. */
export const EVERYBODY: readonly Contender[] = [...PROGRAMS, COMMAND, ...APIS, PERSON, SCRIPTED];

/** Says how to get them when they are not there. */
export function assertInstalled(): void {
  if (existsSync(join(CLI, 'node_modules', '.bin', 'opencode'))) return;
  throw new Error(`the agent programs are not in ${CLI}; run npm run test:agents`);
}
