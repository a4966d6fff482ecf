// The owner of a task is alive. It only changes the record of its claim; the ledger is looked at when there is no such
// record, to say why not.
import { beat } from '../../engine/heartbeat.ts';
import { type BeatProcess, beatName, beatText, lastSignAt } from '../../kernel/ledger/move.ts';
import { taskOf } from '../../kernel/ledger/state.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import { requireNames, withOwnClaim } from '../claims.ts';
import { type LedgerSession, ledgerSession, runWanted } from '../ledger-session.ts';
import type { Operation } from './table.ts';

export const taskHeartbeat: Operation<'heartbeat'> = async (workspace, { pid, ...input }, context) => {
  const worker =
    pid === undefined ? {} : { worker: (await import('../ledger-session.ts')).workerNamed(pid) as BeatProcess };
  const session = ledgerSession(workspace, context);
  const claim = await withOwnClaim(session, input);
  requireNames(claim, ['task', 'owner', 'fence']);
  const { task = '', owner = '', fence = 0, run } = claim;
  const named = { task, owner, fence, ...(run === undefined ? {} : { run }) };
  const { log } = session.store;
  let heard = await beat(log, { ...named, at: Date.now(), ...worker });
  if (heard === null) {
    // The run may be named otherwise than by its id; to find that out costs a look at the ledger.
    const meant = await runWanted(session, run);
    const again = { ...named, ...(meant === undefined ? {} : { run: meant }) };
    if (meant !== run) heard = await beat(log, { ...again, at: Date.now(), ...worker });
    if (heard === null) return unheard(session, again);
  }
  const at = new Date(lastSignAt(heard, Date.now())).toISOString();
  const until = { last_heartbeat_at: at, timeout_seconds: heard.timeoutS };
  return allow(`${task} is alive`, { run: heard.run, task, owner, fence, ...until });
};

type Named = { readonly run?: string; readonly task: string; readonly owner: string; readonly fence: number };

/** The ledger says what is wrong with the sign of life, and writes it down. If nothing is, the record is made again. */
async function unheard({ store, actor }: LedgerSession, named: Named): Promise<Verdict> {
  const verdict = await store.submit({ kind: 'task.heartbeat', ...named }, actor);
  if (!verdict.allow) return verdict;
  const run = String(verdict.details.run);
  const timeoutS = await store.look((ledger) => taskOf(ledger, run, named.task)?.timeoutS ?? 0, run);
  const made = beatText({ run, task: named.task, owner: named.owner, at: Date.now(), timeoutS });
  await store.log.lease(beatName(named.fence), (held) => held ?? made);
  return verdict;
}
