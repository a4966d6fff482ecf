// From an agent's text to a handoff. A generator speaks as an orchestrator and returns an envelope; any other socket
// returns a result, as JSON or as a report with front matter.
import type { Contract, Handoff, Reading } from '../../kernel/dialect.ts';
import { isObject, isString, type JsonObject } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { type AnswerFields, extractObject, parseJsonText, TEXT_BYTES_MAX } from '../json-text.ts';
import { ENVELOPE, RESULT } from './contract.ts';
import { objectsOf } from './field.ts';
import { validateOrchestrator, workItemsOf } from './orchestrator.ts';
import { resultFromReport } from './report.ts';
import { validateResult } from './result.ts';
import { checkSocket } from './socket.ts';

export type PayloadText =
  | { readonly ok: true; readonly payload: JsonObject }
  | { readonly ok: false; readonly verdict: Denied };

export function read(raw: string, contract: Contract): Reading {
  const declined = contract.generator ? readRefusal(raw) : null;
  if (declined) return { ok: true, handoff: handoffOfDeclined(declined) };
  const report = contract.generator ? null : resultFromReport(raw);
  const found = report
    ? { ok: true as const, value: report }
    : extractObject(raw, {
        maxBytes: contract.maxBytes ?? TEXT_BYTES_MAX,
        strict: contract.strict ?? false,
        fields: () => fieldsOf(contract),
      });
  if (!found.ok) return { ok: false, verdict: notAnObject(found.message, found.line, found.column) };
  const payload = found.value;
  const verdict = contract.generator ? validateOrchestrator(payload) : validateResult(payload);
  if (!verdict.allow) return { ok: false, verdict };
  const handoff = contract.generator ? handoffOfEnvelope(payload) : handoffOfResult(payload);
  const unmet = handoff.outcome === 'done' ? checkSocket(payload, contract).refusal() : null;
  return unmet ? { ok: false, verdict: unmet } : { ok: true, handoff };
}

function fieldsOf({ generator }: Contract): AnswerFields {
  const { required, optional } = generator ? ENVELOPE : RESULT;
  return { names: new Set([...required, ...optional]), any: false };
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

/** An orchestrator that assigns nothing and names what stands in its way cannot go on. */
function handoffOfEnvelope(envelope: JsonObject): Handoff {
  const stuck = objectsOf(envelope.assignments).length === 0 && objectsOf(envelope.blockers).length > 0;
  return {
    outcome: stuck ? 'blocked' : 'done',
    satisfied: !stuck,
    payload: { ...envelope, workItems: workItemsOf(envelope) },
  };
}

/** No repair makes a plan of it: the orchestrator has said in the words of its contract why there is none. */
function handoffOfDeclined({ code, reason, details }: Denied): Handoff {
  const words = isString(details.said) ? details.said : reason;
  const payload = { x_code: code, x_details: details, satisfied: false, workItems: [] };
  return { outcome: 'blocked', satisfied: false, payload, note: `${code}: ${words}` };
}

const SHORT_ANSWER_CHARS_MAX = 2000;

/** The two sentences with which an orchestrator may decline instead of planning. */
export function readRefusal(raw: string): Denied | null {
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
