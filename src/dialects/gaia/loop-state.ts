// loop_state: an agent that works in iterations towards a threshold is not complete while it has iterations left and
// the threshold is not reached.
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
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

const NUMBER_CHARS_MAX = 64;
const DIGITS = /^[+-]?[0-9]+$/;
const NUMBER_CHARS = /^[0-9+\-.eE]+$/;

/** A whole number: fractions are cut off, except in text, where they are no whole number at all. */
export function integerOf(value: Json | undefined): number | null {
  if (typeof value === 'string' && !DIGITS.test(value.trim())) return null;
  const number = numberOf(value);
  return number === null ? null : finite(Math.trunc(number));
}

export function numberOf(value: Json | undefined): number | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string') {
    const text = value.trim();
    if (text.length > NUMBER_CHARS_MAX || !NUMBER_CHARS.test(text)) return null;
    return finite(Number(text));
  }
  return typeof value === 'number' ? finite(value) : null;
}

// Adding zero turns minus zero, which would not come back from JSON as it was, into zero.
function finite(number: number): number | null {
  return Number.isFinite(number) ? number + 0 : null;
}

// Measures are printed with a fraction and iterations without one, so that the code tells them apart.
function decimal(number: number): string {
  const text = String(number);
  return Number.isInteger(number) && !text.includes('e') ? `${text}.0` : text;
}
