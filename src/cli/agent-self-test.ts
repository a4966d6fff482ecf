// One prompt to one agent, to see whether it works at all: it is asked for a single word, without tools, in an empty folder.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentRunner } from '../agents/index.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { AgentMateria } from '../kernel/graph/config.ts';

export type SelfTest = {
  readonly name: string;
  readonly ok: boolean;
  /** What it said, or why it said nothing. */
  readonly said: string;
  readonly code: string | null;
  readonly model: string | null;
  readonly tokens: number;
  readonly ms: number;
  readonly warnings: readonly string[];
};

const PROMPT = 'This is a self-test. Answer with the single word: ready';
export const SELF_TEST_MS = 120_000;
const OUTPUT_BYTES_MAX = 65_536;

type Options = { readonly model: string | null; readonly baseUrl?: string };

export async function selfTest(name: string, options: Options, signal: AbortSignal): Promise<SelfTest> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-self-test-'));
  const materia = materiaFor(name, options);
  const begun = performance.now();
  try {
    const runner = agentRunner(materia);
    const place = { cwd: folder, configDir: folder, attemptDir: join(folder, 'attempts', 'test') };
    const result = await runner.run(packetFor(materia), place, signal);
    const ms = Math.round(performance.now() - begun);
    if (result.kind === 'lost') {
      return { name, ok: false, said: result.reason, code: 'AGENT_CRASHED', model: null, tokens: 0, ms, warnings: [] };
    }
    const { usage, agent } = result;
    return {
      name,
      ok: result.kind === 'output',
      said: result.kind === 'output' ? result.output.trim() : result.reason,
      code: result.kind === 'output' ? null : (result.code ?? 'AGENT_FAILED'),
      model: agent?.model ?? null,
      tokens: usage ? usage.input + usage.output : 0,
      ms,
      warnings: agent?.warnings ?? [],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function materiaFor(runner: string, { model, baseUrl }: Options): AgentMateria {
  return {
    ...{ type: 'agent', id: 'self-test', label: 'Self-test', generator: false, multiTurn: false, prompt: PROMPT },
    ...{ tools: 'none', runner, model, thinking: null, identity: null, onCrash: 'rerun', lockScope: null },
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
}

function packetFor(materia: AgentMateria): Packet {
  return {
    ...{ cast: 'self-test', turn: 1, attempt: 1, socket: 'Socket-1', materia, brief: PROMPT },
    ...{ timeoutMs: SELF_TEST_MS, maxOutputBytes: OUTPUT_BYTES_MAX, retriesMax: 1, modelSilenceMs: SELF_TEST_MS },
    ...{ session: null, scripted: null, utility: null, slot: null, task: null },
    ...{ offersTools: false, holdsCommands: false },
  };
}
