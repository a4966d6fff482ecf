// What a finished cast left: agents that still run, and worktrees. A driver ends its own agents; without a driver we do.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runners } from '../agents/index.ts';
import { endAttempt } from '../agents/process/attempt.ts';
import { clearAttempt } from '../agents/process/attempt-folder.ts';
import { processState } from '../agents/process/process-identity.ts';
import type { Driving } from '../engine/lease.ts';
import { ENGINE, type Store } from '../engine/store.ts';
import { packetOf } from '../kernel/cast/packet.ts';
import { isOver } from '../kernel/cast/state.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import { lostText, whyWorktreeStays } from '../kernel/retention.ts';
import { tryGit } from '../workspace/git.ts';
import type { LocatedWorkspace } from '../workspace/locate.ts';
import { branchTip } from '../workspace/worktree/accepted.ts';
import { removeLane } from '../workspace/worktree/lane.ts';
import { removeWorktree } from '../workspace/worktree/make.ts';
import { apartIn, noticeOfApart, noticeOfOrphaned, orphanedIn } from '../workspace/worktree/nested-repositories.ts';
import {
  BRANCHES,
  castsWithWorktrees,
  lanesOf,
  readRecord,
  type WorktreeRecord,
} from '../workspace/worktree/record.ts';
import { dropStashes } from '../workspace/worktree/stash.ts';
import { uncommittedOf } from '../workspace/worktree/turns.ts';

const WAIT_MS = 15_000;
const LOOK_EVERY_MS = 50;
/** How long a supervisor has to end its program. It waits a few seconds itself before it uses force. */
const END_MS = 10_000;

/** What could not be ended. */
export type Leftover = {
  readonly cast: string;
  /** The turn and its attempt; null for the driver of the cast. */
  readonly attempt: string | null;
  readonly pids: readonly number[];
  readonly host?: string;
};

/** Answers when nothing of the cast runs any more, or with what still runs after a limit. */
export async function endLeftovers(store: Store, stateDir: string, cast: string): Promise<readonly Leftover[]> {
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
  const unseen = driver?.sight === 'unknown' ? [{ cast, attempt: null, pids: [driver.pid], host: driver.host }] : [];
  return [...left.filter(({ pids }) => pids.length > 0), ...unseen];
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

/** Nobody else tells any more what the agents of a driver that is gone have used. */
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

// Removes the worktrees of finished casts. Work that exists nowhere else stays until a person gives it up.
type SweepOptions = {
  /** Of casts that ended before this time; null for all that are over. */
  readonly before: string | null;
  /** Failed and aborted casts too. */
  readonly stopped: boolean;
  /** Also where work would be lost. */
  readonly force: boolean;
  readonly dryRun: boolean;
};

export type Swept = {
  readonly cast: string;
  readonly branch: string;
  /** Its last commit, with which git brings it back while it still has it. */
  readonly tip: string | null;
  readonly removed: boolean;
  /** Why it stays; else what went with it, if anything did. */
  readonly why: string | null;
};

/** What was found, cast by cast; those that the wish is not about are left out. */
export async function sweepWorktrees(
  store: Store,
  { stateDir }: LocatedWorkspace,
  wish: SweepOptions,
): Promise<Swept[]> {
  const casts = new Map((await store.view('casts', {})).map((summary) => [summary.cast, summary]));
  const swept: Swept[] = [];
  for (const id of castsWithWorktrees(stateDir)) {
    const summary = casts.get(id);
    if (!isMeant(summary, wish)) continue;
    const stays = await whyItStays(store, id, summary, wish);
    const own = readRecord(stateDir, id);
    for (const lane of lanesOf(stateDir, id)) {
      swept.push(await sweep(lane, own, stays, wish, async () => void (await removeLane(stateDir, lane))));
    }
    if (own && (own.state === 'ready' || own.state === 'making')) {
      swept.push(await sweep(own, null, stays, wish, () => removeOwn(stateDir, own, wish)));
    }
  }
  return swept;
}

/** A cast that the log does not know is over. */
function isMeant(summary: CastSummary | undefined, { before }: SweepOptions): boolean {
  return before === null || summary === undefined || !isOver(summary.status) || summary.changedAt < before;
}

async function whyItStays(store: Store, id: string, summary: CastSummary | undefined, { stopped }: SweepOptions) {
  if (!summary) return null;
  const { status } = summary;
  const isDriven = (await store.view('driver', id)) !== null;
  return whyWorktreeStays({ status, isOver: isOver(status), isDriven }, stopped);
}

async function sweep(
  record: WorktreeRecord,
  own: WorktreeRecord | null,
  stays: string | null,
  { force, dryRun }: SweepOptions,
  remove: () => Promise<void>,
): Promise<Swept> {
  const { cast, branch } = record;
  const tip = await branchTip(record);
  const lost = record.state === 'making' ? null : await lostWith(record, own, tip);
  const apart = record.state === 'making' || stays !== null ? [] : await apartIn(record);
  const kept = apart.length > 0 ? noticeOfApart(record, apart) : null;
  const why = stays ?? kept ?? (lost && !force ? `${lost} would be lost; look at it, then say --force` : null);
  const behind = why === null ? noticeOfOrphaned(await orphanedIn(record)) : '';
  const went = [lost ?? '', behind].filter((part) => part !== '').join('; ') || null;
  if (why === null && !dryRun) await remove();
  return { cast, branch, tip, removed: why === null, why: why ?? went };
}

/** The work that lies in this worktree alone, in words, or null. */
async function lostWith(record: WorktreeRecord, own: WorktreeRecord | null, tip: string | null) {
  const { top } = record;
  const others = own ? [await branchTip(own), own.tip].flatMap((each) => each ?? []) : [];
  const elsewhere = ['--not', 'HEAD', ...others, `--exclude=${BRANCHES}/*`, '--branches', '--remotes'];
  const commits = tip === null ? 0 : Number((await tryGit(top, ['rev-list', '--count', tip, ...elsewhere])).out) || 0;
  const files = await uncommittedOf(record).catch(() => 0);
  return lostText(commits, files);
}

async function removeOwn(stateDir: string, own: WorktreeRecord, { force }: SweepOptions): Promise<void> {
  const isMerged = (await lostWith(own, null, await branchTip(own))) === null;
  await removeWorktree(stateDir, own, isMerged ? 'merged' : 'undone');
  if (force) await dropStashes(own);
}
