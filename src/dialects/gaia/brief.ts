// The instructions for a report: a filled example and each rule in one line. A repair turn gets what was wrong first.
import type { Contract } from '../../kernel/dialect.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { CONSOLIDATION_KEYS, EVIDENCE_KEYS } from '../../kernel/report/sections.ts';
import { PLAN_STATUSES } from '../../kernel/report/status.ts';
import type { Denied } from '../../kernel/verdict.ts';
import { slotSources } from './checks.ts';
import {
  APPROVAL_ADVISORY_KEYS,
  APPROVAL_BLOCKING_KEYS,
  consolidationRequired,
  OWNERSHIP_ASSESSMENTS,
  RISK_LEVELS,
  STATUS_MEANS,
  sectionsToWrite,
  TAG,
} from './contract.ts';

/** What the brief of a turn needs besides its socket. */
type BriefSituation = {
  readonly agentId?: string;
  /** Whether the INPUT asks for a consolidation_report. */
  readonly consolidationRequired?: boolean;
  /** Whether a person can give permission; true by default. */
  readonly mayAskPermission?: boolean;
  /** Whether the turn belongs to a loop that improves a metric. */
  readonly iterates?: boolean;
  readonly writableSections?: readonly string[];
  /** The statuses that may be reported next; all by default. */
  readonly statuses?: readonly string[];
};

const EXAMPLE_ID = 'a0c0ffee';

export function gaiaBrief(contract: Contract): string {
  return gaiaBriefFor(contract, situationIn(contract));
}

/** What the INPUT of the turn says about its report. */
function situationIn({ turn }: Pick<Contract, 'turn'>): BriefSituation {
  if (!turn) return {};
  const writable = sectionsToWrite(turn.input);
  return {
    ...(turn.agentId === null ? {} : { agentId: turn.agentId }),
    consolidationRequired: consolidationRequired(turn.input),
    ...(writable === null ? {} : { writableSections: writable }),
    ...(turn.statuses ? { statuses: turn.statuses } : {}),
  };
}

export function gaiaBriefFor(contract: Pick<Contract, 'assign' | 'schema'>, given: BriefSituation): string {
  const situation = {
    ...given,
    consolidationRequired: given.consolidationRequired === true || asksFor(contract, 'consolidation_report'),
    iterates: given.iterates === true || asksFor(contract, 'loop_state'),
  };
  return [
    ...formatLines(situation),
    '',
    ...statusLines(situation),
    '',
    ...sectionLines(situation),
    ...socketLines(contract),
  ].join('\n');
}

/** Whether the socket itself hands a section on, or demands it by its schema. */
function asksFor(contract: Pick<Contract, 'assign' | 'schema'>, section: string): boolean {
  const required = contract.schema?.required;
  if (Array.isArray(required) && required.includes(section)) return true;
  return slotSources(contract).some((source) => source === `$.${section}` || source.startsWith(`$.${section}.`));
}

/** A report that keeps the contract, as an example to fill in. */
export function exampleReport({
  agentId = EXAMPLE_ID,
  consolidationRequired = false,
  iterates = false,
  statuses = PLAN_STATUSES,
}: BriefSituation): JsonObject {
  const isDone = statuses.includes('COMPLETE');
  const stands = isDone
    ? { plan_status: 'COMPLETE', agent_id: agentId, pending_steps: [], next_action: 'done' }
    : { plan_status: statuses[0] ?? '', agent_id: agentId, pending_steps: ['run the tests'], next_action: 'go on' };
  const report = {
    agent_status: stands,
    evidence_report: {
      patterns_checked: ['validateToken'],
      files_checked: ['src/auth.ts'],
      commands_run: [{ command: 'npm test', result: 'exit 0' }],
      key_outputs: ['the expiry check compared seconds with milliseconds'],
      verbatim_outputs: ['Tests 12 passed (12)'],
      cross_layer_impacts: [],
      open_gaps: [],
      ...(isDone && {
        verification: { method: 'test', checks: ['npm test'], result: 'pass', details: 'all 12 tests pass' },
      }),
    },
    user_facing_summary: 'Sessions no longer expire at once.',
  };
  return {
    ...report,
    ...(consolidationRequired && { consolidation_report: EXAMPLE_CONSOLIDATION }),
    ...(iterates && { loop_state: { iteration: 2, max_iterations: 5, metric: 0.95, threshold: 0.9 } }),
  };
}

