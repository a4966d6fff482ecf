// Rules of the operator workflow's gates. A gate answers with its rule; what is stored in a ledger is the contract code that
// stands in the details.
import type { CodeRow } from './row.ts';

export const OPERATOR_RULES = {
  'R-WD-001': {
    http: 408,
    retry: 'later',
    means: 'the watchdog found tasks in progress that were silent for longer than their limit',
    fix: 'block each with TASK_TIMEOUT, release its locks, then dispatch it again',
  },
  'R-WD-002': {
    http: 422,
    retry: 'repaired',
    means: 'a heartbeat lies further in the future than clocks may differ',
    fix: 'set the clock of the machine that sent it',
  },
} as const satisfies Record<string, CodeRow>;

export type OperatorRule = keyof typeof OPERATOR_RULES;
