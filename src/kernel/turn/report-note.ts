// What is kept of a report beside its handoff: what it says about the goal as a whole, bounded, for the agents that come
// after, for the consolidated report and for the person who reads the end of the cast.
import { isObject, isString, isText, type Json, type JsonObject } from '../json.ts';
import type { ReportNote } from '../state.ts';
import type { PlanStatus } from './plan-status.ts';

const ENTRIES_MAX = 8;
const ENTRY_CHARS_MAX = 300;
const SUMMARY_CHARS_MAX = 2_000;

export type Reporter = Pick<ReportNote, 'socket' | 'agent' | 'agentId' | 'item'>;

export function reportNote(report: JsonObject, status: PlanStatus, reporter: Reporter): ReportNote {
  const evidence = isObject(report.evidence_report) ? report.evidence_report : {};
  const consolidation = isObject(report.consolidation_report) ? report.consolidation_report : {};
  const verification = isObject(evidence.verification) ? evidence.verification : {};
  const { ownership_assessment: ownership, next_best_agent: nextBest } = consolidation;
  return {
    ...reporter,
    status,
    ownership: isText(ownership) ? cut(ownership, ENTRY_CHARS_MAX) : null,
    confirmed: entriesOf(consolidation.confirmed_findings),
    suspected: entriesOf(consolidation.suspected_findings),
    conflicts: entriesOf(consolidation.conflicts),
    openGaps: [...new Set([...entriesOf(evidence.open_gaps), ...entriesOf(consolidation.open_gaps)])],
    nextBestAgent: entriesOf(nextBest)[0] ?? null,
    keyOutputs: entriesOf(evidence.key_outputs),
    crossLayerImpacts: entriesOf(evidence.cross_layer_impacts),
    verification: verificationOf(verification),
    summary: isText(report.user_facing_summary) ? cut(report.user_facing_summary.trim(), SUMMARY_CHARS_MAX) : null,
    rollback: rollbackOf(report.rollback_executed),
    contextConsumption: consumptionOf(report.context_consumption),
  };
}

function verificationOf({ result, method, details }: JsonObject): string | null {
  if (!isText(result)) return null;
  const said = [method, details].filter(isText);
  return cut([result.trim(), ...said].join(': '), ENTRY_CHARS_MAX);
}

function rollbackOf(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return cut(isString(value) ? value : JSON.stringify(value), ENTRY_CHARS_MAX);
}

function consumptionOf(value: Json | undefined): JsonObject | null {
  if (!isObject(value)) return null;
  const numbers = ['tokens_used', 'pct_window'].flatMap((key) => {
    const number = Number(value[key]);
    return value[key] === undefined || value[key] === null || !Number.isFinite(number) ? [] : [[key, number] as const];
  });
  return numbers.length === 0 ? null : Object.fromEntries(numbers);
}

/** Filler that says "nothing" is nothing: lists that must not be empty are often filled with it. */
const NOTHING = /^(?:none|nothing|n\/?a|-|no(?: (?:conflicts?|gaps?|findings?))?)\.?$/i;

function entriesOf(value: Json | undefined): readonly string[] {
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? (value as readonly Json[]) : [value];
  return list
    .map((each) => (isString(each) ? each : JSON.stringify(each)).replace(/\s+/g, ' ').trim())
    .filter((each) => each !== '' && !NOTHING.test(each))
    .slice(0, ENTRIES_MAX)
    .map((each) => cut(each, ENTRY_CHARS_MAX));
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).trimEnd()}…`;
}
