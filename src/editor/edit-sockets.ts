// Edits of sockets: add, remove, empty, rename, and one field of a form.
import { given, isObject, isText, type JsonObject, listAt, objectAt, stringAt } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import {
  exitsIn,
  type FieldOwner,
  isEmptyObject,
  loadoutOf,
  loopAt,
  materiaOf,
  type Point,
  type ValuePath,
  type WayRef,
  without,
  writtenAt,
} from './document.ts';
import { guardedFirst } from './edit-edges.ts';
import { renameMateria } from './edit-materia.ts';
import { moveTo } from './layout.ts';
import { first, type Sheet, shortened } from './sheet.ts';

type Added = {
  readonly materia?: string;
  readonly at?: Point;
  readonly onto?: WayRef;
  readonly after?: string;
};

export function addSocket(sheet: Sheet, { materia, at, onto, after }: Added): Denied | null {
  const id = sheet.freeSocket();
  if (materia !== undefined && !Object.hasOwn(materiaOf(sheet.document), materia)) return noMateria(materia);
  const refused = first(
    after === undefined ? null : sheet.noSocket(after),
    onto === undefined ? null : noWay(sheet, onto),
  );
  if (refused) return refused;
  sheet.putSocket(id, newSocket(sheet, materia));
  if (sheet.entry === null || !sheet.has(sheet.entry)) sheet.putLoadout((loadout) => withEntry(loadout, id));
  if (onto !== undefined) insertOnto(sheet, id, onto);
  else if (after !== undefined) insertAfter(sheet, id, after);
  if (at !== undefined) moveTo(sheet, { [id]: at });
  sheet.selected = [id];
  return null;
}

/** `entry` comes before the sockets, as people write it. */
function withEntry(loadout: JsonObject, entry: string): JsonObject {
  if (Object.hasOwn(loadout, 'entry')) return { ...loadout, entry };
  const { sockets, ...rest } = loadout;
  return { ...rest, entry, ...(sockets === undefined ? {} : { sockets }) };
}

/** A materia may say how its output is usually read. */
function newSocket(sheet: Sheet, id: string | undefined): JsonObject {
  if (id === undefined) return { empty: true };
  const materia = objectAt(materiaOf(sheet.document), id);
  const parse =
    given(materia, 'type') === 'utility' || materia.generator === true ? undefined : given(materia, 'parse');
  return { materia: id, ...(parse === undefined ? {} : { parse }) };
}

export function noMateria(id: string): Denied {
  return deny('UNKNOWN_MATERIA', `There is no materia ${shortened(id)}.`, { materia: shortened(id) });
}

function noWay(sheet: Sheet, way: WayRef): Denied | null {
  const isThere =
    'exit' in way
      ? exitsIn(sheet.document).some(({ exit }) => exit === way.exit)
      : sheet.edges(way.from)[way.index] !== undefined;
  return isThere ? null : deny('UNKNOWN_ENDPOINT', 'There is no such edge.');
}

function insertOnto(sheet: Sheet, id: string, way: WayRef): void {
  if ('exit' in way) {
    const found = exitsIn(sheet.document).find(({ exit }) => exit === way.exit);
    if (!found) return;
    const exits = listAt(sheet.loop(found.loop), 'exits');
    sheet.putExits(
      found.loop,
      exits.map((each, index) => (index === found.index && isObject(each) ? { ...each, targetSocketId: id } : each)),
    );
    sheet.putEdges(id, [{ when: 'always', to: found.to }]);
    return;
  }
  const edges = sheet.edges(way.from);
  const to = stringAt(edges[way.index] ?? {}, 'to') ?? 'end';
  sheet.putEdges(
    way.from,
    edges.map((edge, index) => (index === way.index ? { ...edge, to: id } : edge)),
  );
  sheet.putEdges(id, [{ when: 'always', to }]);
  joinLoops(sheet, id, way.from, to);
  takeOverGenerator(sheet, id, way.from, to);
}

function insertAfter(sheet: Sheet, id: string, from: string): void {
  const edges = sheet.edges(from);
  const always = edges.findIndex(({ when }) => when === 'always');
  if (always === -1) sheet.putEdges(from, [...edges, { when: 'always', to: id }]);
  else insertOnto(sheet, id, { from, index: always });
}

