// A handoff that an agent submitted by tool call, in the folder of its attempt. When the attempt ends it takes the place of
// the agent's last words; it is read, checked and scrubbed like them, so that nothing here is trusted.
import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AttemptDirs, AttemptResult, Runner, Runners } from '../engine/ports.ts';
import type { Fault } from '../kernel/cast/fact.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { AgentNote } from '../kernel/cast/state.ts';
import { withoutValues } from '../kernel/credential.ts';
import { isObject } from '../kernel/json.ts';
import { writeDurably } from './process/attempt-folder.ts';

const FILE = 'handoff.json';
const FILE_BYTES_MAX = 16 * 1_048_576;

type Numbers = Pick<Packet, 'cast' | 'turn' | 'attempt'>;

/** Keeps the text for the engine. A later one replaces it. */
export function keepHandoff(dir: string, { cast, turn, attempt }: Numbers, output: string): Promise<void> {
  return writeDurably(dir, FILE, `${JSON.stringify({ cast, turn, attempt, output })}\n`);
}

/** Takes secrets out of what was submitted. The supervisor does it when its program has ended: it knows their values. */
export async function cleanHandoff(dir: string, values: readonly string[]): Promise<void> {
  const text = values.length === 0 ? null : await readPlainFile(join(dir, FILE));
  if (text === null) return;
  const clean = withoutValues(text, values);
  if (clean !== text) await writeDurably(dir, FILE, clean);
}

export function dropHandoff(dir: string): Promise<void> {
  return rm(join(dir, FILE), { force: true });
}

/** The text that was submitted for this very attempt, or null. */
export async function submittedHandoff(dir: string, { cast, turn, attempt }: Numbers): Promise<string | null> {
  const text = await readPlainFile(join(dir, FILE));
  if (text === null) return null;
  try {
    const kept: unknown = JSON.parse(text);
    const isIts = isObject(kept) && kept.cast === cast && kept.turn === turn && kept.attempt === attempt;
    return isIts && typeof kept.output === 'string' ? kept.output : null;
  } catch {
    return null;
  }
}

/** The same runners; where an agent submitted its handoff, that is what its attempt has brought. */
export function takingSubmissions(runners: Runners): Runners {
  return { runnerFor: (packet) => taking(runners.runnerFor(packet)) };
}

function taking(runner: Runner): Runner {
  return {
    run: async (packet, place, signal) => submitted(await runner.run(packet, place, signal), packet, place),
    recover: async (packet, place, signal) => submitted(await runner.recover(packet, place, signal), packet, place),
    ...(runner.forget ? { forget: (place: AttemptDirs) => runner.forget?.(place) ?? Promise.resolve() } : {}),
  };
}

/** What may happen to a program after it has handed its work on. */
const AFTERWARDS: readonly string[] = ['crash', 'timeout', 'transport'] satisfies Fault[];

/**
 * A submitted handoff says that the work is done. A program that fails afterwards does not withdraw it; the turn shows how it
 * ended. An interrupted attempt runs again, because it is unknown what else it did.
 */
async function submitted(result: AttemptResult, packet: Packet, place: AttemptDirs): Promise<AttemptResult> {
  if (result.kind === 'lost' || (result.kind === 'fault' && !AFTERWARDS.includes(result.fault))) return result;
  const output = await submittedHandoff(place.attemptDir, packet);
  if (output === null) return result;
  const { usage } = result;
  const agent = result.kind === 'fault' ? warned(result.agent, result) : result.agent;
  return { kind: 'output', output, ...(usage ? { usage } : {}), ...(agent ? { agent } : {}) };
}

function warned(agent: AgentNote = {}, { fault, reason }: Extract<AttemptResult, { kind: 'fault' }>): AgentNote {
  const ended = fault === 'timeout' ? 'did not come to its end and was stopped at its timeout' : 'failed';
  return { ...agent, warnings: [...(agent.warnings ?? []), `after its handoff by tool call it ${ended} (${reason})`] };
}

/** Null for what is not there, is a link, is no file, or is larger than any handoff. */
async function readPlainFile(file: string): Promise<string | null> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (!handle) return null;
  try {
    const stat = await handle.stat();
    return stat.isFile() && stat.size <= FILE_BYTES_MAX ? await handle.readFile('utf8') : null;
  } finally {
    await handle.close();
  }
}
