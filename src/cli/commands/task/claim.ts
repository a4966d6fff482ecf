// `baton task claim` and `baton task next`: a task and all its locks go to one owner, who gets a fence. What the folder
// looks like is kept, so that it can be told later what was changed.
import { driverWith } from '../../../engine/driver.ts';
import type { BeatProcess } from '../../../kernel/ledger/beat.ts';
import { type Call, UsageError } from '../../command.ts';
import { configureLocks } from '../../configure-locks.ts';
import { claiming, wishesFor, wishFor } from '../../keep-claim.ts';
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
      const run = await runWanted(session);
      const ledger = await door.ledger(run);
      const which = { owner, ...(run === undefined ? {} : { run }) };
      if (task === undefined) {
        const wishes = wishesFor(ledger, run, owner);
        return claiming(session, ledger, wishes, () => door.submit({ kind: 'task.next', ...which }, person()), worker);
      }
      const version = expectedVersion === undefined ? {} : { expectedVersion };
      const ask = () => door.submit({ kind: 'task.claim', task, ...which, ...version }, person());
      return claiming(session, ledger, wishFor(ledger, { task, ...which }, owner, expectedVersion), ask, worker);
    }),
  );
}

function workerNamed(call: Call): BeatProcess | undefined {
  const pid = integer(call, 'pid');
  if (pid === undefined) return undefined;
  const worker = driverWith(pid);
  if (worker === null) throw new UsageError(`there is no process ${pid}; --pid names the one that works on the task`);
  return worker;
}
