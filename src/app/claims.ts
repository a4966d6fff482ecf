// Claims of tasks by hand: what is recorded for the later check of the result, the claim of an attempt, and paths in a root.
// The record of a claim is written before the claim is requested. So a kill leaves no claim without its record.
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { Attempt } from '../access/attempt.ts';
import type { Cast, Turn } from '../kernel/cast/state.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { refusalOfCast, refusalOfClaim } from '../kernel/ledger/claim.ts';
import { MAIN_ROOT } from '../kernel/ledger/lock-tree.ts';
import type { BeatProcess } from '../kernel/ledger/move.ts';
import { followLinks, normalPath } from '../kernel/ledger/path.ts';
import { ranked } from '../kernel/ledger/rank.ts';
import { findTask, type Ledger, runOf, type Task, type TaskName, taskOf, workRuns } from '../kernel/ledger/state.ts';
import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import {
  type ClaimCandidate,
  type ClaimRecord,
  dropEndedClaims,
  dropPrepared,
  type Prepared,
  prepareClaim,
  preparedFor,
  readClaim,
  recordClaim,
  writtenIn,
} from '../workspace/claim-record.ts';
import { linksOnWay } from '../workspace/find-links.ts';
import { declaredCheckers, folderOf, type LedgerSession } from './ledger-session.ts';
import { Refused } from './refused.ts';
import type { WorkspaceStore } from './store.ts';

/**
 * Asks for claims and keeps what there is to keep of those that are granted. `candidates` are the claims that can be granted, as
 * far as one can see, one for each folder. An owner may begin once it has its fence, and all is kept before that.
 */
export async function claiming(
  session: LedgerSession,
  candidates: readonly ClaimCandidate[],
  ask: () => Promise<Verdict>,
  worker?: BeatProcess,
): Promise<Verdict> {
  const { store, workspace } = session;
  const prepared: Prepared[] = [];
  for (const candidate of candidates) prepared.push(await prepare(session, candidate));
  const verdict = await ask();
  const reasons: string[] = [];
  for (const claim of verdict.allow ? await claimsIn(session, verdict) : []) {
    const { run, task, owner, fence, root } = claim;
    let picture = prepared.find((each) => each.root === root);
    if (!picture) {
      // Rarely, an obstacle disappears between the look and the request.
      picture = await prepare(session, claim);
      prepared.push(picture);
    }
    const record = recordClaim(workspace.stateDir, fence, { run, id: task }, picture);
    if ('why' in record) reasons.push(record.why);
    if (worker) await store.lease('beat', { run, task, owner, fence, at: Date.now(), worker });
  }
  for (const each of prepared) dropPrepared(workspace.stateDir, each);
  if (verdict.allow) await dropEndedClaims(workspace.stateDir, () => openFences(session));
  if (!verdict.allow || reasons.length === 0) return verdict;
  const warnings = [`changes cannot be inspected, so no result will be accepted: ${reasons.join('; ')}`];
  return allow(verdict.reason, { ...verdict.details, warnings });
}

/** The candidate for one task; none where the claim would be refused now, so that its folder is not looked at. */
export function candidateFor(
  ledger: Ledger,
  named: TaskName,
  owner: string,
  expectedVersion?: number,
): readonly ClaimCandidate[] {
  const found = findTask(ledger, named);
  if (!found.ok) return [];
  const { task } = found;
  const refusal = refusalOfCast(ledger, task) ?? refusalOfClaim(ledger, task, owner, Date.now(), expectedVersion);
  return refusal ? [] : [{ root: task.root, owner, task: task.id }];
}

/** So many tasks that can start now are looked at before a search: others may take the first ones meanwhile. */
const FOUND_MAX = 20;

