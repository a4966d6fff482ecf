// What an accepted payload does to the cast's data, in this order: a utility's state patch, the line of context, the
// mirror of the canonical fields, the work list, then the socket's own assignments, each of which sees what came before.

import type { Handoff } from '../dialect.ts';
import type { DataChange } from '../fact.ts';
import type { Materia } from '../graph/config.ts';
import { resolvePath, setPath } from '../graph/path.ts';
import { isObject, isText, type JsonObject } from '../json.ts';
import type { Cast, Turn } from '../state.ts';
import { committed } from './committed.ts';
import { scopeOf } from './item.ts';
import { materiaOf, socketOf } from './pen.ts';

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
    if (materia.type === 'utility') changes.push(...statePatch(payload));
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
  const said = isObject(payload) && isText(payload.context) ? payload.context : note;
  return isText(said) ? `[${turn.socket} ${materia.label}] ${said}` : null;
}

function statePatch(payload: JsonObject): DataChange[] {
  const { state } = payload;
  if (!isObject(state)) return [];
  return Object.entries(state)
    .filter(([key]) => !CONTROL_FIELDS.includes(key))
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
