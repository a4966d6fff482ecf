// Runs an agent program under its supervisor, so that it outlives us and its whole tree can be ended. A provider that
// asks for patience gets a second run in a folder next to the first; after a crash of ours the newest one counts.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AttemptDirs, AttemptResult, Runner } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { Usage } from '../kernel/cast/state.ts';
import {
  type AgentSettings,
  agentCallOf,
  type GuardOf,
  OFFERED_AS,
  type OfferTools,
  type Program,
  type ProgramCall,
} from './agent-call.ts';
import { faultResult, lostResult, outputResult, type Settled, usedBy } from './agent-result.ts';
import { agentEnvironment } from './environment.ts';
import {
  type AgentFault,
  faultOf,
  faultOfError,
  faultOfKill,
  faultOfSilence,
  patience,
  RETRY,
  type RetryRules,
  waitBefore,
} from './fault.ts';
import { followFile } from './live-watch.ts';
import { modelSilence, silenceEvent } from './model-silence.ts';
import { type AttemptEnd, awaitAttempt, recoverAttempt, startAttempt } from './process/attempt.ts';
import { clearAttempt } from './process/attempt-folder.ts';
import { type AgentReport, addUsage } from './report.ts';
import { confined } from './sandbox.ts';

/** Time for a program to save its session after it was asked to end. */
const GRACE_MS = 3_000;
const STREAM_BYTES_MAX = 64 * 1_048_576;
const STDERR_BYTES_MAX = 1_048_576;

type Run = { readonly dir: string; readonly retries: number };

type ProgramRunnerOptions = {
  readonly retry?: RetryRules;
  readonly offer?: OfferTools | null;
  readonly guardOf?: GuardOf | null;
};

export function programRunner(
  program: Program,
  settings: AgentSettings = {},
  { retry = RETRY, offer = null, guardOf = null }: ProgramRunnerOptions = {},
): Runner {
  async function invocationOf(packet: Packet, place: AttemptDirs): Promise<ProgramCall> {
    const guard = guardOf && (await guardOf(packet));
    const offered = withOffer(settings, packet, place, offer);
    return program.invoke(agentCallOf(packet), guard ? { ...offered, guard } : offered);
  }

  async function start(
    packet: Packet,
    place: AttemptDirs,
    run: Run,
    timeoutMs: number,
    made: ProgramCall,
  ): Promise<void> {
    const { argv, stdin, env } = made;
    const own = { program: program.variables, listed: settings.variables ?? [], set: { ...env, ...settings.env } };
    const environment = agentEnvironment(process.env, own, packet, place);
    await startAttempt(
      run.dir,
      {
        argv: confined(argv, packet.materia, place, environment),
        cwd: place.cwd,
        env: environment,
        timeoutMs,
        silentMs: packet.task?.silentMs ?? null,
        graceMs: GRACE_MS,
        maxStdoutBytes: STREAM_BYTES_MAX,
        maxStderrBytes: STDERR_BYTES_MAX,
        endsWhenFull: true,
      },
      stdin,
    );
  }

  /** Waits for a run that is under way, and makes the next one where that helps. */
  async function settle(packet: Packet, place: AttemptDirs, first: Run, signal: AbortSignal): Promise<AttemptResult> {
    const made = await invocationOf(packet, place);
    const begun = performance.now();
    let retriesBefore = 0;
    for (let run = first; ; ) {
      const { end, gaveUp } = await watched(
        program,
        place,
        run,
        { retriesMax: packet.retriesMax - run.retries, modelSilenceMs: packet.modelSilenceMs },
        signal,
      );
      const settled = await settledBy(program, packet, place, run, made, end.stdout);
      const { report } = settled;
      if (signal.aborted || (end.aborted && !gaveUp)) return lostResult('stopped', settled);
      // A killed program counts as a crash and runs once more, not forever.
      if (end.lost) return faultResult(faultOfKill(program.name), { ...settled, stderr: end.stderr, tries: 1 });
      const fault = gaveUp ?? faultOf(program.name, end, end.stderr, report);
      if (!fault) return outputResult(settled);
      const leftMs = packet.timeoutMs - (performance.now() - begun);
      // What its program tried by itself counts as well.
      const retries = run.retries + retriesBefore + report.retries;
      const state = { retries, retriesMax: packet.retriesMax, toolCalls: report.toolCalls.length, leftMs };
      const waitMs = waitBefore(fault, state, retry);
      if (waitMs === null) return faultResult(fault, { ...settled, stderr: end.stderr, tries: retries + 1 });
      retriesBefore += report.retries;
      place.onEvent?.({ kind: 'waiting', forMs: waitMs, reason: fault.reason });
      if (!(await patience(waitMs, signal))) return lostResult('stopped', settled);
      run = { dir: againDir(place, run.retries + 1), retries: run.retries + 1 };
      await start(packet, place, run, Math.max(1, Math.ceil(leftMs - waitMs)), made);
    }
  }

  return {
    async run(packet, place, signal) {
      const run = { dir: place.attemptDir, retries: 0 };
      await start(packet, place, run, packet.timeoutMs, await invocationOf(packet, place));
      return settle(packet, place, run, signal);
    },

    async recover(packet, place, signal) {
      const run = newestRun(place);
      if (!run) return { kind: 'lost', mayHaveRun: false, reason: 'it was not started yet' };
      const found = await recoverAttempt(run.dir);
      if (found === 'running' || found === 'finished') return settle(packet, place, run, signal);
      const output = await outputOf(run.dir);
      const settled = await settledBy(program, packet, place, run, await invocationOf(packet, place), output);
      await forget(place);
      const mayHaveRun = found === 'lost' || run.retries > 0;
      return { ...lostResult('it was cut off together with the process that ran it', settled), mayHaveRun };
    },

    forget,
  };
}

