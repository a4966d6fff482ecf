// What is kept of a claim beside its facts, for the time when its result comes: what the folder looked like, and how
// criteria are checked. It is written down before the claim is asked for, so that no claim is ever without it, whenever this
// process is killed.
import { beat } from '../engine/heartbeat.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { BeatProcess } from '../kernel/ledger/beat.ts';
import { refusalOfCast, refusalOfClaim } from '../kernel/ledger/claim.ts';
import { findTask, type Ledger, MAIN_ROOT, type Named, runOf, type Task, taskOf } from '../kernel/ledger/state.ts';
import { allow, type Verdict } from '../kernel/verdict.ts';
import {
  type ClaimRecord,
  dropEndedClaims,
  dropPrepared,
  type Prepared,
  prepareClaim,
  preparedFor,
  readClaim,
  recordClaim,
  type Wish,
} from '../workspace/claim-record.ts';
import { declaredCheckers } from './declared-checkers.ts';
import { folderOf, type LedgerSession } from './ledger-session.ts';

/**
 * Asks for claims and keeps what there is to keep of those that are granted. `wishes` are the claims that can be granted, as
 * far as one can see, one for each folder; an owner may begin when it is told its fence, and all is kept before that.
 */
export async function claiming(
  session: LedgerSession,
  ledger: Ledger,
  wishes: readonly Wish[],
  ask: () => Promise<Verdict>,
  worker?: BeatProcess,
): Promise<Verdict> {
  const { store, workspace } = session;
  const prepared: Prepared[] = [];
  for (const wish of wishes) prepared.push(await prepare(session, ledger, wish));
  const verdict = await ask();
  const reasons: string[] = [];
  for (const claim of verdict.allow ? claimsIn(verdict, ledger) : []) {
    const { run, task, owner, fence, root } = claim;
    let picture = prepared.find((each) => each.root === root);
    if (!picture) {
      // Rarely, what stood in the way of a claim is gone in the moment in which it is asked for.
      picture = await prepare(session, ledger, claim);
      prepared.push(picture);
    }
    const record = recordClaim(workspace.stateDir, fence, { run, id: task }, picture);
    if ('why' in record) reasons.push(record.why);
    if (worker) await beat(store.log, { run, task, owner, fence, at: Date.now(), worker });
  }
  for (const each of prepared) dropPrepared(workspace.stateDir, each);
  if (verdict.allow) await dropEndedClaims(workspace.stateDir, () => openFences(session));
  if (!verdict.allow || reasons.length === 0) return verdict;
  const warnings = [`what is changed cannot be told, so that no result will be taken: ${reasons.join('; ')}`];
  return allow(verdict.reason, { ...verdict.details, warnings });
}

/** The wish for one task; none where the claim would be refused as things stand, so that nothing is looked at for it. */
export function wishFor(ledger: Ledger, named: Named, owner: string, expectedVersion?: number): readonly Wish[] {
  const found = findTask(ledger, named);
  if (!found.ok) return [];
  const { task } = found;
  const refusal = refusalOfCast(ledger, task) ?? refusalOfClaim(ledger, task, owner, Date.now(), expectedVersion);
  return refusal ? [] : [{ root: task.root, owner, task: task.id }];
}

/** The wishes of a search: one for each folder in which a task can start now. */
export function wishesFor(ledger: Ledger, run: string | undefined, owner: string): readonly Wish[] {
  const ready = Object.keys(ledger.ready).flatMap((key) => ledger.tasks[key] ?? []);
  const startable = ready.filter(
    (task) =>
      (run === undefined || task.run === run) &&
      !refusalOfCast(ledger, task) &&
      !refusalOfClaim(ledger, task, owner, Date.now()),
  );
  return [...new Set(startable.map(({ root }) => root))].map((root) => ({ root, owner }));
}

/** The record of the present claim of a task. Where its claimer was killed before it was made, it is made now. */
export async function recordOf({ store, workspace }: LedgerSession, task: Task): Promise<ClaimRecord | null> {
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

function prepare({ store, workspace }: LedgerSession, ledger: Ledger, { root, owner, task }: Wish): Promise<Prepared> {
  const wish = { root, ...(owner === undefined ? {} : { owner }), ...(task === undefined ? {} : { task }) };
  const { checkers } = declaredCheckers(workspace);
  const about = { ledger, head: () => store.head(), checkers };
  return prepareClaim(workspace.stateDir, folderOf({ root }, workspace), wish, about);
}

type Claim = {
  readonly run: string;
  readonly task: string;
  readonly owner: string;
  readonly fence: number;
  readonly root: string;
};

/** The claims that a verdict grants: the one it is about, or those of a stream. */
function claimsIn({ details }: Verdict, ledger: Ledger): readonly Claim[] {
  const run = String(details.run);
  const rows = Array.isArray(details.claimed) ? details.claimed.filter(isObject) : [details];
  return rows.flatMap((row) => {
    const [task, owner, fence] = [String(row.task), String(row.owner), row.fence];
    if (typeof fence !== 'number') return [];
    return [{ run, task, owner, fence, root: rootIn(row) ?? taskOf(ledger, run, task)?.root ?? MAIN_ROOT }];
  });
}

function rootIn({ root, locks }: JsonObject): string | null {
  const [first] = Array.isArray(locks) ? locks : [];
  const named = root ?? (isObject(first) ? first.root : null);
  return typeof named === 'string' ? named : null;
}

/** What a cast works on is looked after by the cast. */
async function openFences({ store }: LedgerSession): Promise<ReadonlySet<number>> {
  const ledger = await store.ledger();
  const byHand = Object.values(ledger.tasks).filter(({ run }) => !runOf(ledger, run)?.cast);
  return new Set(byHand.flatMap(({ fence }) => fence ?? []));
}
