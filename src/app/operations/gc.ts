// Erases old texts, without breaking the chain or any proof, and removes the worktrees of finished casts. Work that exists nowhere else
// stays until a person gives it up.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Erasure,
  type ErasurePlan,
  type ErasureRequest,
  factOfErasure,
  planErasures,
} from '../../audit/erasure.ts';
import type { Log } from '../../engine/ports.ts';
import type { Store, Submitter } from '../../engine/store.ts';
import { isOver } from '../../kernel/cast/state.ts';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { lostText, refusalOfUntouched, spanMs, whyWorktreeStays } from '../../kernel/retention.ts';
import { counted } from '../../kernel/text.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import { withEvidence } from '../../log/sqlite/evidence.ts';
import { logFileIn } from '../../log/sqlite/open.ts';
import { tryGit } from '../../workspace/git.ts';
import { type LocatedWorkspace, UsageError } from '../../workspace/locate.ts';
import { branchTip } from '../../workspace/worktree/accepted.ts';
import { removeLane } from '../../workspace/worktree/lane.ts';
import { removeWorktree } from '../../workspace/worktree/make.ts';
import { apartIn, noticeOfApart, noticeOfOrphaned, orphanedIn } from '../../workspace/worktree/nested-repositories.ts';
import {
  BRANCHES,
  castsWithWorktrees,
  lanesOf,
  readRecord,
  type WorktreeRecord,
} from '../../workspace/worktree/record.ts';
import { dropStashes } from '../../workspace/worktree/stash.ts';
import { uncommittedOf } from '../../workspace/worktree/turns.ts';
import { refusing } from '../cast-work.ts';
import { checkpointAtEnd } from '../driving/drive-cast.ts';
import type { Context, InputOf } from '../operation.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf, Operation } from './table.ts';

const DEFAULT_AGE = '30d';
/** So many facts at once: others get their turn in between. */
const AT_ONCE = 10_000;

type Input = InputOf<FieldsOf<'gc'>>;

/** By age texts and worktrees; asked for by name, only what was asked for. */
export const collectGarbage: Operation<'gc'> = async (workspace, input, context) => {
  if (!workspace.hasLog()) throw workspace.noCastYet();
  const { olderThan, worktrees = false, force = false } = input;
  if (force && !worktrees) throw new UsageError('--force is for --worktrees');
  if (worktrees) {
    const before = olderThan === undefined ? null : timeBefore(olderThan);
    return sweptVerdict(await swept(workspace, input, before), input);
  }
  const texts = await collect(workspace, input, context);
  const { before } = erasureOf(input).request;
  if (before === null || !texts.allow) return texts;
  const trees = sweptVerdict(await swept(workspace, input, before), input);
  const reason = trees.details.worktrees.length === 0 ? texts.reason : `${texts.reason} ${trees.reason}`;
  return allow(reason, { ...texts.details, worktrees: trees.details.worktrees });
};

function swept(
  workspace: Workspace,
  { force = false, stopped = false, dryRun = false }: Input,
  before: string | null,
): Promise<readonly Swept[]> {
  return refusing(() => sweepWorktrees(workspace.castStore(), workspace, { before, force, stopped, dryRun }));
}

function sweptVerdict(found: readonly Swept[], { dryRun = false }: Input) {
  const gone = found.filter(({ removed }) => removed).length;
  const kept = found.length > gone ? `; ${found.length - gone} kept` : '';
  const reason = `${dryRun ? 'Would clear' : 'Cleared'} ${counted(gone, 'worktree')} away${kept}.`;
  return allow(reason, { worktrees: found.map((each) => ({ ...each })), dryRun }) as Verdict & {
    readonly details: { readonly worktrees: JsonObject[] };
  };
}

