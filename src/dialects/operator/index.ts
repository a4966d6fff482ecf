// The operator dialect: orchestrators plan in envelopes, subagents answer in results, and every payload between them has
// a validator that can be used alone.
import type { Dialect } from '../../kernel/dialect.ts';
import { operatorBrief, operatorRepair } from './brief.ts';
import { operatorRead } from './read.ts';

export const operator: Dialect = { brief: operatorBrief, repair: operatorRepair, read: operatorRead };

export { validateAssignment, validateBundle, validateOrchestrator, type WorkItem, workItemsOf } from './assignment.ts';
export type { OperatorOptions as Options } from './contract.ts';
export { validateDeltas } from './deltas.ts';
export { validateLocks } from './locks.ts';
export { validateOperator } from './read.ts';
export { validateReconcile, validateWatchdog } from './reconcile.ts';
export { validateResult, validateWorklog, validateWorklogText } from './result.ts';
