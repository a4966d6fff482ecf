// Checks of sockets: their ids, the materia they place, and how their output is read, stored and routed.
import { dialectCan, PRESENT } from '../capabilities.ts';
import type { Code } from '../codes.ts';
import { given, isObject, type Json, type JsonObject } from '../json.ts';
import { answerFieldsOf, type KnownFields, readFieldCondition } from './answer-fields.ts';
import { checkAssign, checkGeneratorOutput } from './check-materia.ts';
import { CONDITIONS, END } from './config.ts';
import {
  authoredMateria,
  checkFields,
  type Draft,
  error,
  type Findings,
  isCondition,
  isGenerator,
  isGuarded,
  listed,
  meant,
  namedContract,
  namedParse,
  parseFor,
  parseOf,
  shown,
} from './issue.ts';
import { ADVANCE, apart, EDGE, SOCKET, WALK } from './loadout-fields.ts';
import { problemOfName, problemOfSource } from './path.ts';

const SOCKET_FIELDS = apart(SOCKET, 'edges', 'advance', 'foreach');

export function* checkSockets(draft: Draft, known?: KnownFields): Findings {
  for (const [id, socket] of Object.entries(draft.sockets)) {
    const path = `${draft.path}.sockets.${id}`;
    if (!isObject(socket)) {
      yield error('INVALID_CONFIG', path, `A socket is an object, not ${shown(socket)}. Write {"materia": …}.`);
      continue;
    }
    yield* checkSocket(draft, socket, path, known);
  }
}

/** One issue for all sockets with names of their own: their author wants the short form. */
export function* checkSocketNames(draft: Draft): Findings {
  const odd = Object.keys(draft.sockets).filter((id) => !isSocketId(id));
  const [first, ...more] = odd;
  if (first === undefined) return;
  const which = more.length === 0 ? shown(first) : `${shown(first)} and ${more.length} more`;
  const fix = `Rename ${more.length === 0 ? `it to ${freeId(draft)}` : 'them'} here and wherever named, and write the names as label`;
  const better = 'or write the steps by name in the short form, a file of .baton/loadouts (`baton init` makes one)';
  const what = `Sockets are called Socket-1, Socket-2, and so on, and ${which} ${more.length === 0 ? 'is' : 'are'} not`;
  yield error('INVALID_SOCKET_ID', `${draft.path}.sockets.${first}`, `${what}. ${fix}; ${better}.`);
}

/** The first id that no socket has: Socket-1, Socket-2, … */
function freeId(draft: Draft): string {
  let number = 1;
  while (Object.hasOwn(draft.sockets, `Socket-${number}`)) number += 1;
  return `Socket-${number}`;
}

/** How a socket's output is parsed, or null while its materia is not known and the socket does not say. */
export function knownParse(draft: Draft, socket: JsonObject): 'text' | 'json' | null {
  const materia = authoredMateria(draft, socket);
  if (materia !== null) return parseOf(socket, materia);
  return namedContract(socket) === null && namedParse(socket) === null ? null : parseOf(socket, {});
}

function* checkSocket(draft: Draft, socket: JsonObject, path: string, known?: KnownFields): Findings {
  yield* checkFields(socket, SOCKET_FIELDS, { path, code: 'INVALID_CONFIG', what: 'a socket' });
  yield* checkPlacement(draft, socket, path);
  yield* checkOutput(draft, socket, path);
  yield* checkEdges(draft, socket, path, known);
  yield* checkAdvance(draft, socket, path);
  yield* checkForeach(draft, socket, path);
}

function* checkPlacement(draft: Draft, socket: JsonObject, path: string): Findings {
  if (authoredMateria(draft, socket) !== null) return;
  const named = given(socket, 'materia');
  const what = named === undefined ? 'The socket names no materia' : `There is no materia ${shown(named)}`;
  const fix = `${meant(named, Object.keys(draft.materia))}Define it under materia, or name one that is there.`;
  yield error('UNKNOWN_MATERIA', `${path}.materia`, `${what}. ${fix}`);
}

