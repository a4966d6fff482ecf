// Stops a cast, for now or for good, and ends what still runs of it. A driver ends its own agents; without a driver we do. Also shows and
// changes what a cast may use.

import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runners } from '../../agents/index.ts';
import { endAttempt } from '../../agents/process/attempt.ts';
import { clearAttempt } from '../../agents/process/attempt-folder.ts';
import { processState } from '../../agents/process/process-identity.ts';
import type { Driving } from '../../engine/lease.ts';
import { ENGINE, type Store } from '../../engine/store.ts';
import { packetOf } from '../../kernel/cast/packet.ts';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { allow } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { castNamed, nameCast } from '../name-cast.ts';
import { refusalOfDecision } from '../refusals.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Operation } from './table.ts';

/** Pauses a cast that runs: its driver stops the agents and releases it. */
export const castPause: Operation<'cast.pause'> = async (
  workspace,
  { cast: word, reason = 'paused by a person' },
  { actor },
) => {
  const { store, cast } = await castNamed(workspace, word);
  const verdict = await store.submit({ kind: 'cast.pause', cast, reason }, actor);
  return verdict.allow
    ? allow(`cast ${cast} is paused; \`${workspace.program} continue ${cast}\` carries it on`, { cast })
    : verdict;
};

/** Stops a cast, and answers when nothing of it runs any more. */
export const castAbort: Operation<'cast.abort'> = async (workspace, input, { actor }) => {
  const { cast: word, all = false, reason = 'aborted by a person' } = input;
  const store = workspace.castStore();
  const casts = (await chosen(store, word, all, workspace.program)).map(({ cast }) => cast);
  for (const cast of casts) {
    const answer = await store.submit({ kind: 'cast.abort', cast, reason }, actor);
    // Of all the open ones, one may have ended by itself in the meantime.
    if (!answer.allow && !all) return answer;
  }
  const running = (await Promise.all(casts.map((cast) => endWhatRuns(store, workspace.stateDir, cast)))).flat();
  const aborted = casts.length === 0 ? 'nothing runs or waits' : `aborted: ${casts.join(', ')}`;
  return running.length === 0
    ? allow(aborted, { casts })
    : allow(`${aborted}; still running: ${running.map(inWords).join(', ')}`, { casts, running });
};

function inWords({ cast, attempt, pids, host }: Leftover): string {
  if (attempt === null) return `the driver of ${cast} (process ${pids.join(', ')} on ${host})`;
  return `attempt ${attempt} of ${cast} (process ${pids.join(', ')})`;
}

/** Without a name: the one cast that is open. Which of several is never guessed. */
async function chosen(
  store: WorkspaceStore,
  word: string | undefined,
  all: boolean,
  program: string,
): Promise<readonly CastSummary[]> {
  if (word !== undefined) {
    if (all) throw new UsageError('name a cast or say --all, not both');
    return [await nameCast(store, word, program)];
  }
  const open = await store.view('casts', { isOpen: true });
  if (all || open.length <= 1) return open;
  throw new UsageError(
    `${open.length} casts are open: ${open.map(({ cast }) => cast).join(', ')}; name one, or say --all`,
  );
}

export const castBudget: Operation<'cast.budget'> = async (workspace, { cast: word, ...limits }, { actor }) => {
  const { tokens, cost, minutes } = limits;
  for (const [name, value] of Object.entries(limits))
    if (value !== undefined && value < 0) throw new UsageError(`--${name} must be a number, 0 or above, not ${value}`);
  if (tokens !== undefined && !Number.isSafeInteger(tokens))
    throw new UsageError(`--tokens must be a whole number, not ${tokens}`);
  const { store, cast } = await castNamed(workspace, word);
  if (tokens === undefined && cost === undefined && minutes === undefined) {
    const state = await store.view('cast', cast);
    if (!state) throw new UsageError(`there is no cast ${cast}`, 'UNKNOWN_CAST');
    const { budget, usage, clock } = state;
    const used = { cast, budget, usage, elapsedMs: clock.elapsedMs };
    return allow(`the budget of cast ${cast}`, used as unknown as JsonObject);
  }
  const refusal = refusalOfDecision(workspace, 'cast.budget', actor, cast, 'change what a cast may use');
  if (refusal) return refusal;
  return store.submit(
    {
      kind: 'budget.change',
      cast,
      ...(tokens === undefined ? {} : { maxTokens: tokens }),
      ...(cost === undefined ? {} : { maxCost: cost }),
      ...(minutes === undefined ? {} : { maxDurationMs: Math.round(minutes * 60_000) }),
    },
    actor,
  );
};

const WAIT_MS = 15_000;
const LOOK_EVERY_MS = 50;
/** How long a supervisor has to end its program. It waits a few seconds itself before it uses force. */
const END_MS = 10_000;

/** What could not be ended. */
type Leftover = {
  readonly cast: string;
  /** The turn and its attempt; null for the driver of the cast. */
  readonly attempt: string | null;
  readonly pids: readonly number[];
  readonly host?: string;
};

/** Answers when nothing of the cast runs any more, or with what still runs after a limit. */
export async function endWhatRuns(store: Store, stateDir: string, cast: string): Promise<readonly Leftover[]> {
  const driver = await driverThatStays(store, cast);
  const attempts = join(stateDir, 'attempts');
  const names = (await readdir(attempts).catch(() => [])).filter((name) => name.startsWith(`${cast}-`));
  const left = await Promise.all(
    names.map(async (name): Promise<Leftover> => {
      const pids = await endAttempt(join(attempts, name), END_MS);
      return { cast, attempt: name.slice(cast.length + 1), pids };
    }),
  );
  // A driver that is still there, if only stopped, looks into the folders when it goes on.
  if (driver === null) {
    await tellSpent(store, attempts, cast);
    for (const name of names) await clearAttempt(join(attempts, name));
  }
  // The processes of a driver that cannot be looked at cannot be ended from here.
  const unknown = driver?.sight === 'unknown' ? [{ cast, attempt: null, pids: [driver.pid], host: driver.host }] : [];
  return [...left.filter(({ pids }) => pids.length > 0), ...unknown];
}

/** The driver, if it does not give the cast back in time. A stopped one cannot, so it is not waited for. */
async function driverThatStays(store: Store, cast: string): Promise<Driving | null> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const driver = await store.view('driver', cast);
    if (driver === null || performance.now() > deadline) return driver;
    if (driver.sight === 'runs' && /^[Tt]$/.test(processState(driver.pid)?.letter ?? '')) return driver;
    await sleep(LOOK_EVERY_MS);
  }
}

/** Records what the agents of a driver that is gone have used. */
async function tellSpent(store: Store, attempts: string, id: string): Promise<void> {
  const cast = await store.view('cast', id);
  if (!cast || cast.status === 'running') return;
  for (const turn of Object.values(cast.turns).filter(({ phase }) => phase === 'running')) {
    const attemptDir = join(attempts, `${id}-${turn.id}.${turn.attempt}`);
    const packet = packetOf(cast, turn);
    if (packet.scripted || packet.materia.type === 'utility' || !existsSync(attemptDir)) continue;
    const place = { cwd: attempts, configDir: attempts, attemptDir };
    const { usage, agent } = await runners.runnerFor(packet).recover(packet, place, AbortSignal.abort());
    const spent = { cast: id, turn: turn.id, attempt: turn.attempt, ...(agent ? { agent } : {}) };
    if (usage) await store.submit({ kind: 'attempt.spent', ...spent, usage }, ENGINE);
  }
}
