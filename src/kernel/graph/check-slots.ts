// Warnings about slots of the cast data that a loadout reads and nothing in it writes: most of them are misspelt.
import { isString } from '../json.ts';
import { type Draft, given, isGenerator, listAt, materiaOf, objectAt, stringAt, typeOfMateria } from './authored.ts';
import type { UtilityNames } from './check-utility-name.ts';
import type { Graph, Iterator, Socket } from './config.ts';
import { type Findings, warning } from './issue.ts';
import { GENERATED } from './loop-region.ts';
import { expressionsIn } from './path.ts';
import { segmentsOf, slotOf } from './path-syntax.ts';
import { reachedFrom, successorsOf } from './reach.ts';
import { slotsOfUtility } from './utility-slots.ts';

// What the runtime itself keeps there: the latest handoff fields, the collected context, and the data of an earlier
// cast that this one continues.
const RUNTIME_SLOTS = ['envelope', 'context', 'previousCastContext'];

/** `at` are the sockets whose turn it belongs to; `ended` where their output is there already. */
type Read = {
  readonly slot: string | null;
  readonly path: string;
  readonly at: readonly string[];
  readonly ended: boolean;
};

export function* checkSlots(draft: Draft, graph: Graph, utilities?: UtilityNames): Findings {
  const materia = Object.values(graph.sockets).map((socket) => objectAt(draft.materia, socket.materia));
  const patches = patchesOf(draft, graph, utilities);
  const known = patches.flatMap(({ slots }) => slots ?? []);
  const written = new Set([...slotsWritten(graph, materia.some(isGenerator)), ...known]);
  const patched = placesPatched(graph, patches);
  for (const { slot, path, at, ended } of [...readsOfSockets(draft, graph), ...readsOfLoops(draft, graph)]) {
    if (slot === null || written.has(slot)) continue;
    if (at.some((socket) => patched.before.has(socket) || (ended && patched.by.has(socket)))) continue;
    const fix = 'Assign it on a socket before this one, or correct its name.';
    yield warning('UNASSIGNED_SLOT', path, `The slot ${slot} is read here, and nothing assigns it. ${fix}`);
  }
}

/** A socket whose utility sets slots: these, or any where that is not known. */
type Patch = { readonly id: string; readonly slots: readonly string[] | null };

function patchesOf(draft: Draft, graph: Graph, utilities: UtilityNames | undefined): readonly Patch[] {
  return Object.values(graph.sockets).flatMap(({ id, parse, materia }) => {
    const written = objectAt(draft.materia, materia);
    // What answers in plain text patches nothing.
    if (parse !== 'json' || typeOfMateria(written) !== 'utility') return [];
    return [{ id, slots: slotsOfUtility(written, utilities) }];
  });
}

/** The sockets whose utility may set any slot it likes, and those that can come after one of them. */
function placesPatched(graph: Graph, patches: readonly Patch[]) {
  const by = patches.filter(({ slots }) => slots === null);
  const next = by.flatMap(({ id }) => successorsOf(graph, id));
  return { by: new Set(by.map(({ id }) => id)), before: reachedFrom(graph, next) };
}

function slotsWritten(graph: Graph, generates: boolean): ReadonlySet<string> {
  const sockets = Object.values(graph.sockets);
  const assigned = sockets.flatMap((socket) => socket.assign.map(([target]) => segmentsOf(target)[0] ?? ''));
  const walks = [...sockets.map((socket) => socket.foreach), ...graph.loops.map((loop) => loop.iterator)];
  const items = walks.filter((walk) => walk !== null).flatMap(namesOfItem);
  return new Set([...RUNTIME_SLOTS, ...assigned, ...items, ...(generates ? [GENERATED] : [])]);
}

function namesOfItem(walk: Iterator): string[] {
  const isWorkItem = slotOf(walk.items, 'source') === GENERATED;
  return ['item', 'currentWorkItem', walk.as, ...(isWorkItem ? ['workItem'] : [])];
}

function readsOfSockets(draft: Draft, graph: Graph): Read[] {
  return Object.values(graph.sockets).flatMap((socket) => {
    const path = `${draft.path}.sockets.${socket.id}`;
    return [
      ...readsOfTemplates(draft, socket, path),
      ...socket.assign.map(([target, from]) => read(from, `${path}.assign.${target}`, [socket.id], true)),
      ...(socket.advance ? [read(socket.advance.items, `${path}.advance.items`, [socket.id], true)] : []),
      ...(socket.foreach ? [read(socket.foreach.items, `${path}.foreach.items`, [socket.id], false)] : []),
    ];
  });
}

function readsOfTemplates(draft: Draft, socket: Socket, path: string): Read[] {
  const written = objectAt(draft.sockets, socket.id);
  const scope = [stringAt(written, 'lockScope') ?? '', ...listAt(written, 'lockScope').filter(isString)];
  const prompt = given(materiaOf(draft, written) ?? {}, 'prompt');
  const before = { at: [socket.id], ended: false };
  return [
    ...slotsOfTemplate(isString(prompt) ? prompt : '').map((slot) => ({ slot, path: `${path}.materia`, ...before })),
    ...slotsOfTemplate(scope.join(' ')).map((slot) => ({ slot, path: `${path}.lockScope`, ...before })),
  ];
}

function slotsOfTemplate(template: string): readonly (string | null)[] {
  return [...new Set(expressionsIn(template).map((expression) => slotOf(expression, 'template')))];
}

function readsOfLoops(draft: Draft, graph: Graph): Read[] {
  return graph.loops.flatMap(({ id, iterator, sockets }) => {
    return iterator ? [read(iterator.items, `${draft.path}.loops.${id}.iterator.items`, sockets, false)] : [];
  });
}

function read(expression: string, path: string, at: readonly string[], ended: boolean): Read {
  return { slot: slotOf(expression, 'source'), path, at, ended };
}
