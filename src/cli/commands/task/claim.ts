// `baton task claim` and `baton task next`: a task and all its locks go to one owner, who gets a fence. What the folder
// looks like is kept, so that it can be told later what was changed.
import { hostname } from 'node:os';
import { startTimeOf } from '../../../agents/process/process-identity.ts';
import type { BeatProcess } from '../../../kernel/ledger/beat.ts';
import { type Call, text, UsageError } from '../../command.ts';
import { configureLocks } from '../../configure-locks.ts';
import { keepClaim } from '../../keep-claim.ts';
import { answering, integer, needed, runWanted, withLedger } from '../../ledger-session.ts';
import { person } from '../../session.ts';

export async function run(call: Call): Promise<number> {
  const owner = needed(call, 'owner');
  const worker = workerNamed(call);
  const [task] = call.words;
  const expectedVersion = integer(call, 'expected-version');
  return answering(() =>
    withLedger(call, async (session) => {
      const { door, workspace } = session;
      await configureLocks(door, workspace);
      const run = text(call.values, 'run') === undefined ? undefined : runWanted(call, await door.ledger());
      const which = { owner, ...(run === undefined ? {} : { run }) };
      const verdict = await door.submit(
        task === undefined
          ? { kind: 'task.next', ...which }
          : { kind: 'task.claim', task, ...which, ...(expectedVersion === undefined ? {} : { expectedVersion }) },
        person(),
      );
      return verdict.allow ? keepClaim(session, verdict, worker) : verdict;
    }),
  );
}

function workerNamed(call: Call): BeatProcess | undefined {
  const pid = integer(call, 'pid');
  if (pid === undefined) return undefined;
  const startTime = startTimeOf(pid);
  if (startTime === null)
    throw new UsageError(`there is no process ${pid}; --pid names the one that works on the task`);
  return { host: hostname(), pid, startTime };
}