/** What is inserted between two members of a loop is a member, too. */
function joinLoops(sheet: Sheet, id: string, from: string, to: string): void {
  for (const loop of sheet.loopIds) {
    const members = sheet.members(loop);
    if (!members.includes(from) || !members.includes(to)) continue;
    const at = members.indexOf(from) + 1;
    sheet.putLoop(loop, { ...sheet.loop(loop), sockets: [...members.slice(0, at), id, ...members.slice(at)] });
    sheet.note(`${sheet.name(id)} is now in the loop ${loop}.`);
  }
}

/** Between a generator and its loop: a second generator is the one whose items are walked. */
function takeOverGenerator(sheet: Sheet, id: string, from: string, to: string): void {
  for (const loop of sheet.loopIds) {
    const written = sheet.loop(loop);
    const consumes = objectAt(written, 'consumes');
    if (stringAt(consumes, 'from') !== from || !sheet.members(loop).includes(to)) continue;
    const materia = objectAt(materiaOf(sheet.document), stringAt(sheet.socket(id), 'materia') ?? '');
    if (materia.generator !== true) continue;
    sheet.putLoop(loop, { ...written, consumes: { ...consumes, from: id } });
    sheet.note(`The loop ${loop} now walks over the items of ${sheet.name(id)}.`);
  }
}

export function removeSockets(sheet: Sheet, ids: readonly string[]): Denied | null {
  const refused = first(...ids.map((id) => sheet.noSocket(id)));
  if (refused) return refused;
  const gone = new Set(ids);
  const next = entryAfter(sheet, gone);
  for (const id of gone) sheet.putSocket(id, null);
  for (const id of sheet.socketIds) dropEdgesTo(sheet, id, gone);
  for (const loop of sheet.loopIds) dropFromLoop(sheet, loop, gone);
  sheet.putLoadout((loadout) => withoutPoints(loadout, gone));
  if (sheet.entry !== null && gone.has(sheet.entry)) {
    sheet.putLoadout((loadout) => (next === null ? without(loadout, 'entry') : { ...loadout, entry: next }));
    if (next !== null) sheet.note(`A cast now starts at ${sheet.name(next)}.`);
  }
  return null;
}

/** Where a cast starts without these: at what followed the entry, else at the first socket that is left. */
function entryAfter(sheet: Sheet, gone: ReadonlySet<string>): string | null {
  const seen = new Set<string>();
  const ahead = sheet.entry === null ? [] : [sheet.entry];
  for (let id = ahead.shift(); id !== undefined; id = ahead.shift()) {
    if (seen.has(id) || !sheet.has(id)) continue;
    if (!gone.has(id)) return id;
    seen.add(id);
    ahead.push(...sheet.edges(id).map((edge) => stringAt(edge, 'to') ?? ''));
  }
  return sheet.socketIds.find((id) => !gone.has(id)) ?? null;
}

function dropEdgesTo(sheet: Sheet, id: string, gone: ReadonlySet<string>): void {
  const edges = sheet.edges(id);
  const kept = edges.filter((edge) => !gone.has(stringAt(edge, 'to') ?? ''));
  if (kept.length !== edges.length) sheet.putEdges(id, kept);
}

function dropFromLoop(sheet: Sheet, loop: string, gone: ReadonlySet<string>): void {
  const members = sheet.members(loop).filter((id) => !gone.has(id));
  const written = sheet.loop(loop);
  const exits = listAt(written, 'exits').filter((exit) => !isAbout(exit, gone));
  const lost = listAt(written, 'exits').length - exits.length;
  if (members.length === 0 && sheet.members(loop).length > 0) {
    sheet.putLoop(loop, null);
    sheet.note(`The loop ${loop} has no socket left and is removed${lost > 0 ? ', with its exits' : ''}.`);
    return;
  }
  const generator = stringAt(objectAt(written, 'consumes'), 'from');
  const isOrphan = generator !== null && gone.has(generator);
  if (members.length === sheet.members(loop).length && lost === 0 && !isOrphan) return;
  if (lost > 0) sheet.note(`The loop ${loop} has ${lost} ${lost === 1 ? 'exit' : 'exits'} less.`);
  if (isOrphan) sheet.note(`The loop ${loop} has no generator any more. Name another one.`);
  const kept: JsonObject = { ...(isOrphan ? without(written, 'consumes') : written), sockets: members };
  sheet.putLoop(loop, exits.length === 0 ? without(kept, 'exits') : { ...kept, exits });
}

