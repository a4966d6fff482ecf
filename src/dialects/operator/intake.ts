// From the text of a payload to what the ledger may be asked: the payload is read, checked against its contract, and what
// looks like a secret in it is taken out before anybody stores it.
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { scrubJson } from '../../kernel/secrets.ts';
import { type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { parseJsonText } from '../json-text.ts';
import { validateAssignment } from './assignment.ts';
import type { Options } from './contract.ts';
import { checkDeltas } from './delta-record.ts';
import { objectsOf } from './field.ts';
import { Findings } from './findings.ts';
import { isRunId } from './identifiers.ts';
import { validateOrchestrator } from './orchestrator.ts';
import { payloadFromText, readRefusal } from './read.ts';
import { resultFromReport } from './report.ts';
import { validateResult } from './result.ts';
import { validateWorklog } from './worklog.ts';

/** Which task a payload is about, as far as it says so. */
export type Subject = { readonly run: string; readonly task: string };

export type Intake<T = JsonObject> =
  | { readonly ok: true; readonly payload: T; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly refusal: Denied; readonly subject: Subject };

export function takeAssignment(text: string, options: Options = {}): Intake {
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
export function takeStream(text: string, run: string | undefined, options: Options = {}): Intake<Stream> {
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
  const found = new Findings();
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
