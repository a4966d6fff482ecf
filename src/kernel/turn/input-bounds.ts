// Keeps the INPUT within what fits into a brief. Lists and texts are shortened from their ends, knowledge last of all into
// the room that is left, and `metadata.left_out` names what the agent does not see.
import { firstBytes } from '../cast/cut.ts';
import type { Json, JsonObject } from '../json.ts';
import { MEMORY_SECTION } from '../knowledge/state.ts';
import { utf8Length } from '../utf8-length.ts';
import type { InputEnvelope } from './input-envelope.ts';

export const ENVELOPE_BYTES_MAX = 16_384;
const GOAL_BYTES_MAX = 4_096;
const CRITERIA_BYTES_MAX = 1_536;
const LIST_BYTES_MAX = 768;
const MEMORY_BYTES_MAX = 3_072;
/** For the names of what was left out. */
const NOTE_BYTES_MAX = 768;
const NOTE =
  'Not all of it fits. Read the rest with the tool read_context, `baton context show SECTION` or `baton memory list --all`.';

/** The envelope with what is remembered among its knowledge, in at most `ENVELOPE_BYTES_MAX` bytes of JSON. */
export function boundEnvelope(envelope: InputEnvelope, memory: JsonObject | null): JsonObject {
  const left: string[] = [];
  const lean = withoutKnowledge(envelope, left);
  // The room is measured with the note in it, whether it will be needed or not.
  const noted = (names: readonly string[]) => withNote(lean, names);
  const room = ENVELOPE_BYTES_MAX - bytesOf(noted(left)) - NOTE_BYTES_MAX;
  const knowledge: Record<string, Json> = {};
  let used = 0;
  const add = (name: string, value: JsonObject, most: number) => {
    const fitting = firstMembers(value, Math.min(most, room - used) - bytesOf(name) - 2);
    if (fitting.left.length > 0) left.push(...(fitting.isEmpty ? [name] : fitting.left.map((key) => `${name}.${key}`)));
    if (fitting.isEmpty && fitting.left.length > 0) return;
    knowledge[name] = fitting.value;
    used += bytesOf(name) + bytesOf(fitting.value) + 2;
  };
  if (memory) add(MEMORY_SECTION, memory, MEMORY_BYTES_MAX);
  for (const [name, value] of Object.entries(envelope.project_knowledge)) add(name, value, room);
  const told = Object.keys(knowledge).filter((name) => name !== MEMORY_SECTION);
  const bounded = noted(left);
  const anchors = firstOf(told.sort(), LIST_BYTES_MAX, '', []);
  const brief = { ...(bounded.agent_contract_handoff as JsonObject), contract_sections_to_anchor: anchors };
  return { ...bounded, project_knowledge: knowledge, agent_contract_handoff: brief };
}

/** The envelope without its knowledge, with every list and text within its bounds. `left` takes what was cut. */
function withoutKnowledge(envelope: InputEnvelope, left: string[]): JsonObject {
  const { surface_routing: routing, agent_contract_handoff: brief, write_permissions: permissions } = envelope;
  const list = (name: string, items: readonly string[], most = LIST_BYTES_MAX) => firstOf(items, most, name, left);
  const signals = Object.entries(routing.matched_signals).map(([surface, words]) => [
    surface,
    firstOf(words, LIST_BYTES_MAX / 4, '', []),
  ]);
  const anchors = Object.keys(envelope.project_knowledge).toSorted();
  const bounded = {
    project_knowledge: {},
    surface_routing: { ...routing, matched_signals: Object.fromEntries(signals) },
    agent_contract_handoff: {
      ...brief,
      goal: cutJson(brief.goal, GOAL_BYTES_MAX),
      acceptance_criteria: list('acceptance_criteria', brief.acceptance_criteria, CRITERIA_BYTES_MAX),
      scope: list('scope', brief.scope),
      adjacent_surfaces: list('adjacent_surfaces', brief.adjacent_surfaces),
      required_checks: list('required_checks', brief.required_checks),
      contract_sections_to_anchor: firstOf(anchors, LIST_BYTES_MAX, '', []),
    },
    write_permissions: {
      ...permissions,
      readable_sections: list('readable_sections', permissions.readable_sections),
      empty_sections: firstOf(permissions.empty_sections, LIST_BYTES_MAX, '', []),
    },
    metadata: envelope.metadata,
  };
  if (bounded.agent_contract_handoff.goal !== brief.goal) left.push('goal');
  const over = bytesOf(withNote(bounded, left)) + NOTE_BYTES_MAX - ENVELOPE_BYTES_MAX;
  if (over <= 0) return bounded;
  // What may be written is never shortened, because it is also what is granted. The goal makes room for it.
  const goal = cutJson(brief.goal, Math.max(0, bytesOf(bounded.agent_contract_handoff.goal) - over));
  return { ...bounded, agent_contract_handoff: { ...bounded.agent_contract_handoff, goal } };
}

