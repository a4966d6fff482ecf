// `baton task move`: a task is moved by hand. A person needs no fence; whoever gives one speaks as the owner.
import { knownCode } from '../../../kernel/ledger/blocking.ts';
import { findTask, runOf } from '../../../kernel/ledger/state.ts';
import { isTaskStatus, TASK_STATUSES } from '../../../kernel/ledger/transition.ts';
import { allow, type Verdict } from '../../../kernel/verdict.ts';
import { dropClaim, dropStray } from '../../../workspace/claim-record.ts';
import { again, type Call, text, UsageError } from '../../command.ts';
import { claiming, wishFor } from '../../keep-claim.ts';
import { answering, integer, type LedgerSession, ledgerFor, needed, withLedger } from '../../ledger-session.ts';
import { isByAgent, noteAgents } from '../../refuse-agents.ts';
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
      const isAgent = isByAgent(call);
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
      if (!verdict.allow || !before.ok) return noteAgents(call, verdict);
      const cast = runOf(ledger, before.task.run);
      if (fence === undefined && !isAgent) dropStray(workspace.stateDir, before.task);
      if (to === 'in_progress') return verdict;
      if (to === 'blocked' || to === 'failed' || before.task.status === 'in_progress')
        await writeWorklog(session, before.task, cast?.runId);
      if (before.task.fence !== null) dropClaim(workspace.stateDir, before.task.fence);
      return cast?.cast ? withWayOn(session, cast.id, verdict) : verdict;
    }),
  );
}

/** A cast that stands takes notice when somebody carries it on. */
async function withWayOn({ call, door }: LedgerSession, id: string, { reason, details }: Verdict): Promise<Verdict> {
  const status = (await door.cast(id))?.status;
  const verbs: Partial<Record<string, string>> = { failed: 'recast', aborted: 'recast', running: 'watch' };
  const carryOn = `${again(call)} ${verbs[status ?? ''] ?? 'continue'} ${id}`;
  return allow(`${reason}; cast ${id} is ${status}: ${carryOn}`, { ...details, cast: id, carry_on: carryOn });
}
