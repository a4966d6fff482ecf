// Checks of loop regions: their members, what they consume, and where they go when their list is used up.
import { given, isObject, isText, type Json, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import {
  checkCondition,
  checkDone,
  checkEndpoint,
  checkGuard,
  checkItems,
  checkNames,
  knownParse,
} from './check-sockets.ts';
import { END } from './config.ts';
import {
  authoredMateria,
  checkFields,
  type Draft,
  edgesOf,
  error,
  type Findings,
  isGeneratorSocket,
  isGuarded,
  listed,
  shown,
} from './issue.ts';
import { apart, CONSUMES, EXIT, LANES, LOOP, OLD_EXIT, WALK } from './loadout-fields.ts';
import {
  advanceOfExit,
  consumedGenerator,
  type DerivedAdvance,
  GENERATED,
  generatorsEntering,
  isParallelGenerator,
  membersOf,
} from './resolve-graph.ts';
import { cyclesIn } from './route.ts';

const LOOP_FIELDS = apart(LOOP, 'consumes', 'iterator', 'exit', 'exits', 'parallel');

export function* checkLoops(draft: Draft): Findings {
  const loops = given(draft.loadout, 'loops');
  if (loops === undefined) return;
  if (!isObject(loops)) {
    const message = `loops is ${shown(loops)}. Write an object from loop ids to loops.`;
    yield error('INVALID_LOOP', `${draft.path}.loops`, message);
    return;
  }
  for (const [id, loop] of Object.entries(loops)) {
    const path = `${draft.path}.loops.${id}`;
    if (isObject(loop)) yield* checkLoop(draft, loop, path);
    else yield error('INVALID_LOOP', path, `A loop is an object, not ${shown(loop)}. Write {"sockets": […]}.`);
  }
}

function* checkLoop(draft: Draft, loop: JsonObject, path: string): Findings {
  yield* checkFields(loop, LOOP_FIELDS, { path, code: 'INVALID_CONFIG', what: 'a loop' });
  const members = given(loop, 'sockets');
  if (!Array.isArray(members) || members.length === 0) {
    yield error('INVALID_LOOP', `${path}.sockets`, 'A loop needs members. List the ids of its sockets.');
    return;
  }
  let sound = true;
  for (const [index, member] of members.entries()) {
    const known = yield* checkEndpoint(draft, member, `${path}.sockets[${index}]`, 'socket');
    sound = sound && known;
  }
  const consumes = given(loop, 'consumes');
  if (consumes !== undefined) yield* checkConsumes(draft, loop, consumes, sound, path);
  yield* checkIterator(draft, given(loop, 'iterator'), `${path}.iterator`);
  yield* checkLegacyExit(draft, loop, path);
  yield* checkExits(draft, loop, path);
  yield* checkParallel(given(loop, 'parallel'), `${path}.parallel`);
  if (sound) yield* checkStreams(draft, loop, path);
}

/** A loop whose items come in streams: one way in, for each stream, and one way out. */
function* checkStreams(draft: Draft, loop: JsonObject, path: string): Findings {
  const generator = consumedGenerator(draft, loop);
  if (generator === null || !isParallelGenerator(draft, generator)) return;
  const at = `${path}.consumes.from`;
  const consumers = Object.values(draft.loops).filter(
    (each) => isObject(each) && consumedGenerator(draft, each) === generator,
  );
  if (consumers.length > 1) {
    const fix = 'Keep one of them, or remove parallel from the generator.';
    yield error('INVALID_LOOP', at, `${consumers.length} loops consume the streams of ${generator}. ${fix}`);
  }
  const members = membersOf(loop);
  const passed: string[] = [];
  for (let socket = generator; ; ) {
    const edges = edgesOf(objectAt(draft.sockets, socket));
    const to = stringAt(edges[0] ?? {}, 'to') ?? END;
    if (edges.length !== 1 || edges[0]?.when !== 'always' || to === END || passed.includes(to) || to === generator) {
      const fix = `Give ${socket} one always edge, which leads on to a member.`;
      yield error('INVALID_LOOP', at, `From ${generator} one way leads to the loop, and every stream takes it. ${fix}`);
      return;
    }
    if (members.includes(to)) break;
    passed.push(to);
    socket = to;
  }
  for (const socket of passed) yield* checkPrelude(draft, socket, path);
  for (const socket of members) yield* checkLaneMember(draft, socket);
  const exits = listAt(loop, 'exits').filter(isObject);
  const targets = new Set(exits.flatMap((exit) => (exit.condition === 'not_satisfied' ? [] : [exit.targetSocketId])));
  if (targets.size > 1) {
    const fix = 'Let all exits lead to one socket; not_satisfied may lead to another.';
    yield error('INVALID_LOOP', `${path}.exits`, `The streams meet at one socket after the loop. ${fix}`);
  }
}

function* checkPrelude(draft: Draft, socket: string, path: string): Findings {
  const id = stringAt(objectAt(draft.sockets, socket), 'materia') ?? '';
  const materia = objectAt(draft.materia, id);
  const others = Object.entries(draft.loops).filter(([, loop]) => isObject(loop) && membersOf(loop).includes(socket));
  if (others.length > 0 || isGeneratorSocket(draft, socket)) {
    const fix = 'Put it before the generator, or behind the loop.';
    yield error(
      'INVALID_LOOP',
      path,
      `${socket} runs once for each stream, so it is no generator and in no loop. ${fix}`,
    );
  }
  if (given(materia, 'parallelSafe') !== true) {
    const fix = `Write parallelSafe: true on ${id} if several of it may run at the same time.`;
    yield error('INVALID_LOOP', path, `${socket} runs once for each stream, next to others. ${fix}`);
  }
  yield* checkLaneMember(draft, socket);
}

function* checkLaneMember(draft: Draft, socket: string): Findings {
  const id = stringAt(objectAt(draft.sockets, socket), 'materia') ?? '';
  if (given(objectAt(draft.materia, id), 'multiTurn') !== true) return;
  const fix = 'Talk before the generator, or use a materia without multiTurn.';
  yield error(
    'INVALID_LOOP',
    `${draft.path}.sockets.${socket}.materia`,
    `${id} talks with a person, and streams run side by side. ${fix}`,
  );
}

function* checkConsumes(draft: Draft, loop: JsonObject, consumes: Json, sound: boolean, path: string): Findings {
  const at = `${path}.consumes`;
  if (!isObject(consumes)) {
    yield error('INVALID_LOOP', at, `consumes is ${shown(consumes)}. Write {"from": a generator socket}.`);
    return;
  }
  const known = yield* checkEndpoint(draft, given(consumes, 'from'), `${at}.from`, 'socket');
  yield* checkNames(consumes, at, 'INVALID_LOOP');
  yield* checkDone(draft, consumes, at);
  yield* checkFields(consumes, CONSUMES, { path: at, code: 'INVALID_LOOP', what: 'consumes' });
  const output = given(consumes, 'output');
  if (output !== undefined && output !== GENERATED) {
    const message = `Generators produce ${GENERATED} and nothing called ${shown(output)}. Write "${GENERATED}" or leave it out.`;
    yield error('INVALID_LOOP', `${at}.output`, message);
  }
  if (sound && !hasCycle(draft, loop)) {
    const fix = 'Add an edge from its last socket back to its first; one socket may lead to itself.';
    yield error('INVALID_LOOP', `${path}.sockets`, `The members of this loop never lead back to one another. ${fix}`);
  }
  if (sound && known) yield* checkSource(draft, loop, stringAt(consumes, 'from') ?? '', at);
}

function* checkSource(draft: Draft, loop: JsonObject, named: string, path: string): Findings {
  if (authoredMateria(draft, objectAt(draft.sockets, named)) === null) return;
  if (!isGeneratorSocket(draft, named)) {
    const fix = 'Name a generator socket, or write generator: true on its materia.';
    yield error('INVALID_LOOP', `${path}.from`, `${named} is not a generator, so it produces no ${GENERATED}. ${fix}`);
    return;
  }
  if (isParallelGenerator(draft, named)) return;
  const sources = generatorsEntering(draft, loop);
  if (sources.length === 1 && consumedGenerator(draft, loop) === sources[0]) return;
  const found = sources.length === 0 ? 'found none' : `found ${sources.length}: ${listed(sources)}`;
  const message = `A loop that consumes is entered by exactly one edge from a generator; ${found}.`;
  yield error('INVALID_LOOP', `${path}.from`, `${message} Let one edge lead straight from the generator to a member.`);
}

function hasCycle(draft: Draft, loop: JsonObject): boolean {
  const targets = (id: string) => edgesOf(objectAt(draft.sockets, id)).map((edge) => stringAt(edge, 'to') ?? '');
  return cyclesIn(membersOf(loop), targets).length > 0;
}

function* checkIterator(draft: Draft, iterator: Json | undefined, path: string): Findings {
  if (iterator === undefined) return;
  if (!isObject(iterator)) {
    yield error('INVALID_LOOP', path, `iterator is ${shown(iterator)}. Write {"items": "state.list"}.`);
    return;
  }
  yield* checkItems(iterator, path, 'INVALID_LOOP');
  yield* checkNames(iterator, path, 'INVALID_LOOP');
  yield* checkDone(draft, iterator, path);
  yield* checkFields(iterator, WALK, { path, code: 'INVALID_LOOP', what: 'an iterator' });
}

function* checkExits(draft: Draft, loop: JsonObject, path: string): Findings {
  const exits = given(loop, 'exits');
  if (exits === undefined) return;
  if (!Array.isArray(exits)) {
    const message = `exits is ${shown(exits)}. Write a list of {"id", "from", "condition", "targetSocketId"}.`;
    yield error('INVALID_LOOP', `${path}.exits`, message);
    return;
  }
  const members = new Set(membersOf(loop));
  const ids = new Set<Json>();
  const routes = new Set<string>();
  for (const [index, route] of exits.entries()) {
    const at = `${path}.exits[${index}]`;
    if (!isObject(route)) {
      const message = `A route is an object, not ${shown(route)}. Write {"id", "from", "condition", "targetSocketId"}.`;
      yield error('INVALID_LOOP', at, message);
      continue;
    }
    yield* checkRoute(draft, members, route, at);
    const from = stringAt(route, 'from');
    const condition = stringAt(route, 'condition');
    const key = `${from} ${condition}`;
    const written = given(route, 'id');
    // Without one it is made from the other two. Two routes that are the same have one mistake, not two.
    const isMade = written === undefined && from !== null && condition !== null && !routes.has(key);
    const id = isMade ? `exit:${from}:${condition}` : written;
    if (id === undefined) {
      // What is missing, or the same route, is reported by itself.
    } else if (!isText(id)) {
      const fix = 'Write a text such as "exit:Socket-6:satisfied", or leave it out.';
      yield error('INVALID_LOOP', `${at}.id`, `The id of a route is ${shown(id)}. ${fix}`);
    } else if (ids.has(id)) {
      yield error('INVALID_LOOP', `${at}.id`, `The id ${shown(id)} is used twice in this loop. Choose another.`);
    } else ids.add(id);
    if (from === null || condition === null) continue;
    if (routes.has(key)) {
      const fix = 'Keep one of the two.';
      yield error('INVALID_LOOP', at, `There is already a route from ${shown(from)} on ${shown(condition)}. ${fix}`);
    }
    routes.add(key);
  }
}

function* checkRoute(draft: Draft, members: ReadonlySet<string>, route: JsonObject, path: string): Findings {
  const from = stringAt(route, 'from') ?? '';
  const known = yield* checkEndpoint(draft, given(route, 'from'), `${path}.from`, 'socket');
  if (known && !members.has(from)) {
    const fix = `Name a member: ${listed([...members])}.`;
    yield error(
      'INVALID_LOOP',
      `${path}.from`,
      `${from} is not in this loop, so the loop cannot be left there. ${fix}`,
    );
  }
  const condition = given(route, 'condition');
  yield* checkCondition(condition, `${path}.condition`);
  if (known) yield* checkGuard(draft, objectAt(draft.sockets, from), condition, `${path}.condition`);
  yield* checkEndpoint(draft, given(route, 'targetSocketId'), `${path}.targetSocketId`, 'socket');
  yield* checkFields(route, EXIT, { path, code: 'INVALID_LOOP', what: 'an exit route' });
}

function* checkParallel(parallel: Json | undefined, path: string): Findings {
  if (parallel === undefined) return;
  if (!isObject(parallel)) {
    yield error('INVALID_LOOP', path, `parallel is ${shown(parallel)}. Write {"maxConcurrency": 2}, or leave it out.`);
    return;
  }
  yield* checkFields(parallel, LANES, { path, code: 'INVALID_LOOP', what: 'parallel' });
}

/** Checks a legacy `exit`, which `resolve` turns into an `advance` on its source and an exit route. */
function* checkLegacyExit(draft: Draft, loop: JsonObject, path: string): Findings {
  const at = `${path}.exit`;
  const exit = given(loop, 'exit');
  if (exit === undefined) return;
  if (!isObject(exit)) {
    yield error('INVALID_LOOP', at, `exit is ${shown(exit)}. Write exits: a list of routes.`);
    return;
  }
  yield* checkFields(exit, OLD_EXIT, { path: at, code: 'INVALID_LOOP', what: 'exit' });
  yield* checkEndpoint(draft, given(exit, 'to'), `${at}.to`, 'socket or end');
  const condition = yield* checkCondition(given(exit, 'when'), `${at}.when`);
  const known = yield* checkEndpoint(draft, given(exit, 'from'), `${at}.from`, 'socket');
  if (!known) return;
  const members = new Set(membersOf(loop));
  const from = stringAt(exit, 'from') ?? '';
  if (!members.has(from)) {
    const fix = `Name a member: ${listed([...members])}.`;
    yield error('INVALID_LOOP', `${at}.from`, `${from} is not in this loop, so the loop cannot be left there. ${fix}`);
    return;
  }
  const socket = objectAt(draft.sockets, from);
  if (condition && isGuarded(given(exit, 'when')) && knownParse(draft, socket) === 'text') {
    const fix = `Write parse: "json" on ${from}, or use always.`;
    yield error('INVALID_LOOP', `${at}.when`, `The exit reads satisfied, but ${from} returns plain text. ${fix}`);
  }
  const derived = advanceOfExit(loop);
  if (derived === null) return;
  yield* checkAuthoredAdvance(socket, derived, `${draft.path}.sockets.${from}.advance`);
  yield* checkWayBack(socket, derived, members, `${draft.path}.sockets.${from}.edges`);
}

function* checkAuthoredAdvance(socket: JsonObject, derived: DerivedAdvance, path: string): Findings {
  const advance = given(socket, 'advance');
  if (!isObject(advance)) return;
  for (const field of ['cursor', 'items', 'when'] as const) {
    const written = given(advance, field) ?? (field === 'when' ? 'always' : undefined);
    if (written === derived[field]) continue;
    const fix = `Write ${shown(derived[field])}, or remove advance so that it is derived.`;
    yield error('INVALID_LOOP', `${path}.${field}`, `${field} does not fit the exit of the loop. ${fix}`);
  }
}

/** The source has to go on with the next item, and with the same one when the exit's condition does not hold. */
function* checkWayBack(
  socket: JsonObject,
  derived: DerivedAdvance,
  members: ReadonlySet<string>,
  path: string,
): Findings {
  const back = edgesOf(socket).filter((edge) => members.has(stringAt(edge, 'to') ?? ''));
  if (back.length === 0) {
    const fix = 'Add an always edge to a member.';
    yield error('INVALID_LOOP', path, `${derived.from} ends the loop but never leads back into it. ${fix}`);
    return;
  }
  const opposite = derived.when === 'satisfied' ? 'not_satisfied' : 'satisfied';
  const covered = back.some((edge) => edge.when === 'always' || edge.when === opposite);
  if (covered || derived.when === 'always') return;
  const fix = `Add a ${opposite} edge or an always edge to a member.`;
  yield error('INVALID_LOOP', path, `${derived.from} leads back into the loop on ${derived.when} only. ${fix}`);
}
