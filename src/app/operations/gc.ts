// Erases old texts, without breaking the chain or any proof, and clears worktrees away that nobody needs.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Erasure,
  type ErasurePlan,
  type ErasureRequest,
  factOfErasure,
  planErasures,
} from '../../audit/erasure.ts';
import type { Submitter } from '../../engine/store.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { refusalOfUntouched, spanMs } from '../../kernel/retention.ts';
import { counted } from '../../kernel/text.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import { withEvidence } from '../../log/sqlite/evidence.ts';
import { logFileIn } from '../../log/sqlite/open.ts';
import { UsageError } from '../../workspace/locate.ts';
import { refusing } from '../cast-work.ts';
import { checkpointAtEnd } from '../driving/drive-cast.ts';
import { type Swept, sweepWorktrees } from '../leftovers.ts';
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
    return told(await swept(workspace, input, before), input);
  }
  const texts = await collect(workspace, input, context);
  const { before } = wished(input).wish;
  if (before === null || !texts.allow) return texts;
  const trees = told(await swept(workspace, input, before), input);
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

function told(found: readonly Swept[], { dryRun = false }: Input) {
  const gone = found.filter(({ removed }) => removed).length;
  const kept = found.length > gone ? `; ${found.length - gone} kept` : '';
  const reason = `${dryRun ? 'Would clear' : 'Cleared'} ${counted(gone, 'worktree')} away${kept}.`;
  return allow(reason, { worktrees: found.map((each) => ({ ...each })), dryRun }) as Verdict & {
    readonly details: { readonly worktrees: JsonObject[] };
  };
}

async function collect(workspace: Workspace, input: Input, { actor, onEvent }: Context): Promise<Verdict> {
  const { wish, reason } = wished(input);
  const { dryRun = false } = input;
  const looked = await planned(workspace, wish);
  const refusal = refusalOfUntouched(looked.untouched);
  if (refusal) return refusal;
  const plan = dryRun ? looked : await erase(workspace, wish, reason, actor);
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

function wished({ olderThan, stopped = false, digest: digests = [] }: Input) {
  const odd = digests.find((each) => !/^sha256:[0-9a-f]{64}$/.test(each));
  if (odd !== undefined) throw new UsageError(`--digest takes sha256: and 64 hex digits, not ${odd}`);
  // Who names texts means these; age counts where it was said, or where nothing was.
  const age = olderThan ?? (digests.length > 0 ? null : DEFAULT_AGE);
  const wish: ErasureRequest = { before: age === null ? null : timeBefore(age), stopped, digests };
  return { wish, reason: age === null ? 'asked for by digest' : `older than ${age}` };
}

function timeBefore(age: string): string {
  const span = spanMs(age);
  if (span === null) throw new UsageError(`--older-than takes a number with m, h, d or w, such as 30d, not ${age}`);
  return new Date(Date.now() - span).toISOString();
}

function planned({ stateDir }: Workspace, wish: ErasureRequest): Promise<ErasurePlan> {
  return withEvidence(logFileIn(stateDir), (evidence) => planErasures(evidence, wish));
}

/** Erases what the wish covers and answers what that was. */
async function erase(
  workspace: Workspace,
  wish: ErasureRequest,
  reason: string,
  actor: Submitter,
): Promise<ErasurePlan> {
  const { log } = workspace.castStore();
  const done: Erasure[] = [];
  const casts = new Set<string>();
  try {
    for (;;) {
      const { seq } = await log.head();
      const plan = await planned(workspace, wish);
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