async function collect(workspace: Workspace, input: Input, { actor, onEvent }: Context): Promise<Verdict> {
  const { request, reason } = erasureOf(input);
  const { dryRun = false } = input;
  const looked = await planned(workspace, request);
  const refusal = refusalOfUntouched(looked.untouched);
  if (refusal) return refusal;
  const plan = dryRun ? looked : await erase(workspace, request, reason, actor);
  if (!dryRun && plan.erasures.length > 0) {
    for (const cast of plan.casts) rmSync(join(workspace.stateDir, `${cast}.out`), { force: true });
    await checkpointAtEnd(workspace, (text) => onEvent({ kind: 'note', text }));
  }
  const bytes = plan.erasures.reduce((sum, each) => sum + each.bytes, 0);
  const details = { texts: plan.erasures.length, bytes, casts: plan.casts, kept: plan.kept, dryRun };
  const what = `${counted(plan.erasures.length, 'text')} of ${counted(plan.casts.length, 'cast')}, ${counted(bytes, 'byte')}`;
  const kept = plan.kept > 0 ? `; ${plan.kept} kept, because what they belong to is not over` : '';
  return allow(`${dryRun ? 'Would erase' : 'Erased'} ${what}${kept}.`, details);
}

function erasureOf({ olderThan, stopped = false, digest: digests = [] }: Input) {
  const odd = digests.find((each) => !/^sha256:[0-9a-f]{64}$/.test(each));
  if (odd !== undefined) throw new UsageError(`--digest takes sha256: and 64 hex digits, not ${odd}`);
  // Named texts are the ones meant. Age counts where it is given, or where nothing is named.
  const age = olderThan ?? (digests.length > 0 ? null : DEFAULT_AGE);
  const request: ErasureRequest = { before: age === null ? null : timeBefore(age), stopped, digests };
  return { request, reason: age === null ? 'asked for by digest' : `older than ${age}` };
}

function timeBefore(age: string): string {
  const span = spanMs(age);
  if (span === null) throw new UsageError(`--older-than takes a number with m, h, d or w, such as 30d, not ${age}`);
  return new Date(Date.now() - span).toISOString();
}

function planned({ stateDir }: Workspace, request: ErasureRequest): Promise<ErasurePlan> {
  return withEvidence(logFileIn(stateDir), (evidence) => planErasures(evidence, request));
}

/** Erases the texts of the request, and answers which those were. */
function erase(workspace: Workspace, request: ErasureRequest, reason: string, actor: Submitter): Promise<ErasurePlan> {
  return workspace.castStore().asStored((log) => eraseIn(log, workspace, request, reason, actor));
}

async function eraseIn(
  log: Log,
  workspace: Workspace,
  request: ErasureRequest,
  reason: string,
  actor: Submitter,
): Promise<ErasurePlan> {
  const done: Erasure[] = [];
  const casts = new Set<string>();
  try {
    for (;;) {
      const { seq } = await log.head();
      const plan = await planned(workspace, request);
      const due = plan.erasures.slice(0, AT_ONCE);
      if (due.length === 0) return { erasures: done, casts: [...casts], kept: plan.kept, untouched: [] };
      const erased = due.map((each) => ({ fact: factOfErasure(each, reason), by: actor.name, at: Date.now() }));
      // A cast that was carried on since it was looked at is not over any more: look again.
      const isCarriedOn = (entry: Entry) => 'cast' in entry.fact && plan.casts.includes(entry.fact.cast);
      const written = await log.commit(seq, { decide: (tail) => (tail.some(isCarriedOn) ? [] : erased) });
      if (written.length === 0) continue;
      done.push(...due);
      for (const cast of plan.casts) casts.add(cast);
    }
  } finally {
    await log.overwriteErased();
  }
}

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

/** Removes the worktrees of finished casts. Work that exists nowhere else stays until a person gives it up. */
async function sweepWorktrees(store: Store, { stateDir }: LocatedWorkspace, options: SweepOptions): Promise<Swept[]> {
  const casts = new Map((await store.view('casts', {})).map((summary) => [summary.cast, summary]));
  const swept: Swept[] = [];
  for (const id of castsWithWorktrees(stateDir)) {
    const summary = casts.get(id);
    if (!isMeant(summary, options)) continue;
    const stays = await whyItStays(store, id, summary, options);
    const own = readRecord(stateDir, id);
    for (const lane of lanesOf(stateDir, id)) {
      swept.push(await sweep(lane, own, stays, options, async () => void (await removeLane(stateDir, lane))));
    }
    if (own && (own.state === 'ready' || own.state === 'making')) {
      swept.push(await sweep(own, null, stays, options, () => removeOwn(stateDir, own, options)));
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
