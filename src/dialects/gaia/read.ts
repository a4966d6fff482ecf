// From an agent's reply to a verdict about its report, and to the handoff the graph goes on with.
import secureParse from 'secure-json-parse';
import type { Contract, Handoff, Reading } from '../../kernel/dialect.ts';
import { isObject, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { OUTCOME_OF } from '../../kernel/report/status.ts';
import { type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { parseJsonText, TEXT_BYTES_MAX } from '../json-text.ts';
import { type Block, findBlock } from './block.ts';
import { isPlanStatus, TAG } from './contract.ts';
import { type Finding, warning } from './finding.ts';
import { noteOf } from './note.ts';
import { findingsAsDetails, type Given, judgeReport } from './report.ts';
import { checkSocket } from './socket.ts';
import { nothingReported } from './status.ts';

/** The one answer about a reply: is there a report, and does it keep its contract? */
export function readReport(raw: string, given: Given = {}): Verdict {
  const parsed = parseReply(raw);
  return parsed.ok ? judgeReport(parsed.report, given, parsed.findings) : refuseReply(parsed, given);
}

/** Reads a reply for its socket, in the light of what the agent was told for this turn. */
export function read(raw: string, contract: Contract): Reading {
  const parsed = parseReply(raw, contract.maxBytes);
  const given = contract.turn ? { injectedContext: contract.turn.input, taskAgentId: contract.turn.agentId } : {};
  if (!parsed.ok) return { ok: false, verdict: refuseReply(parsed, given) };
  const { report, findings } = parsed;
  const verdict = judgeReport(report, given, [...findings, ...checkSocket(report, contract)]);
  if (!verdict.allow) return { ok: false, verdict };
  return { ok: true, handoff: handoffOf(verdict.details.plan_status, report) };
}

/** Why there is no report to judge. */
export type Unread = {
  readonly code: 'NO_BLOCK' | 'NOT_JSON';
  readonly reason: string;
  /** Where the JSON breaks, in lines and columns of the whole reply. */
  readonly place?: JsonObject;
};

export function refuseReply({ code, reason, place = {} }: Unread, given: Given): Denied {
  const nothing = { reported: null, plan: null, agentId: null };
  return deny(code, reason, { ...findingsAsDetails(nothingReported(), given, nothing), ...place });
}

type Parsed =
  | { readonly ok: true; readonly report: JsonObject; readonly findings: readonly Finding[] }
  | ({ readonly ok: false } & Unread);

function parseReply(raw: string, maxBytes = TEXT_BYTES_MAX): Parsed {
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
  const cut = `it ends at the three backticks on line ${cutAt.line}, column ${cutAt.column}`;
  return {
    code: 'NOT_JSON',
    reason: `${reason}; ${cut}, so write \\u0060 for each backtick inside a string`,
    place: { line, column, message, cut_at: cutAt },
  };
}

type Fault = { readonly kind: string; readonly message: string; readonly line: number; readonly column: number };
type Body =
  | { readonly ok: true; readonly value: unknown; readonly findings: readonly Finding[] }
  | ({ readonly ok: false } & Fault);

function parseBody({ body, line: firstLine }: Block, maxBytes: number): Body {
  if (body.startsWith('\ufeff')) {
    return { ok: false, kind: 'syntax', message: 'a byte order mark stands before the JSON', line: 1, column: 1 };
  }
  const parsed = parseJsonText(body, { maxBytes });
  if (parsed.ok) return { ...parsed, findings: [] };
  if (parsed.kind !== 'duplicate_key') return parsed;
  // A key written twice is legal JSON in which the last one counts. Whoever reads the first is warned.
  const value: unknown = secureParse(body, null, { safe: true });
  if (value === null) return parsed;
  const line = firstLine + parsed.line - 1;
  return { ok: true, value, findings: [warning(`DUPLICATE_KEY:${line}:${parsed.column}`, '', parsed.message)] };
}

function handoffOf(plan: unknown, payload: JsonObject): Handoff {
  if (!isPlanStatus(plan)) throw new Error('a report was allowed without a plan_status');
  const satisfied = plan === 'COMPLETE' ? true : plan === 'BLOCKED' ? false : null;
  const note = noteOf(plan, payload);
  return { outcome: OUTCOME_OF[plan], satisfied, payload, ...(note === '' ? {} : { note }) };
}
