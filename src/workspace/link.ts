// Several loadouts and materia one after the other, in one cast. Each is found by its name; its sockets get numbers of their own, and
// whatever would end it leads on to the next one. A loadout that ends inside a loop is left by an exit of that loop. Nothing is written:
// the composed loadout is frozen in the cast and exists nowhere else.
import { basename, dirname, extname, join } from 'node:path';
import { END } from '../kernel/graph/config.ts';
import { draftOf, edgesOf, isGenerator, parseOf, typeOfMateria, withDefaultRunner } from '../kernel/graph/issue.ts';
import { consumedGenerator, membersOf } from '../kernel/graph/resolve-graph.ts';
import { given, isObject, isText, type Json, type JsonObject, listAt, objectAt, stringAt } from '../kernel/json.ts';
import { nearestName } from '../kernel/text.ts';
import { BUNDLED, type ConfigRequest, loadAll, loadFor } from './find-config.ts';
import { type Loaded, loadConfig, resolveScript } from './load-config.ts';
import { UsageError } from './locate.ts';
import { hasRegistry } from './registry-lock.ts';

const TARGETS_MAX = 12;

type Kind = 'loadout' | 'materia';
type Target = { readonly kind: Kind | null; readonly name: string };

/** One loadout that runs on its own, with the materia that it uses. */
type Fragment = { readonly name: string; readonly loadout: JsonObject; readonly materia: JsonObject };

/** The configuration of a cast of these targets; its one loadout is called after them. */
export function linkFor(request: ConfigRequest, targets: readonly string[]): Loaded & { readonly name: string } {
  const fragments = targetsIn(targets).map((target) => fragmentFor(request, target));
  const base = loadFor({ ...request, loadout: undefined });
  const { materia, parts } = withOwnMateria(fragments);
  const name = fragments.map((each) => each.name).join(' + ');
  const { activeLoadout: _active, activeLoadoutId: _id, ...rest } = isObject(base.config) ? base.config : {};
  const agents = withOneRegistry(request, materia);
  const config = withDefaultRunner({ ...rest, materia: agents, loadouts: { [name]: stitched(parts) } });
  return { file: base.file, baseDir: base.baseDir, issues: [], config, name };
}

function targetsIn(words: readonly string[]): readonly Target[] {
  if (words.length === 0) throw new UsageError('name at least one loadout or materia before --');
  if (words.length > TARGETS_MAX)
    throw new UsageError(`at most ${TARGETS_MAX} targets are linked, not ${words.length}`);
  return words.map((word) => {
    const [, kind, name = ''] = /^(?:(loadout|materia):)?(.*)$/s.exec(word.trim()) ?? [];
    if (name === '')
      throw new UsageError(`${JSON.stringify(word)} names nothing; write loadout:NAME, materia:NAME or NAME`);
    return { kind: kind === 'loadout' || kind === 'materia' ? kind : null, name };
  });
}

function fragmentFor(request: ConfigRequest, { kind, name }: Target): Fragment {
  const known = knownIn(request);
  const [loadout, materia] = [known.loadout.get(name), known.materia.get(name)];
  if (kind === null && loadout && materia)
    throw new UsageError(`${name} is a loadout and a materia; write loadout:${name} or materia:${name}`);
  if (loadout && kind !== 'materia') return loadoutFragment(name, loadout);
  if (materia && kind !== 'loadout') return materiaFragment(name, materia);
  const torn = known.broken.find(({ file }) => basename(file, extname(file)) === name);
  if (torn && kind !== 'materia')
    throw new UsageError(`loadout:${name} cannot be read: ${torn.issues[0]?.message ?? torn.file}`);
  throw new UsageError(unknownTarget(kind, name, known));
}