function* checkOutput(draft: Draft, socket: JsonObject, path: string): Findings {
  const materia = authoredMateria(draft, socket);
  const contract = namedContract(socket) ?? namedContract(materia ?? {});
  const parse = namedParse(socket);
  yield* checkAssign(given(socket, 'assign'), `${path}.assign`, 'INVALID_CONFIG');
  if (isGenerator(materia)) {
    yield* checkGeneratorOutput(socket, path);
    return;
  }
  if (contract !== null && parse !== null && parseFor(contract) !== parse) {
    const fix = 'Remove parse, or choose another contract on this socket.';
    yield error('INVALID_CONFIG', `${path}.parse`, `The contract ${contract} cannot be read as ${parse}. ${fix}`);
  }
  if (
    given(socket, 'strict') === true &&
    ((contract !== null && !dialectCan(PRESENT, contract, 'isObject')) || knownParse(draft, socket) === 'text')
  ) {
    const fix = 'Remove strict, or choose a contract that is one JSON object.';
    yield error('INVALID_CONFIG', `${path}.strict`, `The answer of this socket is not one JSON object. ${fix}`);
  }
  if (knownParse(draft, socket) !== 'text') return;
  yield* checkTextAssign(given(socket, 'assign'), path);
  if (given(socket, 'schema') !== undefined || given(materia ?? {}, 'schema') !== undefined) {
    const fix = 'Write parse: "json", or remove the schema.';
    yield error(
      'INVALID_CONFIG',
      `${path}.schema`,
      `A schema describes JSON, and this socket reads plain text. ${fix}`,
    );
  }
}

function* checkTextAssign(assign: Json | undefined, path: string): Findings {
  if (!isObject(assign)) return;
  for (const [target, source] of Object.entries(assign)) {
    if (typeof source !== 'string' || !source.startsWith('$.')) continue;
    const fix = 'Write parse: "json", or assign "$" for the whole text.';
    const message = `Plain text has no field ${shown(source)}, so the slot would always be cleared. ${fix}`;
    yield error('INVALID_CONFIG', `${path}.assign.${target}`, message);
  }
}

function* checkEdges(draft: Draft, socket: JsonObject, path: string, known?: KnownFields): Findings {
  const edges = given(socket, 'edges');
  if (edges === undefined) return;
  if (!Array.isArray(edges)) {
    yield error('INVALID_CONFIG', `${path}.edges`, `edges is ${shown(edges)}. Write a list of {"when", "to"}.`);
    return;
  }
  const always = edges.findIndex((edge) => isObject(edge) && edge.when === 'always');
  for (const [index, edge] of edges.entries()) {
    const at = `${path}.edges[${index}]`;
    if (!isObject(edge)) {
      yield error('INVALID_CONFIG', at, `An edge is an object, not ${shown(edge)}. Write {"when", "to"}.`);
      continue;
    }
    yield* checkEndpoint(draft, given(edge, 'to'), `${at}.to`, 'socket or end');
    const when = given(edge, 'when');
    if (isObject(when)) yield* checkFieldCondition(draft, socket, when, `${at}.when`, known);
    else if (yield* checkCondition(when, `${at}.when`)) yield* checkGuard(draft, socket, when, `${at}.when`);
    if (always >= 0 && index > always) {
      const fix = 'Put guarded edges before the always edge, or remove this one.';
      yield error('UNREACHABLE_EDGE', at, `edges[${always}] is always taken before this edge is looked at. ${fix}`);
    }
    if (given(edge, 'then') !== undefined && given(edge, 'maxTraversals') === undefined) {
      const why = 'then says what happens when maxTraversals is used up, and this edge has none. Add maxTraversals.';
      yield error('INVALID_CONFIG', `${at}.then`, why);
    }
    yield* checkFields(edge, EDGE, { path: at, code: 'INVALID_CONFIG', what: 'an edge' });
  }
}

