// The worklog of a task: adds an entry, and shows them.
import { takeWorklogEntry } from '../../dialects/operator/read.ts';
import { isObject } from '../../kernel/json.ts';
import { allow } from '../../kernel/verdict.ts';
import { worklogLines } from '../../workspace/worklog-file.ts';
import { requireNames, withOwnClaim } from '../claims.ts';
import {
  factsOf,
  jsonText,
  ledgerSession,
  refusePayload,
  runCalled,
  runWanted,
  taskNamed,
  writeWorklog,
} from '../ledger-session.ts';
import type { Operation } from './table.ts';

/** One entry is added to the worklog of a task, and its file is written. */
export const worklogAdd: Operation<'worklog.add'> = async (workspace, { entry: given, ...input }, context) => {
  const session = ledgerSession(workspace, context);
  const { store, actor } = session;
  const claim = await withOwnClaim(session, input);
  requireNames(claim, ['task']);
  const { task: id = '', owner, runId } = claim;
  const known = {
    ...{ timestamp: new Date().toISOString(), task_id: id },
    ...(runId === undefined ? {} : { run_id: runId }),
    ...(owner === undefined ? {} : { actor: owner }),
  };
  const taken = takeWorklogEntry(isObject(given) ? JSON.stringify({ ...known, ...given }) : jsonText(given));
  if (!taken.ok) return refusePayload(session, 'worklog', { ...taken, subject: { ...taken.subject, task: id } });
  const { payload: entry } = taken;
  const called = String(entry.run_id);
  const named = await runWanted(session, claim.run);
  const run = named ?? (await store.look((ledger) => runCalled(ledger, called, actor.attempt?.cast))) ?? called;
  const fence = claim.fence === undefined ? {} : { fence: claim.fence };
  const by = actor.kind === 'agent' ? ({ actor: 'agent' } as const) : {};
  const verdict = await store.submit({ kind: 'worklog.add', run, task: id, entry, ...fence, ...by }, actor);
  if (!verdict.allow) return verdict;
  const noted = await taskNamed(session, id, run);
  const written = await writeWorklog({ ...session, log: store.log }, noted.task, noted.runId);
  // An entry with which Baton itself closed the worklog is one of them, too.
  const entries = written?.entries ?? verdict.details.entries ?? 0;
  return allow(`entry ${String(entries)} of ${id}`, { ...verdict.details, entries, file: written?.file ?? null });
};

/** The entries of a worklog as its facts tell them, whatever has become of the file. */
export const worklogShow: Operation<'worklog.show'> = async (workspace, input, context) => {
  const session = ledgerSession(workspace, context);
  const { task, runId } = await taskNamed(session, input.task, input.run);
  const entries = worklogLines(await factsOf(session.store, task), runId).map((line) => JSON.parse(line));
  return allow(`${entries.length} entries`, { entries });
};