/** The settings with our own server, if the cast offers it. */
function withOffer(
  settings: AgentSettings,
  packet: Packet,
  place: AttemptDirs,
  offer: OfferTools | null,
): AgentSettings {
  if (!offer || !packet.offersTools) return settings;
  const own = agentEnvironment(process.env, { program: [], listed: [], set: {} }, packet, place);
  return { ...settings, mcp: { ...settings.mcp, [OFFERED_AS]: offer(own) } };
}

/** What a whole stream amounts to. */
export function reportFrom(program: Pick<Program, 'reader'>, stdout: string): AgentReport {
  const reader = program.reader();
  reader.push(stdout);
  return reader.report();
}

/** Where asking again cannot help a program is ended. It may ask once more all the same: it may have renewed its sign-in. */
const VAIN_RETRIES_MAX = 1;

/** A program that tells nothing but its exit code may be doing anything. */
function isWaitingForModel({ isFinished, openCalls }: AgentReport): boolean {
  return isFinished === false && openCalls === 0;
}

type Watched = { readonly end: AttemptEnd; readonly gaveUp: AgentFault | null };

async function watched(
  program: Program,
  { onEvent }: AttemptDirs,
  { dir }: Run,
  { retriesMax, modelSilenceMs }: { readonly retriesMax: number; readonly modelSilenceMs: number },
  signal: AbortSignal,
): Promise<Watched> {
  const reader = program.reader();
  const inVain = new AbortController();
  let gaveUp: AgentFault | null = null;
  const silence = modelSilence(modelSilenceMs, {
    isAsked: () => isWaitingForModel(reader.report()),
    report: (silentMs) => onEvent?.(silenceEvent(program.name, silentMs)),
    giveUp() {
      gaveUp = faultOfSilence(program.name, modelSilenceMs);
      inVain.abort();
    },
  });
  const following = followFile(join(dir, 'stdout'), (text) => {
    silence.heard();
    const events = reader.push(text);
    for (const event of events) onEvent?.(event);
    if (gaveUp || !events.some(({ kind }) => kind === 'waiting')) return;
    const { error, retries } = reader.report();
    const fault = error && faultOfError(program.name, error);
    // Not every program lets us say how often it may ask.
    if (!fault || retries <= (fault.fault === 'refused' ? VAIN_RETRIES_MAX : retriesMax)) return;
    gaveUp = fault;
    inVain.abort();
  });
  try {
    const end = await awaitAttempt(dir, AbortSignal.any([signal, inVain.signal]));
    return { end, gaveUp: end.aborted ? gaveUp : null };
  } finally {
    silence.stop();
    await following.stop();
  }
}

/** The output of a run, and the usage of earlier ones. */
async function settledBy(
  program: Program,
  packet: Packet,
  place: AttemptDirs,
  { retries }: Run,
  { warnings, sessionId }: ProgramCall,
  stdout: string,
): Promise<Settled> {
  const read = reportFrom(program, stdout);
  const report = { ...read, sessionId: read.sessionId ?? sessionId ?? null };
  return { packet, report, warnings, spent: await spentBefore(program, packet, place, retries) };
}

function outputOf(dir: string): Promise<string> {
  return readFile(join(dir, 'stdout'), 'utf8').catch(() => '');
}

/** The usage of earlier runs, from their folders, so it is known after a crash, too. */
async function spentBefore(
  program: Program,
  packet: Packet,
  place: AttemptDirs,
  retries: number,
): Promise<Usage | null> {
  let spent: Usage | null = null;
  for (let run = 0; run < retries; run += 1) {
    const dir = run === 0 ? place.attemptDir : againDir(place, run);
    const used = usedBy(packet, reportFrom(program, await outputOf(dir)));
    if (used !== null) spent = addUsage(spent, used);
  }
  return spent;
}

/** Next to the attempt's own folder and with its name as prefix, so that a clean-up finds it. */
function againDir(place: AttemptDirs, retries: number): string {
  return `${place.attemptDir}.again-${retries}`;
}

function newestRun(place: AttemptDirs): Run | null {
  if (!existsSync(place.attemptDir)) return null;
  let retries = 0;
  while (existsSync(againDir(place, retries + 1))) retries += 1;
  return { dir: retries === 0 ? place.attemptDir : againDir(place, retries), retries };
}

async function forget(place: AttemptDirs): Promise<void> {
  // The first folder goes last: while it is there, the others can be found.
  for (let retries = 1; existsSync(againDir(place, retries)); retries += 1) {
    await clearAttempt(againDir(place, retries));
  }
  await clearAttempt(place.attemptDir);
}
