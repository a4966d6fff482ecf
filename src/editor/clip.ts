// Copy and paste, within a document and between two: sockets with what is between them, and what they refer to.
import {
  isObject,
  isSameJson,
  isText,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  stringAt,
} from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import {
  type EditorDocument,
  loadoutOf,
  loopsOf,
  materiaOf,
  type Point,
  pointOf,
  routeId,
  socketAt,
  socketsOf,
  without,
} from './document.ts';
import { APART, moveTo } from './layout.ts';
import { Sheet } from './sheet.ts';

/** What is on the clipboard, as plain data. It may come from another page, so nothing in it is believed. */
export type Clip = {
  readonly sockets: JsonObject;
  readonly loops: JsonObject;
  readonly materia: JsonObject;
  readonly files: Readonly<Record<string, string>>;
  readonly points: Readonly<Record<string, Point>>;
};

export function copyOf(document: EditorDocument, ids: readonly string[]): Clip {
  const chosen = [...new Set(ids)].filter((id) => socketAt(document, id) !== null);
  const sockets = Object.fromEntries(chosen.map((id): [string, Json] => [id, socketAt(document, id) ?? {}]));
  const names = Object.values(sockets).map((socket) => (isObject(socket) ? stringAt(socket, 'materia') : null));
  const used = Object.entries(materiaOf(document)).filter(([id]) => names.includes(id));
  const files = used.flatMap(([, each]) => fileOf(document, each));
  return {
    sockets,
    loops: Object.fromEntries(
      Object.entries(loopsOf(document)).filter(
        ([, loop]) => isObject(loop) && listAt(loop, 'sockets').every((id) => chosen.some((each) => each === id)),
      ),
    ),
    materia: Object.fromEntries(used),
    files: Object.fromEntries(files),
    points: Object.fromEntries(chosen.flatMap((id) => [[id, pointOf(document, id)] as const]).filter(hasPoint)),
  };
}

function hasPoint(entry: readonly [string, Point | null]): entry is readonly [string, Point] {
  return entry[1] !== null;
}

function fileOf({ files }: EditorDocument, materia: Json): readonly (readonly [string, string])[] {
  const name = isObject(materia) ? materia.promptFile : undefined;
  const text = isText(name) && Object.hasOwn(files, name) ? files[name] : undefined;
  return isText(name) && text !== undefined ? [[name, text]] : [];
}

/** How far a copy lies from what it was copied from. */
const OFFSET = 40;
const ROW_SOCKETS = 4;
const SOCKETS_MAX = 2_000;

/** `at` is where the upper left corner goes. */
export function paste(sheet: Sheet, clip: Clip, at: Point | undefined): Denied | null {
  const sockets = Object.entries(clip.sockets).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
  if (sockets.length === 0) return deny('BAD_USAGE', 'There is nothing to paste.');
  if (sockets.length > SOCKETS_MAX) return deny('BAD_USAGE', `At most ${SOCKETS_MAX} sockets are pasted at once.`);
  const names = pasteMateria(sheet, clip);
  const ids = new Map<string, string>();
  for (const [id] of sockets) ids.set(id, sheet.freeSocket([...ids.values()]));
  for (const [id, socket] of sockets) sheet.putSocket(ids.get(id) ?? id, pasted(sheet, socket, ids, names));
  const wasEmpty = sheet.entry === null || !sheet.has(sheet.entry);
  const [start] = ids.values();
  if (wasEmpty && start !== undefined)
    sheet.putLoadout(({ sockets: all, ...rest }) => ({
      ...rest,
      entry: start,
      ...(all === undefined ? {} : { sockets: all }),
    }));
  for (const [id, loop] of Object.entries(clip.loops)) if (isObject(loop)) pasteLoop(sheet, id, loop, ids);
  sheet.selected = [...ids.values()];
  return placeCopies(sheet, clip, ids, at);
}

function placeCopies(
  sheet: Sheet,
  { points }: Clip,
  ids: ReadonlyMap<string, string>,
  at: Point | undefined,
): Denied | null {
  const placed = [...ids].flatMap(([old, id], n) => {
    // What the layout placed so far goes in rows, where a place is asked for.
    const inRow = at && { x: (n % ROW_SOCKETS) * APART.x, y: Math.floor(n / ROW_SOCKETS) * APART.y };
    const point = Object.hasOwn(points, old) ? points[old] : inRow;
    return point && Number.isFinite(point.x) && Number.isFinite(point.y) ? [[id, point] as const] : [];
  });
  if (placed.length === 0) return null;
  const corner = {
    x: Math.min(...placed.map(([, { x }]) => x)),
    y: Math.min(...placed.map(([, { y }]) => y)),
  };
  const shift = at ? { x: at.x - corner.x, y: at.y - corner.y } : { x: OFFSET, y: OFFSET };
  return moveTo(sheet, Object.fromEntries(placed.map(([id, { x, y }]) => [id, { x: x + shift.x, y: y + shift.y }])));
}

