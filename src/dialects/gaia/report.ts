// Judges a parsed report. All checks run in a fixed order, and one verdict says all that was found.
import { isObject, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { EVIDENCE, sortEntries } from '../../kernel/knowledge/entries.ts';
import type { Finding } from '../../kernel/knowledge/live-state.ts';
import { memorializeSuggestions, memorySuggestions } from '../../kernel/knowledge/memory.ts';
import { integerOf, numberOf } from '../../kernel/report/sections.ts';
import { allow, type Details, deny, type Verdict } from '../../kernel/verdict.ts';
import {
  checkApprovalRequest,
  checkConsolidation,
  checkEvidence,
  checkLoopState,
  checkStatus,
  checkVerification,
  lacksVerbatimOutput,
  prepare,
  type StatusCheck,
} from './checks.ts';
import { asDetails, consolidationRequired, isAgentId, sectionsToWrite } from './contract.ts';

/** What the runtime knows about the turn that is reported. */
export type ReportGiven = {
  /** The INPUT envelope of the turn. */
  readonly injectedContext?: JsonObject | null;
  /** The id issued to the agent. One that could not be routed to counts as none. */
  readonly taskAgentId?: string | null;
};

/** `more` are findings from outside the report itself, such as those of its text or of its socket. */
export function judgeReport(report: JsonObject, given: ReportGiven, more: readonly Finding[] = []): Verdict {
  const context = given.injectedContext ?? null;
  const status = checkStatus(report, issuedId(given));
  const memorials = memorializeSuggestions(report);
  const writes = sortEntries(report.update_contracts, sectionsToWrite(context), 'update_contracts');
  const findings = [
    ...status.findings,
    ...(status.plan ? checkEvidence(report) : []),
    ...checkConsolidation(report, consolidationRequired(context)),
    ...checkApprovalRequest(report, status.plan),
    ...checkVerification(report, status.plan),
    ...checkLoopState(report, status.plan),
    ...memorials.findings,
    ...writes.findings,
    ...doubtsAbout(writes.permitted),
    ...more,
  ];
  const rollback = rollbackExecuted(report);
  const details: Details = {
    ...findingsAsDetails(findings, given, status),
    anomalies: status.plan && lacksVerbatimOutput(report) ? ['verbatim_outputs_missing'] : [],
    user_facing_summary: userFacingSummary(report),
    memory_suggestions: memorySuggestions(report),
    memorialize_suggestions: memorials.suggestions as readonly Json[],
    update_contracts: {
      contracts: [...writes.permitted.map(({ contract }) => contract), ...writes.deposits.map(() => EVIDENCE)],
      rejected: writes.rejected,
    },
    context_consumption: contextConsumption(report),
    ...(rollback === undefined ? {} : { rollback_executed: rollback }),
  };
  const broken = findings.filter(({ kind }) => kind !== 'warning');
  if (broken.length === 0) return allow(`${status.plan} from ${status.agentId}`, details);
  return deny('CONTRACT_VIOLATION', `the report breaks its contract: ${listed(broken)}`, details);
}

/** What a cast would spell differently or not store at all, as `gaia/merge` tells it of the same entries. */
function doubtsAbout(entries: ReturnType<typeof sortEntries>['permitted']): readonly Finding[] {
  const findings: Finding[] = [];
  for (const { contract, payload } of entries) prepare(payload, contract, findings);
  return findings;
}

/** The part of the details that every answer about a reply has, also when no report could be read from it. */
export function findingsAsDetails(
  findings: readonly Finding[],
  given: ReportGiven,
  { reported, plan, agentId }: Pick<StatusCheck, 'reported' | 'plan' | 'agentId'>,
): Details {
  const { missing, invalid, warnings, issues } = asDetails(findings);
  const repairAgent = issuedId(given) ?? (isAgentId(agentId) ? agentId : null);
  const broken = findings.some(({ kind }) => kind !== 'warning');
  const repair = repairAgent === null ? 'escalate_contract_repair' : 'resume_same_agent_contract_repair';
  return {
    missing,
    invalid,
    warnings,
    plan_status: reported,
    agent_id: agentId,
    evidence_required: plan !== null,
    consolidation_required: consolidationRequired(given.injectedContext ?? null),
    recommended_action: broken ? repair : 'none',
    repair_agent_id: broken ? repairAgent : null,
    issues,
  };
}

function issuedId({ taskAgentId }: ReportGiven): string | null {
  return isAgentId(taskAgentId) ? taskAgentId : null;
}

const CODES_LISTED_MAX = 8;

function listed(findings: readonly Finding[]): string {
  const shown = findings.slice(0, CODES_LISTED_MAX).map(({ kind, code }) => `${kind} ${code}`);
  const rest = findings.length - shown.length;
  return shown.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

// Optional remarks: the summary, an executed rollback, the size of the context. A remark that cannot be read counts as absent.
type ContextConsumption = { readonly tokens_used: number | null; readonly pct_window: number | null };

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
