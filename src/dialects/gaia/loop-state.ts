// loop_state: an agent that works in iterations towards a threshold is not complete while it has iterations left and
// the threshold is not reached.
import type { JsonObject } from '../../kernel/json.ts';
import { codeOfLoop, isUnfinished, loopStateIn } from '../../kernel/report/status.ts';
import type { PlanStatus } from './contract.ts';
import { type Finding, missing } from './finding.ts';

/** Only a COMPLETE can disprove itself. */
export function checkLoopState(report: JsonObject, plan: PlanStatus | null): Finding[] {
  const loop = plan === 'COMPLETE' ? loopStateIn(report) : null;
  if (!loop || !isUnfinished(loop)) return [];
  const message = 'iterations are left and the threshold is not reached: go on with the next iteration';
  return [missing(codeOfLoop(loop), 'loop_state', message)];
}