const EXAMPLE_CONSOLIDATION = {
  ownership_assessment: 'owned_here',
  confirmed_findings: ['the fault is in src/auth.ts'],
  suspected_findings: [],
  conflicts: [],
  open_gaps: [],
  next_best_agent: 'none',
};

function formatLines(situation: BriefSituation): string[] {
  return [
    '## Report',
    `End your answer with exactly one fenced block tagged ${TAG}. Inside it is one JSON object and nothing else:`,
    'no YAML, no comments, no trailing commas. Only the first such block counts, so write it once and do not quote this one.',
    'Three backticks end the block wherever they are; inside a string write \\u0060 for a backtick.',
    'An example; say what is true of your own work:',
    '',
    `\`\`\`${TAG}`,
    JSON.stringify(exampleReport(situation), null, 2),
    '```',
  ];
}

function statusLines({ agentId, mayAskPermission = true, statuses: next = PLAN_STATUSES }: BriefSituation): string[] {
  const statuses = PLAN_STATUSES.filter(
    (status) => next.includes(status) && (mayAskPermission || status !== 'APPROVAL_REQUEST'),
  );
  const id = agentId ? `exactly "${agentId}"` : 'the id you were given: `a` and at least five lower-case hex digits';
  return [
    'agent_status, always:',
    '- plan_status, one of:',
    ...statuses.map((status) => `  - ${status}: ${STATUS_MEANS[status]}`),
    `- agent_id: ${id}`,
    '- pending_steps: the steps that are left, [] when there are none',
    '- next_action: what should happen next, "done" when nothing should',
  ];
}

function sectionLines(situation: BriefSituation): string[] {
  return [
    `evidence_report, always, with all of ${EVIDENCE_KEYS.join(', ')}; each a list, [] when there is nothing.`,
    'evidence_report.verification, only for COMPLETE: an object with method, checks, details and result; result must be "pass", and you must have verified it.',
    ...conditionalLines(situation),
    'Optional: user_facing_summary (a few sentences for a person, who reads nothing else, in the language of the request unless another is named), memory_suggestions (a list of notes), memorialize_suggestions (a list of objects with description and body).',
    updateLine(situation.writableSections),
  ];
}

/** How a command runs that a person has approved. */
const AFTER_APPROVAL =
  'Once it is approved you are given its ID: run it with `baton exec --approval ID -- ` and the words of the command, once, and alone on its line.';

/** The sections that not every turn needs. */
function conditionalLines({ mayAskPermission = true, consolidationRequired, iterates }: BriefSituation): string[] {
  const lines: string[] = [];
  if (mayAskPermission) {
    const keys = [...APPROVAL_ADVISORY_KEYS, ...APPROVAL_BLOCKING_KEYS].join(', ');
    lines.push(
      `approval_request, only for APPROVAL_REQUEST: an object with ${keys}; risk_level is one of ${RISK_LEVELS.join(', ')}; exact_content is the command word for word; ${APPROVAL_BLOCKING_KEYS.join(' and ')} must not be empty. ${AFTER_APPROVAL}`,
    );
  }
  if (consolidationRequired) {
    lines.push(
      `consolidation_report, required in this turn: an object with ${CONSOLIDATION_KEYS.join(', ')}; none left out; of the lists [] says there is nothing. ownership_assessment is one of ${OWNERSHIP_ASSESSMENTS.join(', ')}.`,
    );
  }
  if (iterates) {
    lines.push(
      'loop_state, required in this turn: an object with the numbers iteration, max_iterations, metric, threshold; COMPLETE waits until the threshold is reached or no iteration is left.',
    );
  }
  return lines;
}

