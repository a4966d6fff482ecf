// The graph of a loadout with every default filled in. It takes malformed materia without complaint, so that the flow
// of a graph can be checked while its materia still have faults.
import {
  given,
  isObject,
  isPositiveInteger,
  isString,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  stringAt,
} from '../json.ts';
import { type AnswerFields, answerFieldsOf, placed, readFieldCondition } from './answer-fields.ts';
import {
  type Advance,
  BARRIERS,
  type Condition,
  DEFAULTS,
  type Edge,
  type EdgeCondition,
  END,
  type ExitRoute,
  type Graph,
  type Iterator,
  type Loop,
  type Socket,
} from './config.ts';
import {
  contractNameOf,
  type Draft,
  edgesOf,
  isCondition,
  isGenerator,
  isGeneratorSocket,
  parseOf,
  typeOfMateria,
} from './issue.ts';

export function graphOf(draft: Draft): Graph {
  const cursors = new Set<string>();
  const written = Object.entries(draft.loops).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
  const loops = written.map(([id, loop]) => loopFor(draft, id, loop, cursors));
  const advances = new Map<string, Advance>();
  for (const [, loop] of written) {
    const derived = advanceOfExit(loop);
    if (derived === null || advances.has(derived.from)) continue;
    advances.set(derived.from, { cursor: derived.cursor, items: derived.items, when: derived.when });
  }
  const sockets = draft.socketIds.map((id) => socketFor(draft, id, advances.get(id) ?? null, cursors));
  const inputs = Object.keys(inputsOf(draft.loadout));
  return {
    name: draft.name,
    entry: stringAt(draft.loadout, 'entry') ?? '',
    sockets: Object.fromEntries(sockets.map((socket) => [socket.id, socket])),
    loops,
    ...(inputs.length === 0 ? {} : { inputs }),
  };
}

/** The JSON Schema of each declared input; the name of a type means the schema of that type. */
export function inputsOf(loadout: JsonObject): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(
    Object.entries(objectAt(loadout, INPUTS)).flatMap(([name, schema]) =>
      isObject(schema) ? [[name, schema]] : isString(schema) ? [[name, { type: schema }]] : [],
    ),
  );
}

/** The slot of the cast data that holds them. */
export const INPUTS = 'inputs';

function loopFor(draft: Draft, id: string, loop: JsonObject, cursors: Set<string>): Loop {
  const walk = walkOfLoop(loop);
  return {
    id,
    sockets: membersOf(loop),
    consumes: consumedGenerator(draft, loop),
    iterator: walk && iteratorFor(walk, id, cursors),
    exits: exitsOf(loop),
    maxConcurrency: concurrencyOf(draft, loop),
    ...lanesOf(draft, loop),
  };
}

/**
 * Two loops that leave the name of their cursor to us each get a cursor of their own; a name that is written down means what
 * it says, even when that shares it.
 */
function iteratorFor(walk: AuthoredWalk, owner: string, cursors: Set<string>): Iterator {
  const taken = walk.cursorIsDefault && cursors.has(walk.cursor);
  const cursorKey = taken ? `${walk.cursor}@${owner}` : walk.cursor;
  cursors.add(cursorKey);
  return { items: walk.items, as: walk.as, cursor: walk.cursor, cursorKey };
}

function exitsOf(loop: JsonObject): ExitRoute[] {
  const routes = listAt(loop, 'exits')
    .filter(isObject)
    .map((route) => {
      const from = stringAt(route, 'from') ?? '';
      const condition = conditionOf(given(route, 'condition'));
      const targetSocketId = stringAt(route, 'targetSocketId') ?? '';
      return { id: stringAt(route, 'id') ?? `exit:${from}:${condition}`, from, condition, targetSocketId };
    });
  const exit = given(loop, 'exit');
  if (!isObject(exit) || given(exit, 'to') === END) return routes;
  const from = stringAt(exit, 'from') ?? '';
  const condition = conditionOf(given(exit, 'when'));
  if (routes.some((route) => route.from === from && route.condition === condition)) return routes;
  return [...routes, { id: `exit:${from}:${condition}`, from, condition, targetSocketId: stringAt(exit, 'to') ?? '' }];
}

function socketFor(draft: Draft, id: string, derived: Advance | null, cursors: Set<string>): Socket {
  const socket = objectAt(draft.sockets, id);
  const materiaId = stringAt(socket, 'materia') ?? '';
  const materia = objectAt(draft.materia, materiaId);
  const foreach = given(socket, 'foreach');
  const walk = isObject(foreach) ? authoredWalk(foreach) : null;
  const label = stringAt(socket, 'label');
  const fields = answerFieldsOf(socket, materia);
  return {
    id,
    ...(label === null ? {} : { label }),
    materia: materiaId,
    contract: contractNameOf(socket, materia),
    parse: parseOf(socket, materia),
    assign: assignOf(socket, materia),
    edges: edgesOf(socket).map((edge) => edgeFor(edge, fields)),
    advance: advanceOf(socket) ?? derived,
    foreach: walk && iteratorFor(walk, id, cursors),
    limits: limitsOf(objectAt(socket, 'limits'), materia),
    schema: schemaOf(socket) ?? schemaOf(materia),
    ...(given(socket, 'strict') === true ? { strict: true } : {}),
    lockScope: authoredScope(socket),
    ...(given(socket, 'checkers') === undefined ? {} : { checkers: listAt(socket, 'checkers').filter(isString) }),
  };
}

