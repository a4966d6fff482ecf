// The graph of a loadout with every default filled in. It takes malformed materia without complaint, so that the flow
// of a graph can be checked while its materia still have faults.
import { isObject, isPositiveInteger, isString, type Json, type JsonObject } from '../json.ts';
import {
  contractNameOf,
  type Draft,
  edgesOf,
  given,
  isCondition,
  isGenerator,
  listAt,
  objectAt,
  parseOf,
  stringAt,
  typeOfMateria,
} from './authored.ts';
import {
  type Advance,
  type Condition,
  DEFAULTS,
  type Edge,
  END,
  type ExitRoute,
  type Graph,
  type Iterator,
  type Loop,
  type Socket,
} from './config.ts';
import { advanceOfExit, consumedGenerator, membersOf, type Walk, walkOf, walkOfLoop } from './loop-region.ts';

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
  return {
    name: draft.name,
    entry: stringAt(draft.loadout, 'entry') ?? '',
    sockets: Object.fromEntries(sockets.map((socket) => [socket.id, socket])),
    loops,
  };
}

function loopFor(draft: Draft, id: string, loop: JsonObject, cursors: Set<string>): Loop {
  const walk = walkOfLoop(loop);
  return {
    id,
    sockets: membersOf(loop),
    consumes: consumedGenerator(draft, loop),
    iterator: walk && iteratorFor(walk, id, cursors),
    exits: exitsOf(loop),
    maxConcurrency: concurrencyOf(draft, loop),
  };
}

// Two loops that leave the name of their cursor to us each get a cursor of their own; a name that is written down
// means what it says, even when that shares it.
function iteratorFor(walk: Walk, owner: string, cursors: Set<string>): Iterator {
  const taken = walk.cursorIsDefault && cursors.has(walk.cursor);
  const cursorKey = taken ? `${walk.cursor}@${owner}` : walk.cursor;
  cursors.add(cursorKey);
  return { items: walk.items, as: walk.as, cursor: walk.cursor, cursorKey };
}

function exitsOf(loop: JsonObject): ExitRoute[] {
  const routes = listAt(loop, 'exits')
    .filter(isObject)
    .map((route) => ({
      id: stringAt(route, 'id') ?? '',
      from: stringAt(route, 'from') ?? '',
      condition: conditionOf(given(route, 'condition')),
      targetSocketId: stringAt(route, 'targetSocketId') ?? '',
    }));
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
  const walk = isObject(foreach) ? walkOf(foreach) : null;
  const label = stringAt(socket, 'label');
  return {
    id,
    ...(label === null ? {} : { label }),
    materia: materiaId,
    contract: contractNameOf(socket, materia),
    parse: parseOf(socket, materia),
    assign: assignOf(socket, materia),
    edges: edgesOf(socket).map(edgeFor),
    advance: advanceOf(socket) ?? derived,
    foreach: walk && iteratorFor(walk, id, cursors),
    limits: limitsOf(objectAt(socket, 'limits'), materia),
    schema: schemaOf(socket) ?? schemaOf(materia),
    ...(given(socket, 'strict') === true ? { strict: true } : {}),
    lockScope: lockScopeOf(socket),
  };
}

// The items of a generator come first, so that other assignments can read them.
function assignOf(socket: JsonObject, materia: JsonObject): Socket['assign'] {
  const written = objectAt(given(socket, 'assign') === undefined ? materia : socket, 'assign');
  const sources = Object.entries(written).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (!isGenerator(materia)) return sources;
  return [['workItems', '$.workItems'], ...sources.filter(([target]) => target !== 'workItems')];
}

function edgeFor(edge: JsonObject): Edge {
  const budget = given(edge, 'maxTraversals');
  return {
    when: conditionOf(given(edge, 'when')),
    to: stringAt(edge, 'to') ?? END,
    maxTraversals: isPositiveInteger(budget) ? budget : null,
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
  const byType = typeOfMateria(materia) === 'agent' ? DEFAULTS.agentTimeoutMs : DEFAULTS.utilityTimeoutMs;
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

function conditionOf(value: Json | undefined): Condition {
  return isCondition(value) ? value : 'always';
}

/** The paths that are written down, one or several; null where none are. */
export function lockScopeOf(written: JsonObject): readonly string[] | null {
  const scope = given(written, 'lockScope');
  if (isString(scope)) return [scope];
  return scope === undefined ? null : listAt(written, 'lockScope').filter(isString);
}

function concurrencyOf({ parallelism }: Draft, loop: JsonObject): number {
  const own = given(objectAt(loop, 'parallel'), 'maxConcurrency');
  const common = given(parallelism, 'maxConcurrency');
  return [own, common].find(isPositiveInteger) ?? DEFAULTS.maxConcurrency;
}
