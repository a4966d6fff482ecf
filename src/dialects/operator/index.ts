// The operator dialect: orchestrators plan in envelopes, subagents answer in results, and every payload between them has
// a validator that can be used alone.
import type { Dialect } from '../../kernel/dialect.ts';
import { brief, repair } from './brief.ts';
import { read } from './read.ts';

export const operator: Dialect = { brief, repair, read };

export { validateAssignment } from './assignment.ts';
export { validateBundle } from './bundle.ts';
export type { Options } from './contract.ts';
export { validateDeltas } from './deltas.ts';
export { validateLocks } from './locks.ts';
export { validateOrchestrator, type WorkItem, workItemsOf } from './orchestrator.ts';
export { OPERATOR_KINDS, validateOperator } from './read.ts';
export { validateReconcile } from './reconcile.ts';
export { validateResult } from './result.ts';
export { validateWatchdog } from './watchdog.ts';
export { validateWorklog, validateWorklogText } from './worklog.ts';
