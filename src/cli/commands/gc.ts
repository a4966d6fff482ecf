// `baton gc`: erases old texts, without breaking the chain or any proof, and clears worktrees away that nobody needs.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { asDamage, hasLog } from '../../app/state-folder.ts';
import { type Erasure, factOfErasure, type Plan, planErasures, type Wish } from '../../audit/retention.ts';
import { counted } from '../../kernel/counted.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { withEvidence } from '../../log/sqlite/evidence.ts';
import { logFileIn, SqliteLog } from '../../log/sqlite/log.ts';
import type { Workspace } from '../../workspace/locate.ts';
import { refusing } from '../cast-work.ts';
import { checkpointAtEnd } from '../checkpoint-at-end.ts';
import { type Call, flag, text, UsageError } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { type Swept, sweepWorktrees } from '../gc-worktrees.ts';
import { noCastYet, withDoor } from '../looking.ts';
import { person } from '../session.ts';
import { tell } from '../verdict-answer.ts';

const DEFAULT_AGE = '30d';
const MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
/** So many facts at once: others get their turn in between. */
const AT_ONCE = 10_000;

export async function run(call: Call): Promise<number> {
  const workspace = workspaceOf(call);
  if (!hasLog(workspace)) throw noCastYet(workspace);
  try {
    return tell(call, await collected(call, workspace), shown);
  } catch (error) {
    throw asDamage(error, workspace);
  }
}

/** By age texts and worktrees; asked for by name, only what was asked for. */
async function collected(call: Call, workspace: Workspace): Promise<Verdict> {
  const isForced = flag(call.values, 'force');
  if (isForced && !flag(call.values, 'worktrees')) throw new UsageError('--force is for --worktrees');
  if (flag(call.values, 'worktrees')) {
    const age = text(call.values, 'older-than');
    const before = age === undefined ? null : new Date(Date.now() - ageMs(age)).toISOString();
    return told(await swept(call, before, isForced), call);
  }
  const texts = await collect(call, workspace);
  const { before } = wished(call, Date.now()).wish;
  if (before === null || !texts.allow) return texts;
  const trees = told(await swept(call, before, false), call);
  const reason = trees.details.worktrees.length === 0 ? texts.reason : `${texts.reason} ${trees.reason}`;
  return allow(reason, { ...texts.details, worktrees: trees.details.worktrees });
}

function swept(call: Call, before: string | null, force: boolean): Promise<readonly Swept[]> {
  const wish = { before, force, stopped: flag(call.values, 'stopped'), dryRun: flag(call.values, 'dry-run') };
  return withDoor(call, (door, workspace) => refusing(() => sweepWorktrees(door, workspace, wish)));
}

function told(found: readonly Swept[], call: Call) {
  const isDry = flag(call.values, 'dry-run');
  const gone = found.filter(({ removed }) => removed).length;
  const kept = found.length > gone ? `; ${found.length - gone} kept` : '';
  const reason = `${isDry ? 'Would clear' : 'Cleared'} ${counted(gone, 'worktree')} away${kept}.`;
  return allow(reason, { worktrees: found.map((each) => ({ ...each })), dryRun: isDry }) as Verdict & {
    readonly details: { readonly worktrees: JsonObject[] };
  };
}

function shown({ reason, details }: Verdict): readonly string[] {
  const trees = Array.isArray(details.worktrees) ? (details.worktrees as unknown as Swept[]) : [];
  const lines = trees.map(({ branch, tip, removed, why }) => {
    const what = removed
      ? `gone   ${branch}${tip === null ? '' : `, last at ${tip.slice(0, 12)}`}`
      : `stays  ${branch}`;
    return `  ${what}${why === null ? '' : `: ${why}`}`;
  });
  return [reason, ...lines];
}

