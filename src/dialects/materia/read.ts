// Reads the output of an agent or a utility against its socket's contract. Every issue is collected, so that one repair turn
// can fix them all. Nothing invalid is corrected, guessed or dropped.
import type { Code } from '../../kernel/codes.ts';
import type { Contract, Reading } from '../../kernel/dialect.ts';
import { EVENT_BYTES_MAX, EVENTS_MAX } from '../../kernel/event.ts';
import { isObject, isText, type Json, type JsonObject } from '../../kernel/json.ts';
import { utf8Length } from '../../kernel/text.ts';
import { deny } from '../../kernel/verdict.ts';
import { extractObject } from '../json-answer.ts';
import { JSON_BYTES_MAX } from '../json-text.ts';
import { readWithSchema } from '../user-schema.ts';
import { checkPlaceholders, mayHoldPlaceholder } from './brief.ts';
import {
  at,
  checkField,
  checkSchedule,
  contractFields,
  HANDOFF,
  Issues,
  LOOSE_ITEMS,
  messageForUnexpected,
  type Path,
  STATE,
  TEXT,
  type Terms,
  takesSchedule,
  takesText,
  termsOf,
} from './contract.ts';

const CONTRACT_FIELDS: ReadonlySet<string> = new Set(['workItems', 'satisfied', 'context', 'text']);

export function readMateria(raw: string, contract: Contract): Reading {
  const found = extractObject(raw, {
    maxBytes: contract.maxBytes ?? JSON_BYTES_MAX,
    strict: contract.strict ?? false,
    fields: () => contractFields(contract),
  });
  if (!found.ok) {
    const { kind, message, line, column } = found;
    const reason = `The output is not one JSON object: ${message} (line ${line}, column ${column}).`;
    return { ok: false, verdict: deny(codeFor(kind), reason, { issues: [{ path: '$', message, line, column }] }) };
  }
  const issues = new Issues();
  const { event } = found.value;
  if (event !== undefined) checkEvents(event, issues);
  const events = Array.isArray(event) ? event.filter(isObject) : [];
  const payload = withoutEvents(found.value);
  checkPayload(payload, contract, issues);
  if (mayHoldPlaceholder(raw)) checkPlaceholders(payload, contract, issues);
  if (issues.count > 0) return { ok: false, verdict: deny('CONTRACT_VIOLATION', summarize(issues), issues.details()) };
  const satisfied = typeof payload.satisfied === 'boolean' ? payload.satisfied : null;
  const handoff = { outcome: satisfied === false ? 'rework' : 'done', satisfied, payload } as const;
  return { ok: true, handoff: events.length === 0 ? handoff : { ...handoff, events } };
}

/** They are facts later, so they have bounds. */
function checkEvents(event: Json, issues: Issues): void {
  checkField('event', event, HANDOFF.fields.event, issues);
  if (!Array.isArray(event)) return;
  if (event.length > EVENTS_MAX) issues.add('$.event', `has ${event.length} events; at most ${EVENTS_MAX} are taken`);
  const bytes = utf8Length(JSON.stringify(event));
  if (bytes > EVENT_BYTES_MAX) issues.add('$.event', `has ${bytes} bytes; at most ${EVENT_BYTES_MAX} are taken`);
}

/** A list is JSON, and not what was asked for. Anything else that is no object was not meant as a handoff at all. */
function codeFor(kind: Exclude<ReturnType<typeof extractObject>, { ok: true }>['kind']): Code {
  if (kind === 'ambiguous') return 'AMBIGUOUS_OUTPUT';
  return kind === 'list' ? 'CONTRACT_VIOLATION' : 'NOT_JSON';
}

function checkPayload(payload: JsonObject, contract: Contract, issues: Issues): void {
  const terms = termsOf(contract);
  const legacyHint = Object.hasOwn(payload, 'passed') ? '; `passed` is never read, use `satisfied`' : '';
  for (const field of terms.required) {
    if (Object.hasOwn(payload, field)) continue;
    issues.add(at('$', field), `\`${field}\` is required and missing${field === 'satisfied' ? legacyHint : ''}`);
  }
  const { satisfied, workItems, context } = payload;
  const { fields } = HANDOFF;
  if (satisfied !== undefined) checkField('satisfied', satisfied, fields.satisfied, issues, legacyHint);
  if (workItems !== undefined) {
    checkField('workItems', workItems, terms.strictItems ? fields.workItems : LOOSE_ITEMS, issues);
  }
  // A plain utility may call anything `context`, unless it was asked for the field.
  if (context !== undefined && (terms.strictItems || terms.required.includes('context'))) {
    checkField('context', context, fields.context, issues);
  }
  if (!contract.utility) checkText(payload, terms, issues);
  else if (payload.state !== undefined) checkField('state', payload.state, STATE, issues);
  const isScheduled = takesSchedule(contract, terms);
  if (isScheduled && payload.parallelSchedule !== undefined) checkSchedule(payload.parallelSchedule, workItems, issues);
  checkPaths(payload, terms, issues);
  checkUnexpected(payload, terms, contract, issues);
  if (contract.schema) checkSchema(payload, contract.schema, issues);
}

function checkSchema(payload: JsonObject, schema: JsonObject, issues: Issues): void {
  const reading = readWithSchema(schema, payload);
  if (!reading.usable) return issues.add('$', `the schema of the socket cannot be used: ${reading.why}`);
  for (const { path, message } of reading.problems) if (!issues.has(path)) issues.add(path, message);
}

function checkText(payload: JsonObject, terms: Terms, issues: Issues): void {
  if (payload.text === undefined) return;
  if (takesText(terms)) checkField('text', payload.text, TEXT, issues);
  else if (isText(payload.context)) issues.add('$.text', 'unexpected field: drop `text`, `context` already says it');
  else issues.add('$.text', 'unexpected field: move the prose of `text` to `context`');
}

function checkPaths(payload: JsonObject, terms: Terms, issues: Issues): void {
  for (const { source, segments } of terms.paths) {
    if (exists(payload, segments) || issues.has(source)) continue;
    issues.add(source, 'required and missing: the socket hands on the value at this path');
  }
}

function checkUnexpected(payload: JsonObject, terms: Terms, contract: Contract, issues: Issues): void {
  for (const field of Object.keys(payload)) {
    if (field === 'parallelSchedule' && !takesSchedule(contract, terms)) {
      issues.add('$.parallelSchedule', 'unexpected field: this socket does not split its work into streams');
    } else if (!contract.utility && !terms.takesAll && !CONTRACT_FIELDS.has(field) && !terms.named.has(field)) {
      issues.add(at('$', field), messageForUnexpected(field));
    }
  }
}

/** Whether the path leads to a value. Only own properties count, and arrays take whole numbers only. */
function exists(payload: JsonObject, segments: Path['segments']): boolean {
  let value: Json | undefined = payload;
  for (const segment of segments) {
    if (Array.isArray(value)) value = /^(?:0|[1-9][0-9]*)$/.test(segment) ? value[Number(segment)] : undefined;
    else value = isObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
    if (value === undefined) return false;
  }
  return true;
}

function withoutEvents(payload: JsonObject): JsonObject {
  if (!Object.hasOwn(payload, 'event')) return payload;
  const { event: _, ...rest } = payload;
  return rest;
}

function summarize(issues: Issues): string {
  const [first] = issues.listed;
  const places = issues.count === 1 ? 'one place' : `${issues.count} places, first`;
  return `The output breaks its contract in ${places} at ${first?.path}: ${first?.message}.`;
}