function isAbout(exit: unknown, gone: ReadonlySet<string>): boolean {
  if (!isObject(exit)) return false;
  return gone.has(stringAt(exit, 'from') ?? '') || gone.has(stringAt(exit, 'targetSocketId') ?? '');
}

function withoutPoints(loadout: JsonObject, gone: ReadonlySet<string>): JsonObject {
  const layout = objectAt(loadout, 'layout');
  const points = objectAt(layout, 'sockets');
  if (![...gone].some((id) => Object.hasOwn(points, id))) return loadout;
  const left = without(points, ...gone);
  const rest = isEmptyObject(left) ? without(layout, 'sockets') : { ...layout, sockets: left };
  return isEmptyObject(rest) ? without(loadout, 'layout') : { ...loadout, layout: rest };
}

export function emptySockets(sheet: Sheet, ids: readonly string[]): Denied | null {
  const refused = first(...ids.map((id) => sheet.noSocket(id)));
  if (refused) return refused;
  for (const id of ids) sheet.putSocket(id, { ...without(sheet.socket(id), 'materia'), empty: true });
  return null;
}

export function setEntry(sheet: Sheet, id: string): Denied | null {
  const refused = sheet.noSocket(id);
  if (refused) return refused;
  sheet.putLoadout((loadout) => withEntry(loadout, id));
  return null;
}

/** A step of the short form and its materia share their name, so both get the new one. */
export function renameSocket(sheet: Sheet, id: string, label: string): Denied | null {
  const refused = sheet.noSocket(id);
  if (refused) return refused;
  const before = sheet.socket(id);
  const [old, materia] = [stringAt(before, 'label'), stringAt(before, 'materia')];
  const users = sheet.socketIds.filter((each) => stringAt(sheet.socket(each), 'materia') === materia);
  sheet.putSocket(id, label === '' ? without(before, 'label') : { ...before, label });
  const isOwn = materia !== null && old === materia && users.length === 1;
  if (isOwn && isText(label) && !Object.hasOwn(materiaOf(sheet.document), label)) renameMateria(sheet, materia, label);
  return null;
}

/** Fields that other edits keep in order. */
const OWN_EDITS: Readonly<Record<string, readonly string[]>> = {
  loadout: ['sockets', 'loops', 'layout', 'entry'],
  config: ['loadouts', 'materia'],
};

const DEPTH_MAX = 64;

export function setField(
  sheet: Sheet,
  { of, path, value }: { readonly of: FieldOwner; readonly path: ValuePath; readonly value?: JsonObject[string] },
): Denied | null {
  const [head] = path;
  if (head === undefined || typeof head === 'number') return deny('BAD_USAGE', 'The edit names no field.');
  if (path.length > DEPTH_MAX || path.some((key) => key === '__proto__'))
    return deny('BAD_USAGE', 'There can be no such field.');
  const owner = 'loadout' in of ? 'loadout' : 'config' in of ? 'config' : null;
  if (owner !== null && OWN_EDITS[owner]?.includes(head))
    return deny('BAD_USAGE', `${head} is changed by edits of its own.`);
  if ('socket' in of) {
    const refused = sheet.noSocket(of.socket);
    if (refused) return refused;
    const next = writtenAt(sheet.socket(of.socket), path, value);
    sheet.putSocket(of.socket, isObject(next) ? next : {});
    if (head === 'edges') sheet.putEdges(of.socket, guardedFirst(sheet, of.socket, sheet.edges(of.socket)));
    return null;
  }
  if ('loop' in of) {
    const refused = sheet.noLoop(of.loop);
    if (refused) return refused;
    const next = writtenAt(loopAt(sheet.document, of.loop) ?? {}, path, value);
    sheet.putLoop(of.loop, isObject(next) ? next : {});
    return null;
  }
  if ('materia' in of) {
    if (!Object.hasOwn(materiaOf(sheet.document), of.materia)) return noMateria(of.materia);
    sheet.write(['materia', of.materia], writtenAt(objectAt(materiaOf(sheet.document), of.materia), path, value) ?? {});
    return null;
  }
  if ('loadout' in of) {
    const next = writtenAt(loadoutOf(sheet.document), path, value);
    sheet.putLoadout(() => (isObject(next) ? next : {}));
    return null;
  }
  sheet.write(path, value);
  return null;
}
