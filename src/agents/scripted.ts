// A scripted agent: it says what its script says, so that a cast can be run and repeated without a model.
import { lstatSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import type { AttemptDirs, AttemptResult, Runner } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { Usage } from '../kernel/cast/state.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { agentEnvironment, OWN_PROGRAM } from './environment.ts';
import { awaitAttempt, startAttempt } from './process/attempt.ts';
import { clearAttempt } from './process/attempt-folder.ts';

const GRACE_MS = 1_000;

export const scripted: Runner = {
  run: play,
  // Nothing of an earlier process is left to wait for; the same scripted turn is played again by a new attempt.
  async recover() {
    return { kind: 'lost', mayHaveRun: true, reason: 'the process that played it is gone' };
  },
  async forget({ attemptDir }) {
    await clearAttempt(attemptDir);
  },
};

async function play(packet: Packet, place: AttemptDirs, signal: AbortSignal): Promise<AttemptResult> {
  const turn = packet.scripted?.turn;
  if (turn === undefined) {
    return {
      kind: 'fault',
      fault: 'unscripted',
      reason: `the script has no (further) turn for ${[...new Set([packet.socket, packet.materia.id])].join(' or ')}`,
    };
  }
  if (!isObject(turn) || !isObject(turn.$turn)) return { kind: 'output', output: asText(turn) };
  const { output, delayMs, usage, fail, write, exec, commands } = turn.$turn;
  if (typeof delayMs === 'number' && delayMs > 0) await pause(Math.min(delayMs, packet.timeoutMs), signal);
  if (signal.aborted) return { kind: 'lost', mayHaveRun: true, reason: 'stopped' };
  const used = usage === undefined ? {} : { usage: asUsage(usage) };
  if (typeof delayMs === 'number' && delayMs > packet.timeoutMs)
    return { kind: 'fault', fault: 'timeout', reason: late(packet), ...used };
  if (isObject(write)) {
    const refused = writeFiles(place.cwd, write);
    if (refused) return { kind: 'fault', fault: 'unscripted', reason: refused, ...used };
  }
  if (Array.isArray(exec)) {
    const refused = await runApproved(exec.filter(isString), packet, place, signal);
    if (refused) return { kind: 'fault', fault: 'unscripted', reason: refused, ...used };
  }
  const words = output === undefined ? {} : { said: asText(output) };
  if (fail === 'timeout') return { kind: 'fault', fault: 'timeout', reason: late(packet), ...used, ...words };
  if (fail === 'crash' || fail === 'transport')
    return { kind: 'fault', fault: fail, reason: `the script lets it fail: ${fail}`, ...used, ...words };
  // A script may also name commands that it ran, like the report of a program.
  const ran = Array.isArray(commands) ? { agent: { commands: commands.filter(isString) } } : {};
  return { kind: 'output', output: output === undefined ? '' : asText(output), ...used, ...ran };
}

/**
 * Runs a command under the approval that the brief tells of, as an agent's own program would: a process of the attempt calls
 * `baton exec`. Answers why it did not run.
 */
async function runApproved(
  argv: readonly string[],
  packet: Packet,
  place: AttemptDirs,
  signal: AbortSignal,
): Promise<string | null> {
  const [, id] = /\b(P-[0-9a-f]{32}) is approved\b/.exec(packet.brief) ?? [];
  if (id === undefined) return `the script runs ${argv.join(' ')}, and nothing was approved`;
  const listed = packet.materia.type === 'agent' ? (packet.materia.env ?? []) : [];
  const env = agentEnvironment(process.env, { program: [], listed, set: {} }, packet, place);
  const bounds = { timeoutMs: packet.timeoutMs, silentMs: null, graceMs: GRACE_MS };
  const size = { maxStdoutBytes: packet.maxOutputBytes, maxStderrBytes: packet.maxOutputBytes };
  const call = [OWN_PROGRAM, 'exec', '--approval', id, '--', ...argv];
  await startAttempt(place.attemptDir, { argv: call, cwd: place.cwd, env, ...bounds, ...size }, '');
  const end = await awaitAttempt(place.attemptDir, signal);
  return end.code === 0 ? null : `the script could not run ${argv.join(' ')} under ${id}: ${end.stderr.trim()}`;
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function late({ timeoutMs }: Packet): string {
  return `no answer within ${timeoutMs} ms`;
}

function asUsage(usage: Json): Usage {
  const given: JsonObject = isObject(usage) ? usage : {};
  const amount = (value: Json | undefined) => (typeof value === 'number' && value >= 0 ? value : 0);
  return { input: amount(given.input), output: amount(given.output), cost: amount(given.cost) };
}

/** Writes below the project directory only; anything else is refused by name before a byte is written. */
function writeFiles(cwd: string, files: JsonObject): string | null {
  const root = realpathSync(cwd);
  for (const path of Object.keys(files)) {
    if (!isInside(root, path))
      return `the script may not write ${path}: only below the project directory, and not in .baton`;
  }
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, path);
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof text === 'string' ? text : JSON.stringify(text));
    } catch (error) {
      return `the script cannot write ${path}: ${(error as Error).message}`;
    }
  }
  return null;
}

function isInside(root: string, path: string): boolean {
  const file = join(root, path);
  const below = relative(root, file);
  const [first = ''] = below.split(/[\\/]/);
  if (below === '' || isAbsolute(path) || first === '..' || first.toLowerCase() === '.baton') return false;
  for (let at = file; at !== root; at = dirname(at)) {
    if (isLink(at)) return false;
  }
  return true;
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false; // What is not there is no link.
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
