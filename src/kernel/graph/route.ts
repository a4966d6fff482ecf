// Which way a cast goes: edges, exits and loops of a graph, and what a socket asks of its output and may change.
import type { Contract, Handoff } from '../dialect.ts';
import { isObject, type Json } from '../json.ts';
import {
  DEFAULTS,
  type Edge,
  type EdgeCondition,
  END,
  type ExitRoute,
  type FieldCondition,
  type Graph,
  isScalar,
  isToolScope,
  type Loop,
  type Materia,
  OUTPUT_BYTES_MAX,
  type Rules,
  type Scalar,
  type Socket,
} from './config.ts';

/** What the conditions of edges and exits read of a handoff. */
export type RoutedHandoff = Pick<Handoff, 'satisfied'> & Partial<Pick<Handoff, 'payload'>>;

/** Nothing was handed over: only `always` matches. */
export const NO_HANDOFF: RoutedHandoff = { satisfied: null };

/** Without a boolean in the handoff only `always` matches. */
export function matches(condition: EdgeCondition, { satisfied, payload }: RoutedHandoff): boolean {
  if (typeof condition === 'object') return fits(condition, fieldIn(payload, condition));
  switch (condition) {
    case 'always':
      return true;
    case 'satisfied':
      return satisfied === true;
    case 'not_satisfied':
      return satisfied === false;
  }
}

/** Own fields only, and only plain values: nothing else can be the value that a condition names. */
export function fieldIn(payload: Json | undefined, { field, section }: FieldCondition): Scalar | undefined {
  const holder = section === undefined ? payload : isObject(payload) ? payload[section] : undefined;
  const value = isObject(holder) && Object.hasOwn(holder, field) ? holder[field] : undefined;
  return isScalar(value) ? value : undefined;
}

function fits(condition: FieldCondition, value: Scalar | undefined): boolean {
  if (value === undefined) return false;
  if ('in' in condition) return condition.in.includes(value);
  return 'is' in condition ? value === condition.is : value !== condition.isNot;
}

/** A condition for people: `satisfied`, `severity is high`, `severity is not low`, `severity is high or critical`. */
export function conditionWords(condition: EdgeCondition): string {
  if (typeof condition === 'string') return condition;
  const { field } = condition;
  if ('in' in condition) return `${field} is ${condition.in.map(scalarWords).join(' or ')}`;
  return 'is' in condition
    ? `${field} is ${scalarWords(condition.is)}`
    : `${field} is not ${scalarWords(condition.isNot)}`;
}

/** A text that could be taken for something else is quoted. */
function scalarWords(value: Scalar): string {
  const isPlain =
    typeof value !== 'string' || (/^[A-Za-z][\w-]*$/.test(value) && !/^(?:true|false|not|or)$/.test(value));
  return isPlain ? String(value) : JSON.stringify(value);
}

/** The first edge in order whose condition matches. Without one the cast is over. */
export function firstEdge(
  socket: Socket,
  handoff: RoutedHandoff,
): { readonly edge: Edge; readonly index: number } | null {
  const index = socket.edges.findIndex((edge) => matches(edge.when, handoff));
  const edge = socket.edges[index];
  return edge ? { edge, index } : null;
}

/** Where an exhausted list leads from this socket: the guarded route of the first loop that has one, else its `always` route. */
export function exitTarget(
  graph: Graph,
  socketId: string,
  handoff: RoutedHandoff,
): { readonly loop: Loop; readonly route: ExitRoute } | null {
  for (const loop of graph.loops) {
    const routes = loop.exits.filter((route) => route.from === socketId && matches(route.condition, handoff));
    const route = routes.find((each) => each.condition !== 'always') ?? routes[0];
    if (route) return { loop, route };
  }
  return null;
}

/**
 * Where a loop leads that is entered with nothing to walk over. Nothing ran, so only `always` routes can be taken; the
 * whole loop is looked at, because routes mostly leave from its last socket and the first is the one entered.
 */
export function emptyEntryTarget(_graph: Graph, loop: Loop): ExitRoute | null {
  return loop.exits.find((route) => route.condition === 'always') ?? null;
}

/** The loop whose items a socket works on: the first in declaration order that walks over something. */
export function loopOf(graph: Graph, socketId: string): Loop | null {
  return graph.loops.find((loop) => loop.iterator !== null && loop.sockets.includes(socketId)) ?? null;
}

/** Whether an item of the loop walks through this socket. */
export function isOnWay({ sockets, prelude = [] }: Loop, socket: string): boolean {
  return sockets.includes(socket) || prelude.includes(socket);
}

/** The sockets that can follow directly on this one. */
export function successorsOf(graph: Graph, id: string): readonly string[] {
  const edges = (graph.sockets[id]?.edges ?? []).map((edge) => edge.to).filter((to) => to !== END);
  const loops = graph.loops.filter((loop) => loop.sockets.includes(id));
  // A loop with nothing to walk over is left by its `always` routes, whichever socket is entered.
  const routes = loops.flatMap(({ exits }) =>
    exits.filter(({ from, condition }) => from === id || condition === 'always'),
  );
  return [...edges, ...routes.map((route) => route.targetSocketId)];
}

/** These sockets and all that can follow on them. */
export function reachedFrom(graph: Graph, starts: readonly string[]): ReadonlySet<string> {
  // A set that grows while it is walked is its own queue.
  const reached = new Set(starts);
  for (const id of reached) for (const next of successorsOf(graph, id)) reached.add(next);
  return reached;
}

/** A frame of Tarjan's algorithm, which keeps its own stack so that any graph can be walked. */
type Frame = { readonly node: string; readonly next: Iterator<string> };

