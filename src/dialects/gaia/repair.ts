// The message of a repair turn: what was wrong with the reply, code by code and place by place, then the format again.
import type { Contract } from '../../kernel/dialect.ts';
import { isObject, isString, type Json } from '../../kernel/json.ts';
import type { Denied } from '../../kernel/verdict.ts';
import { briefFor, type Situation, situationIn } from './brief.ts';
import { TAG } from './contract.ts';

const ISSUES_MAX = 20;
const ISSUE_CHARS_MAX = 240;
const EXCERPT_CHARS = 60;

export function repair(refusal: Denied, raw: string, contract: Contract): string {
  return [
    `Your report was not accepted (${refusal.code}): ${refusal.reason}`,
    ...excerptLines(refusal, raw),
    ...(refusal.code === 'CONTRACT_VIOLATION' ? issueLines(refusal) : []),
    `Send your whole answer again, with one ${TAG} block that mends this. Do not change what was right.`,
    '',
    briefFor(contract, { ...situationIn(contract), ...situationOf(refusal, contract) }),
  ].join('\n');
}

/** What the refusal itself shows about the turn: a section that is missed is one that the turn needs. */
function situationOf({ details }: Denied, contract: Contract): Situation {
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
    .map(({ kind, code, path, message }) => cut(`- ${kind} ${code} at ${path || 'the report'}: ${message}`));
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

function cut(text: string): string {
  return text.length <= ISSUE_CHARS_MAX ? text : `${text.slice(0, ISSUE_CHARS_MAX - 1)}…`;
}
