// The commands of the ledger: tasks, locks, signs of life, worklogs, gates. They answer with verdicts.
import type { Command } from '../command.ts';
import { operationCommand } from '../operation-command.ts';

const VERDICT = 'The answer is one verdict, as JSON. Exit: 0 allowed, 1 denied.';

export const LEDGER_COMMANDS: readonly Command[] = [
  operationCommand(
    {
      name: 'task',
      summary: 'the ledger by hand: create, claim, finish and move tasks, list them, apply deltas',
      note: `list answers with a table, or with --json an array. ${VERDICT}`,
    },
    ['task.create', 'task.claim', 'task.next', 'task.finish', 'task.move', 'task.list', 'task.apply'],
  ),
  operationCommand({ name: 'heartbeat', summary: 'say that the owner of a task is alive', note: VERDICT }, [
    'heartbeat',
  ]),
  operationCommand(
    {
      name: 'watchdog',
      summary: 'block tasks whose owners are silent for too long, and hand them out again',
      note: `With --follow: a line of JSON for each find.
Denied (R-WD-001) when a task timed out; details.timed_out says which, and whether its owner is gone or slow. ${VERDICT}`,
    },
    ['watchdog'],
  ),
  operationCommand(
    { name: 'reconcile', summary: 'whether ledger, locks and events agree; all issues at once', note: VERDICT },
    ['reconcile'],
  ),
  operationCommand(
    {
      name: 'lock',
      summary: 'who holds which paths, and who would be in the way',
      note: `list answers with a table, or with --json an array. ${VERDICT}`,
    },
    ['lock.list', 'lock.check'],
  ),
  operationCommand(
    {
      name: 'worklog',
      summary: 'add an entry to the worklog of a task, or show it',
      note: `show answers with lines, or with --json an array. ${VERDICT}`,
    },
    ['worklog.add', 'worklog.show'],
  ),
  operationCommand({ name: 'bundle', summary: 'everything a new session needs to continue a run, as JSON' }, [
    'bundle',
  ]),
  operationCommand(
    { name: 'hold', summary: 'pause this workspace: nothing new starts, what runs goes on', note: VERDICT },
    ['hold'],
  ),
  operationCommand({ name: 'unhold', summary: 'let new work start again', note: VERDICT }, ['unhold']),
  operationCommand(
    {
      name: 'gate',
      summary: 'the checks before and after a task, for scripts; the payload comes on standard input',
      note: `pre-dispatch    {task_id, assignment, active_locks}: whole, apart from itself and from others' locks
pre-complete    {task_id, acceptance_check, required_criteria}: every criterion met, on evidence
post-execution  {task_id, result, assignment}: the shape of the result, its changes, its worklog, its notes
lock-update     [{task_id, resource, active}]: a table of locks without conflicts
stop            {task_id?, run_id?, owner?, report_path?}: an agent stops only when its tasks have their reports
The code is the rule that was broken; details.contract_code is what a ledger stores. ${VERDICT}`,
    },
    ['gate'],
  ),
];