/** A socket with its edges to others of the copy; the others are left behind. A label is the name of one socket. */
function pasted(
  sheet: Sheet,
  socket: JsonObject,
  ids: ReadonlyMap<string, string>,
  names: ReadonlyMap<string, string>,
): JsonObject {
  const edges = listAt(socket, 'edges').flatMap((edge): JsonObject[] => {
    if (!isObject(edge)) return [];
    const to = edge.to === 'end' ? 'end' : ids.get(stringAt(edge, 'to') ?? '');
    return to === undefined ? [] : [{ ...edge, to }];
  });
  const materia = stringAt(socket, 'materia');
  const label = stringAt(socket, 'label');
  const { edges: _edges, ...rest } = socket;
  return {
    ...rest,
    ...(label === null ? {} : { label: freeLabel(sheet, label) }),
    ...(materia === null ? {} : { materia: names.get(materia) ?? materia }),
    ...(edges.length === 0 ? {} : { edges }),
  };
}

/** A loadout under another name, in the configuration of the target. What ships is pinned word for word, and a duplicate is there to be changed. */
export function duplicateOf(
  source: EditorDocument,
  target: EditorDocument,
  { isBundled, isShort }: { readonly isBundled: boolean; readonly isShort: boolean },
): { readonly document: EditorDocument; readonly notes: readonly string[] } {
  const sheet = new Sheet(target);
  const clip = copyOf(source, Object.keys(socketsOf(source)));
  const materia = Object.entries(clip.materia).map(([id, each]): [string, Json] => [
    id,
    isBundled && isObject(each) ? without(each, 'identity') : each,
  ]);
  const names = pasteMateria(sheet, { ...clip, materia: Object.fromEntries(materia) });
  sheet.putLoadout(() => {
    const sockets = Object.entries(socketsOf(source)).map(([id, socket]): [string, Json] => {
      const name = isObject(socket) ? stringAt(socket, 'materia') : null;
      return [id, name === null || !isObject(socket) ? socket : { ...socket, materia: names.get(name) ?? name }];
    });
    return { ...without(loadoutOf(source), 'id', 'source', 'lockState'), sockets: Object.fromEntries(sockets) };
  });
  const own = isShort ? [...names.values()] : [];
  const document = {
    ...sheet.document,
    foreign: Object.keys(materiaOf(sheet.document)).filter((id) => !own.includes(id)),
  };
  return { document, notes: sheet.notes };
}

function freeLabel(sheet: Sheet, label: string): string {
  const taken = sheet.socketIds.map((id) => stringAt(sheet.socket(id), 'label'));
  return freeName(label, (name) => taken.includes(name));
}

function freeName(usual: string, isTaken: (name: string) => boolean): string {
  let name = usual;
  for (let number = 2; isTaken(name); number++) name = `${usual}-${number}`;
  return name;
}

/** What the document does not have, under a new name where it has another one of that name. */
function pasteMateria(sheet: Sheet, clip: Clip): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [id, definition] of Object.entries(clip.materia)) {
    if (!isObject(definition) || id === '__proto__') continue;
    const known = materiaOf(sheet.document);
    const { files } = sheet.document;
    const file = stringAt(definition, 'promptFile');
    const text = file !== null && Object.hasOwn(clip.files, file) ? clip.files[file] : undefined;
    const isSameText = file === null || text === undefined || files[file] === undefined || files[file] === text;
    if (Object.hasOwn(known, id) && isSameJson(known[id], definition) && isSameText) continue;
    const name = freeName(id, (each) => Object.hasOwn(known, each));
    if (name !== id) sheet.note(`There is another ${id} here, so the pasted one is called ${name}.`);
    names.set(id, name);
    if (file === null || text === undefined) {
      sheet.write(['materia', name], definition);
      continue;
    }
    const ending = /\.[^./]*$/.exec(file)?.[0] ?? '';
    const stem = file.slice(0, file.length - ending.length);
    const free = isSameText ? file : `${freeName(stem, (each) => files[each + ending] !== undefined)}${ending}`;
    sheet.write(['materia', name], { ...definition, promptFile: free });
    sheet.putFile(free, text);
  }
  return names;
}

function pasteLoop(sheet: Sheet, old: string, loop: JsonObject, ids: ReadonlyMap<string, string>): void {
  const members = listAt(loop, 'sockets').flatMap((id) => ids.get(String(id)) ?? []);
  if (members.length === 0 || old === '__proto__') return;
  const id = freeName(old, (name) => sheet.loopIds.includes(name));
  const generator = ids.get(stringAt(objectAt(loop, 'consumes'), 'from') ?? '');
  const exits = listAt(loop, 'exits').flatMap((exit): JsonObject[] => {
    if (!isObject(exit)) return [];
    const [from, to] = [ids.get(stringAt(exit, 'from') ?? ''), ids.get(stringAt(exit, 'targetSocketId') ?? '')];
    if (from === undefined || to === undefined) return [];
    return [{ ...exit, id: routeId(from, stringAt(exit, 'condition') ?? 'always'), from, targetSocketId: to }];
  });
  const kept = without(loop, 'exits', ...(generator === undefined ? ['consumes'] : []));
  if (generator === undefined && isObject(loop.consumes))
    sheet.note(`The copy of the loop ${old} has no generator yet. Name one.`);
  sheet.putLoop(id, {
    ...kept,
    sockets: members,
    ...(generator === undefined ? {} : { consumes: { ...objectAt(loop, 'consumes'), from: generator } }),
    ...(exits.length === 0 ? {} : { exits }),
  });
}