function updateLine(writable: readonly string[] | undefined): string {
  const shape = 'a list of {"contract": section, "payload": object with the keys to add or change}';
  const rule = 'identifiers, names and relations, never live state such as addresses, counts or running status';
  if (writable === undefined) return `Optional: update_contracts, ${shape}; only for sections you may write; ${rule}.`;
  if (writable.length === 0) return 'Leave out update_contracts: you may write no section.';
  return `Optional: update_contracts, ${shape}; sections you may write: ${writable.join(', ')}; ${rule}.`;
}

function socketLines(contract: Pick<Contract, 'assign' | 'schema'>): string[] {
  const sources = slotSources(contract);
  const lines: string[] = [];
  if (sources.length > 0) {
    lines.push('', 'A COMPLETE report must also hold these paths ($ is the object), for they are handed on:');
    lines.push(...sources.map((source) => `- ${source}`));
  }
  if (contract.schema) {
    lines.push('', 'A COMPLETE report must also fit this JSON Schema:', JSON.stringify(contract.schema));
  }
  return lines;
}

/** A repair: what was wrong, code by code and place by place, then the format once more. */
const ISSUES_MAX = 20;
const ISSUE_CHARS_MAX = 240;
const EXCERPT_CHARS = 60;

export function gaiaRepair(refusal: Denied, raw: string, contract: Contract): string {
  return [
    `Your report was not accepted (${refusal.code}): ${refusal.reason}`,
    ...excerptLines(refusal, raw),
    ...(refusal.code === 'CONTRACT_VIOLATION' ? issueLines(refusal) : []),
    `Send your whole answer again, with one ${TAG} block that mends this. Do not change what was right.`,
    '',
    gaiaBriefFor(contract, { ...situationIn(contract), ...situationOf(refusal, contract) }),
  ].join('\n');
}

/** What the refusal itself shows about the turn: a section that is missed is one that the turn needs. */
function situationOf({ details }: Denied, contract: Contract): BriefSituation {
  const paths = (Array.isArray(details.issues) ? (details.issues as readonly Json[]) : [])
    .filter(isObject)
    .filter(({ kind }) => kind !== 'warning')
    .map(({ path }) => String(path));
  return {
    consolidationRequired:
      situationIn(contract).consolidationRequired === true ||
      paths.some((path) => path.startsWith('consolidation_report')),
    iterates: paths.some((path) => path.startsWith('loop_state')),
  };
}

function issueLines({ details }: Denied): string[] {
  const issues = (Array.isArray(details.issues) ? (details.issues as readonly Json[]) : [])
    .filter(isObject)
    .filter(({ kind }) => kind !== 'warning')
    .map(({ kind, code, path, message }) => inBounds(`- ${kind} ${code} at ${path || 'the report'}: ${message}`));
  const rest = issues.length - ISSUES_MAX;
  return [...issues.slice(0, ISSUES_MAX), ...(rest > 0 ? [`- and ${rest} more`] : [])];
}

/** The line on which the JSON breaks, around the place, which is marked. */
function excerptLines({ code, details }: Denied, raw: string): string[] {
  const { line, column, message } = details;
  if (code !== 'NOT_JSON' || typeof line !== 'number' || typeof column !== 'number' || !isString(message)) return [];
  const text = lineOf(raw, line);
  const at = Math.min(column - 1, text.length);
  const before = text.slice(Math.max(0, at - EXCERPT_CHARS), at);
  const after = text.slice(at, at + EXCERPT_CHARS);
  return [`Line ${line}, with »here« at column ${column}: ${before}»here«${after}`];
}

function lineOf(text: string, line: number): string {
  let start = 0;
  for (let passed = 1; passed < line; passed++) {
    const end = text.indexOf('\n', start);
    if (end === -1) return '';
    start = end + 1;
  }
  const end = text.indexOf('\n', start);
  return end === -1 ? text.slice(start) : text.slice(start, end);
}

function inBounds(text: string): string {
  return text.length <= ISSUE_CHARS_MAX ? text : `${text.slice(0, ISSUE_CHARS_MAX - 1)}…`;
}
