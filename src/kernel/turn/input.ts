// The INPUT of a turn, as the workspace and the rules of its cast give it: what the agent may know, which surfaces its work
// touches, what it is to achieve, and what it may write. Bounded as a whole; what had to be left out is named.
import { itemValue } from '../cast/item.ts';
import { lockScopeOf } from '../cast/lock-scope.ts';
import { materiaOf } from '../cast/pen.ts';
import { taskOfTurn } from '../cast/task.ts';
import type { Rules } from '../graph/config.ts';
import { isObject, isText, type Json, type JsonObject } from '../json.ts';
import { mayRead, namesOf, readableSections, writableSections } from '../knowledge/permission.ts';
import type { Cast, Item, State, Turn } from '../state.ts';
import { boundEnvelope } from './input-bounds.ts';
import { buildInput } from './input-envelope.ts';
import { memoryFor } from './input-memory.ts';
import { matchSurfaces, ROUTING_VERSION } from './surface-routing.ts';

/** Of the envelope and of the report that answers it. */
export const CONTRACT_VERSION = '1';

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
    contract_version: CONTRACT_VERSION,
    surface_routing_version: ROUTING_VERSION,
    surface_routing_confidence: confidence,
    active_surfaces_count: active.length,
    historical_episodes_count: 0,
    ...(provider === null ? {} : { cloud_provider: provider }),
  };
  return boundEnvelope({ ...envelope, metadata }, memoryFor(state.knowledge, mayRead(rules, materia)));
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
