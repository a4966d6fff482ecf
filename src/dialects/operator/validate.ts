// The door for callers who have a payload and the name of its kind: any value in, one verdict out.
import { isObject, isString } from '../../kernel/json.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { validateAssignment } from './assignment.ts';
import { validateBundle } from './bundle.ts';
import { type Options, RESULT_STATUSES } from './contract.ts';
import { validateDeltas } from './deltas.ts';
import { validateLocks } from './locks.ts';
import { validateOrchestrator } from './orchestrator.ts';
import { payloadFromText, readRefusal } from './read.ts';
import { validateReconcile } from './reconcile.ts';
import { resultFromReport } from './report.ts';
import { validateResult } from './result.ts';
import { validateWatchdog } from './watchdog.ts';
import { validateWorklog, validateWorklogText } from './worklog.ts';

type Validator = (input: unknown, options: Options) => Verdict;

const VALIDATORS: Readonly<Record<string, Validator>> = {
  assignment: validateAssignment,
  result: validateResult,
  orchestrator: validateOrchestrator,
  worklog: validateWorklog,
  bundle: validateBundle,
  locks: validateLocks,
  deltas: validateDeltas,
  reconcile: validateReconcile,
  watchdog: validateWatchdog,
};

export const OPERATOR_KINDS: readonly string[] = Object.keys(VALIDATORS).map((name) => `operator/${name}`);

/**
 * Checks a payload of a kind such as `operator/assignment` (or, shorter, `assignment`). A string is the exact text of a
 * payload: JSON, for a result also a report with front matter, for a worklog also one entry on each line.
 */
export function validateOperator(kind: string, input: unknown, options: unknown = {}): Verdict {
  const name = kind.startsWith('operator/') ? kind.slice('operator/'.length) : kind;
  const validate = Object.hasOwn(VALIDATORS, name) ? VALIDATORS[name] : undefined;
  if (!validate) {
    return deny('SCHEMA_INVALID', `There is no such kind; use one of ${OPERATOR_KINDS.join(', ')}.`, {
      kinds: OPERATOR_KINDS,
    });
  }
  const given = optionsOf(options);
  if (typeof given === 'string') return deny('BAD_USAGE', given);
  return typeof input === 'string' ? validateText(name, validate, input, given) : validate(input, given);
}

function validateText(name: string, validate: Validator, text: string, options: Options): Verdict {
  if (name === 'worklog') return validateWorklogText(text, options);
  const report = name === 'result' ? resultFromReport(text) : null;
  if (report) return validateResult(report, options);
  const declined = name === 'orchestrator' ? readRefusal(text) : null;
  if (declined) return declined;
  const parsed = payloadFromText(text);
  return parsed.ok ? validate(parsed.payload, options) : parsed.verdict;
}

/** Options may come from a line of JSON. What is wrong with one is said: dropped, it would loosen a contract in silence. */
function optionsOf(options: unknown): Options | string {
  if (options === undefined || options === null) return {};
  if (!isObject(options)) return 'options must be an object';
  const { strict, now, checkers, previous, outcome } = options;
  if (strict !== undefined && typeof strict !== 'boolean') return 'options.strict must be true or false';
  if (now !== undefined && !isString(now)) return 'options.now must be a time, like 2026-02-11T00:45:02Z';
  if (checkers !== undefined && !(Array.isArray(checkers) && checkers.every(isString))) {
    return 'options.checkers must be a list of names';
  }
  if (previous !== undefined && !isString(previous)) return 'options.previous must be the text of a worklog';
  if (outcome !== undefined && !RESULT_STATUSES.some((status) => status === outcome)) {
    return `options.outcome must be one of ${RESULT_STATUSES.join(', ')}`;
  }
  return {
    ...(strict === undefined ? {} : { strict }),
    ...(now === undefined ? {} : { now }),
    ...(checkers === undefined ? {} : { checkers }),
    ...(previous === undefined ? {} : { previous }),
    ...(outcome === 'blocked' || outcome === 'failed' ? { outcome } : {}),
  };
}
