// The answers of `baton validate` for `gaia`, `gaia/merge` and `gaia/transition`. Any input and any options get a verdict.
import { isObject, isString, type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { rejection, sortEntries } from '../../kernel/knowledge/entries.ts';
import { textOf } from '../../kernel/knowledge/live-state.ts';
import { mergePayloads } from '../../kernel/knowledge/merge.ts';
import { NOT_STARTED, normaliseStatus, type Progress, step } from '../../kernel/report/status.ts';
import { allow, type Denied, type Details, deny, type Verdict } from '../../kernel/verdict.ts';
import { parseJsonText } from '../json-text.ts';
import { prepare } from './checks.ts';
import { asDetails, faultOfValue } from './contract.ts';
import { judgeReport, type ReportGiven, readReport, refuseReply } from './read.ts';

/** A string is the whole reply of an agent; anything else is the content of its block, already parsed. */
export function validateGaia(input: Json, options: Json = {}): Verdict {
  const given = givenOf(options);
  if (!given.ok) return deny('BAD_USAGE', given.reason, {});
  if (isString(input)) return readReport(input, given.value);
  const fault = faultOfValue(input);
  if (fault) return refuseReply({ code: 'NOT_JSON', reason: `the report cannot be read: ${fault}` }, given.value);
  if (isObject(input)) return judgeReport(input, given.value);
  return refuseReply({ code: 'NO_BLOCK', reason: `the report is ${nameOfType(input)}, not an object` }, given.value);
}

/** `{base, entries, writable_sections}`; a missing member is empty. A string is its JSON text. */
export function validateMerge(input: Json, _options: Json = {}): Verdict {
  const unmerged = { result: {}, rejected: [], warnings: [] };
  const read = readValue(input, unmerged);
  if (!read.ok) return read.verdict;
  if (!isObject(read.value)) return refuse('expected an object with base, entries and writable_sections', unmerged);
  const { base, entries, writable_sections: writable } = read.value;
  const result = base ?? {};
  if (!isObject(result)) return refuse(`base must be an object of sections, got ${nameOfType(base)}`, unmerged);
  const kept = { ...unmerged, result };
  if (!isListOrNothing(entries)) return refuse(`entries must be an array, got ${nameOfType(entries)}`, kept);
  const sections = writable ?? [];
  if (!Array.isArray(sections) || !sections.every(isString)) {
    return refuse('writable_sections must be an array of section names', kept);
  }
  return mergeContracts({ base: result, entries: entries ?? [], writable_sections: sections });
}

/** `{reports: [plan_status, …]}`, or the JSON text of it. */
export function validateTransition(input: Json, _options: Json = {}): Verdict {
  const unjudged = { in_progress_count: 0, warning: null };
  const read = readValue(input, unjudged);
  if (!read.ok) return read.verdict;
  const reports = isObject(read.value) ? read.value.reports : undefined;
  if (!Array.isArray(reports)) return refuse('expected an object with an array reports', unjudged);
  return judgeTransitions({ reports: reports as readonly Json[] });
}

type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

function givenOf(options: Json): Checked<ReportGiven> {
  const { injected_context: context = null, task_agent_id: agent = null } = isObject(options) ? options : {};
  if (options !== null && !isObject(options)) {
    return { ok: false, reason: `options must be an object, got ${nameOfType(options)}` };
  }
  if (context !== null && !isObject(context)) {
    return { ok: false, reason: `injected_context must be an INPUT envelope or null, got ${nameOfType(context)}` };
  }
  if (agent !== null && !isString(agent)) {
    return { ok: false, reason: `task_agent_id must be a string, got ${nameOfType(agent)}` };
  }
  return { ok: true, value: { injectedContext: context, taskAgentId: agent } };
}

const INPUT_BYTES_MAX = 16 * 1_048_576;

type Valued = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly verdict: Denied };

function readValue(input: Json, details: Details): Valued {
  if (isString(input)) {
    const parsed = parseJsonText(input, { maxBytes: INPUT_BYTES_MAX });
    if (parsed.ok) return parsed;
    const { line, column, message } = parsed;
    const reason = `the input is not JSON at line ${line}, column ${column}: ${message}`;
    return { ok: false, verdict: deny('NOT_JSON', reason, { ...details, line, column, message }) };
  }
  const fault = faultOfValue(input);
  if (!fault) return { ok: true, value: input };
  return { ok: false, verdict: deny('NOT_JSON', `the input cannot be read: ${fault}`, details) };
}

function isListOrNothing(value: Json | undefined): value is readonly Json[] | undefined | null {
  return value === undefined || value === null || Array.isArray(value);
}

function refuse(reason: string, details: JsonObject): Denied {
  return deny('CONTRACT_VIOLATION', reason, details);
}

/**
 * `gaia/merge`: what stored sections become when entries are written to them. Nothing is stored; a cast writes by the same
 * rules.
 */
type MergeRequest = {
  /** The stored sections. */
  readonly base: JsonObject;
  /** `{contract, payload}` each; two for one section apply in order. */
  readonly entries: readonly Json[];
  readonly writable_sections: readonly string[];
};

/** A section that may not be written is rejected and the others still apply. Live state is only pointed out. */
export function mergeContracts({ base, entries, writable_sections }: MergeRequest): Verdict {
  const {
    permitted,
    deposits,
    rejected: refused,
    findings: found,
  } = sortEntries(entries, writable_sections, 'entries');
  const rejected = new Set(refused);
  const findings = [...found];
  const sections = new Map(Object.entries(base));
  for (const [contract, written] of Map.groupBy(permitted, (entry) => entry.contract)) {
    const stored = sections.get(contract) ?? {};
    if (isObject(stored)) {
      const payloads = written.map(({ payload }) => prepare(payload, contract, findings));
      sections.set(contract, mergePayloads(stored, payloads, contract, findings));
    } else {
      rejected.add(contract);
      const why = `the stored section is ${nameOfType(stored)}, so that nothing can be merged into it`;
      findings.push(rejection(contract, contract, why));
    }
  }
  const { warnings, issues } = asDetails(findings);
  const details = {
    ...{ result: Object.fromEntries(sections), rejected: [...rejected], warnings, issues },
    ...(deposits.length > 0 ? { evidence: deposits } : {}),
  };
  if (rejected.size === 0)
    return allow(`${permitted.length + deposits.length} of ${entries.length} entries were merged`, details);
  return deny('WRITE_NOT_PERMITTED', `${rejected.size} sections were not written; the others were`, details);
}

/** Whether the report may follow, and the progress after it. */
export function follow(progress: Progress, report: Json): { readonly verdict: Verdict; readonly progress: Progress } {
  return step(progress, normaliseStatus(textOf(report).trim()));
}

/** The verdict about the last of the statuses one agent reported, in order. */
export function judgeTransitions({ reports }: { readonly reports: readonly Json[] }): Verdict {
  let progress = NOT_STARTED;
  let last: Verdict | null = null;
  for (const report of reports) {
    const next = follow(progress, report);
    progress = next.progress;
    last = next.verdict;
  }
  if (last !== null) return last;
  const details = { in_progress_count: 0, warning: null };
  return deny('CONTRACT_VIOLATION', 'reports is empty: give at least one plan_status', details);
}
