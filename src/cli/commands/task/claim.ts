// `baton task claim` and `baton task next`: a task and all its locks go to one owner, who gets a fence. What the folder
// looks like is kept, so that it can be told later what was changed.
import { hostname } from 'node:os';
import { startTimeOf } from '../../../agents/process/process-identity.ts';
import { beat } from '../../../engine/heartbeat.ts';
import type { BeatProcess } from '../../../kernel/ledger/beat.ts';
import { taskOf } from '../../../kernel/ledger/state.ts';
import { allow, type Verdict } from '../../../kernel/verdict.ts';
import { dropEndedClaims, recordClaim } from '../../../workspace/claim-record.ts';
import { type Call, text, UsageError } from '../../command.ts';
import {
  answering,
  folderOf,
  integer,
  type LedgerSession,
  needed,
  runWanted,
  withLedger,
} from '../../ledger-session.ts';
import { person } from '../../session.ts';

export async function run(call: Call): Promise<number> {
  const owner = needed(call, 'owner');
  const process = processNamed(call);
  const [task] = call.words;
  const expectedVersion = integer(call, 'expected-version');
  return answering(() =>
    withLedger(call, async (session) => {
      const { door } = session;
      const run = text(call.values, 'run') === undefined ? undefined : runWanted(call, await door.ledger());
      const which = { owner, ...(run === undefined ? {} : { run }) };
      const verdict = await door.submit(
        task === undefined
          ? { kind: 'task.next', ...which }
          : { kind: 'task.claim', task, ...which, ...(expectedVersion === undefined ? {} : { expectedVersion }) },
        person(),
      );
      return verdict.allow ? claimed(session, verdict, process) : verdict;
    }),
  );
}

/** The owner may begin when it is told its fence; what is kept of the claim is kept before that. */
async function claimed(session: LedgerSession, verdict: Verdict, process: BeatProcess | undefined): Promise<Verdict> {
  const { door, log, workspace } = session;
  const {
    run,
    task: id,
    owner,
    fence,
  } = verdict.details as { run: string; task: string; owner: string; fence: number };
  if (process) await beat(log, { run, task: id, owner, fence, at: Date.now(), process });
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

function processNamed(call: Call): BeatProcess | undefined {
  const pid = integer(call, 'pid');
  if (pid === undefined) return undefined;
  const startTime = startTimeOf(pid);
  if (startTime === null)
    throw new UsageError(`there is no process ${pid}; --pid names the one that works on the task`);
  return { host: hostname(), pid, startTime };
}