/** The items of a generator come first, so that other assignments can read them. */
function assignOf(socket: JsonObject, materia: JsonObject): Socket['assign'] {
  const written = objectAt(given(socket, 'assign') === undefined ? materia : socket, 'assign');
  const sources = Object.entries(written).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (!isGenerator(materia)) return sources;
  const made = given(materia, 'parallel') === true ? ['workItems', SCHEDULE] : ['workItems'];
  const own = made.map((name): [string, string] => [name, `$.${name}`]);
  return [...own, ...sources.filter(([target]) => !made.includes(target))];
}

function edgeFor(edge: JsonObject, fields: AnswerFields | null): Edge {
  const [budget, then] = [given(edge, 'maxTraversals'), given(edge, 'then')];
  return {
    when: edgeConditionOf(given(edge, 'when'), fields),
    to: stringAt(edge, 'to') ?? END,
    maxTraversals: isPositiveInteger(budget) ? budget : null,
    ...(then === 'ask' || then === 'park' ? { then } : {}),
  };
}

function advanceOf(socket: JsonObject): Advance | null {
  const advance = given(socket, 'advance');
  if (!isObject(advance)) return null;
  const when = given(advance, 'when');
  return {
    cursor: stringAt(advance, 'cursor') ?? '',
    items: stringAt(advance, 'items') ?? '',
    when: isCondition(when) ? when : null,
  };
}

function limitsOf(limits: JsonObject, materia: JsonObject): Socket['limits'] {
  const byType =
    typeOfMateria(materia) === 'agent'
      ? DEFAULTS.agentTimeoutMs
      : given(materia, 'wait') === undefined
        ? DEFAULTS.utilityTimeoutMs
        : DEFAULTS.waitTimeoutMs;
  const maxOutputBytes = given(limits, 'maxOutputBytes');
  const timeoutMs = [given(limits, 'timeoutMs'), given(materia, 'timeoutMs')].find(isPositiveInteger);
  return {
    maxOutputBytes: isPositiveInteger(maxOutputBytes) ? maxOutputBytes : DEFAULTS.maxOutputBytes,
    timeoutMs: timeoutMs ?? byType,
  };
}

function schemaOf(object: JsonObject): JsonObject | null {
  const schema = given(object, 'schema');
  return isObject(schema) ? schema : null;
}

function edgeConditionOf(value: Json | undefined, fields: AnswerFields | null): EdgeCondition {
  const condition = isObject(value) ? readFieldCondition(value) : null;
  return condition === null || 'wrong' in condition ? conditionOf(value) : placed(condition, fields);
}

function conditionOf(value: Json | undefined): Condition {
  return isCondition(value) ? value : 'always';
}

/** The paths that are written down, one or several; null where none are. */
export function authoredScope(written: JsonObject): readonly string[] | null {
  const scope = given(written, 'lockScope');
  if (isString(scope)) return [scope];
  return scope === undefined ? null : listAt(written, 'lockScope').filter(isString);
}

/** A schedule makes lanes, and its lanes wait for one another. */
function lanesOf(draft: Draft, loop: JsonObject): Pick<Loop, 'isParallel' | 'barrier' | 'prelude'> {
  const generator = consumedGenerator(draft, loop);
  const isScheduled = generator !== null && isParallelGenerator(draft, generator);
  const written = given(objectAt(loop, 'parallel'), 'barrier');
  const barrier = BARRIERS.find((each) => each === written) ?? (isScheduled ? 'all' : null);
  const isSideBySide = isScheduled || isParallel(loop);
  const prelude = isScheduled ? preludeOf(draft, loop, generator) : [];
  return {
    ...(isSideBySide ? { isParallel: true } : {}),
    ...(barrier !== null && isSideBySide ? { barrier } : {}),
    ...(prelude.length > 0 ? { prelude } : {}),
  };
}

/** The sockets on the one way from a parallel generator to a member of the loop. */
function preludeOf(draft: Draft, loop: JsonObject, generator: string): readonly string[] {
  const members = membersOf(loop);
  const passed: string[] = [];
  for (let at = generator; ; ) {
    const [only] = edgesOf(objectAt(draft.sockets, at));
    const to = only ? (stringAt(only, 'to') ?? END) : END;
    if (members.includes(to)) return passed;
    if (to === END || to === generator || passed.includes(to)) return [];
    passed.push(to);
    at = to;
  }
}

