// The entries of a worklog as its facts tell them, whatever has become of the file.
import { allow } from '../../kernel/verdict.ts';
import { worklogLines } from '../../workspace/worklog-file.ts';
import { factsOf, ledgerSession, taskNamed } from '../ledger-session.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'worklog.show'>> = async (workspace, input, context) => {
  const session = ledgerSession(workspace, context);
  const { task, runId } = await taskNamed(session, input.task, input.run);
  const entries = worklogLines(await factsOf(session.store, task), runId).map((line) => JSON.parse(line));
  return allow(`${entries.length} entries`, { entries });
};