function* checkAdvance(draft: Draft, socket: JsonObject, path: string): Findings {
  const at = `${path}.advance`;
  const advance = given(socket, 'advance');
  if (advance === undefined) return;
  if (!isObject(advance)) {
    yield error('INVALID_CONFIG', at, `advance is ${shown(advance)}. Write {"cursor", "items", "when"}.`);
    return;
  }
  const cursor = problemOfName(given(advance, 'cursor'));
  if (cursor !== null) yield error('INVALID_CONFIG', `${at}.cursor`, `The cursor has no usable name: ${cursor}.`);
  yield* checkItems(advance, at, 'INVALID_CONFIG');
  const when = given(advance, 'when');
  if (when !== undefined) yield* checkCondition(when, `${at}.when`);
  yield* checkGuard(draft, socket, when, `${at}.when`);
  yield* checkDone(draft, advance, at);
  yield* checkFields(advance, ADVANCE, { path: at, code: 'INVALID_CONFIG', what: 'advance' });
}

function* checkForeach(draft: Draft, socket: JsonObject, path: string): Findings {
  const at = `${path}.foreach`;
  const foreach = given(socket, 'foreach');
  if (foreach === undefined) return;
  if (!isObject(foreach)) {
    yield error('INVALID_CONFIG', at, `foreach is ${shown(foreach)}. Write {"items": "state.list"}.`);
    return;
  }
  yield* checkItems(foreach, at, 'INVALID_CONFIG');
  yield* checkNames(foreach, at, 'INVALID_CONFIG');
  yield* checkDone(draft, foreach, at);
  yield* checkFields(foreach, WALK, { path: at, code: 'INVALID_CONFIG', what: 'foreach' });
}

/** Checks one of the three names and returns whether it is one. */
export function* checkCondition(value: Json | undefined, path: string): Findings<boolean> {
  if (isCondition(value)) return true;
  if (isObject(value)) {
    const message = `Only an edge can ask for the value of a field. Write one of ${CONDITIONS.join(', ')} here.`;
    yield error('INVALID_EDGE_CONDITION', path, message);
    return false;
  }
  const message = `${shown(value)} is not a condition. ${meant(value, CONDITIONS)}Write one of ${CONDITIONS.join(', ')}.`;
  yield error('INVALID_EDGE_CONDITION', path, message);
  return false;
}

/** A condition on a field needs an answer in JSON whose contract declares the field. */
function* checkFieldCondition(
  draft: Draft,
  socket: JsonObject,
  written: JsonObject,
  path: string,
  known?: KnownFields,
): Findings {
  const condition = readFieldCondition(written);
  if ('wrong' in condition) {
    const at = condition.at === undefined ? path : `${path}.${condition.at}`;
    const fix = 'Write {"field": "severity", "is": "high"}, or with isNot, or with in and a list.';
    yield error('INVALID_EDGE_CONDITION', at, `The condition cannot be read: ${condition.wrong}. ${fix}`);
    return;
  }
  const field = shown(condition.field);
  if (knownParse(draft, socket) === 'text') {
    const fix = 'Write parse: "json" and a schema with the field on the socket, or use always.';
    yield error('INVALID_EDGE_CONDITION', path, `Plain text has no field ${field}. ${fix}`);
    return;
  }
  const materia = authoredMateria(draft, socket);
  const fields = answerFieldsOf(socket, materia ?? {}, known);
  if (materia === null || fields === null || Object.hasOwn(fields, condition.field)) return;
  const names = Object.keys(fields);
  const there = names.length === 0 ? '' : ` It declares ${listed(names)}.`;
  const fix =
    condition.field === 'satisfied'
      ? 'Write "satisfied" or "not_satisfied" as the condition.'
      : `${meant(condition.field, names)}Declare it under properties of a schema on the socket or its materia.`;
  yield error(
    'INVALID_EDGE_CONDITION',
    `${path}.field`,
    `The contract of this socket declares no field ${field}.${there} ${fix}`,
  );
}