function unknownTarget(kind: Kind | null, name: string, known: Known): string {
  const names = { loadout: [...known.loadout.keys()], materia: [...known.materia.keys()] };
  const other = kind === 'loadout' ? 'materia' : 'loadout';
  if (kind !== null && known[other].has(name)) return `there is no ${kind} ${name}; say ${other}:${name}`;
  const kinds = kind === null ? (['loadout', 'materia'] as const) : [kind];
  const near = nearestName(
    name,
    kinds.flatMap((each) => names[each]),
  );
  const listed = kinds.map((each) => `${PLURAL[each]}: ${names[each].slice(0, NAMES_MAX).join(', ')}`).join('; ');
  return `there is no ${kind ?? 'loadout or materia'} ${name}; ${near === null ? listed : `did you mean ${near}?`}`;
}

const PLURAL = { loadout: 'loadouts', materia: 'materia' } as const;
const NAMES_MAX = 40;

type Known = {
  readonly loadout: ReadonlyMap<string, Loaded>;
  readonly materia: ReadonlyMap<string, JsonObject>;
  /** Files of the short form that cannot be read. */
  readonly broken: readonly Loaded[];
};

/** Everything that can be named: what the named file or else the project has comes before what is bundled. */
function knownIn(request: ConfigRequest): Known {
  const own = request.file === undefined ? loadAll(request.workspace) : [loadFor({ ...request, loadout: undefined })];
  const all = [...own, loadConfig(BUNDLED)];
  const loadout = new Map<string, Loaded>();
  const materia = new Map<string, JsonObject>();
  for (const loaded of all) {
    for (const name of Object.keys(objectAt(objectOf(loaded.config), 'loadouts'))) {
      if (!loadout.has(name)) loadout.set(name, loaded);
    }
    for (const [id, written] of Object.entries(objectAt(objectOf(loaded.config), 'materia'))) {
      if (isObject(written) && !materia.has(id)) materia.set(id, withBase(written, loaded.baseDir));
    }
  }
  return { loadout, materia, broken: all.filter(({ config }) => config === null) };
}

function loadoutFragment(name: string, loaded: Loaded): Fragment {
  const config = objectOf(loaded.config);
  const [wrong] = loaded.issues.filter(({ level, path }) => level === 'error' && !path.startsWith('materia.'));
  if (wrong) throw new UsageError(`loadout:${name} does not check: ${wrong.path}: ${wrong.message}`);
  const loadout = objectAt(objectAt(config, 'loadouts'), name);
  const ids = Object.values(objectAt(loadout, 'sockets')).flatMap((socket) =>
    isObject(socket) && isText(socket.materia) ? [socket.materia] : [],
  );
  const materia = [...new Set(ids)].flatMap((id) => {
    const one = given(objectAt(config, 'materia'), id);
    return isObject(one) ? [[id, withBase(one, loaded.baseDir)] as const] : [];
  });
  return { name, loadout, materia: Object.fromEntries(materia) };
}

function materiaFragment(name: string, materia: JsonObject): Fragment {
  const socket = { materia: name };
  const parse = parseOf(socket, materia);
  const isJson = parse === 'json' || isGenerator(materia);
  return {
    name,
    loadout: { entry: 'Socket-1', sockets: { 'Socket-1': { ...socket, ...(isJson ? { parse: 'json' } : {}) } } },
    materia: { [name]: materia },
  };
}

/** A relative program belongs to the file that names it, and the composed loadout has no file. */
function withBase(materia: JsonObject, baseDir: string): JsonObject {
  const command = given(materia, 'command');
  if (!Array.isArray(command) || !command.every(isText)) return materia;
  const [program = '', ...rest] = resolveScript(command, baseDir);
  const isRelative = typeOfMateria(materia) === 'agent' && program.startsWith('./');
  return { ...materia, command: [isRelative ? join(baseDir, program) : program, ...rest] };
}

