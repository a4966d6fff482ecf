// From text to payload: handoffs of agents, payloads for the ledger, and the validator of a kind by its name.
import { OPERATOR_KINDS } from '../../kernel/capabilities.ts';
import type { Contract, Handoff, Reading } from '../../kernel/dialect.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { scrubJson } from '../../kernel/secrets.ts';
import { type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { type ExpectedFields, extractObject } from '../json-answer.ts';
import { JSON_BYTES_MAX, parseJsonText } from '../json-text.ts';
import { checkDeltas, validateAssignment, validateBundle, validateOrchestrator, workItemsOf } from './assignment.ts';
import { refusalOfAssign } from './brief.ts';
import { ENVELOPE, type OperatorOptions, RESULT, RESULT_STATUSES } from './contract.ts';
import { validateDeltas } from './deltas.ts';
import { isRunId, OperatorFindings, objectsOf } from './findings.ts';
import { validateLocks } from './locks.ts';
import { validateReconcile, validateWatchdog } from './reconcile.ts';
import { resultFromReport, validateResult, validateWorklog, validateWorklogText } from './result.ts';

type PayloadText =
  | { readonly ok: true; readonly payload: JsonObject }
  | { readonly ok: false; readonly verdict: Denied };

export function operatorRead(raw: string, contract: Contract): Reading {
  const declined = contract.generator ? readRefusal(raw) : null;
  if (declined) return { ok: true, handoff: handoffOfDeclined(declined) };
  const report = contract.generator ? null : resultFromReport(raw);
  const found = report
    ? { ok: true as const, value: report }
    : extractObject(raw, {
        maxBytes: contract.maxBytes ?? JSON_BYTES_MAX,
        strict: contract.strict ?? false,
        fields: () => fieldsOf(contract),
      });
  if (!found.ok) return { ok: false, verdict: notAnObject(found.message, found.line, found.column) };
  const payload = found.value;
  const verdict = contract.generator ? validateOrchestrator(payload) : validateResult(payload);
  if (!verdict.allow) return { ok: false, verdict };
  const handoff = contract.generator ? handoffOfEnvelope(payload) : handoffOfResult(payload);
  const unmet = handoff.outcome === 'done' ? refusalOfAssign(payload, contract).refusal() : null;
  return unmet ? { ok: false, verdict: unmet } : { ok: true, handoff };
}

function fieldsOf({ generator }: Contract): ExpectedFields {
  return { names: new Set(Object.keys((generator ? ENVELOPE : RESULT).fields)), any: false };
}

/** Reads a text that is one JSON object and nothing else. */
export function payloadFromText(text: string): PayloadText {
  const parsed = parseJsonText(text);
  if (!parsed.ok) return { ok: false, verdict: notAnObject(parsed.message, parsed.line, parsed.column) };
  if (isObject(parsed.value)) return { ok: true, payload: parsed.value };
  return { ok: false, verdict: notAnObject('the top level is not an object', 1, 1) };
}

function handoffOfResult(result: JsonObject): Handoff {
  const done = result.status === 'done';
  return { outcome: done ? 'done' : 'blocked', satisfied: done, payload: { ...result, satisfied: done } };
}

/** An orchestrator that assigns nothing and names its blockers cannot go on. */
function handoffOfEnvelope(envelope: JsonObject): Handoff {
  const stuck = objectsOf(envelope.assignments).length === 0 && objectsOf(envelope.blockers).length > 0;
  return {
    outcome: stuck ? 'blocked' : 'done',
    satisfied: !stuck,
    payload: { ...envelope, workItems: workItemsOf(envelope) },
  };
}

/** No repair makes a plan of it: the orchestrator gave the reason in the words of its contract. */
function handoffOfDeclined({ code, reason, details }: Denied): Handoff {
  const words = isString(details.said) ? details.said : reason;
  const payload = { x_code: code, x_details: details, satisfied: false, workItems: [] };
  return { outcome: 'blocked', satisfied: false, payload, note: `${code}: ${words}` };
}

const SHORT_ANSWER_CHARS_MAX = 2000;

/** The two sentences with which an orchestrator may decline instead of planning. */
function readRefusal(raw: string): Denied | null {
  const text = raw.trim();
  if (text.length > SHORT_ANSWER_CHARS_MAX) return null;
  const blocked = /^BLOCKED:\s*(\S.*)/s.exec(text)?.[1];
  if (blocked !== undefined) {
    const missing = blocked
      .split(/[,\n]/)
      .map((name) => name.trim())
      .filter((name) => name !== '');
    const issues = missing.map((name) => ({ code: 'MISSING_REQUIRED_INPUT', path: '$', message: `missing: ${name}` }));
    const reason = 'The orchestrator cannot plan without inputs that it names in details.missing.';
    return deny('MISSING_REQUIRED_INPUT', reason, { missing, said: missing.join(', '), path: '$', issues });
  }
  const [, rule, why = ''] = /^NON_COMPLIANT:\s*([^\s|]+)\s*\|\s*REASON:\s*(.*)/s.exec(text) ?? [];
  if (rule === undefined) return null;
  const issues = [{ code: 'NON_COMPLIANT', path: '$', message: why }];
  const reason = 'The orchestrator reports that a mandatory rule was broken; details name the rule.';
  return deny('NON_COMPLIANT', reason, { rule_id: rule, said: `${rule}: ${why}`, path: '$', issues });
}

function notAnObject(message: string, line: number, column: number): Denied {
  const issues = [{ code: 'SCHEMA_INVALID', path: '$', message, line, column }];
  const reason = `The text is not one JSON object: ${message} (line ${line}, column ${column}).`;
  return deny('SCHEMA_INVALID', reason, { path: '$', line, column, issues });
}

/** Which task a payload is about, as far as it says so. */
export type Subject = { readonly run: string; readonly task: string };

export type Intake<T = JsonObject> =
  | { readonly ok: true; readonly payload: T; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly refusal: Denied; readonly subject: Subject };

export function takeAssignment(text: string, options: OperatorOptions = {}): Intake {
  const read = payloadFromText(text);
  if (!read.ok) return { ok: false, refusal: read.verdict, subject: NOBODY };
  const task = isObject(read.payload.task) ? read.payload.task : {};
  return taken(read.payload, validateAssignment(read.payload, options), subjectOf(read.payload.run_id, task.task_id));
}

/** A result as JSON, or as a report with front matter. */
export function takeResult(text: string): Intake {
  const report = resultFromReport(text);
  const read = report ? { ok: true as const, payload: report } : payloadFromText(text);
  if (!read.ok) return { ok: false, refusal: read.verdict, subject: NOBODY };
  const { payload } = read;
  return taken(payload, validateResult(payload), subjectOf(payload.run_id, payload.task_id));
}

/** One entry of a worklog. */
export function takeWorklogEntry(text: string): Intake {
  const read = payloadFromText(text);
  if (!read.ok) return { ok: false, refusal: read.verdict, subject: NOBODY };
  const { payload } = read;
  return taken(payload, validateWorklog(payload), subjectOf(payload.run_id, payload.task_id));
}

export type Stream = {
  readonly run: string;
  readonly deltas: readonly JsonObject[];
  readonly baseVersions: Readonly<Record<string, number>>;
  readonly blockers: readonly JsonObject[];
  readonly assignments: readonly JsonObject[];
};

/** An array of deltas for the run that is named, the same with a head of its own, or a whole envelope. */
export function takeStream(text: string, run: string | undefined, options: OperatorOptions = {}): Intake<Stream> {
  const parsed = parseJsonText(text);
  const refuse = (refusal: Denied, of: string = run ?? ''): Intake<Stream> => {
    return { ok: false, refusal, subject: { run: of, task: '' } };
  };
  const declined = readRefusal(text);
  if (declined) return refuse(declined);
  if (!parsed.ok) return refuse(deny('SCHEMA_INVALID', `The text is not JSON: ${parsed.message}.`, { path: '$' }));
  const value = Array.isArray(parsed.value) ? { run_id: run ?? null, ledger_delta: parsed.value } : parsed.value;
  if (!isObject(value)) {
    return refuse(
      deny('SCHEMA_INVALID', 'Expected an array of deltas, or an envelope with ledger_delta.', { path: '$' }),
    );
  }
  const isEnvelope = value.assignments !== undefined || value.next_actions !== undefined;
  const own = isString(value.run_id) ? value.run_id : '';
  const verdict = isEnvelope ? validateOrchestrator(value, options) : validateStream(value);
  if (!verdict.allow) return refuse(verdict, own);
  if (run !== undefined && run !== own) {
    const reason = `The stream is one of run ${own}, not of run ${run}; leave --run out, or name that one.`;
    return refuse(deny('SCHEMA_INVALID', reason, { path: 'run_id', run, run_id: own }), own);
  }
  const clean = scrubJson(value).value as JsonObject;
  const stream: Stream = {
    run: own,
    deltas: objectsOf(clean.ledger_delta),
    baseVersions: (isObject(clean.base_versions) ? clean.base_versions : {}) as Stream['baseVersions'],
    blockers: objectsOf(clean.blockers),
    assignments: objectsOf(clean.assignments),
  };
  return { ok: true, payload: stream, warnings: warningsOf(verdict) };
}

function validateStream(stream: JsonObject): Verdict {
  const found = new OperatorFindings();
  const base = stream.base_versions;
  const refusal = found.through([
    () => {
      if (isRunId(stream.run_id)) return;
      found.add('MISSING_REQUIRED_INPUT', 'run_id', 'must name the run of the deltas', { missing: ['run_id'] });
    },
    () => checkDeltas(found, stream.ledger_delta, 'ledger_delta'),
    () => {
      const isVersions = isObject(base) && Object.values(base).every((version) => Number.isSafeInteger(version));
      if (base === undefined || isVersions) return;
      found.add('SCHEMA_INVALID', 'base_versions', 'must be an object of task ids and the versions of their rows');
    },
  ]);
  return refusal ?? found.allowed('the deltas keep their contract');
}

const NOBODY: Subject = { run: '', task: '' };

function subjectOf(run: Json | undefined, task: Json | undefined): Subject {
  return { run: isString(run) ? run : '', task: isString(task) ? task : '' };
}

function taken(payload: JsonObject, verdict: Verdict, subject: Subject): Intake {
  if (!verdict.allow) return { ok: false, refusal: verdict, subject };
  return { ok: true, payload: scrubJson(payload).value as JsonObject, warnings: warningsOf(verdict) };
}

function warningsOf({ details }: Verdict): readonly string[] {
  return Array.isArray(details.warnings) ? details.warnings.filter(isString) : [];
}

type Validator = (input: unknown, options: OperatorOptions) => Verdict;

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

function validateText(name: string, validate: Validator, text: string, options: OperatorOptions): Verdict {
  if (name === 'worklog') return validateWorklogText(text, options);
  const report = name === 'result' ? resultFromReport(text) : null;
  if (report) return validateResult(report, options);
  const declined = name === 'orchestrator' ? readRefusal(text) : null;
  if (declined) return declined;
  const parsed = payloadFromText(text);
  return parsed.ok ? validate(parsed.payload, options) : parsed.verdict;
}

/** Options may come from a line of JSON. A wrong one is refused, because dropping it would loosen a contract silently. */
function optionsOf(options: unknown): OperatorOptions | string {
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
