// loop_state: an agent that works in iterations towards a threshold is not complete while it has iterations left and
// the threshold is not reached.
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { integerOf, numberOf } from '../../kernel/turn/coerced-number.ts';
import type { PlanStatus } from './contract.ts';
import { type Finding, missing } from './finding.ts';

/** Values that are no numbers switch the rule off: it can only hold back a COMPLETE that disproves itself. */
export function checkLoopState(report: JsonObject, plan: PlanStatus | null): Finding[] {
  const loop = report.loop_state;
  if (plan !== 'COMPLETE' || !isObject(loop)) return [];
  const iteration = integerOf(loop.iteration);
  const max = integerOf(loop.max_iterations);
  const metric = numberOf(loop.metric);
  const threshold = numberOf(loop.threshold);
  if (iteration === null || max === null || metric === null || threshold === null) return [];
  if (!(iteration < max && metric < threshold)) return [];
  const code = `LOOP_STATE_INCOMPLETE:iteration=${iteration}<max=${max},metric=${decimal(metric)}<threshold=${decimal(threshold)}`;
  return [
    missing(code, 'loop_state', 'iterations are left and the threshold is not reached: report IN_PROGRESS and go on'),
  ];
}

// Measures are printed with a fraction and iterations without one, so that the code tells them apart.
function decimal(number: number): string {
  const text = String(number);
  return Number.isInteger(number) && !text.includes('e') ? `${text}.0` : text;
}
