// What is kept of a report besides its handoff: a bounded note for later agents, for the consolidated report and for the
// person who reads the end of the cast.
import type { ReportNote } from '../cast/state.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../json.ts';
import { truncate } from '../text.ts';
import { listOf, sectionAt, valueAt } from './sections.ts';
import type { PlanStatus } from './status.ts';

const ENTRIES_MAX = 8;
const ENTRY_CHARS_MAX = 300;
const SUMMARY_CHARS_MAX = 2_000;

export type Reporter = Pick<ReportNote, 'socket' | 'agent' | 'agentId' | 'item'>;

export function reportNote(report: JsonObject, status: PlanStatus, reporter: Reporter): ReportNote {
  const evidence = sectionAt(report, 'evidence_report');
  const consolidation = sectionAt(report, 'consolidation_report');
  const { user_facing_summary: summary } = report;
  const [nextBestAgent = null, ...alsoBestAgents] = entriesAt(consolidation, 'next_best_agent');
  return {
    ...reporter,
    status,
    ownership: entriesAt(consolidation, 'ownership_assessment')[0] ?? null,
    confirmed: entriesAt(consolidation, 'confirmed_findings'),
    suspected: entriesAt(consolidation, 'suspected_findings'),
    conflicts: entriesAt(consolidation, 'conflicts'),
    openGaps: [...new Set([...entriesAt(evidence, 'open_gaps'), ...entriesAt(consolidation, 'open_gaps')])],
    nextBestAgent,
    ...(alsoBestAgents.length > 0 ? { alsoBestAgents } : {}),
    keyOutputs: entriesAt(evidence, 'key_outputs'),
    crossLayerImpacts: entriesAt(evidence, 'cross_layer_impacts'),
    verification: verificationOf(evidence),
    summary: isText(summary) ? truncate(summary.trim(), SUMMARY_CHARS_MAX) : null,
    rollback: rollbackOf(report.rollback_executed),
    contextConsumption: consumptionOf(report.context_consumption),
  };
}

const WARNINGS_MAX = 20;

/** What is told about parts of a report that could not be taken as they are: the first of it, and how much more there is. */
export function boundWarnings(warnings: readonly string[]): readonly string[] {
  const told = warnings.slice(0, WARNINGS_MAX).map((each) => truncate(collapsed(each), ENTRY_CHARS_MAX));
  const more = warnings.length - told.length;
  return more > 0 ? [...told, `and ${more} more`] : told;
}

function verificationOf(evidence: JsonObject): string | null {
  const { result, method, details } = sectionAt(evidence, 'verification');
  if (!isText(result)) return null;
  const said = [result, method, details].filter(isText).map((part) => collapsed(part));
  return truncate(said.join(': '), ENTRY_CHARS_MAX);
}

/** Whoever says that nothing was rolled back has rolled nothing back. */
function rollbackOf(value: Json | undefined): string | null {
  if (value === false) return null;
  return entriesIn(value).join('; ') || null;
}

function consumptionOf(value: Json | undefined): JsonObject | null {
  if (!isObject(value)) return null;
  const numbers = ['tokens_used', 'pct_window'].flatMap((key) => {
    const number = numberIn(value[key]);
    return number === null ? [] : [[key, number] as const];
  });
  return numbers.length === 0 ? null : Object.fromEntries(numbers);
}

function numberIn(value: Json | undefined): number | null {
  if (typeof value !== 'number' && !isText(value)) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

const NOTHING =
  /^(?:none|nothing|n\/?a|not applicable|-|no(?: (?:conflicts?|gaps?|open gaps?|findings?|impacts?|rollback))?)(?: (?:found|known|identified|needed|executed))?\.?$/i;

/** Filler that says "nothing" is nothing: lists that must not be empty are often filled with it. */
export function saysNothing(text: string): boolean {
  return text === '' || NOTHING.test(text);
}

function entriesAt(section: JsonObject, key: string): readonly string[] {
  return entriesIn(valueAt(section, key));
}

function entriesIn(value: Json | undefined): readonly string[] {
  return listOf(value)
    .map((each) => collapsed(textOf(each)))
    .filter((each) => !saysNothing(each))
    .slice(0, ENTRIES_MAX)
    .map((each) => truncate(each, ENTRY_CHARS_MAX));
}

/** A command with its result is told as such; any other object by its JSON. */
function textOf(value: Json): string {
  if (isString(value)) return value;
  const command = isObject(value) ? (value.command ?? value.cmd) : undefined;
  if (!isObject(value) || !isText(command)) return JSON.stringify(value);
  return isText(value.result) ? `\`${command}\` -> ${value.result}` : `\`${command}\``;
}

function collapsed(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
