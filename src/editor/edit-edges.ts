// Edits of edges. The first edge that matches is taken, so guarded edges come before `always`: every edit keeps that order.

import { CONDITIONS, type Condition } from '../kernel/graph/config.ts';
import { contractNameOf, namedContract, namedParse, parseOf } from '../kernel/graph/issue.ts';
import { given, isObject, type Json, type JsonObject, stringAt } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { type EdgeRef, edgeId, materiaIn, without } from './document.ts';
import { first, type Sheet, shortened } from './sheet.ts';

/** How often a new edge may send the same item back. */
const REJECTIONS_MAX = 3;

export function addEdge(
  sheet: Sheet,
  from: string,
  to: string,
  wanted: Condition | JsonObject | undefined,
): Denied | null {
  const refused = first(sheet.noSocket(from), to === 'end' ? null : sheet.noSocket(to));
  if (refused) return refused;
  const edges = sheet.edges(from);
  const isBack = to === from || leadsTo(sheet, to, from);
  const when = wanted ?? conditionFor(edges, isBack);
  if (when === null)
    return deny(
      'UNREACHABLE_EDGE',
      `${sheet.name(from)} leads on in all three cases already. Change one of its edges.`,
    );
  const same = edges.find((edge) => edge.when === when);
  if (when === 'always' && same) {
    const fix = 'Change that edge, or give this one a condition.';
    return deny('UNREACHABLE_EDGE', `${sheet.name(from)} leads on in every case already. ${fix}`);
  }
  if (same && same.to === to) return deny('UNREACHABLE_EDGE', `${sheet.name(from)} has this edge already.`);
  const edge = { when, to, ...(when === 'not_satisfied' && isBack ? { maxTraversals: REJECTIONS_MAX } : {}) };
  putInOrder(sheet, from, [...edges, edge], edge);
  readAsJson(sheet, from, when);
  return null;
}

/** The first condition that no edge has. Work goes back because it is not satisfied, and goes on in every case. */
function conditionFor(edges: readonly JsonObject[], isBack: boolean): Condition | null {
  const isFree = (when: Condition) => !edges.some((edge) => edge.when === when);
  const wanted: readonly Condition[] =
    isBack && edges.length > 0 ? ['not_satisfied', 'always', 'satisfied'] : ['always', 'satisfied', 'not_satisfied'];
  return wanted.find(isFree) ?? null;
}

/** Whether a socket can be reached from another one by edges. */
export function leadsTo(sheet: Sheet, from: string, target: string): boolean {
  const seen = new Set<string>();
  const ahead = [from];
  for (let id = ahead.pop(); id !== undefined; id = ahead.pop()) {
    if (id === target) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    ahead.push(...sheet.edges(id).map((edge) => stringAt(edge, 'to') ?? ''));
  }
  return false;
}

/** The edges with `always` behind the guarded ones, and a note where one moved. */
export function guardedFirst(sheet: Sheet, from: string, edges: readonly JsonObject[]): readonly JsonObject[] {
  const guarded = edges.filter(({ when }) => when !== 'always');
  const always = edges.filter(({ when }) => when === 'always');
  const sorted = [...guarded, ...always];
  if (sorted.some((edge, index) => edge !== edges[index]))
    sheet.note(`${sheet.name(from)} tries its conditions first, so always moved behind them.`);
  return sorted;
}

/** Selects the edge where it is then. */
function putInOrder(sheet: Sheet, from: string, edges: readonly JsonObject[], chosen: JsonObject): void {
  const sorted = guardedFirst(sheet, from, edges);
  sheet.putEdges(from, sorted);
  sheet.selected = [edgeId({ from, index: sorted.indexOf(chosen) })];
}

/** A condition reads a field of the answer. Where nothing says how the answer is read, it is read as JSON from now on. */
export function readAsJson(sheet: Sheet, id: string, when: Json | undefined): void {
  if (when === 'always' || when === undefined || when === null) return;
  const socket = sheet.socket(id);
  const materia = materiaIn(sheet.document, id);
  if (namedParse(socket) !== null || namedContract(socket) !== null || materia === null) return;
  if (parseOf(socket, materia) === 'json' || contractNameOf(socket, materia) !== 'text') return;
  sheet.putSocket(id, { ...socket, parse: 'json' });
  sheet.note(`${sheet.name(id)} now answers in JSON, because an edge asks for its verdict.`);
}

function noEdge(sheet: Sheet, { from, index }: EdgeRef): Denied | null {
  const refused = sheet.noSocket(from);
  if (refused) return refused;
  if (sheet.edges(from)[index] !== undefined) return null;
  return deny('UNKNOWN_ENDPOINT', `${shortened(sheet.name(from))} has no edge ${index + 1}.`);
}

export function removeEdge(sheet: Sheet, edge: EdgeRef): Denied | null {
  const refused = noEdge(sheet, edge);
  if (refused) return refused;
  sheet.putEdges(
    edge.from,
    sheet.edges(edge.from).filter((_, index) => index !== edge.index),
  );
  return null;
}

/** The next of the three names; the first one after anything else. */
export function conditionAfter(when: Json | undefined): Condition {
  return CONDITIONS[CONDITIONS.indexOf(when as Condition) + 1] ?? CONDITIONS[0];
}

export function cycleEdge(sheet: Sheet, edge: EdgeRef): Denied | null {
  return setEdge(sheet, { edge, when: conditionAfter(sheet.edges(edge.from)[edge.index]?.when) });
}

type EdgeChange = {
  readonly edge: EdgeRef;
  readonly when?: Condition | JsonObject;
  readonly to?: string;
  readonly maxTraversals?: number | null;
  readonly then?: string | null;
};

export function setEdge(sheet: Sheet, { edge: ref, when, to, maxTraversals, then }: EdgeChange): Denied | null {
  const refused = first(noEdge(sheet, ref), to === undefined || to === 'end' ? null : sheet.noSocket(to));
  if (refused) return refused;
  if (when !== undefined && !isObject(when) && !CONDITIONS.includes(when))
    return deny('INVALID_EDGE_CONDITION', `${shortened(String(when))} is no condition.`);
  const edges = sheet.edges(ref.from);
  let changed: JsonObject = edges[ref.index] ?? {};
  if (when !== undefined) changed = { ...changed, when };
  if (to !== undefined) changed = { ...changed, to };
  if (maxTraversals !== undefined)
    // What follows a count means nothing without one.
    changed = maxTraversals === null ? without(changed, 'maxTraversals', 'then') : { ...changed, maxTraversals };
  if (then !== undefined) changed = then === null ? without(changed, 'then') : { ...changed, then };
  if (given(changed, 'then') !== undefined && given(changed, 'maxTraversals') === undefined)
    return deny('INVALID_CONFIG', 'What follows a count needs the count. Set how often first.');
  putInOrder(
    sheet,
    ref.from,
    edges.map((each, index) => (index === ref.index ? changed : each)),
    changed,
  );
  readAsJson(sheet, ref.from, when);
  return null;
}

export function moveEdge(sheet: Sheet, ref: EdgeRef, to: number): Denied | null {
  const refused = noEdge(sheet, ref);
  if (refused) return refused;
  const edges = sheet.edges(ref.from);
  const moved = edges[ref.index] as JsonObject;
  const rest = edges.filter((_, index) => index !== ref.index);
  const at = Math.max(0, Math.min(Math.trunc(to) || 0, rest.length));
  putInOrder(sheet, ref.from, [...rest.slice(0, at), moved, ...rest.slice(at)], moved);
  return null;
}
