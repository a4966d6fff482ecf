// Rules of the operator workflow's gates. A gate answers with its rule; what is stored in a ledger is the contract code that
// stands in the details.
import type { CodeRow } from './row.ts';

const rule = (http: number, retry: CodeRow['retry'], means: string, cause: string, fix: string): CodeRow => ({
  http,
  retry,
  means,
  cause,
  fix,
});

export const OPERATOR_RULES = {
  'R-PD-001': rule(
    422,
    'repaired',
    'before dispatch: a field of the assignment is missing, or its criteria cannot be used',
    'the plan was handed out before the packet was complete',
    'add the fields named in details; give at least one criterion',
  ),
  'R-PD-002': rule(
    422,
    'repaired',
    'before dispatch: lock_scope is empty or holds no path',
    'the planner did not say which files the task may change',
    'name at least one path',
  ),
  'R-PD-003': rule(
    409,
    'later',
    'before dispatch: the lock scope overlaps itself or a lock of another task',
    'another task, or another entry of the same list, already covers one of the wanted paths',
    'wait until the holder named in details releases it, or choose a disjoint lock_scope',
  ),
  'R-PD-004': rule(
    403,
    'repaired',
    'before dispatch: forbidden_scope is no list of paths, or overlaps lock_scope',
    'one path is claimed and forbidden at once, or forbidden_scope was written as a text',
    'keep what is forbidden apart from what is claimed',
  ),
  'R-PD-005': rule(
    422,
    'repaired',
    'before dispatch: worklog_path names no file',
    'the packet gives no place for the worklog, or a place outside the workspace',
    'name a file inside the workspace',
  ),
  'R-PD-006': rule(
    422,
    'repaired',
    'before dispatch: the time limit or the heartbeat is out of bounds',
    'the agent could be silent for longer than its whole time limit, or would have no time to begin',
    'use at least 30 s, and a heartbeat of at least 5 s that is shorter than the limit',
  ),
  'R-PD-007': rule(
    422,
    'repaired',
    'before dispatch: a record of a lock is malformed',
    'the table of held locks was written by hand or by an older tool',
    'mend the record in details',
  ),
  'R-PE-001': rule(
    409,
    'later',
    'before execution: a task this one depends on is not done',
    'the task was started although the ledger shows open work before it',
    'finish the dependencies listed in details first',
  ),
  'R-PW-001': rule(
    403,
    'never',
    'before a write: the path lies outside the lock scope',
    'the agent is about to change a file that its packet does not name',
    'write inside lock_scope only',
  ),
  'R-PW-002': rule(
    403,
    'never',
    'a change touches the forbidden scope, from above or from below',
    'the file, a folder above it or something below it is on the list of what must stay untouched',
    'take the change back; never touch forbidden_scope',
  ),
  'R-PO-001': rule(
    422,
    'repaired',
    'after execution: the result has the wrong shape',
    'the agent reported its work in a form that is no result envelope',
    'mend the field in details',
  ),
  'R-PO-002': rule(
    403,
    'never',
    'after execution: a change lies outside the lock scope',
    'the agent reports a change, or the diff shows one, in a file it never locked',
    'take the change back, or plan a task that may make it',
  ),
  'R-PO-003': rule(
    403,
    'repaired',
    'after execution: there is no worklog file',
    'the agent finished without writing down what it did',
    'write the worklog, then report again',
  ),
  'R-PO-004': rule(
    422,
    'repaired',
    'after execution: a note carries a secret or tries to steer its reader',
    'the agent copied a credential or somebody’s instructions into its notes',
    'take the text out and send the result again',
  ),
  'R-PC-001': rule(
    422,
    'repaired',
    'before completion: a required criterion is not among the checks',
    'a criterion of the packet was forgotten or reworded in the result',
    'check every criterion, by its exact text',
  ),
  'R-PC-002': rule(
    422,
    'repaired',
    'before completion: a check did not pass',
    'the task was called done while one of its criteria is still unmet',
    'meet the criterion, then report again',
  ),
  'R-PC-003': rule(
    422,
    'repaired',
    'before completion: a check gives no evidence',
    'a check only says pass and not what showed it',
    'say on what the check rests',
  ),
  'R-LK-001': rule(
    409,
    'repaired',
    'the table of locks is malformed, or two tasks hold overlapping paths',
    'locks were given out without looking at those already held, or a record lacks a field',
    'mend the records in details, or release one of the locks',
  ),
  'R-WD-001': rule(
    408,
    'later',
    'the watchdog found tasks in progress that were silent for longer than their limit',
    'owners of tasks stopped sending heartbeats: they crashed, hang, or lost their connection',
    'block each with TASK_TIMEOUT, release its locks, then dispatch it again',
  ),
  'R-WD-002': rule(
    422,
    'repaired',
    'a heartbeat lies further in the future than clocks may differ',
    'the clock of the sender runs ahead, or a time was made up',
    'set the clock of the machine that sent it',
  ),
} as const satisfies Record<string, CodeRow>;

export type OperatorRule = keyof typeof OPERATOR_RULES;
