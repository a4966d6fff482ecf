// Runs utility materia: a command under its supervisor, or a built-in within this process.
import { existsSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';
import type { AttemptDirs, AttemptResult, Runner } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { UtilityMateria } from '../kernel/graph/config.ts';
import { runBuiltin, shippedCommand } from '../utilities/index.ts';
import { lastOutput } from './agent-result.ts';
import { only, USUAL, userVariables } from './environment.ts';
import { awaitAttempt, recoverAttempt, startAttempt } from './process/attempt.ts';
import { clearAttempt } from './process/attempt-folder.ts';
import {
  readUtility,
  resolveCommand,
  type UtilityCall,
  utilityMessage,
  utilityStdin,
} from './process/utility-protocol.ts';
import { confined } from './sandbox.ts';
import { traceVariables } from './trace-context.ts';

const GRACE_MS = 1_000;
const STDERR_BYTES_MAX = 1_048_576;

export const utility: Runner = {
  async run(packet, place, signal) {
    const materia = packet.materia as UtilityMateria;
    const call = callOf(packet, materia, place);
    const command = commandOf(materia);
    if (!command) return builtin(materia, call);
    const { timeoutMs, maxOutputBytes } = packet;
    const silentMs = packet.task?.silentMs ?? null;
    const size = { maxStdoutBytes: maxOutputBytes, maxStderrBytes: STDERR_BYTES_MAX };
    const bounds = { timeoutMs, silentMs, graceMs: GRACE_MS, ...size };
    const argv = confined(resolveCommand(command, place.configDir), materia, place);
    await startAttempt(
      place.attemptDir,
      { argv, cwd: place.cwd, env: environment(packet, place), ...bounds },
      utilityStdin(call),
    );
    return collect(packet, place, signal);
  },

  async recover(packet, place, signal) {
    // Without a folder nothing was started: the crash came before it, or the utility runs within the process.
    if (!existsSync(place.attemptDir)) {
      const mayHaveRun = commandOf(packet.materia as UtilityMateria) === null;
      return { kind: 'lost', mayHaveRun, reason: 'the process that ran it is gone' };
    }
    const found = await recoverAttempt(place.attemptDir);
    if (found === 'running' || found === 'finished') return collect(packet, place, signal);
    await clearAttempt(place.attemptDir);
    return {
      kind: 'lost',
      mayHaveRun: found === 'lost',
      reason: 'it was cut off together with the process that ran it',
    };
  },

  async forget(place) {
    await clearAttempt(place.attemptDir);
  },
};

async function collect(packet: Packet, place: AttemptDirs, signal: AbortSignal): Promise<AttemptResult> {
  const end = await awaitAttempt(place.attemptDir, signal);
  // An engine stopped it, which says nothing about the work. It may be the driver that lost the cast to this one.
  if (end.aborted) return { kind: 'lost', mayHaveRun: true, reason: 'it was stopped' };
  if (end.lost) return { kind: 'fault', fault: 'crash', reason: 'it was killed together with its supervisor' };
  const result = readUtility(end, packet.timeoutMs);
  // A signal that is not ours cut it off in the middle; an exit is its own word about how it ended.
  const fault = end.timedOut ? 'timeout' : end.signal !== null ? 'crash' : 'utility';
  // The reason holds the end of what it wrote to standard error; many programs say on standard output what went wrong.
  if (!result.ok) return { kind: 'fault', fault, reason: result.reason, ...lastOutput(end.stdout) };
  return { kind: 'output', output: result.output, ...(result.truncated ? { truncated: true } : {}) };
}

async function builtin(materia: UtilityMateria, call: UtilityCall): Promise<AttemptResult> {
  const result = await runBuiltin(materia.utility ?? '', utilityMessage(call));
  return result.ok
    ? { kind: 'output', output: result.output }
    : { kind: 'fault', fault: 'utility', reason: result.reason };
}

/** What runs as a process of its own; null where a fixed output or a built-in makes one unnecessary. */
function commandOf({ command, script, params }: UtilityMateria): readonly string[] | null {
  if (command) return command;
  return params.output !== undefined || script === null ? null : shippedCommand(script);
}

function callOf(packet: Packet, { id, label, params }: UtilityMateria, place: AttemptDirs): UtilityCall {
  if (!packet.utility) throw new Error(`the packet of ${packet.socket} has no utility input`);
  return {
    ...packet.utility,
    cwd: place.cwd,
    runDir: place.attemptDir,
    castId: packet.cast,
    socketId: packet.socket,
    materiaId: id,
    materiaLabel: label,
    params,
  };
}

/**
 * The environment of this process, or what the utility lists of it, with our own Node first and what a `baton` that the
 * utility calls has to know: which state it belongs to, and which attempt it is part of. Nothing of that kind is handed
 * down from a cast around this one.
 */
function environment(
  { cast, turn, attempt, task, materia }: Packet,
  { attemptDir }: AttemptDirs,
): Record<string, string> {
  const { BATON_FENCE: _fence, BATON_TASK: _task, ...all } = userVariables(process.env);
  const env = materia.env === undefined ? all : only([...USUAL, 'BATON_CONFIG', ...materia.env], all);
  const inherited = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const path = [dirname(process.execPath), process.env.PATH ?? ''].filter((part) => part !== '').join(delimiter);
  return {
    ...Object.fromEntries(inherited),
    PATH: path,
    // Attempts are in the state folder. Without a named home, that folder is the home.
    BATON_HOME: resolve(process.env.BATON_HOME || dirname(dirname(attemptDir))),
    BATON_CAST: cast,
    BATON_ATTEMPT: `${turn}.${attempt}`,
    ...(task ? { BATON_TASK: task.id, BATON_FENCE: String(task.fence) } : {}),
    ...traceVariables(process.env, { cast, turn, attempt }),
  };
}