function withNote(envelope: JsonObject, left: readonly string[]): JsonObject {
  if (left.length === 0) return envelope;
  const all = [...new Set(left)];
  const names = firstOf(all, NOTE_BYTES_MAX - bytesOf(NOTE) - 96, '', []);
  // The names themselves may not all fit; how many there are is always told.
  const note = { left_out: names, left_out_count: all.length, left_out_note: NOTE };
  const metadata = { ...(envelope.metadata as JsonObject), ...note };
  return { ...envelope, metadata };
}

/** As many from the start as take so many bytes. `left` is told how many are missing, under the name of the list. */
function firstOf(items: readonly string[], most: number, name: string, left: string[]): readonly string[] {
  let used = 2;
  let count = 0;
  for (const item of items) {
    used += bytesOf(item) + 1;
    if (used > most) break;
    count += 1;
  }
  if (count === items.length) return items;
  left.push(`${name}: ${items.length - count} of ${items.length}`);
  return items.slice(0, count);
}

type Members = { readonly value: JsonObject; readonly left: readonly string[]; readonly isEmpty: boolean };

/** Members from the start as long as they fit; the names of the others. A list that does not fit gives its first elements. */
function firstMembers(value: JsonObject, most: number): Members {
  if (bytesOf(value) <= most) return { value, left: [], isEmpty: false };
  const members: [string, Json][] = [];
  const left: string[] = [];
  let used = 2;
  for (const [key, member] of Object.entries(value)) {
    const room = most - used - bytesOf(key) - 2;
    const part = bytesOf(member) <= room ? member : beginning(member, room);
    if (part !== member) left.push(Array.isArray(member) ? `${key}: ${missing(member, part)}` : key);
    if (part === null && member !== null) continue;
    members.push([key, part]);
    used += bytesOf(key) + bytesOf(part) + 2;
  }
  return { value: Object.fromEntries(members), left, isEmpty: members.length === 0 };
}

/** How many elements of a list are missing in what is left of it. */
function missing(list: readonly Json[], part: Json): string {
  return `${list.length - (Array.isArray(part) ? part.length : 0)} of ${list.length}`;
}

function beginning(member: Json, room: number): Json {
  if (!Array.isArray(member)) return null;
  let used = 2;
  const first: Json[] = [];
  for (const element of member as readonly Json[]) {
    used += bytesOf(element) + 1;
    if (used > room) break;
    first.push(element);
  }
  return first.length > 0 ? first : null;
}

/** A text whose JSON takes at most so many bytes. */
function cutJson(text: string, most: number): string {
  if (bytesOf(text) <= most) return text;
  let end = Math.max(0, most - 5);
  let part = firstBytes(text, end);
  // Escapes take up to six bytes for one.
  while (part !== '' && bytesOf(part) + 3 > most) {
    end = Math.floor((end * (most - 3)) / (bytesOf(part) + 1)) - 1;
    part = firstBytes(text, Math.max(0, end));
  }
  return `${part}…`;
}

function bytesOf(value: Json): number {
  return utf8Length(JSON.stringify(value));
}
