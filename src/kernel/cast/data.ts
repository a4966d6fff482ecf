// The data of a cast: what paths and templates see, and what an accepted payload changes. The changes come in this order: a
// utility's state patch, the line of context, the mirror of the canonical fields, the work list, then the socket's own
// assignments, each of which sees the changes before it.
import type { Handoff } from '../dialect.ts';
import type { Materia } from '../graph/config.ts';
import { resolvePath, type Scope, setPath } from '../graph/path.ts';
import { INPUTS } from '../graph/resolve-graph.ts';
import { isObject, isText, type Json, type JsonObject } from '../json.ts';
import { lastChars } from '../text.ts';
import type { DataChange } from './fact.ts';
import { materiaOf, socketOf } from './rules.ts';
import type { Cast, Item, Turn } from './state.ts';

/** Fields that steer the graph; a utility's state patch never sets them. */
const CONTROL_FIELDS: readonly string[] = ['workItems', 'satisfied'];
const MIRRORED_FIELDS = ['workItems', 'satisfied', 'context'] as const;

/** What changes, in order. Without assignments where a utility could not do its job. */
export function changesOf(
  cast: Cast,
  turn: Turn,
  handoff: Handoff,
  output: string,
  withAssignments: boolean,
): readonly DataChange[] {
  const { payload } = handoff;
  const changes: DataChange[] = [];
  const materia = materiaOf(cast, turn.socket);
  if (isObject(payload)) {
    if (materia.type === 'utility') changes.push(...statePatch(payload, cast));
    changes.push(...mirror(payload));
    const { assign } = socketOf(cast, turn.socket);
    if (
      payload.workItems !== undefined &&
      !materia.generator &&
      !assign.some(([target]) => target === 'workItems') &&
      !hasItems(cast.data)
    ) {
      changes.push({ path: 'workItems', value: payload.workItems });
    }
  }
  if (withAssignments) assign(cast, turn, handoff, output, changes);
  return changes;
}

/** The line that joins the accumulated context, or null. */
export function contextLine(turn: Turn, materia: Materia, { payload, note }: Handoff): string | null {
  const words = isObject(payload) && isText(payload.context) ? payload.context : note;
  return isText(words) ? `[${turn.socket} ${materia.label}] ${words}` : null;
}

function statePatch(payload: JsonObject, { rules }: Cast): DataChange[] {
  const { state } = payload;
  if (!isObject(state)) return [];
  // What a cast was started with stays.
  const kept = rules.graph.inputs ? [...CONTROL_FIELDS, INPUTS] : CONTROL_FIELDS;
  return Object.entries(state)
    .filter(([key]) => !kept.includes(key))
    .map(([key, value]) => ({ key, value }));
}

function mirror(payload: JsonObject): DataChange[] {
  return MIRRORED_FIELDS.flatMap((field) => {
    const value = payload[field];
    return value === undefined ? [] : [{ path: `envelope.${field}`, value }];
  });
}

function hasItems(data: JsonObject): boolean {
  return Array.isArray(data.workItems) && data.workItems.length > 0;
}

function assign(cast: Cast, turn: Turn, handoff: Handoff, output: string, changes: DataChange[]): void {
  const { payload } = handoff;
  let data = committed(cast.data, changes, contextLine(turn, materiaOf(cast, turn.socket), handoff));
  const scope = {
    ...scopeOf(cast, turn.item),
    payload,
    lastOutput: output,
    lastJson: typeof payload === 'string' ? (cast.lastJson ?? undefined) : payload,
  };
  for (const [target, source] of socketOf(cast, turn.socket).assign) {
    const value = resolvePath(source, { ...scope, data });
    data = setPath(data, target, value);
    changes.push(value === undefined ? { path: target } : { path: target, value });
  }
}

/** Accumulated context is kept to its newest part, so that a cast's state does not grow with its length. */
export const CONTEXT_CHARS_MAX = 65_536;

/** The data after a commit: a utility's patch, then the line of context, then everything that is set by path. */
export function committed(data: JsonObject, changes: readonly DataChange[], line: string | null): JsonObject {
  let after = data;
  for (const change of changes) if ('key' in change) after = { ...after, [change.key]: change.value };
  if (line !== null) {
    const before = typeof after.context === 'string' && after.context !== '' ? `${after.context}\n\n` : '';
    after = { ...after, context: lastChars(before + line, CONTEXT_CHARS_MAX) };
  }
  for (const change of changes) if ('path' in change) after = setPath(after, change.path, change.value);
  return after;
}

/** The list behind a path; whatever is no list counts as an empty one. */
export function itemsAt(cast: Cast, items: string): readonly Json[] {
  const list = resolvePath(items, scopeOf(cast, null));
  return Array.isArray(list) ? list : [];
}

export function itemValue(cast: Cast, item: Item): Json | undefined {
  return itemsAt(cast, item.items)[item.index];
}

/** What paths and templates resolve against. Item variables are visible in addition to the data and never stored in it. */
export function scopeOf(cast: Cast, item: Item | null): Scope {
  const value = item === null ? undefined : itemValue(cast, item);
  return {
    request: cast.request,
    data: cast.data,
    item: value,
    itemVars: item === null || value === undefined ? {} : itemVars(item, value),
    cursors: cursorsSeen(cast, item),
    lastOutput: cast.lastOutput,
    lastJson: cast.lastJson ?? undefined,
  };
}

/** Cursors by the names people gave them; the one of the current item wins over another loop's of the same name. */
function cursorsSeen(cast: Cast, item: Item | null): Record<string, number> {
  const seen: Record<string, number> = {};
  for (const [key, index] of Object.entries(cast.cursors)) seen[cursorName(key)] ??= index;
  if (item) seen[cursorName(item.cursorKey)] = item.index;
  return seen;
}

/** The name people gave a cursor; where two loops left it to us, they share it. */
export function cursorName(cursorKey: string): string {
  const at = cursorKey.indexOf('@');
  return at === -1 ? cursorKey : cursorKey.slice(0, at);
}

function itemVars(item: Item, value: Json): JsonObject {
  const vars: Record<string, Json> = { item: value, currentWorkItem: value, [item.as]: value };
  if (item.key.startsWith('WI-')) vars.workItem = value;
  return vars;
}
