// Warnings about slots of the cast data that a loadout reads and nothing in it writes: most of them are misspelt.
import { isString } from '../json.ts';
import { type Draft, given, isGenerator, listAt, materiaOf, objectAt, stringAt, typeOfMateria } from './authored.ts';
import type { Graph, Iterator, Socket } from './config.ts';
import { type Findings, warning } from './issue.ts';
import { GENERATED } from './loop-region.ts';
import { expressionsIn } from './path.ts';
import { segmentsOf, slotOf } from './path-syntax.ts';

// What the runtime itself keeps there: the latest handoff fields, the collected context, and the data of an earlier
// cast that this one continues.
const RUNTIME_SLOTS = ['envelope', 'context', 'previousCastContext'];

type Read = { readonly slot: string | null; readonly path: string };

export function* checkSlots(draft: Draft, graph: Graph): Findings {
  const materia = Object.values(graph.sockets).map((socket) => objectAt(draft.materia, socket.materia));
  // A utility may patch any slot it likes.
  if (materia.some((each) => typeOfMateria(each) === 'utility')) return;
  const written = slotsWritten(graph, materia.some(isGenerator));
  for (const { slot, path } of [...readsOfSockets(draft, graph), ...readsOfLoops(draft, graph)]) {
    if (slot === null || written.has(slot)) continue;
    const fix = 'Assign it on a socket before this one, or correct its name.';
    yield warning('UNASSIGNED_SLOT', path, `The slot ${slot} is read here, and nothing assigns it. ${fix}`);
  }
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
      ...socket.assign.map(([target, from]) => read(from, `${path}.assign.${target}`)),
      ...(socket.advance ? [read(socket.advance.items, `${path}.advance.items`)] : []),
      ...(socket.foreach ? [read(socket.foreach.items, `${path}.foreach.items`)] : []),
    ];
  });
}

function readsOfTemplates(draft: Draft, socket: Socket, path: string): Read[] {
  const written = objectAt(draft.sockets, socket.id);
  const scope = [stringAt(written, 'lockScope') ?? '', ...listAt(written, 'lockScope').filter(isString)];
  const prompt = given(materiaOf(draft, written) ?? {}, 'prompt');
  return [
    ...slotsOfTemplate(isString(prompt) ? prompt : '').map((slot) => ({ slot, path: `${path}.materia` })),
    ...slotsOfTemplate(scope.join(' ')).map((slot) => ({ slot, path: `${path}.lockScope` })),
  ];
}

function slotsOfTemplate(template: string): readonly (string | null)[] {
  return [...new Set(expressionsIn(template).map((expression) => slotOf(expression, 'template')))];
}

function readsOfLoops(draft: Draft, graph: Graph): Read[] {
  return graph.loops.flatMap((loop) => {
    return loop.iterator ? [read(loop.iterator.items, `${draft.path}.loops.${loop.id}.iterator.items`)] : [];
  });
}

function read(expression: string, path: string): Read {
  return { slot: slotOf(expression, 'source'), path };
}
