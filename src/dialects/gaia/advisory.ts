// Optional remarks of a report: the summary for the human reader, a rollback that was carried out, and how full the
// agent's window was. None of them is ever refused; what cannot be read counts as not said.
import { isObject, isText, type JsonObject } from '../../kernel/json.ts';
import { integerOf, numberOf } from '../../kernel/report/sections.ts';

export type ContextConsumption = { readonly tokens_used: number | null; readonly pct_window: number | null };

/** The one field written for a person, who reads nothing else of the report. */
export function userFacingSummary(report: JsonObject): string | null {
  const summary = report.user_facing_summary;
  return isText(summary) ? summary.trim() : null;
}

/** Undefined when the agent said nothing, null when it said that there was none. */
export function rollbackExecuted(report: JsonObject): string | null | undefined {
  const value = report.rollback_executed;
  if (value === undefined || value === null || typeof value === 'string') return value;
  return JSON.stringify(value);
}

export function contextConsumption(report: JsonObject): ContextConsumption | null {
  const value = report.context_consumption;
  if (!isObject(value)) return null;
  return { tokens_used: integerOf(value.tokens_used), pct_window: numberOf(value.pct_window) };
}
