// Warnings about the flow of a sound loadout: unreachable sockets, cycles without a way out, and generators whose items are
// not used.
import { dialectCan, PRESENT } from '../capabilities.ts';
import { given, isObject, isString, type Json, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import { answerFieldsOf, isFieldCondition, type KnownFields, OTHER, payloadsFor } from './answer-fields.ts';
import type { UtilityNames } from './check-materia.ts';
import {
  type Condition,
  type EdgeCondition,
  END,
  type Graph,
  type Iterator,
  type Loop,
  type Socket,
} from './config.ts';
import {
  authoredMateria,
  type Draft,
  error,
  type Findings,
  isGenerator,
  isGeneratorSocket,
  listed,
  meant,
  shown,
  typeOfMateria,
  warning,
} from './issue.ts';
import { expressionsIn, segmentsOf, slotOf } from './path.ts';
import { GENERATED, INPUTS } from './resolve-graph.ts';
import {
  conditionWords,
  cyclesIn,
  exitTarget,
  fieldIn,
  firstEdge,
  loopOf,
  matches,
  type RoutedHandoff,
  reachedFrom,
  readsSatisfied,
  successorsOf,
} from './route.ts';

/** One way on from a socket. A budgeted one can be taken only so often. */
type Way = { readonly to: string; readonly budgeted: boolean };

export function* checkFlow(draft: Draft, graph: Graph, known?: KnownFields): Findings {
  const reached = reachedFrom(graph, [graph.entry]);
  for (const id of Object.keys(graph.sockets)) {
    if (reached.has(id)) continue;
    const message = `Nothing leads to ${id} from the entry ${graph.entry}. Add an edge or an exit route to it, or remove it.`;
    yield warning('UNREACHABLE_SOCKET', `${draft.path}.sockets.${id}`, message);
  }
  yield* checkFieldEdges(draft, graph, known);
  yield* checkCycles(draft, graph, reached, known);
  yield* checkGenerators(draft, graph);
  yield* checkAdvances(draft, graph);
  yield* checkWaysOut(draft, graph, reached, known);
}

/** Edges that ask for a value: one that no answer can take, and answers for which no edge is there. */
function* checkFieldEdges(draft: Draft, graph: Graph, known?: KnownFields): Findings {
  for (const socket of Object.values(graph.sockets)) {
    if (!socket.edges.some(({ when }) => isFieldCondition(when))) continue;
    const outcomes = outcomesOf(draft, socket, known);
    if (outcomes === null) continue;
    const path = `${draft.path}.sockets.${socket.id}.edges`;
    const taken = outcomes.map((outcome) => firstEdge(socket, outcome)?.index ?? null);
    for (const [index, { when }] of socket.edges.entries()) {
      if (taken.includes(index) || !isFieldCondition(when)) continue;
      const message = `No answer can take this edge: ${conditionWords(when)} is a value that the contract does not allow, or that an edge before it takes. Correct the value, or remove the edge.`;
      yield warning('UNREACHABLE_EDGE', `${path}[${index}]`, message);
    }
    const isEnd = outcomes.find((_, index) => taken[index] === null);
    if (!isEnd || loopOf(graph, socket.id)) continue;
    const fix = 'Add an always edge as the last one, or one to end if that is meant.';
    yield warning(
      'NO_EDGE_MATCHES',
      path,
      `With ${outcomeWords(socket, isEnd)} no edge matches, and the cast ends there. ${fix}`,
    );
  }
}

/** The values for which there is no edge, for people. */
function outcomeWords(socket: Socket, { payload }: RoutedHandoff): string {
  const conditions = socket.edges.flatMap(({ when }) => (isFieldCondition(when) ? [when] : []));
  const fields = new Map(conditions.map((condition) => [condition.field, condition]));
  const words = [...fields].map(([field, condition]) => {
    const value = fieldIn(payload, condition);
    if (value === undefined) return `no ${field}`;
    return value === OTHER ? `another ${field}` : `${field} ${shown(value)}`;
  });
  return words.join(' and ');
}

/** An item can be parked only where its loop goes on without it. `isInPlace`: no cast works in a worktree. */
export function* checkParking(draft: Draft, graph: Graph, isInPlace: boolean): Findings {
  for (const socket of Object.values(graph.sockets)) {
    const loop = socket.foreach ? null : loopOf(graph, socket.id);
    for (const [index, edge] of socket.edges.entries()) {
      if (edge.then !== 'park') continue;
      const path = `${draft.path}.sockets.${socket.id}.edges[${index}].then`;
      const { advance } = socket;
      if (!loop?.sockets.includes(edge.to)) {
        const why =
          'Only an item of a loop can be parked: this edge has to lead from a member of a loop to a member of it.';
        yield error('INVALID_CONFIG', path, `${why} Write "fail" or "ask" here.`);
      } else if (advance && mayMatchBoth(advance.when ?? 'always', edge.when)) {
        const why = `${socket.id} finishes its item where it takes this edge, so there is nothing to park.`;
        yield error('INVALID_CONFIG', path, `${why} Write "fail" or "ask", or give advance another when.`);
      } else if (isInPlace) {
        const why = 'Without a worktree the files of a parked item stay as they are, and later items find them.';
        yield warning('ITEMS_PARKED', path, `${why} Let the cast work in a worktree.`);
      }
    }
  }
}

/** Whether one outcome matches both conditions. */
function mayMatchBoth(one: Condition, other: EdgeCondition): boolean {
  return one === other || one === 'always' || other === 'always' || isFieldCondition(other);
}

/** Every way out of the middle of a loop: items that are not done would be left behind. */
function* checkWaysOut(draft: Draft, graph: Graph, reached: ReadonlySet<string>, known?: KnownFields): Findings {
  for (const socket of Object.values(graph.sockets)) {
    const loop = socket.foreach || !reached.has(socket.id) ? null : loopOf(graph, socket.id);
    if (!loop) continue;
    const path = `${draft.path}.sockets.${socket.id}.edges`;
    const outcomes = (outcomesOf(draft, socket, known) ?? [ANY]).filter(
      ({ satisfied }) => satisfied !== false || mayBeFalse(socket),
    );
    const found = new Map(outcomes.map((outcome) => [firstEdge(socket, outcome)?.index ?? null, outcome]));
    for (const [index, outcome] of found) {
      const to = index === null ? END : (socket.edges[index]?.to ?? END);
      if (loop.sockets.includes(to) || (to !== END && alwaysReturns(draft, graph, to, loop, known))) continue;
      const fix = `Lead to a socket of the loop (${listed(loop.sockets)}); its exits are taken by themselves when the list is used up.`;
      if (index === null) {
        const asks = socket.edges.some(({ when }) => isFieldCondition(when));
        const which = asks ? `for ${outcomeWords(socket, outcome)}` : WHEN[String(outcome.satisfied)];
        const message = `${socket.id} has no edge ${which}, so a cast stops there while items of ${loop.id} are not done. ${fix}`;
        yield warning('ITEMS_LEFT', path, message);
      } else if (to === END) {
        const message = `This edge leads to the end from the middle of ${loop.id}, so a cast stops there while items are not done. ${fix}`;
        yield warning('ITEMS_LEFT', `${path}[${index}]`, message);
      } else {
        const message = `This edge leads out of the middle of ${loop.id}; items that are not done then are given up. ${fix}`;
        yield warning('LEFT_EARLY', `${path}[${index}]`, message);
      }
    }
  }
}

const WHEN: Readonly<Record<string, string>> = {
  true: 'for satisfied: true',
  false: 'for satisfied: false',
  null: 'that is always taken',
};

/** Agents that report with a status are blocked, and not accepted as unsatisfied, where no edge asks for that. */
function mayBeFalse({ contract, edges }: Socket): boolean {
  const isReport = dialectCan(PRESENT, contract, 'reportsBlocked');
  return !isReport || edges.some(({ when }) => when === 'not_satisfied');
}

/** Whether every way on from a socket comes back to the loop: a planner that plans again, or a detour. */
function alwaysReturns(draft: Draft, graph: Graph, from: string, loop: Loop, known?: KnownFields): boolean {
  const seen = new Set([from]);
  for (const id of seen) {
    for (const { to } of waysFrom(draft, graph, id, known)) {
      if (to === END) return false;
      if (!loop.sockets.includes(to)) seen.add(to);
    }
  }
  return true;
}

/** A socket that moves another cursor than that of its walk leaves the walk where it is, or ends it early. */
function* checkAdvances(draft: Draft, graph: Graph): Findings {
  for (const { id, advance, foreach } of Object.values(graph.sockets)) {
    const loops = graph.loops.filter((loop) => loop.sockets.includes(id));
    const walks = [foreach, ...loops.map((loop) => loop.iterator)].filter((walk) => walk !== null);
    // A socket with its own list moves by its own cursor.
    const cursors = walks.filter(({ items }) => isSameList(items, advance?.items)).map(({ cursor }) => cursor);
    if (advance === null || cursors.length === 0 || cursors.includes(advance.cursor)) continue;
    const meant = [...new Set(cursors)].map((cursor) => shown(cursor)).join(' or ');
    const message = `${id} moves the cursor ${shown(advance.cursor)}, and what it is part of walks by ${meant}, so that items are skipped or never finished. Write ${meant}.`;
    yield warning('INVALID_LOOP', `${draft.path}.sockets.${id}.advance.cursor`, message);
  }
}

function* checkCycles(draft: Draft, graph: Graph, reached: ReadonlySet<string>, known?: KnownFields): Findings {
  const ways = new Map([...reached].map((id) => [id, waysFrom(draft, graph, id, known)]));
  const unlimited = (id: string) => (ways.get(id) ?? []).filter((way) => !way.budgeted).map((way) => way.to);
  for (const cycle of cyclesIn([...reached], unlimited)) {
    const members = new Set(cycle);
    if (cycle.some((id) => ways.get(id)?.some((way) => !members.has(way.to)))) continue;
    const fix = 'Add an edge out of it, an advance with an exit route, or a retry budget (maxTraversals).';
    const message = `Once the cast is in ${listed(cycle)} it goes round for ever. ${fix}`;
    yield warning('ENDLESS_CYCLE', `${draft.path}.sockets.${cycle[0]}`, message);
  }
}

function* checkGenerators(draft: Draft, graph: Graph): Findings {
  // A list that is walked by name may come from any generator.
  const walked = graph.loops.some((loop) => loop.consumes === null && reads(loop.iterator?.items));
  const foreach = Object.values(graph.sockets).some((socket) => reads(socket.foreach?.items));
  if (walked || foreach) return;
  const consumed = new Set(graph.loops.map((loop) => loop.consumes));
  for (const id of Object.keys(graph.sockets)) {
    if (!isGeneratorSocket(draft, id) || consumed.has(id)) continue;
    if (leadsToGenerator(draft, graph, id)) continue;
    const fix = 'Let a loop consume it, lead on to another generator, or drop generator from its materia.';
    const message = `No socket takes the ${GENERATED} that ${id} makes. ${fix}`;
    yield warning('UNCONSUMED_GENERATOR', `${draft.path}.sockets.${id}`, message);
  }
}

function isSameList(some: string, other: string | undefined): boolean {
  return other !== undefined && slotOf(some, 'source') === slotOf(other, 'source');
}

function reads(items: string | undefined): boolean {
  return items !== undefined && slotOf(items, 'source') === GENERATED;
}

function leadsToGenerator(draft: Draft, graph: Graph, from: string): boolean {
  const seen = new Set([from]);
  for (const id of seen) {
    if (id !== from && isGeneratorSocket(draft, id)) return true;
    for (const edge of graph.sockets[id]?.edges ?? []) if (edge.to !== END) seen.add(edge.to);
  }
  return false;
}

function waysFrom(draft: Draft, graph: Graph, id: string, known?: KnownFields): Way[] {
  const socket = graph.sockets[id];
  if (!socket) return [];
  const { edges, advance } = socket;
  const outcomes = outcomesOf(draft, socket, known);
  // Too many fields to try them all: each edge may be taken.
  if (outcomes === null) return edges.map(({ to, maxTraversals }) => ({ to, budgeted: maxTraversals !== null }));
  return outcomes.flatMap((outcome) => {
    const found = firstEdge(socket, outcome);
    const onward = { to: found?.edge.to ?? END, budgeted: found?.edge.maxTraversals != null };
    if (advance === null || !matches(advance.when ?? 'always', outcome)) return [onward];
    const exit = exitTarget(graph, id, outcome)?.route.targetSocketId ?? END;
    return [onward, { to: exit, budgeted: false }];
  });
}

const ANY: RoutedHandoff = { satisfied: null };

/**
 * What an answer can come to, as far as edges can tell; null where it is too much. A socket whose place needs the boolean never
 * passes without it; one that returns plain text never has it.
 */
function outcomesOf(draft: Draft, socket: Socket, known?: KnownFields): readonly RoutedHandoff[] | null {
  if (socket.parse === 'text') return [ANY];
  const booleans = readsSatisfied(socket) ? [true, false] : [true, false, null];
  const written = objectAt(draft.sockets, socket.id);
  const fields = answerFieldsOf(written, authoredMateria(draft, written) ?? {}, known);
  const payloads = payloadsFor(
    socket.edges.map(({ when }) => when),
    fields,
  );
  return payloads && booleans.flatMap((satisfied) => payloads.map((payload) => ({ satisfied, payload })));
}

/**
 * The runtime sets these slots itself: the latest handoff, the collected context, and the data of an earlier cast that this
 * one continues.
 */
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
  if (graph.inputs) {
    written.add(INPUTS);
    yield* checkInputs(draft, graph, graph.inputs);
  }
  const patched = placesPatched(graph, patches);
  for (const { slot, path, at, ended } of [...readsOfSockets(draft, graph), ...readsOfLoops(draft, graph)]) {
    if (slot === null || written.has(slot)) continue;
    if (at.some((socket) => patched.before.has(socket) || (ended && patched.by.has(socket)))) continue;
    const fix = 'Assign it on a socket before this one, or correct its name.';
    yield warning('UNASSIGNED_SLOT', path, `The slot ${slot} is read here, and nothing assigns it. ${fix}`);
  }
}

