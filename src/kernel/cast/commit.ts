// What an accepted payload does to the cast's data, in this order: a utility's state patch, the line of context, the
// mirror of the canonical fields, the work list, then the socket's own assignments, each of which sees what came before.
import type { Handoff } from '../dialect.ts';
import type { Materia } from '../graph/config.ts';
import { resolvePath, setPath } from '../graph/path.ts';
import { isObject, isText, type JsonObject } from '../json.ts';
import { newest, wellFormed } from '../text.ts';
import type { DataChange } from './fact.ts';
import { scopeOf } from './item.ts';
import { materiaOf, socketOf } from './rules.ts';
import type { Cast, Turn } from './state.ts';

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

// What the data of a cast is after a commit.
/** Accumulated context is kept to its newest part, so that a cast's state does not grow with its length. */
export const CONTEXT_CHARS_MAX = 65_536;

/** The data after a commit: a utility's patch, then the line of context, then everything that is set by path. */
export function committed(data: JsonObject, changes: readonly DataChange[], line: string | null): JsonObject {
  let after = data;
  for (const change of changes) if ('key' in change) after = { ...after, [change.key]: change.value };
  if (line !== null) {
    const before = typeof after.context === 'string' && after.context !== '' ? `${after.context}\n\n` : '';
    after = { ...after, context: newest(before + line, CONTEXT_CHARS_MAX) };
  }
  for (const change of changes) if ('path' in change) after = setPath(after, change.path, change.value);
  return after;
}

// A value as the log will give it back. The log keeps no order of members, no half of a character (a lone surrogate, which
// any text an agent escaped may hold) and no negative zero. What is decided must not depend on them, and a cast that is read
// back must be told from nothing by its state: so facts are brought into this form before they are applied.
export function stored<T>(value: T): T {
  return inForm(value) as T;
}

function inForm(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value === 'number') return value === 0 ? 0 : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inForm);
  const members = value as Readonly<Record<string, unknown>>;
  const form: Record<string, unknown> = {};
  let isRenamed = false;
  const keys = Object.keys(members);
  if (!isSorted(keys)) keys.sort();
  for (const key of keys) {
    const member = members[key];
    if (member === undefined) continue;
    const name = wellFormed(key);
    isRenamed ||= name !== key;
    define(form, name, inForm(member));
  }
  // A name that was mended may stand in another place.
  return isRenamed ? inForm(form) : form;
}

function isSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index++)
    if ((keys[index] as string) < (keys[index - 1] as string)) return false;
  return true;
}

/** A member named `__proto__` is a member like any other. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}