/** The candidates of a search: one for each folder of the tasks that may be found. */
export function candidatesOfSearch(ledger: Ledger, run: string | undefined, owner: string): readonly ClaimCandidate[] {
  const runs = workRuns(ledger).filter(({ id, cast }) => !cast && (run === undefined || id === run));
  const at = Date.now();
  const roots = new Set<string>();
  let found = 0;
  for (const task of ranked(ledger, { runs, has: () => true }, at, ['startable'])) {
    if (refusalOfClaim(ledger, task, owner, at)) continue;
    roots.add(task.root);
    found += 1;
    if (found === FOUND_MAX) break;
  }
  return [...roots].map((root) => ({ root, owner }));
}

/** The record of the present claim of a task. Where its claimer was killed before it was made, it is made now. */
export async function claimRecordOf({ store, workspace }: LedgerSession, task: Task): Promise<ClaimRecord | null> {
  const { run, id, fence, root, owner } = task;
  if (fence === null) return null;
  const { stateDir } = workspace;
  const kept = readClaim(stateDir, fence);
  if (kept) return kept;
  const claims = await store.read({ after: 0, cast: run, task: id, kindPrefix: 'task.claimed' });
  const claim = claims.find(({ fact }) => fact.kind === 'task.claimed' && fact.fence === fence);
  const picture = claim && preparedFor(stateDir, { root, owner, task: id, seq: claim.seq });
  return picture ? recordClaim(stateDir, fence, task, picture) : null;
}

async function prepare({ store, workspace }: LedgerSession, { root, owner, task }: ClaimCandidate): Promise<Prepared> {
  const candidate = { root, ...(owner === undefined ? {} : { owner }), ...(task === undefined ? {} : { task }) };
  const { checkers } = declaredCheckers(workspace);
  const others = await store.look((ledger) => writtenIn(ledger, root));
  const about = { others, head: () => store.view('head'), checkers };
  return prepareClaim(workspace.stateDir, folderOf({ root }, workspace), candidate, about);
}

type Claim = {
  readonly run: string;
  readonly task: string;
  readonly owner: string;
  readonly fence: number;
  readonly root: string;
};

/** The claims that a verdict grants: the one it is about, or those of a stream. */
function claimsIn({ store }: LedgerSession, { details }: Verdict): Promise<readonly Claim[]> {
  const run = String(details.run);
  const rows = Array.isArray(details.claimed) ? details.claimed.filter(isObject) : [details];
  return store.look((ledger) =>
    rows.flatMap((row) => {
      const [task, owner, fence] = [String(row.task), String(row.owner), row.fence];
      if (typeof fence !== 'number') return [];
      return [{ run, task, owner, fence, root: rootIn(row) ?? taskOf(ledger, run, task)?.root ?? MAIN_ROOT }];
    }),
  );
}

function rootIn({ root, locks }: JsonObject): string | null {
  const [first] = Array.isArray(locks) ? locks : [];
  const named = root ?? (isObject(first) ? first.root : null);
  return typeof named === 'string' ? named : null;
}

/** What a cast works on is looked after by the cast. */
function openFences({ store }: LedgerSession): Promise<ReadonlySet<number>> {
  return store.look((ledger) => {
    const claimed = Object.values(ledger.fences).flatMap((key) => ledger.tasks[key] ?? []);
    const byHand = claimed.filter(({ run }) => !runOf(ledger, run)?.cast);
    return new Set(byHand.flatMap(({ fence }) => fence ?? []));
  });
}

/** The claim of an attempt, from the log. An agent may leave these names out. */
type OwnClaim = {
  readonly run: string;
  readonly runId: string;
  readonly task: string;
  readonly fence?: number;
  readonly owner?: string;
  readonly root?: string;
};

/** The turn that the attempt belongs to, while it is the present one. */
async function turnOf(
  store: Pick<WorkspaceStore, 'view'>,
  { cast: id, turn, attempt, fence }: Attempt,
): Promise<{ readonly cast: Cast; readonly turn: Turn }> {
  const cast = await store.view('cast', id);
  if (!cast) throw new Refused(deny('UNKNOWN_CAST', `there is no cast ${id} in this workspace`, { cast: id }));
  const open = cast.turns[turn];
  if (open?.phase === 'running' && open.attempt === attempt && open.fence === fence) return { cast, turn: open };
  const reason = `attempt ${turn}.${attempt} of cast ${id} is over; what it brings is not taken any more. Stop working.`;
  throw new Refused(deny('STALE_ATTEMPT', reason, { cast: id, turn, attempt }));
}

