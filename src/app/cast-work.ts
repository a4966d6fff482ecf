// What a cast has done to files, for the commands that show it, take it over or take it back.
import type { Store } from '../engine/store.ts';
import type { Touched } from '../kernel/cast/fact.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { Fact } from '../kernel/fact.ts';
import { bystanderAt, isKnownToWrite, remarkOn } from '../kernel/graph/route.ts';
import { counted } from '../kernel/text.ts';
import { deny } from '../kernel/verdict.ts';
import { WorktreeError } from '../workspace/git.ts';
import type { LocatedWorkspace } from '../workspace/locate.ts';
import type { Left } from '../workspace/restore-files.ts';
import { tipOf } from '../workspace/worktree/accepted.ts';
import { leftoversOf } from '../workspace/worktree/lane.ts';
import { lanesOf, readRecord, type WorktreeRecord } from '../workspace/worktree/record.ts';
import { drivenBy } from './name-cast.ts';
import { Refused } from './refused.ts';
import { socketName } from './views/socket-names.ts';

/** The record of the cast's worktree; null where it works in the directory itself. */
export function worktreeRecordOf({ stateDir }: LocatedWorkspace, { cast, root }: CastSummary): WorktreeRecord | null {
  if (root === undefined) return null;
  const record = readRecord(stateDir, cast);
  if (record && record.state !== 'making') return record;
  const reason = `cast ${cast} has not come as far as to have a worktree; \`baton continue ${cast}\` makes it`;
  throw new Refused(deny('WORKTREE_UNUSABLE', reason, { cast }));
}

export type UnmergedLane = {
  readonly lane: number;
  readonly task: string | null;
  readonly branch: string;
  readonly commits: number;
  readonly uncommitted: number;
};

/** Items that have a worktree of their own with something in it that the cast's branch does not have. */
export async function unmergedLanes(
  { stateDir }: LocatedWorkspace,
  own: WorktreeRecord,
): Promise<readonly UnmergedLane[]> {
  const found: UnmergedLane[] = [];
  for (const lane of lanesOf(stateDir, own.cast)) {
    if (lane.state !== 'ready') continue;
    const { commits, files } = await leftoversOf(lane, await tipOf(own));
    const { place, task } = lane.lane;
    if (commits + files > 0) found.push({ lane: place, task, branch: lane.branch, commits, uncommitted: files });
  }
  return found;
}

/** In words for people. */
export function saidOf({ task, branch, commits, uncommitted }: UnmergedLane): string {
  const what = [
    ...(commits > 0 ? [counted(commits, 'commit')] : []),
    ...(uncommitted > 0 ? [counted(uncommitted, 'uncommitted file')] : []),
  ].join(' and ');
  return `${task ?? 'An item'} is not merged yet: ${what} on ${branch}`;
}

/**
 * What the turns of a cast left, by path, whether they were accepted or refused. What is seen of a turn is seen against one
 * moment before it, which comes again when the turn begins anew: the last word since then counts. What changed beside turns
 * that are not known to have changed it is remarked on, unless a turn changed the same file itself.
 */
export async function leftBy(store: Store, cast: string): Promise<Left> {
  const beginnings = new Map<number, number>();
  const words = new Map<string, Left>();
  const remarks = new Map<number, (path: string) => string | null>();
  let started: Extract<Fact, { kind: 'cast.started' }> | null = null;
  for (const { fact } of await store.read({ after: 0, cast })) {
    if (fact.kind === 'cast.started') started = fact;
    if (fact.kind === 'turn.started' && started) {
      const { rules, root } = started;
      const who = bystanderAt(rules, root, fact.socket);
      const remark = who === null ? null : remarkOn(who, socketName(rules, fact.socket));
      remarks.set(fact.turn, (path) => (isKnownToWrite(rules, fact.socket, path) ? null : remark));
    }
    if (fact.kind === 'attempt.started' && fact.seal !== undefined) beginnings.set(fact.turn, fact.attempt);
    const word = wordOf(fact);
    if (!word) continue;
    const key = `${word.turn}.${beginnings.get(word.turn) ?? 0}`;
    const remarkOf = remarks.get(word.turn) ?? (() => null);
    const left = Object.entries(word.touched).map(
      ([path, digest]) => [path, { digest, remark: remarkOf(path) }] as const,
    );
    words.delete(key);
    words.set(key, Object.fromEntries(left));
  }
  const all = [...words.values()].flatMap((left) => Object.entries(left));
  const [beside, own] = [
    all.filter(([, { remark }]) => remark !== null),
    all.filter(([, { remark }]) => remark === null),
  ];
  return Object.fromEntries([...beside, ...own]);
}

/** An attempt that was refused before it was looked at says nothing of what it changed. */
function wordOf(fact: Fact): { readonly turn: number; readonly touched: Touched } | null {
  switch (fact.kind) {
    case 'turn.accepted':
    case 'turn.reported':
      return { turn: fact.turn, touched: fact.touched ?? {} };
    case 'turn.blocked':
    case 'attempt.refused':
      return fact.touched ? { turn: fact.turn, touched: fact.touched } : null;
    default:
      return null;
  }
}

export async function refuseWhileDriven(store: Store, cast: string, program: string): Promise<void> {
  const driver = await store.view('driver', cast);
  if (driver) throw new Refused(drivenBy(cast, driver, program));
}

/** What is wrong with a worktree is the person's to mend: a refusal, and no fault of the program. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WorktreeError) throw new Refused(deny(error.code, error.message));
    throw error;
  }
}
