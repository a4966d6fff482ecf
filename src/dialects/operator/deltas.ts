// Applies streams of deltas to a ledger, all or nothing:
// in the listed order; a delta that was applied before is ignored; the last one wins for each field of a row; a row that
// does not exist is only created by a delta that says so; a stream computed from rows that have moved since is refused.
//
// Each row has a version that grows by one with every delta. A stream may name the versions it was computed from. Several
// streams given together count as concurrent: all of them were computed from the ledger as it was given.
import { isObject, isSameJson, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { isCreateIntent } from '../../kernel/ledger/plan.ts';
import { unmetOf } from '../../kernel/ledger/run-index.ts';
import { mayMove, moveOf, type TaskStatus, UNASSIGNED } from '../../kernel/ledger/state.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { checkDeltas, type Delta, deltasOf } from './assignment.ts';
import { DELTAS, type OperatorOptions } from './contract.ts';
import {
  checkExtensions,
  checkMembers,
  checkOptionalHead,
  elementsOf,
  isTaskId,
  OperatorFindings,
  objectsOf,
  payloadOf,
} from './findings.ts';

type Row = JsonObject & { readonly task_id: string; readonly status: TaskStatus; readonly version: number };
type Versions = Readonly<Record<string, number>>;
/** The base of a stream is complete when a row it does not name did not exist for it. */
type Stream = {
  readonly path: string;
  readonly deltas: readonly Delta[];
  readonly base: Versions;
  readonly isComplete: boolean;
};
type Outcome = { readonly rows: Map<string, Row>; readonly applied: string[]; readonly ignored: string[] };

/**
 * Checks and applies `{ledger, ledger_delta, base_versions?, applied_deltas?}`, or `{ledger, streams: [{ledger_delta,
 * base_versions?}]}`. When allowed, `details.ledger` is the ledger afterwards.
 */
export function validateDeltas(input: unknown, options: OperatorOptions = {}): Verdict {
  const given = payloadOf(input);
  if (!given.ok) return given.verdict;
  const { payload } = given;
  const found = new OperatorFindings(options);
  const outcome: Outcome = { rows: new Map(), applied: [], ignored: [] };
  const refusal = found.through([
    () => checkInputs(found, payload),
    () => {
      checkOptionalHead(found, payload, DELTAS);
      checkExtensions(found, payload, DELTAS, '');
    },
    () => checkMembers(found, payload, DELTAS, ['ledger']),
    () => checkStreams(found, payload),
    () => checkMembers(found, payload, DELTAS, ['applied_deltas']),
    () => loadRows(found, payload.ledger, outcome),
    () => applyStreams(found, payload, outcome),
  ]);
  if (refusal) return refusal;
  const { rows, applied, ignored } = outcome;
  const details = { ledger: [...rows.values()], applied, ignored, reconcile_required: applied.length > 0 };
  return found.allowed(
    `${applied.length} deltas applied, ${ignored.length} ignored; reconcile before dispatching`,
    details,
  );
}

function checkInputs(found: OperatorFindings, payload: JsonObject): void {
  const missing = [];
  if (!Array.isArray(payload.ledger)) missing.push('ledger');
  if (!Array.isArray(deltaList(payload)) && !Array.isArray(payload.streams)) missing.push('ledger_delta');
  if (missing.length === 0) return;
  found.add('MISSING_REQUIRED_INPUT', '$', `must be there and be arrays: ${missing.join(', ')}`, { missing });
}

/** The list under the name it has in an envelope, or under its short name. */
function deltaList(stream: JsonObject): Json | undefined {
  return stream.ledger_delta === undefined ? stream.deltas : stream.ledger_delta;
}

function checkStreams(found: OperatorFindings, payload: JsonObject): void {
  if (payload.streams === undefined) return checkStream(found, payload, '');
  if (!Array.isArray(payload.streams)) found.add('SCHEMA_INVALID', 'streams', 'must be an array of streams');
  if (deltaList(payload) !== undefined) {
    found.add('SCHEMA_INVALID', 'streams', 'cannot be next to ledger_delta; put that stream into streams too');
  }
  for (const [index, stream] of elementsOf(payload.streams).entries()) {
    const path = `streams[${index}]`;
    if (isObject(stream)) checkStream(found, stream, `${path}.`);
    else found.add('SCHEMA_INVALID', path, 'must be an object with ledger_delta', { index });
  }
}

function checkStream(found: OperatorFindings, stream: JsonObject, lead: string): void {
  checkDeltas(found, deltaList(stream), `${lead}ledger_delta`);
  if (stream.ledger_delta !== undefined && stream.deltas !== undefined) {
    found.add('SCHEMA_INVALID', `${lead}deltas`, 'is another name for ledger_delta; give one of the two');
  }
  const base = stream.base_versions;
  if (base === undefined) return;
  const isVersions =
    isObject(base) && Object.entries(base).every(([id, version]) => isTaskId(id) && Number.isSafeInteger(version));
  if (!isVersions) {
    found.add('SCHEMA_INVALID', `${lead}base_versions`, 'must be an object of task ids and the versions of their rows');
  }
}

function loadRows(found: OperatorFindings, ledger: Json | undefined, { rows }: Outcome): void {
  for (const row of rowsOf(ledger)) {
    const { task_id } = row;
    if (rows.has(task_id)) found.add('LEDGER_INCONSISTENT', 'ledger', `holds ${task_id} twice`, { task_id });
    else rows.set(task_id, row);
  }
}

function rowsOf(ledger: Json | undefined): readonly Row[] {
  return objectsOf(ledger).map((row) => ({ version: 0, ...row }) as unknown as Row);
}

function streamsOf(payload: JsonObject): readonly Stream[] {
  const versions = (value: Json | undefined) => (isObject(value) ? (value as Versions) : {});
  if (payload.streams === undefined) {
    const deltas = deltasOf(deltaList(payload));
    return [{ path: 'ledger_delta', deltas, base: versions(payload.base_versions), isComplete: false }];
  }
  const started = Object.fromEntries(rowsOf(payload.ledger).map((row) => [row.task_id, row.version]));
  return objectsOf(payload.streams).map((stream, index) => ({
    path: `streams[${index}].ledger_delta`,
    deltas: deltasOf(deltaList(stream)),
    base: { ...started, ...versions(stream.base_versions) },
    isComplete: true,
  }));
}

function applyStreams(found: OperatorFindings, payload: JsonObject, outcome: Outcome): void {
  const seen = new Map<string, JsonObject | null>();
  for (const one of elementsOf(payload.applied_deltas)) {
    if (isString(one)) seen.set(one, null);
    else if (isObject(one)) seen.set(String(one.delta_id), one);
  }
  for (const stream of streamsOf(payload)) {
    const touched = new Set<string>();
    for (const [index, delta] of stream.deltas.entries()) {
      const place = `${stream.path}[${index}]`;
      if (seen.has(delta.delta_id)) {
        const earlier = seen.get(delta.delta_id);
        if (earlier && !isSameJson(earlier, delta)) return refuseReuse(found, delta, place, index);
        outcome.ignored.push(delta.delta_id);
        continue;
      }
      if (!touched.has(delta.task_id) && hasMoved(found, outcome, delta, stream, place, index)) return;
      touched.add(delta.task_id);
      if (!applyDelta(found, outcome, delta, place, index)) return;
      seen.set(delta.delta_id, delta);
      outcome.applied.push(delta.delta_id);
    }
  }
}

function refuseReuse(found: OperatorFindings, { delta_id, task_id }: Delta, path: string, index: number): void {
  const message = 'has the delta_id of another delta that was applied; read the ledger again and use a new id';
  found.add('CONCURRENCY_CONFLICT', path, message, { index, delta_id, task_id });
}

/** Whether the row is no longer the one that the stream was computed from. */
function hasMoved(
  found: OperatorFindings,
  { rows }: Outcome,
  delta: Delta,
  stream: Stream,
  path: string,
  index: number,
): boolean {
  const { task_id, delta_id } = delta;
  const actual = rows.get(task_id)?.version;
  const expected = Object.hasOwn(stream.base, task_id) ? stream.base[task_id] : undefined;
  if (expected === actual || (expected === undefined && !stream.isComplete)) return false;
  const versions = { expected_version: expected ?? null, actual_version: actual ?? null };
  const message = `the row of ${task_id} was changed by somebody else; read the ledger again`;
  found.add('CONCURRENCY_CONFLICT', path, message, { index, task_id, delta_id, ...versions });
  return true;
}

/** Changes the row, or adds a finding and answers false. */
function applyDelta(found: OperatorFindings, { rows }: Outcome, delta: Delta, path: string, index: number): boolean {
  const { task_id, delta_id, status } = delta;
  const row = rows.get(task_id);
  const details = { index, task_id, delta_id };
  if (!row) {
    if (isCreateIntent(delta)) {
      const title = isString(delta.title) ? { title: delta.title } : {};
      rows.set(task_id, { task_id, ...title, status, ...mutableOf(delta), version: 0 });
      return true;
    }
    const message = `there is no task ${task_id}; a delta that creates it has status todo and x_create: true`;
    found.add('LEDGER_INCONSISTENT', path, message, details);
    return false;
  }
  if (moveOf(row.status, status) === 'replay') return true;
  if (row.status === status && changesMore(row, delta)) {
    rows.set(task_id, { ...row, ...mutableOf(delta), version: row.version + 1 });
    return true;
  }
  const move = mayMove(row.status, status);
  if (!move.allow) {
    found.add('INVALID_TRANSITION', path, move.reason, { ...details, ...move.details });
    return false;
  }
  const dependencies = status === 'in_progress' ? elementsOf(row.dependencies).filter(isString) : [];
  const unmet = unmetOf(dependencies, (id) => rows.get(id)?.status);
  if (unmet.length > 0) {
    const message = `${task_id} cannot start before ${unmet.map(({ depends_on }) => depends_on).join(', ')} is done`;
    found.add('DEPENDENCY_NOT_MET', path, message, { ...details, unmet });
    return false;
  }
  const retries = Number.isSafeInteger(row.retry_count) ? Number(row.retry_count) : 0;
  const counted = status === 'blocked' ? { retry_count: retries + 1 } : {};
  rows.set(task_id, { ...row, ...mutableOf(delta), status, ...counted, version: row.version + 1 });
  return true;
}

/**
 * Whether a delta that says an open status again sets another field of its row; without that it is a move from a status to
 * itself, which there is not. Every delta brings a reason, so that a new one alone does not count.
 */
function changesMore(row: Row, delta: Delta): boolean {
  const { reason: _reason, ...set } = mutableOf(delta);
  const before: JsonObject = { ...row, owner: row.owner ?? UNASSIGNED };
  return isCreateIntent(delta) || Object.entries(set).some(([name, value]) => !isSameJson(before[name], value));
}

/** The fields of a row that a delta sets. */
function mutableOf(delta: Delta): JsonObject {
  const optional = ['last_heartbeat_at', 'timed_out', 'retry_after_ms'].flatMap((name): [string, Json][] => {
    const value = delta[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { owner: delta.owner, reason: delta.reason, ...Object.fromEntries(optional) };
}
