// The commands of the ledger: tasks, locks, signs of life, worklogs, gates. They answer with verdicts.
import type { Command, Options } from '../command.ts';
import { MANY } from './shared-options.ts';

const RUN: Options = { run: { type: 'string' } };
const RUN_HELP = '--run           the run that is meant: its id, or a beginning that only one has';
const VERDICT = 'The answer is one verdict, as JSON. Exit: 0 allowed, 1 denied.';

export const LEDGER_COMMANDS: readonly Command[] = [
  {
    name: 'task',
    group: 'ledger',
    act: { '': 'steer', list: 'look' },
    args: '[create FILE | claim TASK | next | finish FILE | move TASK STATUS | list | apply FILE] …',
    words: [0, 3],
    summary: 'the ledger by hand: create, claim, finish and move tasks, list them, apply deltas',
    help: `create FILE     one assignment packet becomes a task; --root DIR is the folder its paths lie in, --retries N its retries
claim TASK      --owner NAME: the task and all its locks in one step; details.fence is the token of the claim
next            --owner NAME: the best task that can start now is found and claimed in one step
finish FILE     --fence N: one result; real changes are compared with the lock scope, and checkers are run
move TASK STATUS  --reason TEXT: by hand; a person needs no --fence
list            all tasks, or those of --run and --status, as a table; with --json an array
apply FILE      an array of deltas (with --run) or an orchestrator's envelope; applying it again changes nothing

--owner         who claims it
--pid           the process that works on it, so that its death is noticed
--fence         the token of the claim
--expected-version  refuse when the row has another version by now
--reason, --code    why a task is moved
${RUN_HELP}
FILE may be -, for standard input. Without a word: what there is. ${VERDICT}`,
    example: 'baton task claim T-12 --owner ann',
    options: {
      root: { type: 'string' },
      retries: { type: 'string' },
      owner: { type: 'string' },
      pid: { type: 'string' },
      fence: { type: 'string' },
      'expected-version': { type: 'string' },
      reason: { type: 'string' },
      code: { type: 'string' },
      status: { type: 'string' },
      ...RUN,
    },
    load: () => import('../commands/task.ts'),
  },
  {
    name: 'heartbeat',
    group: 'ledger',
    act: 'steer',
    args: 'TASK --owner NAME --fence N [--pid N] [--run ID]',
    words: [1, 1],
    summary: 'say that the owner of a task is alive',
    help: `--owner         the name under which the task was claimed
--fence         the token of the claim
--pid           the process that works on it, so that its death is noticed
${RUN_HELP}
${VERDICT}`,
    example: 'baton heartbeat T-12 --owner ann --fence 7',
    options: { owner: { type: 'string' }, fence: { type: 'string' }, pid: { type: 'string' }, ...RUN },
    load: () => import('../commands/heartbeat.ts'),
  },
  {
    name: 'watchdog',
    group: 'ledger',
    act: 'steer',
    args: '[--follow]',
    words: [0, 0],
    summary: 'block tasks whose owners are silent for too long, and hand them out again',
    help: `--follow        go on looking, each time when somebody can have been silent for too long; a line of JSON for each find
Denied (R-WD-001) when a task timed out; details.timed_out says which, and whether its owner is gone or slow. ${VERDICT}`,
    example: 'baton watchdog --follow',
    options: { follow: { type: 'boolean' } },
    load: () => import('../commands/watchdog.ts'),
  },
  {
    name: 'reconcile',
    group: 'ledger',
    act: 'look',
    args: '[--run ID]',
    words: [0, 0],
    summary: 'whether ledger, locks and events agree; all issues at once',
    help: `${RUN_HELP}
Without it: every run. ${VERDICT}`,
    example: 'baton reconcile',
    options: RUN,
    load: () => import('../commands/reconcile.ts'),
  },
  {
    name: 'lock',
    group: 'ledger',
    act: 'look',
    args: 'list [--history] [--run ID] | check PATH… [--root DIR] [--fence N]',
    words: [1, MANY],
    summary: 'who holds which paths, and who would be in the way',
    help: `list            the locks that are held, as a table; with --json an array
--history       those that were given back, too
check PATH…     denied with LOCK_CONFLICT and every holder in the way; paths start at the workspace
--root          the folder the paths lie in, where it is not the workspace itself
--fence         instead: whether the claim with this token may write there right now
${RUN_HELP}
Exit of check: 0 allowed, 1 denied.`,
    example: 'baton lock check src/api.ts',
    options: { history: { type: 'boolean' }, root: { type: 'string' }, fence: { type: 'string' }, ...RUN },
    load: () => import('../commands/lock.ts'),
  },
  {
    name: 'worklog',
    group: 'ledger',
    act: { add: 'steer', show: 'look' },
    args: 'add TASK FILE [--fence N] [--run ID] | show TASK [--run ID]',
    words: [2, 3],
    summary: 'add an entry to the worklog of a task, or show it',
    help: `add TASK FILE   one entry, as JSON; FILE may be -, for standard input
--fence         refuse the entry when the claim with this token is over
show TASK       the entries, oldest first; with --json an array
${RUN_HELP}
The answer of add is one verdict, as JSON; details.file is the file that holds the worklog.`,
    example: 'baton worklog add T-12 entry.json',
    options: { fence: { type: 'string' }, ...RUN },
    load: () => import('../commands/worklog.ts'),
  },
  {
    name: 'bundle',
    group: 'ledger',
    act: 'look',
    args: '[--run ID] [--objective TEXT] [-o FILE]',
    words: [0, 0],
    summary: 'all a new session needs to go on with a run, as JSON',
    help: `${RUN_HELP}
--objective     instead of the objective of the assignments
--output, -o    write it to a file; then the answer is a verdict
Without --run: the only run that is open.`,
    example: 'baton bundle -o bundle.json',
    options: { objective: { type: 'string' }, output: { type: 'string', short: 'o' }, ...RUN },
    load: () => import('../commands/bundle.ts'),
  },
  {
    name: 'hold',
    group: 'ledger',
    act: 'decide',
    args: '--reason TEXT',
    words: [0, 0],
    summary: 'hand out nothing new in this workspace; what runs goes on',
    help: `--reason        why, for everybody who asks for work meanwhile
${VERDICT}`,
    example: 'baton hold --reason "release day"',
    options: { reason: { type: 'string' } },
    load: () => import('../commands/hold.ts'),
  },
  {
    name: 'unhold',
    group: 'ledger',
    act: 'decide',
    args: '[--reason TEXT]',
    words: [0, 0],
    summary: 'hand out work again',
    help: `--reason        why, for the log
${VERDICT}`,
    example: 'baton unhold',
    options: { reason: { type: 'string' } },
    load: () => import('../commands/unhold.ts'),
  },
  {
    name: 'gate',
    group: 'ledger',
    act: 'look',
    args: 'pre-dispatch|pre-complete|post-execution|lock-update|stop',
    words: [1, 1],
    summary: 'the checks at the doors of a task, for scripts: the payload on standard input',
    help: `pre-dispatch    {task_id, assignment, active_locks}: whole, apart from itself and from others' locks
pre-complete    {task_id, acceptance_check, required_criteria}: every criterion met, on evidence
post-execution  {task_id, result, assignment}: the shape of the result, its changes, its worklog, its notes
lock-update     [{task_id, resource, active}]: a table of locks without conflicts
stop            {task_id?, run_id?, owner?, report_path?}: an agent stops only when its tasks have their reports
The code is the rule that was broken; details.contract_code is what a ledger stores. ${VERDICT}`,
    example: 'baton gate pre-dispatch < packet.json',
    options: {},
    load: () => import('../commands/gate.ts'),
  },
];