/** A guarded condition reads a boolean, and plain text has none: it would never match and the cast would quietly end. */
export function* checkGuard(draft: Draft, socket: JsonObject, condition: Json | undefined, path: string): Findings {
  if (!isGuarded(condition) || knownParse(draft, socket) !== 'text') return;
  const fix = 'Write parse: "json" on the socket, or use always.';
  const message = `${shown(condition)} needs JSON output with satisfied, but this socket returns plain text. ${fix}`;
  yield error('INVALID_EDGE_CONDITION', path, message);
}

/** A socket id. An endpoint of an edge, a route or a loop is one, or `end` where the cast may complete. */
const SOCKET_ID = /^Socket-[1-9]\d*$/;

function isSocketId(value: Json | undefined): value is string {
  return typeof value === 'string' && SOCKET_ID.test(value);
}

/** Checks one endpoint and returns whether it can be followed. */
export function* checkEndpoint(
  draft: Draft,
  value: Json | undefined,
  path: string,
  allowed: 'socket' | 'socket or end',
): Findings<boolean> {
  if (value === undefined || value === null || value === '') {
    yield error('MISSING_ENDPOINT', path, `Nothing is named here. Name ${choices(draft, allowed)}.`);
    return false;
  }
  const isEnd = value === END;
  if (isEnd && allowed === 'socket or end') return true;
  if (!isSocketId(value)) {
    // A socket with such a name is refused where it is defined. One cause gives one issue.
    if (typeof value === 'string' && Object.hasOwn(draft.sockets, value)) return false;
    const why = isEnd ? '`end` is only a target of edges' : `${shown(value)} is not of the form Socket-N`;
    yield error('INVALID_SOCKET_ID', path, `${why}. Name ${choices(draft, allowed)}.`);
    return false;
  }
  if (!Object.hasOwn(draft.sockets, value)) {
    yield error('UNKNOWN_ENDPOINT', path, `There is no socket ${shown(value)}. Name ${choices(draft, allowed)}.`);
    return false;
  }
  return true;
}

function choices(draft: Draft, allowed: 'socket' | 'socket or end'): string {
  const sockets = draft.socketIds.length === 0 ? 'a socket, once there is one' : `one of: ${listed(draft.socketIds)}`;
  return allowed === 'socket' ? sockets : `${sockets}, or ${END}`;
}

/** Checks of what is walked over item by item, shared by loops, `foreach` and `advance`. */
export function* checkItems(object: JsonObject, path: string, code: Code): Findings {
  const items = given(object, 'items');
  const problem = problemOfSource(items) ?? problemOfOutput(items);
  if (problem !== null) yield error(code, `${path}.items`, `The list to walk cannot be found: ${problem}.`);
}

/** Checks the names that are given for the item and for the cursor. */
export function* checkNames(object: JsonObject, path: string, code: Code): Findings {
  for (const field of ['as', 'cursor']) {
    const name = given(object, field);
    const problem = name === undefined ? null : problemOfName(name);
    if (problem !== null) yield error(code, `${path}.${field}`, `${field} is no usable name: ${problem}.`);
  }
}

/** `done` never routes, but a file that names a socket there must name one that exists. */
export function* checkDone(draft: Draft, object: JsonObject, path: string): Findings {
  const done = given(object, 'done');
  if (done !== undefined) yield* checkEndpoint(draft, done, `${path}.done`, 'socket or end');
}

/** A list outlives the output it came in: every item of it is another turn. */
function problemOfOutput(items: Json | undefined): string | null {
  if (typeof items !== 'string' || !items.startsWith('$')) return null;
  return 'it must be in the cast data; assign it to a slot first and write state.slot here';
}
