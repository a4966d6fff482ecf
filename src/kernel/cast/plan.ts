// Taking an orchestrator's envelope: its deltas change the ledger of the cast's run and its assignments become tasks, all
// of it or nothing. Which of them start, and when, is not the orchestrator's to say.
import { dialectCan } from '../capabilities.ts';
import type { Handoff } from '../dialect.ts';
import { isObject, isString, type Json, type JsonObject } from '../json.ts';
import { createTask } from '../ledger/create.ts';
import { applyDeltas, draftFor } from '../ledger/deltas.ts';
import type { LedgerFact } from '../ledger/fact.ts';
import { normalPath } from '../ledger/path.ts';
import { refusalOfInconsistency, refusalOfUnknownDependencies } from '../ledger/run-index.ts';
import type { Cast, Turn } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';
import { FORBIDDEN, refusalOfChosenConfig } from './lock-scope.ts';
import { materiaOf, type Pen, socketOf } from './pen.ts';

export type PlanReading =
  | { readonly ok: true; readonly facts: readonly LedgerFact[] }
  | { readonly ok: false; readonly refusal: Denied };

const NO_PLAN: PlanReading = { ok: true, facts: [] };

/** What a plan would write, or why it cannot be taken. A turn that is no orchestrator's plans nothing. */
export function planIn(pen: Pen, cast: Cast, turn: Turn, { outcome, payload }: Handoff): PlanReading {
  if (!assignsTasks(cast, turn) || outcome !== 'done' || !isObject(payload)) return NO_PLAN;
  const unsound = refusalOfInconsistency(pen.ledger, cast.id);
  if (unsound) return { ok: false, refusal: unsound };
  const assignments = objects(payload.assignments);
  const assigned = assignments.map(taskIdIn);
  // A task that is assigned starts when the gates let it; that the plan says it has started is only a wish.
  const stream = objects(payload.ledger_delta).filter(
    ({ task_id, status }) => status !== 'in_progress' || !assigned.includes(String(task_id)),
  );
  const touched = [...assigned, ...stream.map(({ task_id }) => String(task_id))];
  const draft = draftFor(pen, cast.id, touched);
  if (stream.length > 0) {
    const verdict = applyDeltas(draft, {
      kind: 'deltas.apply',
      run: cast.id,
      stream,
      blockers: objects(payload.blockers),
    });
    if (!verdict.allow) return { ok: false, refusal: verdict };
  }
  for (const packet of assignments) {
    const refusal =
      refusalOfCheckers(cast, packet) ?? refusalOfAbsolute(packet) ?? refusalOfAgentConfigIn(cast, packet);
    if (refusal) return { ok: false, refusal };
    const request = { kind: 'task.create', packet: { ...packet, run_id: cast.id }, forbidden: FORBIDDEN } as const;
    const root = cast.root === undefined ? {} : { root: cast.root };
    const verdict = createTask(draft, { ...request, ...root, reassigns: true });
    if (!verdict.allow) return { ok: false, refusal: verdict };
  }
  const refusal = refusalOfUnknownDependencies(draft.ledger, cast.id);
  return refusal ? { ok: false, refusal } : { ok: true, facts: draft.facts };
}

/** Writes a plan down, and makes its assignments the list of the loops that consume it. */
export function takePlan(pen: Pen, cast: Cast, turn: Turn, handoff: Handoff, facts: readonly LedgerFact[]): void {
  const { payload } = handoff;
  if (!assignsTasks(cast, turn) || !isObject(payload)) return;
  if (isString(payload.run_id) && payload.run_id !== cast.runId) {
    pen.write({ kind: 'run.named', cast: cast.id, runId: payload.run_id });
  }
  for (const fact of facts) pen.write(fact);
  const tasks = objects(payload.assignments).map(taskIdIn);
  for (const { consumes, iterator } of cast.rules.graph.loops) {
    if (consumes !== turn.socket || !iterator) continue;
    pen.write({ kind: 'items.planned', cast: cast.id, cursor: iterator.cursorKey, tasks, spec: null, rows: [] });
  }
}

export function assignsTasks(cast: Cast, { socket }: Pick<Turn, 'socket'>): boolean {
  const isAble = dialectCan(cast.rules, socketOf(cast, socket).contract, 'assignsTasks');
  return isAble && materiaOf(cast, socket).generator;
}

/** A packet may refer to checkers that a person declared, by name, and to no others. */
function refusalOfCheckers(cast: Cast, packet: JsonObject): Denied | null {
  const named = [packet, isObject(packet.task) ? packet.task : {}].flatMap(({ x_checkers }) =>
    isObject(x_checkers) ? Object.values(x_checkers) : [],
  );
  const known = Object.keys(cast.rules.checkers);
  const unknown = named.filter((name) => !isString(name) || !known.includes(name));
  if (unknown.length === 0) return null;
  const declared = known.length === 0 ? 'none is declared' : `these are declared: ${known.join(', ')}`;
  const reason = `${taskIdIn(packet)} refers to the checker ${JSON.stringify(unknown[0])}, which nobody declared; ${declared}.`;
  return deny('MISSING_VALIDATOR', reason, { task: taskIdIn(packet), unknown: unknown.slice(0, 20), known });
}

/** A plan knows the workspace by relative paths; an absolute one would be another name for a file that somebody holds. */
function refusalOfAbsolute(packet: JsonObject): Denied | null {
  const { lock_scope: scope } = isObject(packet.task) ? packet.task : {};
  const absolute = Array.isArray(scope) ? scope.find((path) => isString(path) && /^\s*[\\/]/.test(path)) : undefined;
  if (absolute === undefined) return null;
  const reason = `${taskIdIn(packet)} wants ${JSON.stringify(absolute)}; write paths relative to the workspace.`;
  return deny('SCOPE_VIOLATION', reason, { task: taskIdIn(packet), resource: absolute });
}

function refusalOfAgentConfigIn(cast: Cast, packet: JsonObject): Denied | null {
  const { lock_scope: scope } = isObject(packet.task) ? packet.task : {};
  const paths = (Array.isArray(scope) ? scope.filter(isString) : []).flatMap((path) => {
    const normal = normalPath(path);
    return normal.ok ? [normal.path] : [];
  });
  return refusalOfChosenConfig(cast, taskIdIn(packet), paths);
}

function taskIdIn({ task }: JsonObject): string {
  return isObject(task) && isString(task.task_id) ? task.task_id : '';
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
