// Reads an agent's reply: finds its block, parses the JSON, runs all checks of the report in a fixed order, and makes the
// handoff.
import secureParse from 'secure-json-parse';
import type { Contract, Handoff, Reading } from '../../kernel/dialect.ts';
import { isObject, isString, isText, type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { EVIDENCE, sortEntries } from '../../kernel/knowledge/entries.ts';
import { type Finding, findingWarning, isEmpty } from '../../kernel/knowledge/live-state.ts';
import { memorializeSuggestions, memorySuggestions } from '../../kernel/knowledge/memory.ts';
import { saysNothing } from '../../kernel/report/consolidation.ts';
import { integerOf, reportedNumber, sectionAt, valueAt } from '../../kernel/report/sections.ts';
import { isPlanStatus, OUTCOME_OF, type PlanStatus } from '../../kernel/report/status.ts';
import { allow, type Denied, type Details, deny, type Verdict } from '../../kernel/verdict.ts';
import { JSON_BYTES_MAX, parseJsonText } from '../json-text.ts';
import {
  checkApprovalRequest,
  checkAssigned,
  checkConsolidation,
  checkEvidence,
  checkLoopState,
  checkStatus,
  checkVerification,
  lacksVerbatimOutput,
  nothingReported,
  prepare,
  type StatusCheck,
} from './checks.ts';
import { asDetails, consolidationRequired, isAgentId, sectionsToWrite, TAG } from './contract.ts';

/** The one answer about a reply: is there a report, and does it keep its contract? */
export function readReport(raw: string, given: ReportGiven = {}): Verdict {
  const parsed = parseReply(raw);
  return parsed.ok ? judgeReport(parsed.report, given, parsed.findings) : refuseReply(parsed, given);
}

/** Reads a reply for its socket and its turn. */
export function gaiaRead(raw: string, contract: Contract): Reading {
  const parsed = parseReply(raw, contract.maxBytes);
  const given = contract.turn ? { injectedContext: contract.turn.input, taskAgentId: contract.turn.agentId } : {};
  if (!parsed.ok) return { ok: false, verdict: refuseReply(parsed, given) };
  const { report, findings } = parsed;
  const verdict = judgeReport(report, given, [...findings, ...checkAssigned(report, contract)]);
  if (!verdict.allow) return { ok: false, verdict };
  return { ok: true, handoff: handoffOf(verdict.details.plan_status, report) };
}

/** Why there is no report to judge. */
type Unread = {
  readonly code: 'NO_BLOCK' | 'NOT_JSON';
  readonly reason: string;
  /** Where the JSON breaks, in lines and columns of the whole reply. */
  readonly place?: JsonObject;
};

export function refuseReply({ code, reason, place = {} }: Unread, given: ReportGiven): Denied {
  const nothing = { reported: null, plan: null, agentId: null };
  return deny(code, reason, { ...findingsAsDetails(nothingReported(), given, nothing), ...place });
}

type Parsed =
  | { readonly ok: true; readonly report: JsonObject; readonly findings: readonly Finding[] }
  | ({ readonly ok: false } & Unread);

function parseReply(raw: string, maxBytes = JSON_BYTES_MAX): Parsed {
  const block = findBlock(raw);
  if (!block.found) return { ok: false, code: 'NO_BLOCK', reason: block.message };
  const parsed = parseBody(block, maxBytes);
  if (!parsed.ok) return { ok: false, ...unreadable(block, parsed) };
  if (isObject(parsed.value)) return { ok: true, report: parsed.value, findings: parsed.findings };
  const reason = `the block on line ${block.line} holds ${nameOfType(parsed.value)}, not an object`;
  return { ok: false, code: 'NO_BLOCK', reason };
}

function unreadable(block: Block, fault: Fault): Unread {
  const { message, column } = fault;
  if (fault.kind === 'too_large') {
    return { code: 'NOT_JSON', reason: `the ${TAG} block is not read: ${message}`, place: { message } };
  }
  const line = block.line + fault.line - 1;
  const reason = `the block is not JSON at line ${line}, column ${column}: ${message}`;
  const { cutAt } = block;
  if (fault.kind !== 'syntax' || !cutAt) return { code: 'NOT_JSON', reason, place: { line, column, message } };
  const end = `it ends at the three backticks on line ${cutAt.line}, column ${cutAt.column}`;
  return {
    code: 'NOT_JSON',
    reason: `${reason}; ${end}, so write \\u0060 for each backtick inside a string`,
    place: { line, column, message, cut_at: cutAt },
  };
}

type Fault = { readonly kind: string; readonly message: string; readonly line: number; readonly column: number };
type Body =
  | { readonly ok: true; readonly value: unknown; readonly findings: readonly Finding[] }
  | ({ readonly ok: false } & Fault);

function parseBody({ body, line: firstLine }: Block, maxBytes: number): Body {
  if (body.startsWith('\ufeff')) {
    return { ok: false, kind: 'syntax', message: 'a byte order mark is before the JSON', line: 1, column: 1 };
  }
  const parsed = parseJsonText(body, { maxBytes });
  if (parsed.ok) return { ...parsed, findings: [] };
  if (parsed.kind !== 'duplicate_key') return parsed;
  // A key written twice is legal JSON, in which the last one counts. A reader of the first gets a warning.
  const value: unknown = secureParse(body, null, { safe: true });
  if (value === null) return parsed;
  const line = firstLine + parsed.line - 1;
  return { ok: true, value, findings: [findingWarning(`DUPLICATE_KEY:${line}:${parsed.column}`, '', parsed.message)] };
}

function handoffOf(plan: unknown, payload: JsonObject): Handoff {
  if (!isPlanStatus(plan)) throw new Error('a report was allowed without a plan_status');
  const satisfied = plan === 'COMPLETE' ? true : plan === 'BLOCKED' ? false : null;
  const note = gaiaNote(plan, payload);
  return { outcome: OUTCOME_OF[plan], satisfied, payload, ...(note === '' ? {} : { note }) };
}

/**
 * The block: the first fence tagged agent_contract_handoff, up to the next three backticks. Later blocks are ignored, so a
 * reply cannot say two things.
 */
const FENCE = '```';
const OPENER = `${FENCE}${TAG}`;

export type Block = {
  readonly found: true;
  readonly body: string;
  /** The line of the reply on which the body starts; the body always starts in its first column. */
  readonly line: number;
  /** The place of the backticks when something other than the end of the JSON precedes them on their line. */
  readonly cutAt: { readonly line: number; readonly column: number } | null;
};
type NoBlock = { readonly found: false; readonly message: string };

export function findBlock(reply: string): Block | NoBlock {
  let gluedAt = -1;
  for (let at = reply.indexOf(OPENER); at !== -1; at = reply.indexOf(OPENER, at + OPENER.length)) {
    const start = bodyStart(reply, at + OPENER.length);
    if (start === -1) {
      if (gluedAt === -1) gluedAt = at;
      continue;
    }
    const end = reply.indexOf(FENCE, start);
    // A later opener would itself hold three backticks, so none can follow an unclosed one.
    if (end === -1) return none(`the ${TAG} block that opens on line ${lineAt(reply, at)} is never closed`);
    return { found: true, body: reply.slice(start, end), line: lineAt(reply, start), cutAt: cutAt(reply, start, end) };
  }
  return none(
    gluedAt === -1 ? nearMiss(reply) : `a line break must follow the tag ${TAG} on line ${lineAt(reply, gluedAt)}`,
  );
}

/** After the last line break of the white space behind the tag; -1 when there is none. */
function bodyStart(reply: string, afterTag: number): number {
  let start = -1;
  for (let at = afterTag; at < reply.length && isSpace(reply.charCodeAt(at)); at++) {
    if (reply.charCodeAt(at) === 0x0a) start = at + 1;
  }
  return start;
}

/** A byte order mark in the middle of a text is no white space. */
function isSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x1f);
  return code === 0x85 || (code !== 0xfeff && String.fromCharCode(code).trim() === '');
}