async function collect(call: Call, workspace: Workspace): Promise<Verdict> {
  const file = logFileIn(workspace.stateDir);
  const { wish, reason } = wished(call, Date.now());
  const isDry = flag(call.values, 'dry-run');
  const looked = await planned(file, wish);
  const refusal = refusalOf(looked);
  if (refusal) return refusal;
  const plan = isDry ? looked : await erase(file, wish, reason);
  if (!isDry && plan.erasures.length > 0) {
    for (const cast of plan.casts) rmSync(join(workspace.stateDir, `${cast}.out`), { force: true });
    await checkpointAtEnd(workspace, call.env);
  }
  const bytes = plan.erasures.reduce((sum, each) => sum + each.bytes, 0);
  const details = { texts: plan.erasures.length, bytes, casts: plan.casts, kept: plan.kept, dryRun: isDry };
  const what = `${counted(plan.erasures.length, 'text')} of ${counted(plan.casts.length, 'cast')}, ${counted(bytes, 'byte')}`;
  const kept = plan.kept > 0 ? `; ${plan.kept} kept, because what they belong to is not over` : '';
  return allow(`${isDry ? 'Would erase' : 'Erased'} ${what}${kept}.`, details);
}

/** Who names a text wants it gone: that it is not must not look like success. */
function refusalOf({ untouched }: Plan): Denied | null {
  const [first] = untouched;
  if (!first) return null;
  const { digest, kept } = first;
  const details = { untouched: untouched.map((each) => ({ ...each })) };
  if (kept === 0) {
    const reason = `no text of the log has the digest ${digest}, so nothing was erased: it is gone already, or was never stored beside a line`;
    return deny('BAD_USAGE', reason, details);
  }
  const reason = `nothing was erased: the text ${digest} belongs to something that is not over; let its cast or task end, or decide the approval, then erase it`;
  return deny('NOT_ALLOWED_NOW', reason, details);
}

function wished(call: Call, now: number): { readonly wish: Wish; readonly reason: string } {
  const { digest } = call.values;
  const digests = Array.isArray(digest) ? digest.filter((each) => typeof each === 'string') : [];
  const odd = digests.find((each) => !/^sha256:[0-9a-f]{64}$/.test(each));
  if (odd !== undefined) throw new UsageError(`--digest takes sha256: and 64 hex digits, not ${odd}`);
  const given = text(call.values, 'older-than');
  // Who names texts means these; age counts where it was said, or where nothing was.
  const age = given ?? (digests.length > 0 ? null : DEFAULT_AGE);
  const before = age === null ? null : new Date(now - ageMs(age)).toISOString();
  const wish = { before, stopped: flag(call.values, 'stopped'), digests };
  return { wish, reason: age === null ? 'asked for by digest' : `older than ${age}` };
}

function ageMs(age: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(age) ?? [];
  if (unit === '') throw new UsageError(`--older-than takes a number with m, h, d or w, such as 30d, not ${age}`);
  return Number(count) * (MS[unit] ?? 0);
}

function planned(file: string, wish: Wish): Promise<Plan> {
  return withEvidence(file, (evidence) => planErasures(evidence, wish));
}

/** Erases what the wish covers and answers what that was. */
async function erase(file: string, wish: Wish, reason: string): Promise<Plan> {
  const log = new SqliteLog(file);
  const done: Erasure[] = [];
  const casts = new Set<string>();
  try {
    for (;;) {
      const { seq } = await log.head();
      const plan = await planned(file, wish);
      const due = plan.erasures.slice(0, AT_ONCE);
      if (due.length === 0) return { erasures: done, casts: [...casts], kept: plan.kept, untouched: [] };
      const written = await log.commit(seq, (tail) => {
        // A cast that was carried on since it was looked at is not over any more: look again.
        const isStirred = tail.some(({ fact }) => 'cast' in fact && plan.casts.includes(fact.cast));
        return isStirred ? [] : due.map((each) => appendOf(each, reason));
      });
      if (written.length === 0) continue;
      done.push(...due);
      for (const cast of plan.casts) casts.add(cast);
    }
  } finally {
    await log.overwriteErased();
    await log.close();
  }
}

function appendOf(erasure: Erasure, reason: string) {
  return { fact: factOfErasure(erasure, reason), by: person(), at: Date.now() };
}