/** The claim of the present attempt; null outside of an attempt. */
async function ownClaim({ store, actor }: LedgerSession): Promise<OwnClaim | null> {
  const { attempt } = actor;
  if (!attempt) return null;
  const { cast, turn } = await turnOf(store, attempt);
  const { task, fence } = turn;
  if (task === null)
    throw new Refused(deny('NOT_ALLOWED_NOW', 'this turn works on no task of the ledger; there is nothing to keep'));
  const owner = await store.look((ledger) => taskOf(ledger, cast.id, task)?.owner, cast.id);
  return {
    run: cast.id,
    runId: cast.runId,
    task,
    ...(fence === null ? {} : { fence }),
    ...(owner ? { owner } : {}),
    ...(cast.root === undefined ? {} : { root: cast.root }),
  };
}

/** `given`, filled in from the claim at hand where no task is named. */
export async function withOwnClaim<G extends { readonly task?: string | undefined }>(
  session: LedgerSession,
  given: G,
): Promise<G & Partial<OwnClaim>> {
  const { attempt } = session.actor;
  const isOwn = given.task !== undefined && given.task === attempt?.task && attempt.fence !== null;
  const own = given.task === undefined ? await ownClaim(session) : isOwn ? { fence: attempt.fence } : null;
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { ...own, ...known } as G & Partial<OwnClaim>;
}

/** Refuses where something is still missing that the operation needs. */
export function requireNames(given: Readonly<Record<string, unknown>>, needed: readonly string[]): void {
  const missing = needed.filter((name) => given[name] === undefined);
  if (missing.length > 0) throw new Refused(deny('BAD_USAGE', `say which: ${missing.join(', ')}`, { missing }));
}

// The ledger compares paths relative to the folder of a task. An absolute path outside of that folder cannot be locked.
/** The path inside the folder; null where it lies outside. Relative paths are left to the ledger's own rules. */
export function insideRoot(folder: string, path: string): string | null {
  if (!isAbsolute(path)) return path;
  const below = relative(folder, resolve(path));
  if (below === '') return '.';
  return below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) ? null : below;
}

/** The path with its links followed: where it lies below the folder, or absolute where it leads out of it. */
export function realInRoot(folder: string, path: string): string {
  const normal = normalPath(path);
  return normal.ok ? followLinks(normal.path, linksOnWay(folder, [normal.path])) : path;
}

type Placed = { readonly ok: true; readonly packet: JsonObject } | { readonly ok: false; readonly refusal: Denied };

const SCOPES = ['lock_scope', 'forbidden_scope', 'x_read_scope'] as const;

/** The packet with its scopes inside the folder. */
export function placedIn(folder: string, packet: JsonObject): Placed {
  const task: JsonObject = isObject(packet.task) ? packet.task : {};
  const placed: Record<string, Json> = { ...task };
  for (const scope of SCOPES) {
    const paths = task[scope];
    if (!Array.isArray(paths)) continue;
    const inside: Json[] = [];
    for (const [index, path] of paths.entries()) {
      const below = isString(path) ? insideRoot(folder, path) : path;
      if (below === null || below === undefined) {
        const place = `task.${scope}[${index}]`;
        const reason = `${place} lies outside ${folder}; a task may only lock what is inside the folder it works in.`;
        return { ok: false, refusal: deny('SCOPE_VIOLATION', reason, { path: place, resource: path ?? null }) };
      }
      inside.push(below);
    }
    placed[scope] = inside;
  }
  return { ok: true, packet: { ...packet, task: placed } };
}