function cutAt(reply: string, start: number, end: number): Block['cutAt'] {
  const lineStart = Math.max(start, reply.lastIndexOf('\n', end) + 1);
  const before = reply.slice(lineStart, end).trimEnd();
  if (before === '' || before.endsWith('}')) return null;
  return { line: lineAt(reply, end), column: end - lineStart + 1 };
}

function nearMiss(reply: string): string {
  const word = reply.toLowerCase().indexOf(TAG);
  if (word !== -1) return `${TAG} is named on line ${lineAt(reply, word)}, but not directly behind three backticks`;
  return reply.trim() === '' ? 'the reply is empty' : `the reply has no fenced block tagged ${TAG}`;
}

function none(message: string): NoBlock {
  return { found: false, message };
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** The note of a handoff: findings, gaps or questions in the agent's own words. */
const NOTE_CHARS_MAX = 1_200;

function gaiaNote(plan: PlanStatus, report: JsonObject): string {
  const evidence = isObject(report.evidence_report) ? report.evidence_report : {};
  const status = isObject(report.agent_status) ? report.agent_status : {};
  const notes: Readonly<Record<PlanStatus, readonly string[]>> = {
    COMPLETE: linesOf(evidence.key_outputs),
    BLOCKED: or(gapsIn(report), withoutGap(status.next_action)),
    NEEDS_INPUT: linesOf(status.next_action),
    IN_PROGRESS: [...linesOf(status.next_action), ...linesOf(status.pending_steps)],
    APPROVAL_REQUEST: approvalLines(report.approval_request),
  };
  const note = notes[plan].join('; ');
  return note.length <= NOTE_CHARS_MAX ? note : `${note.slice(0, NOTE_CHARS_MAX - 1).trimEnd()}…`;
}

function or(first: readonly string[], second: readonly string[]): readonly string[] {
  return first.length > 0 ? first : second;
}

function gapsIn(report: JsonObject): readonly string[] {
  const sections = [sectionAt(report, 'evidence_report'), sectionAt(report, 'consolidation_report')];
  const gaps = sections.flatMap((section) => linesOf(valueAt(section, 'open_gaps')));
  return [...new Set(gaps)].filter((gap) => !saysNothing(gap));
}

/** What should happen next is no gap, and read as one it would say that it is done. */
function withoutGap(next: Json | undefined): readonly string[] {
  const actions = linesOf(next).map((line) => `"${line}"`);
  return [
    `its agent reported BLOCKED and named no gap${actions.length > 0 ? `; next_action: ${actions.join(', ')}` : ''}`,
  ];
}

function approvalLines(request: Json | undefined): readonly string[] {
  if (!isObject(request)) return [];
  const set = Array.isArray(request.command_set) ? (request.command_set as readonly Json[]) : [];
  const listed = set.map((one) => (isObject(one) ? (one.command ?? null) : one));
  return [...linesOf(request.operation), ...linesOf(request.exact_content), ...linesOf(listed)];
}

function linesOf(value: Json | undefined): readonly string[] {
  if (value === undefined || isEmpty(value)) return [];
  const list = Array.isArray(value) ? (value as readonly Json[]) : [value];
  return list.map((each) => (isString(each) ? each : JSON.stringify(each)).replace(/\s+/g, ' ').trim());
}

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
function findingsAsDetails(
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

/**
 * Optional remarks: the summary, an executed rollback, the size of the context. A remark that cannot be read counts as
 * absent.
 */
type ContextConsumption = { readonly tokens_used: number | null; readonly pct_window: number | null };

/** The one field written for a person, who reads nothing else of the report. */
export function userFacingSummary(report: JsonObject): string | null {
  const summary = report.user_facing_summary;
  return isText(summary) ? summary.trim() : null;
}

/** Undefined when the agent reported nothing, null when it reported that there was none. */
export function rollbackExecuted(report: JsonObject): string | null | undefined {
  const value = report.rollback_executed;
  if (value === undefined || value === null || typeof value === 'string') return value;
  return JSON.stringify(value);
}

export function contextConsumption(report: JsonObject): ContextConsumption | null {
  const value = report.context_consumption;
  if (!isObject(value)) return null;
  return { tokens_used: integerOf(value.tokens_used), pct_window: reportedNumber(value.pct_window) };
}
