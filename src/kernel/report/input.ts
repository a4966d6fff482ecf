// The INPUT of one turn of a cast: goal, knowledge, surfaces and permissions from the workspace. It fits into a fixed number
// of bytes, and `metadata.left_out` names what did not fit.
import { itemValue } from '../cast/data.ts';
import { taskOfTurn } from '../cast/item.ts';
import { lockScopeOf } from '../cast/lock-scope.ts';
import { chosenMateria, materiaOf } from '../cast/rules.ts';
import type { Cast, Item, Turn } from '../cast/state.ts';
import type { Rules } from '../graph/config.ts';
import { isObject, isText, type Json, type JsonObject } from '../json.ts';
import { grouped } from '../knowledge/merge.ts';
import { ANY, mayRead, namesOf, readableSections, writableSections } from '../knowledge/rules.ts';
import { type Knowledge, MEMORY_SECTION, type Remembered } from '../knowledge/state.ts';
import type { State } from '../state.ts';
import { firstBytes, utf8Length } from '../text.ts';
import { buildInput, type InputEnvelope, matchSurfaces, ROUTING_VERSION } from './envelope.ts';

/** Of the envelope and of the report that answers it. */
const CONTRACT_VERSION = '1';

/** More surfaces than that say nothing about where the work is. */
const ACTIVE_MAX = 6;

export function inputOf(state: State, cast: Cast, turn: Turn): JsonObject {
  const { rules } = cast;
  const materia = materiaOf(cast, turn.socket);
  const names = namesOf(materia);
  const readable = readableSections(rules, materia, state.knowledge);
  const store = Object.fromEntries(
    Object.entries(state.knowledge.sections).map(([name, { value }]) => [name, value] as const),
  );
  const work = turn.item ? workOf(cast, turn.item) : null;
  const surfaces = rules.surfaces ?? {};
  const matches = matchSurfaces([cast.request, work ?? ''].join('\n'), surfaces).slice(0, ACTIVE_MAX);
  const task = taskOfTurn(state, cast, turn);
  const envelope = buildInput({
    agent: nameInSurfaces(rules, names),
    goal: work ?? cast.request,
    acceptanceCriteria: task?.criteria ?? [],
    scope: task?.lockScope ?? scopeOf(cast, turn),
    surfaces,
    activeSurfaces: matches.map(({ surface }) => surface),
    matches,
    reconnaissanceAgent: rules.reconnaissanceAgent ?? '',
    store,
    readableSections: readable,
    writableSections: writableSections(rules, materia),
    permissionSource: rules.context ? 'config' : 'default',
    metadata: {},
  });
  const { confidence, active_surfaces: active } = envelope.surface_routing;
  const provider = readable.includes('infrastructure') ? providerIn(store.infrastructure) : null;
  const metadata = {
    session_id: cast.id,
    provider: providerOf(cast, turn),
    contract_version: CONTRACT_VERSION,
    surface_routing_version: ROUTING_VERSION,
    surface_routing_confidence: confidence,
    active_surfaces_count: active.length,
    historical_episodes_count: 0,
    ...(provider === null ? {} : { cloud_provider: provider }),
  };
  return boundEnvelope({ ...envelope, metadata }, memoryFor(state.knowledge, mayRead(rules, materia)));
}

/** Who carries out the turn. */
function providerOf(cast: Cast, turn: Turn): string {
  const materia = chosenMateria(cast, turn);
  return materia.type === 'agent' ? materia.runner : materia.type;
}

/** What a work item says of itself. */
function workOf(cast: Cast, item: Item): string {
  const value = itemValue(cast, item);
  if (!isObject(value)) return value === undefined ? item.label : textOf(value);
  const context = value.context === undefined ? '' : textOf(value.context);
  return [item.label, context].filter(isText).join('\n\n');
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The name by which the surfaces know the agent. */
function nameInSurfaces({ surfaces = {} }: Rules, names: readonly string[]): string {
  const owners = Object.values(surfaces).map(({ agent }) => agent);
  return names.find((name) => owners.includes(name)) ?? names[0] ?? '';
}

function scopeOf(cast: Cast, { socket, item }: Turn): readonly string[] {
  const scope = lockScopeOf(cast, [socket], item);
  return scope.ok ? scope.paths : [];
}

/** The cloud that the section names, where it names one. */
function providerIn(infrastructure: Json | undefined): string | null {
  if (!isObject(infrastructure)) return null;
  const { cloud_provider: one, provider, cloud_providers: several, providers } = infrastructure;
  const list = [several, providers].find(Array.isArray) as readonly Json[] | undefined;
  const first = list?.[0] ?? one ?? provider;
  const name = isObject(first) ? (first.name ?? first.provider) : first;
  if (!isText(name) || name.length > 64) return null;
  const word = name.trim().toLowerCase();
  return word === 'multi-cloud' ? null : word;
}

/** By section; entries for all sections are under `*`. Null where there are none. */
function memoryFor({ memory }: Pick<Knowledge, 'memory'>, isReadable: (section: string) => boolean): JsonObject | null {
  const notes = Object.values(memory)
    .filter(({ section }) => section === null || isReadable(section))
    .sort((a, b) => b.at - a.at || Number(b.id.slice(1)) - Number(a.id.slice(1)));
  if (notes.length === 0) return null;
  const bySection = grouped(notes, ({ section }) => section ?? ANY);
  return Object.fromEntries([...bySection].map(([section, notes]) => [section, notes.map(noteShown)]));
}

function noteShown({ id, description, body, type }: Remembered): Json {
  return { id, ...(description === null ? {} : { description }), body, ...(type === undefined ? {} : { type }) };
}

/** Bounds: lists and texts are cut at their ends, and knowledge gets the room that is left. */
const ENVELOPE_BYTES_MAX = 16_384;
const GOAL_BYTES_MAX = 4_096;
const CRITERIA_BYTES_MAX = 1_536;
const LIST_BYTES_MAX = 768;
const MEMORY_BYTES_MAX = 3_072;
/** For the names of what was left out. */
const NOTE_BYTES_MAX = 768;
const NOTE =
  'Not all of it fits. Read the rest with the tool read_context, `baton context show SECTION` or `baton memory list --all`.';

/** The envelope with what is remembered among its knowledge, in at most `ENVELOPE_BYTES_MAX` bytes of JSON. */
function boundEnvelope(envelope: InputEnvelope, memory: JsonObject | null): JsonObject {
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
  const sections = Object.keys(knowledge).filter((name) => name !== MEMORY_SECTION);
  const bounded = noted(left);
  const anchors = firstOf(sections.sort(), LIST_BYTES_MAX, '', []);
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
      goal: truncateJson(brief.goal, GOAL_BYTES_MAX),
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
  const goal = truncateJson(brief.goal, Math.max(0, bytesOf(bounded.agent_contract_handoff.goal) - over));
  return { ...bounded, agent_contract_handoff: { ...bounded.agent_contract_handoff, goal } };
}

function withNote(envelope: JsonObject, left: readonly string[]): JsonObject {
  if (left.length === 0) return envelope;
  const all = [...new Set(left)];
  const names = firstOf(all, NOTE_BYTES_MAX - bytesOf(NOTE) - 96, '', []);
  // Not all names may fit; their number is always given.
  const note = { left_out: names, left_out_count: all.length, left_out_note: NOTE };
  const metadata = { ...(envelope.metadata as JsonObject), ...note };
  return { ...envelope, metadata };
}

/**
 * As many elements from the start as fit into so many bytes. `left` gets the number of missing ones, under the name of the
 * list.
 */
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
function truncateJson(text: string, most: number): string {
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