/** Each group of nodes that can all reach each other by at least one step; a node with an edge to itself counts. */
export function cyclesIn(nodes: readonly string[], successors: (node: string) => readonly string[]): string[][] {
  const inside = new Set(nodes);
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const open = new Set<string>();
  const path: string[] = [];
  const cycles: string[][] = [];

  const enter = (node: string): Frame => {
    order.set(node, order.size);
    low.set(node, order.size - 1);
    open.add(node);
    path.push(node);
    return { node, next: successors(node)[Symbol.iterator]() };
  };
  const lower = (node: string, to: number) => low.set(node, Math.min(low.get(node) ?? to, to));

  for (const start of nodes) {
    if (order.has(start)) continue;
    const frames = [enter(start)];
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const { node, next } = frame;
      const step = next.next();
      if (!step.done) {
        const target = step.value;
        if (!inside.has(target)) continue;
        if (!order.has(target)) frames.push(enter(target));
        else if (open.has(target)) lower(node, order.get(target) ?? 0);
        continue;
      }
      frames.pop();
      const parent = frames.at(-1);
      if (parent) lower(parent.node, low.get(node) ?? 0);
      if (low.get(node) !== order.get(node)) continue;
      const component = path.splice(path.lastIndexOf(node));
      for (const member of component) open.delete(member);
      if (component.length > 1 || successors(node).includes(node)) cycles.push(component);
    }
  }
  return cycles;
}

export function contractOf(rules: Rules, socketId: string): Contract {
  const socket = rules.graph.sockets[socketId];
  const materia = socket && rules.materia[socket.materia];
  if (!socket || !materia) throw new Error(`these rules have no socket ${socketId} with a materia`);
  const assign = Object.fromEntries(socket.assign);
  const requires = [];
  if (readsSatisfied(socket)) requires.push('satisfied');
  if (materia.generator || assign.workItems === '$.workItems') requires.push('workItems');
  return {
    dialect: socket.contract,
    generator: materia.generator,
    utility: materia.type === 'utility',
    requires,
    assign,
    schema: socket.schema,
    ...sizeOf(socket),
    ...(socket.strict ? { strict: true } : {}),
  };
}

/** The limit of a socket is the limit of its reader. */
function sizeOf({ limits }: Socket): Pick<Contract, 'maxBytes'> {
  const { maxOutputBytes } = limits;
  if (maxOutputBytes === DEFAULTS.maxOutputBytes) return {};
  return { maxBytes: Math.min(maxOutputBytes, OUTPUT_BYTES_MAX) };
}

/** Edges and `advance` need the boolean. Exit routes do not: without it the `always` route is taken. */
export function readsSatisfied(socket: Socket): boolean {
  const conditions = [...socket.edges.map((edge) => edge.when), socket.advance?.when ?? 'always'];
  return conditions.some((condition) => condition === 'satisfied' || condition === 'not_satisfied');
}

/** The scope of an agent that writes code and names no scope. */
const EVERYTHING: readonly string[] = ['.'];

/** The paths as they are written; null where nothing says what may be changed. */
export function scopeIn({ lockScope }: Socket, materia: Materia): readonly string[] | null {
  return lockScope ?? materia.lockScope ?? byTools(materia);
}

/** Whether turns of the socket may change files, so that what changes meanwhile is looked at and is theirs. */
export function hasOwnPaths({ graph, materia }: Rules, id: string): boolean {
  const socket = graph.sockets[id];
  const its = socket && materia[socket.materia];
  return socket !== undefined && its !== undefined && (scopeIn(socket, its) ?? []).length > 0;
}

/**
 * A turn without paths of its own in a folder where people write too: a reader, or a utility without a scope. A change there
 * may be made by a person, so it is reported and not held against the turn.
 */
export type Bystander = 'reader' | 'utility';

/** `root` is the folder in which the cast works, undefined for the directory itself. */
export function bystanderAt({ graph, materia }: Rules, root: string | undefined, id: string): Bystander | null {
  const socket = graph.sockets[id];
  const its = socket && materia[socket.materia];
  if (root !== undefined || !socket || !its) return null;
  const scope = scopeIn(socket, its);
  if (scope === null) return 'utility';
  return scope.length === 0 ? 'reader' : null;
}

/**
 * One line for people about files that changed during a turn of the socket; null where none did, or where they are its own.
 */
export function isShownChanges(
  { rules, root }: { readonly rules: Rules; readonly root?: string },
  socket: string,
  touched: Readonly<Record<string, unknown>> = {},
): string | null {
  const [first, ...more] = Object.keys(touched).filter((path) => !isKnownToWrite(rules, socket, path));
  const who = bystanderAt(rules, root, socket);
  if (first === undefined || who === null) return null;
  return `${first}${more.length > 0 ? ` (and ${more.length} more)` : ''} ${remarkOn(who, socket)}`;
}

/** Whether the socket holds a utility that is known to change this file, so that the change is its own. */
export function isKnownToWrite({ graph, materia }: Rules, socket: string, path: string): boolean {
  const its = materia[graph.sockets[socket]?.materia ?? ''];
  return its?.type === 'utility' && (its.writes ?? []).includes(path);
}

export function remarkOn(who: Bystander, socket: string): string {
  const may = who === 'reader' ? ', which may change nothing' : '';
  return `changed while ${socket} ran${may}; who changed it is not known`;
}

function byTools(materia: Materia): readonly string[] | null {
  if (materia.type === 'utility') return null;
  return isToolScope(materia.tools) && materia.tools !== 'coding' ? [] : EVERYTHING;
}
