// What is kept of a claim beside its facts, for the time when its result comes.
import { beat } from '../engine/heartbeat.ts';
import type { BeatProcess } from '../kernel/ledger/beat.ts';
import { taskOf } from '../kernel/ledger/state.ts';
import { allow, type Verdict } from '../kernel/verdict.ts';
import { dropEndedClaims, recordClaim } from '../workspace/claim-record.ts';
import { folderOf, type LedgerSession } from './ledger-session.ts';

/** The owner may begin when it is told its fence; what is kept of the claim is kept before that. */
export async function keepClaim(session: LedgerSession, verdict: Verdict, worker?: BeatProcess): Promise<Verdict> {
  const { door, log, workspace } = session;
  const {
    run,
    task: id,
    owner,
    fence,
  } = verdict.details as { run: string; task: string; owner: string; fence: number };
  if (worker) await beat(log, { run, task: id, owner, fence, at: Date.now(), worker });
  const ledger = await door.ledger(run);
  const task = taskOf(ledger, run, id);
  if (!task) return verdict;
  const { seq } = await door.head();
  dropEndedClaims(workspace.stateDir, (old) => !Object.values(ledger.tasks).some((one) => one.fence === old));
  const why = await recordClaim(workspace.stateDir, folderOf(task, workspace), fence, { ledger, task, seq });
  if (why === null) return verdict;
  const warnings = [`what is changed cannot be compared with what is reported: ${why}`];
  return allow(verdict.reason, { ...verdict.details, warnings });
}