/** Inputs are read by their names, and never written. */
function* checkInputs(draft: Draft, graph: Graph, names: readonly string[]): Findings {
  for (const socket of Object.values(graph.sockets)) {
    const path = `${draft.path}.sockets.${socket.id}`;
    for (const [target] of socket.assign) {
      if (segmentsOf(target)[0] !== INPUTS) continue;
      const message = 'The inputs of a cast stay as they were when it started. Assign to a slot of another name.';
      yield error('INVALID_CONFIG', `${path}.assign.${target}`, message);
    }
    const { scope, prompt } = templatesAt(draft, socket);
    for (const [template, at] of [
      [prompt, `${path}.materia`],
      [scope, `${path}.lockScope`],
    ] as const) {
      for (const expression of expressionsIn(template)) {
        const [first, second, third] = segmentsOf(expression);
        const name = first === INPUTS ? second : first === 'state' && second === INPUTS ? third : undefined;
        if (name === undefined || names.includes(name)) continue;
        const fix = `${meant(name, names)}There are: ${listed(names)}.`;
        yield warning(
          'UNASSIGNED_SLOT',
          at,
          `The input ${name} is read here, and the loadout declares none of that name. ${fix}`,
        );
      }
    }
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
  const { scope, prompt } = templatesAt(draft, socket);
  const before = { at: [socket.id], ended: false };
  return [
    ...slotsOfTemplate(prompt).map((slot) => ({ slot, path: `${path}.materia`, ...before })),
    ...slotsOfTemplate(scope).map((slot) => ({ slot, path: `${path}.lockScope`, ...before })),
  ];
}

function templatesAt(draft: Draft, socket: Socket): { readonly scope: string; readonly prompt: string } {
  const written = objectAt(draft.sockets, socket.id);
  const scope = [stringAt(written, 'lockScope') ?? '', ...listAt(written, 'lockScope').filter(isString)];
  const prompt = given(authoredMateria(draft, written) ?? {}, 'prompt');
  return { scope: scope.join(' '), prompt: isString(prompt) ? prompt : '' };
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

/** The slots, or null where it may set any: a program of the user's own says whatever it says. */
function slotsOfUtility(materia: JsonObject, names: UtilityNames | undefined): readonly string[] | null {
  if (given(materia, 'command') !== undefined) return null;
  const alias = stringAt(materia, 'utility');
  const fixed = fixedOutput(objectAt(materia, 'params'), alias === 'echo');
  if (fixed !== undefined) return slotsOfOutput(fixed);
  const name = alias ?? stringAt(objectAt(materia, 'script'), 'name') ?? '';
  const known = names?.slots ?? {};
  return Object.hasOwn(known, name) ? (known[name] ?? null) : null;
}

/** What is all that such a utility ever says. */
function fixedOutput(params: JsonObject, isEcho: boolean): Json | undefined {
  const fields = isEcho ? ['output', 'text', 'message'] : ['output'];
  return fields.map((field) => given(params, field)).find((value) => value !== undefined);
}

function slotsOfOutput(output: Json): readonly string[] | null {
  // How a text will be read is the reader's business.
  if (isString(output)) return null;
  if (!isObject(output)) return [];
  return [...Object.keys(objectAt(output, 'state')), ...(output[GENERATED] === undefined ? [] : [GENERATED])];
}
