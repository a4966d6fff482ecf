// Commands on the ledger and the log: tasks, locks, signs of life, worklogs and gates, which answer with verdicts; reading, proving,
// exporting, tracing, erasing.
import type { Command } from '../command.ts';
import { oneOperation, operationCommand, showBy } from '../operation-command.ts';

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
  oneOperation('heartbeat', {
    note: VERDICT,
  }),
  oneOperation('watchdog', {
    note: `With --follow: a line of JSON for each find.
Denied (R-WD-001) when a task timed out; details.timed_out says which, and whether its owner is gone or slow. ${VERDICT}`,
  }),
  oneOperation('reconcile', {
    note: VERDICT,
  }),
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
  oneOperation('bundle'),
  oneOperation('hold', {
    note: VERDICT,
  }),
  oneOperation('unhold', {
    note: VERDICT,
  }),
  oneOperation('gate', {
    summary: 'the checks before and after a task, for scripts; the payload comes on standard input',
    note: `pre-dispatch    {task_id, assignment, active_locks}: whole, apart from itself and from others' locks
pre-complete    {task_id, acceptance_check, required_criteria}: every criterion met, on evidence
post-execution  {task_id, result, assignment}: the shape of the result, its changes, its worklog, its notes
lock-update     [{task_id, resource, active}]: a table of locks without conflicts
stop            {task_id?, run_id?, owner?, report_path?}: an agent stops only when its tasks have their reports
The code is the rule that was broken; details.contract_code is what a ledger stores. ${VERDICT}`,
  }),
];

/** People get the last entries unless they say which ones; scripts get all. */
const SHOWN_BY_DEFAULT = 50;

export const HISTORY_COMMANDS: readonly Command[] = [
  oneOperation('log', {
    note: 'Without either: the last 50; with --json everything.',
    shownBy: showBy(({ json }) => ({ name: 'log', ...(json ? {} : { more: { last: SHOWN_BY_DEFAULT } }) })),
  }),
  operationCommand(
    {
      name: 'events',
      summary: 'events of agents and casts, and the sinks that get them',
      note: 'A sink that is down gets its events later, in order; none is lost. Exit of deliver: 0 when nothing waits, else 1.',
      otherwise: 'event.list',
    },
    ['event.list', 'event.sinks', 'event.deliver', 'event.skip'],
  ),
  oneOperation('usage.days'),
  operationCommand(
    {
      name: 'audit',
      summary: 'whether the history is as it was written; proofs and signed checkpoints of it',
      note: `Denied (TAMPERED) with details.seq and details.kind where something is wrong; a copy outside that is gone is a warning.
Exit: 0 whole, 1 denied.`,
    },
    ['audit.verify', 'audit.prove', 'audit.checkpoint', 'audit.key', 'audit.outside'],
  ),
  oneOperation('export', {
    note: `--redact may be given several times.
What is left out is replaced by its digest, and the file verifies all the same. Denied where a credential would go out in clear.`,
  }),
  oneOperation('verify', {
    note: `Without --key: the answer says whether you trust the key; it need not be trusted. verifier/verify.mjs checks the same without baton.
Exit: 0 whole, 1 denied.`,
  }),
  oneOperation('cast.trace', {
    summary: 'the turns behind a changed file or a result, and those after a prompt',
    note: `FILE            the turns that changed it, and those that handed on to them, with prompt, brief, model and decisions
CAST            all turns of a cast in the same way
DIGEST          sha256:… of a prompt, a brief, an output or a file: every turn it took part in, and the files they changed;
                of a prompt, as the lock names it, also every foreign handoff that claims it
HANDOFF         the turn that was handed to under this id and those that it led to, or what became of a foreign handoff
Digests are those of the log; \`baton audit prove\` proves the entries that are named.`,
  }),
  oneOperation('gc', {
    group: 'history',
    note: `--digest may be given several times.
The log names each erased text by its digest, and shows it as [erased] from then on.`,
  }),
];