/** Two materia of one name that differ keep their own text: the later one gets another name. */
function withOwnMateria(fragments: readonly Fragment[]) {
  const materia: Record<string, Json> = {};
  const parts = fragments.map(({ name, loadout, materia: own }, index) => {
    const renamed = new Map<string, string>();
    for (const [id, written] of Object.entries(own)) {
      const isSame = materia[id] === undefined || JSON.stringify(materia[id]) === JSON.stringify(written);
      const key = isSame ? id : `t${index + 1}-${id}`;
      if (key !== id) renamed.set(id, key);
      materia[key] = written;
    }
    const sockets = Object.entries(objectAt(loadout, 'sockets')).map(([id, socket]) => {
      const used = isObject(socket) ? stringAt(socket, 'materia') : null;
      const key = used === null ? undefined : renamed.get(used);
      return [id, isObject(socket) && key !== undefined ? { ...socket, materia: key } : socket] as const;
    });
    return { name, loadout: { ...loadout, sockets: Object.fromEntries(sockets) } };
  });
  return { materia, parts };
}

/** One registry governs a cast. That of the bundled agents does not know the others, so together with them they are not pinned. */
function withOneRegistry({ workspace }: ConfigRequest, materia: JsonObject): JsonObject {
  const bundled = Object.values(objectAt(objectOf(loadConfig(BUNDLED).config), 'materia'));
  const known = new Set(bundled.flatMap((one) => (isObject(one) && isText(one.identity) ? [one.identity] : [])));
  const isKnown = (one: Json) => isObject(one) && isText(one.identity) && known.has(one.identity);
  const agents = Object.values(materia).filter((one) => isObject(one) && typeOfMateria(one) === 'agent');
  if (hasRegistry(dirname(workspace.configFile)) || agents.every(isKnown)) return materia;
  const entries = Object.entries(materia).map(([id, one]) => {
    if (!isObject(one) || !isKnown(one)) return [id, one] as const;
    const { identity: _unpinned, ...rest } = one;
    return [id, rest] as const;
  });
  return Object.fromEntries(entries);
}

type Part = { readonly name: string; readonly loadout: JsonObject };

function stitched(parts: readonly Part[]): JsonObject {
  const starts = parts.map((_, index) => parts.slice(0, index).reduce((sum, part) => sum + countOf(part), 0));
  const placed = parts.map((part, index) => moved(part, index, starts[index] ?? 0));
  const sockets: Record<string, Json> = {};
  const loops: Record<string, Json> = {};
  for (const [index, part] of placed.entries()) {
    const next = placed[index + 1];
    const led = next === undefined ? part : ledOn(part, next.entry, parts[index]?.name ?? '');
    Object.assign(sockets, led.sockets);
    Object.assign(loops, led.loops);
  }
  const inputs = Object.assign({}, ...parts.map(({ loadout }) => objectAt(loadout, 'inputs'))) as JsonObject;
  return {
    ...(Object.keys(inputs).length > 0 ? { inputs } : {}),
    ...{ entry: placed[0]?.entry ?? 'Socket-1', sockets },
    ...(Object.keys(loops).length > 0 ? { loops } : {}),
  };
}

function countOf({ loadout }: Part): number {
  return Object.keys(objectAt(loadout, 'sockets')).length;
}

type Placed = { readonly entry: string; readonly sockets: JsonObject; readonly loops: JsonObject };