/** At most one item at a time is what a loop does anyway. */
function isParallel(loop: JsonObject): boolean {
  const lanes = given(objectAt(loop, 'parallel'), 'maxConcurrency');
  return isPositiveInteger(lanes) && lanes > 1;
}

function concurrencyOf({ parallelism }: Draft, loop: JsonObject): number {
  const own = given(objectAt(loop, 'parallel'), 'maxConcurrency');
  const common = given(parallelism, 'maxConcurrency');
  return [own, common].find(isPositiveInteger) ?? DEFAULTS.maxConcurrency;
}

/** Says which items of a parallel generator follow one another. */
export const SCHEDULE = 'parallelSchedule';

/** The list that a generator makes. */
export const GENERATED = 'workItems';

/** A list that a loop walks over, before its cursor gets a key of its own. */
type AuthoredWalk = {
  readonly items: string;
  readonly as: string;
  readonly cursor: string;
  readonly cursorIsDefault: boolean;
};

/** The `advance` that a legacy `exit` puts on its source socket. */
export type DerivedAdvance = { readonly from: string; cursor: string; items: string; when: Condition };

export function membersOf(loop: JsonObject): readonly string[] {
  return [...new Set(listAt(loop, 'sockets').filter((member) => typeof member === 'string'))];
}

/** The sources of all edges that lead from generators outside the loop to one of its members, one entry per edge. */
export function generatorsEntering(draft: Draft, loop: JsonObject): readonly string[] {
  const members = new Set(membersOf(loop));
  const entering = draft.generatorEdges.filter(({ from, to }) => !members.has(from) && members.has(to));
  return entering.map((edge) => edge.from);
}

/**
 * The generator whose items a loop consumes. Putting a second generator between the first and the loop leaves the name
 * of the first behind; the one generator that enters the loop is then meant.
 */
export function consumedGenerator(draft: Draft, loop: JsonObject): string | null {
  const consumes = given(loop, 'consumes');
  if (!isObject(consumes)) return null;
  const named = stringAt(consumes, 'from');
  if (named === null || isParallelGenerator(draft, named)) return named;
  const sources = new Set(generatorsEntering(draft, loop));
  const [only] = sources;
  return sources.size === 1 && only !== undefined ? only : named;
}

/** Lanes may pass through other sockets before they reach their loop, so no edge need join the two. */
export function isParallelGenerator(draft: Draft, id: string): boolean {
  const materia = objectAt(draft.materia, stringAt(objectAt(draft.sockets, id), 'materia') ?? '');
  return isGeneratorSocket(draft, id) && given(materia, 'parallel') === true;
}

/** What a loop walks over: its iterator, or what `consumes` implies, the former completed by the latter. */
function walkOfLoop(loop: JsonObject): AuthoredWalk | null {
  const consumes = given(loop, 'consumes');
  const iterator = given(loop, 'iterator');
  const implied = isObject(consumes) ? walkOfConsumes(consumes) : null;
  if (!isObject(iterator)) return implied;
  const own = authoredWalk(iterator);
  if (own === null || implied === null) return own ?? implied;
  return {
    items: own.items,
    as: stringAt(iterator, 'as') ?? implied.as,
    cursor: stringAt(iterator, 'cursor') ?? implied.cursor,
    cursorIsDefault: stringAt(iterator, 'cursor') === null && implied.cursorIsDefault,
  };
}

/** What an `iterator` or a `foreach` walks over. */
function authoredWalk(iterator: JsonObject): AuthoredWalk | null {
  const items = stringAt(iterator, 'items');
  if (items === null) return null;
  const cursor = stringAt(iterator, 'cursor');
  const list = items.split('.').at(-1) ?? items;
  return {
    items,
    as: stringAt(iterator, 'as') ?? 'item',
    cursor: cursor ?? cursorFor(list),
    cursorIsDefault: cursor === null,
  };
}

/** A legacy `exit` moves the cursor on its source whenever its condition holds. */
export function advanceOfExit(loop: JsonObject): DerivedAdvance | null {
  const exit = objectAt(loop, 'exit');
  const walk = walkOfLoop(loop);
  const from = stringAt(exit, 'from');
  const when = given(exit, 'when');
  if (walk === null || from === null || !isCondition(when)) return null;
  return { from, cursor: walk.cursor, items: walk.items, when };
}

function walkOfConsumes(consumes: JsonObject): AuthoredWalk {
  const output = stringAt(consumes, 'output') ?? GENERATED;
  const cursor = stringAt(consumes, 'cursor');
  return {
    items: `state.${output}`,
    as: stringAt(consumes, 'as') ?? 'workItem',
    cursor: cursor ?? cursorFor(output),
    cursorIsDefault: cursor === null,
  };
}

function cursorFor(list: string): string {
  return list === GENERATED ? 'workItemIndex' : `${list}Index`;
}
