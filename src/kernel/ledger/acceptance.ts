// Whether a task is done: every criterion of the task is claimed by its exact text, every claim passes and says on what
// evidence, and what checkers found out agrees.
import { cut } from '../cast/cut.ts';
import { isObject, isText, type JsonObject } from '../json.ts';
import { type Denied, deny } from '../verdict.ts';
import type { Check } from './request.ts';
import type { Task } from './state.ts';

const LISTED_MAX = 20;

export function refusalOfAcceptance(
  task: Task,
  result: JsonObject,
  checks: Readonly<Record<string, Check>>,
): Denied | null {
  return refusalOfClaims(task, result) ?? refusalOfVerified(task, checks);
}

/** Where the agent claims the whole: what can be checked has to be true. */
export function refusalOfVerified(task: Task, checks: Readonly<Record<string, Check>>): Denied | null {
  return refusalOfCheckers(task, checks) ?? refusalOfChecks(task, checks);
}

function refusalOfClaims({ id, criteria }: Task, result: JsonObject): Denied | null {
  const entries = Array.isArray(result.acceptance_check) ? result.acceptance_check.filter(isObject) : [];
  const claimed = new Set(entries.map(({ criterion }) => criterion));
  const missing = criteria.filter((criterion) => !claimed.has(criterion));
  const failing = entries.filter(({ status }) => status !== 'pass').map(({ criterion }) => String(criterion));
  const unproven = entries.filter(({ evidence }) => !isText(evidence)).map(({ criterion }) => String(criterion));
  const faults = [
    missing.length > 0 ? `says nothing about ${quoted(missing)}` : '',
    failing.length > 0 ? `did not pass ${quoted(failing)}` : '',
    unproven.length > 0 ? `gives no evidence for ${quoted(unproven)}` : '',
    entries.length === 0 && criteria.length === 0 ? 'checks nothing at all' : '',
  ].filter((fault) => fault !== '');
  if (faults.length === 0) return null;
  const reason = `The result of ${id} ${faults.join(', and ')}; meet each criterion, by its exact text and with evidence.`;
  const lists = { missing: listed(missing), failing_criteria: listed(failing), without_evidence: listed(unproven) };
  return deny('ACCEPTANCE_FAILED', reason, { task: id, ...lists });
}

/** A criterion that has a checker does not pass without it. */
function refusalOfCheckers({ id, criteria, checkers }: Task, checks: Readonly<Record<string, Check>>): Denied | null {
  const unchecked = criteria.filter((each) => Object.hasOwn(checkers, each) && !Object.hasOwn(checks, each));
  if (unchecked.length === 0) return null;
  const wanted = listed(unchecked).map((criterion) => ({ criterion, checker: checkers[criterion] ?? '' }));
  const reason = `${id} is not done before its checkers have run: ${quoted(unchecked)}.`;
  return deny('MISSING_VALIDATOR', reason, { task: id, unchecked: wanted });
}

function refusalOfChecks({ id }: Task, checks: Readonly<Record<string, Check>>): Denied | null {
  const wrong = Object.entries(checks).filter(([, { pass }]) => !pass);
  const [first] = wrong;
  if (!first) return null;
  const found = wrong.slice(0, LISTED_MAX).map(([criterion, check]) => ({ criterion, found: check.found }));
  const reason = `${id} claims ${quoted([first[0]])}, and its checker found otherwise: ${first[1].found}.`;
  return deny('ACCEPTANCE_FAILED', reason, {
    task: id,
    failing_criteria: found.map(({ criterion }) => criterion),
    found,
  });
}

function listed(list: readonly string[]): readonly string[] {
  return list.slice(0, LISTED_MAX);
}

function quoted(list: readonly string[]): string {
  const [first = ''] = list;
  return `"${cut(first, 80)}"${list.length > 1 ? ` and ${list.length - 1} more` : ''}`;
}