/** The same graph with sockets numbered from a place on, and loops with names that no other part has. */
function moved({ loadout }: Part, index: number, from: number): Placed {
  const ids = Object.keys(objectAt(loadout, 'sockets'));
  const names = new Map(ids.map((id, at) => [id, `Socket-${from + at + 1}`]));
  const to = (id: string | null) => (id === null ? null : (names.get(id) ?? id));
  const swap = (value: Json): Json => {
    if (typeof value === 'string') return names.get(value) ?? value;
    if (Array.isArray(value)) return value.map(swap);
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, swap(each)])) : value;
  };
  const sockets = Object.entries(objectAt(loadout, 'sockets')).map(([id, socket]) => {
    if (!isObject(socket)) return [to(id) ?? id, socket] as const;
    const { layout: _place, edges, advance, foreach, ...rest } = socket;
    const linked = { edges, advance, foreach };
    const swapped = Object.entries(linked).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, swap(value)] as const],
    );
    return [to(id) ?? id, { ...rest, ...Object.fromEntries(swapped) }] as const;
  });
  const loops = Object.entries(objectAt(loadout, 'loops')).map(([id, loop]) => {
    const { exits, ...rest } = isObject(loop) ? loop : {};
    const routes = listAt({ exits: exits ?? [] }, 'exits').map((route) => {
      const { id: _id, ...own } = isObject(route) ? route : {};
      return swap(own);
    });
    return [
      `t${index + 1}-${id}`,
      { ...(swap(rest) as JsonObject), ...(exits === undefined ? {} : { exits: routes }) },
    ] as const;
  });
  const entry = to(stringAt(loadout, 'entry')) ?? `Socket-${from + 1}`;
  return { entry, sockets: Object.fromEntries(sockets), loops: Object.fromEntries(loops) };
}

/** Every way in which a part ends leads to the next one. */
function ledOn({ entry, sockets, loops }: Placed, next: string, name: string): Placed {
  const draft = draftOf({ materia: {}, loadouts: { part: { entry, sockets, loops } } }, 'part');
  const regions = Object.values(loops).filter(isObject);
  const walked = regions.filter((loop) => consumedGenerator(draft, loop) !== null || isObject(given(loop, 'iterator')));
  const inside = new Set(walked.flatMap(membersOf));
  let ways = 0;
  const led = Object.entries(sockets).map(([id, socket]) => {
    if (!isObject(socket) || inside.has(id)) return [id, socket] as const;
    if (isObject(given(socket, 'foreach')))
      throw new UsageError(`loadout:${name} walks over a list at ${id} (foreach); put it last, or write it as a loop`);
    const edges = edgesOf(socket).map((edge) => (given(edge, 'to') === END ? { ...edge, to: next } : edge));
    const isOpen = !coversAll(edges);
    ways += edges.filter((edge) => edge.to === next).length + (isOpen ? 1 : 0);
    return [id, { ...socket, edges: isOpen ? [...edges, { when: 'always', to: next }] : edges }] as const;
  });
  const left = Object.entries(loops).map(([id, loop]) => {
    if (!isObject(loop) || !walked.includes(loop)) return [id, loop] as const;
    const exits = listAt(loop, 'exits').filter(isObject);
    const open = lastMembers(sockets, loop).filter(
      (from) => !exits.some((exit) => exit.from === from && exit.condition === 'always'),
    );
    ways += open.length;
    const routes = open.map((from) => ({ id: `exit:${from}:always`, from, condition: 'always', targetSocketId: next }));
    return [id, { ...loop, exits: [...exits, ...routes] }] as const;
  });
  if (ways === 0) throw new UsageError(`loadout:${name} never ends, so nothing can follow it`);
  return { entry, sockets: Object.fromEntries(led), loops: Object.fromEntries(left) };
}

/** Whether one of the edges is taken whatever the answer is. */
function coversAll(edges: readonly JsonObject[]): boolean {
  const conditions = edges.map((edge) => given(edge, 'when'));
  return conditions.includes('always') || (conditions.includes('satisfied') && conditions.includes('not_satisfied'));
}

/** The members where the list of a loop is used up. */
function lastMembers(sockets: JsonObject, loop: JsonObject): readonly string[] {
  const byExit = stringAt(objectAt(loop, 'exit'), 'from');
  const advancing = membersOf(loop).filter((id) => isObject(given(objectAt(sockets, id), 'advance')));
  return [...new Set([...advancing, ...(byExit === null ? [] : [byExit])])];
}

function objectOf(value: Json): JsonObject {
  return isObject(value) ? value : {};
}
