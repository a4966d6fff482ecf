// The agents on this machine: which there are, and whether each answers.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { detectAgents } from '../../agents/detect.ts';
import { agentRunner, runners } from '../../agents/index.ts';
import type { AttemptResult } from '../../engine/ports.ts';
import { keyVariableOf, runnersThat } from '../../kernel/capabilities.ts';
import type { Packet } from '../../kernel/cast/packet.ts';
import type { AgentMateria } from '../../kernel/graph/config.ts';
import { counted } from '../../kernel/text.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import type { Operation } from './table.ts';

/** Models asked directly: they need a key and nothing installed. */
const MODELS = runnersThat('isModelApi')
  .map((name) => ({ name, variable: keyVariableOf(name) ?? '' }))
  .sort((a, b) => (a.name < b.name ? -1 : 1));

/** Which agents are on this machine, in which version, and whether somebody is signed in. */
export const agentsList: Operation<'agents.list'> = async ({ env }) => {
  const found = await detectAgents(env);
  const agents = found.map((one) => ({ ...one, installed: one.path !== null, signedIn: one.signedInBy !== null }));
  const models = MODELS.map(({ name, variable }) => ({ name, keySet: (env[variable] ?? '').trim() !== '', variable }));
  const installed = agents.filter((agent) => agent.installed);
  return allow(`${counted(installed.length, 'agent')} installed`, { agents, models });
};

export type SelfTest = {
  readonly name: string;
  readonly ok: boolean;
  /** Its answer, or why there is none. */
  readonly said: string;
  readonly code: string | null;
  readonly model: string | null;
  readonly tokens: number;
  readonly ms: number;
  readonly warnings: readonly string[];
};

type Options = { readonly model?: string | null | undefined; readonly baseUrl?: string | undefined };

const PROMPT = 'This is a self-test. Answer with the single word: ready';
const TEST_MS = 120_000;
const OUTPUT_BYTES_MAX = 65_536;

/** Sends one prompt to each agent, to see whether it works at all: it is asked for a single word, without tools, in an empty folder. */
export const agentsTest: Operation<'agents.test'> = async (workspace, { name, ...options }, { signal, onEvent }) => {
  const names = name === undefined ? await installed(workspace.env) : [name];
  if (names.length === 0) {
    const reason = `no agent is installed; \`${workspace.program} agents\` says how to get one`;
    return deny('AGENT_UNAVAILABLE', reason);
  }
  const results: SelfTest[] = [];
  for (const one of names) {
    onEvent({ kind: 'note', text: `asking ${one}, which has ${TEST_MS / 1000} s to answer …` });
    const result = await selfTest(materiaFor(one, options), signal);
    results.push(result);
    onEvent({ kind: 'value', value: { ...result } });
  }
  const silent = results.filter(({ ok }) => !ok).map((result) => result.name);
  const reason = silent.length === 0 ? 'every agent answered' : `no answer from ${silent.join(', ')}`;
  return allow(reason, { ok: silent.length === 0, results: results.map((result) => ({ ...result })) });
};

async function installed(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  return (await detectAgents(env)).filter(({ path }) => path !== null).map(({ name }) => name);
}

/** Asks the runner of an agent, with its model and at its address. */
export async function selfTest(
  agent: Pick<AgentMateria, 'runner' | 'model' | 'baseUrl' | 'wire' | 'keyVariable' | 'env' | 'args'>,
  signal: AbortSignal,
): Promise<SelfTest> {
  const { runner: name } = agent;
  const begun = performance.now();
  const result = await askOnce(agent, { prompt: PROMPT, timeoutMs: TEST_MS, maxOutputBytes: OUTPUT_BYTES_MAX }, signal);
  const ms = Math.round(performance.now() - begun);
  if (result.kind === 'lost') {
    return { name, ok: false, said: result.reason, code: 'AGENT_CRASHED', model: null, tokens: 0, ms, warnings: [] };
  }
  const { usage, agent: note } = result;
  return {
    name,
    ok: result.kind === 'output',
    said: result.kind === 'output' ? result.output.trim() : result.reason,
    code: result.kind === 'output' ? null : (result.code ?? 'AGENT_FAILED'),
    model: note?.model ?? null,
    tokens: usage ? usage.input + usage.output : 0,
    ms,
    warnings: note?.warnings ?? [],
  };
}

type AskedAgent = Pick<AgentMateria, 'runner' | 'model'> &
  Partial<Pick<AgentMateria, 'baseUrl' | 'wire' | 'keyVariable' | 'env' | 'args'>>;

type Question = Pick<Packet, 'timeoutMs' | 'maxOutputBytes'> & {
  readonly prompt: string;
  /** What a script says in the place of the agent. */
  readonly scripted?: Packet['scripted'];
};

/** One prompt outside of a cast, without tools and in an empty folder. */
export async function askOnce(agent: AskedAgent, question: Question, signal: AbortSignal): Promise<AttemptResult> {
  const { runner, model, baseUrl, wire, keyVariable, env, args } = agent;
  const { prompt, scripted = null, ...bounds } = question;
  const folder = mkdtempSync(join(tmpdir(), 'baton-ask-'));
  const where = { baseUrl, wire, keyVariable, env, args };
  const given = Object.fromEntries(Object.entries(where).filter(([, value]) => value !== undefined));
  const materia = { ...materiaFor(runner, { model }), prompt, ...given };
  const packet: Packet = {
    ...{ cast: 'asked', turn: 1, attempt: 1, socket: 'Socket-1', materia, brief: prompt, scripted },
    ...{ ...bounds, retriesMax: 1, modelSilenceMs: bounds.timeoutMs },
    ...{ session: null, utility: null, slot: null, task: null, offersTools: false, holdsCommands: false },
  };
  const place = { cwd: folder, configDir: folder, attemptDir: join(folder, 'attempts', 'asked') };
  try {
    return await (scripted ? runners.runnerFor(packet) : agentRunner(materia)).run(packet, place, signal);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function materiaFor(runner: string, { model = null, baseUrl }: Options): AgentMateria {
  return {
    ...{ type: 'agent', id: 'self-test', label: 'Self-test', generator: false, multiTurn: false, prompt: PROMPT },
    ...{ tools: 'none', runner, model, thinking: null, identity: null, onCrash: 'rerun', lockScope: null },
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
}
