// `baton task move`: a task is moved by hand. A person needs no fence; whoever gives one speaks as the owner.
import { isInsideAttempt } from '../../../agents/inside-attempt.ts';
import { knownCode } from '../../../kernel/ledger/blocking.ts';
import { findTask } from '../../../kernel/ledger/state.ts';
import { isTaskStatus, TASK_STATUSES } from '../../../kernel/ledger/transition.ts';
import { dropClaim, dropStray } from '../../../workspace/claim-record.ts';
import { again, type Call, text, UsageError } from '../../command.ts';
import { claiming, wishFor } from '../../keep-claim.ts';
import { answering, integer, ledgerFor, needed, withLedger } from '../../ledger-session.ts';
import { person } from '../../session.ts';
import { writeWorklog } from '../../worklog.ts';

export async function run(call: Call): Promise<number> {
  const [task = '', to] = call.words;
  if (!isTaskStatus(to)) throw new UsageError(`${to} is no status; there are: ${TASK_STATUSES.join(', ')}`);
  const reason = needed(call, 'reason');
  const named = text(call.values, 'code');
  const code = knownCode(named);
  if (named !== undefined && code === null) {
    throw new UsageError(`${named} is no code; \`${again(call)} explain\` lists them`);
  }
  const owner = text(call.values, 'owner');
  const [fence, expectedVersion] = [integer(call, 'fence'), integer(call, 'expected-version')];
  return answering(() =>
    withLedger(call, async (session) => {
      const { door, workspace } = session;
      const { ledger, run } = await ledgerFor(session);
      const before = findTask(ledger, { task, ...(run === undefined ? {} : { run }) });
      const isAgent = isInsideAttempt(call.env);
      const ask = () =>
        door.submit(
          {
            kind: 'task.move',
            task,
            to,
            reason,
            ...(run === undefined ? {} : { run }),
            ...(code === null ? {} : { code }),
            ...(owner === undefined ? {} : { owner }),
            ...(fence === undefined ? {} : { fence }),
            ...(expectedVersion === undefined ? {} : { expectedVersion }),
            // A process that an agent started does not become a person by leaving the fence out.
            ...(isAgent ? { actor: 'agent' } : {}),
          },
          person(),
        );
      const starts = before.ok && to === 'in_progress' ? before.task : null;
      const wishes = starts ? wishFor(ledger, { run: starts.run, task }, owner ?? starts.owner, expectedVersion) : [];
      const verdict = await claiming(session, ledger, wishes, ask);
      if (!verdict.allow || !before.ok) return verdict;
      if (fence === undefined && !isAgent) dropStray(workspace.stateDir, before.task);
      if (to === 'in_progress') return verdict;
      if (to === 'blocked' || to === 'failed') await writeWorklog(session, before.task);
      if (before.task.fence !== null) dropClaim(workspace.stateDir, before.task.fence);
      return verdict;
    }),
  );
}
