// The document of the editor: one loadout in the seed's JSON form, with everything that it refers to, as plain data. Nothing in this
// folder touches a disk, so the page edits, checks and tries a document without a server.
import {
  given,
  isObject,
  isString,
  isText,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  stringAt,
} from '../kernel/json.ts';

/** Documents are never changed: an edit answers a new one that shares what stayed. */
export type EditorDocument = {
  /** The name of the loadout. */
  readonly name: string;
  /** The configuration as it is written: `loadouts` holds this loadout alone, `materia` all that it may use. */
  readonly config: JsonObject;
  /** The materia that are defined outside of the loadout's own file: a loadout of the short form only names them. */
  readonly foreign: readonly string[];
  /** The texts of the prompts and schemas that the configuration names, by that name. */
  readonly files: Readonly<Record<string, string>>;
};

export type Point = { readonly x: number; readonly y: number };

/** A way out of a socket: the edge with this number in its list. */
export type EdgeRef = { readonly from: string; readonly index: number };

/** The id under which a page shows an exit of a loop: `loop-exit:<loopId>:<routeId>`. */
export type ExitId = string;

/** The id under which a page shows an edge. */
export function edgeId({ from, index }: EdgeRef): string {
  return `edge:${from}:${index}`;
}

/** An edge or an exit. */
export type WayRef = EdgeRef | { readonly exit: ExitId };

type Around = {
  readonly files?: Readonly<Record<string, string>>;
  /** Without it every materia that is there. */
  readonly foreign?: readonly string[];
};

/** A document without a socket, with the materia of a configuration. */
export function emptyDocument(name: string, config: JsonObject = {}, around: Around = {}): EditorDocument {
  return openDocument({ materia: {}, ...config, loadouts: { [name]: { sockets: {} } } }, name, around);
}

/** The document of one loadout of a configuration as it is written. */
export function openDocument(config: JsonObject, name: string, { files = {}, foreign }: Around = {}): EditorDocument {
  const { activeLoadout: _active, activeLoadoutId: _id, ...rest } = config;
  return {
    name,
    config: { ...rest, loadouts: { [name]: objectAt(objectAt(config, 'loadouts'), name) } },
    foreign: foreign ?? Object.keys(objectAt(config, 'materia')),
    files,
  };
}

export function loadoutOf({ config, name }: EditorDocument): JsonObject {
  return objectAt(objectAt(config, 'loadouts'), name);
}

export function socketsOf(document: EditorDocument): JsonObject {
  return objectAt(loadoutOf(document), 'sockets');
}

export function socketAt(document: EditorDocument, id: string): JsonObject | null {
  const sockets = socketsOf(document);
  const socket = Object.hasOwn(sockets, id) ? sockets[id] : undefined;
  return isObject(socket) ? socket : null;
}

export function loopsOf(document: EditorDocument): JsonObject {
  return objectAt(loadoutOf(document), 'loops');
}

export function loopAt(document: EditorDocument, id: string): JsonObject | null {
  const loop = given(loopsOf(document), id);
  return isObject(loop) ? loop : null;
}

/** Every materia that a socket may name. */
export function materiaOf({ config }: EditorDocument): JsonObject {
  return objectAt(config, 'materia');
}

/** The definition of the materia in a socket; null where the socket is empty or names none that is there. */
export function materiaIn(document: EditorDocument, socket: string): JsonObject | null {
  const id = stringAt(socketAt(document, socket) ?? {}, 'materia');
  const found = id === null ? undefined : given(materiaOf(document), id);
  return isObject(found) ? found : null;
}

/** What people call a socket. */
export function nameOf(document: EditorDocument, socket: string): string {
  const written = socketAt(document, socket) ?? {};
  const materia = materiaIn(document, socket);
  return (
    [stringAt(written, 'label'), materia && stringAt(materia, 'label'), stringAt(written, 'materia')].find(isText) ??
    socket
  );
}

/** A text of the kernel with the names of sockets in the place of their ids. */
export function inNames(document: EditorDocument, text: string): string {
  // Within another id, such as that of an exit, it stays.
  return text.replace(/(?<![:\w])Socket-\d+\b(?!:)/g, (id) => (socketAt(document, id) ? nameOf(document, id) : id));
}

/** The loop that a socket is a member of. */
export function loopWith(document: EditorDocument, socket: string): string | null {
  const found = Object.entries(loopsOf(document)).find(
    ([, loop]) => isObject(loop) && listAt(loop, 'sockets').includes(socket),
  );
  return found?.[0] ?? null;
}

/** Where a socket was put by hand. */
export function pointOf(document: EditorDocument, socket: string): Point | null {
  const { x, y } = objectAt(objectAt(objectAt(loadoutOf(document), 'layout'), 'sockets'), socket);
  return typeof x === 'number' && typeof y === 'number' ? { x, y } : null;
}

export type Exit = {
  readonly exit: ExitId;
  readonly loop: string;
  readonly index: number;
  readonly route: string;
  readonly from: string;
  readonly condition: string;
  readonly to: string;
};

/** The exits of all loops, with the ids under which a page shows them. */
export function exitsIn(document: EditorDocument): readonly Exit[] {
  return Object.entries(loopsOf(document)).flatMap(([loop, written]) =>
    listAt(isObject(written) ? written : {}, 'exits').flatMap((each, index): Exit[] => {
      if (!isObject(each)) return [];
      const from = stringAt(each, 'from') ?? '';
      const condition = stringAt(each, 'condition') ?? '';
      const route = stringAt(each, 'id') ?? routeId(from, condition);
      const to = stringAt(each, 'targetSocketId') ?? '';
      return [{ exit: `loop-exit:${loop}:${route}`, loop, index, route, from, condition, to }];
    }),
  );
}

export function routeId(from: string, condition: string): string {
  return `exit:${from}:${condition}`;
}

/** What a form writes to: a part of the loadout, a materia, or the rest of the configuration (budget, checkers, limits). */
export type FieldOwner =
  | { readonly socket: string }
  | { readonly loop: string }
  | { readonly materia: string }
  | { readonly loadout: true }
  | { readonly config: true };

/** The value of a field of a form; undefined where none is written. */
export function fieldAt(document: EditorDocument, of: FieldOwner, path: ValuePath): Json | undefined {
  let value: Json | undefined = ownerAt(document, of);
  for (const key of path) {
    if (typeof key === 'number') value = Array.isArray(value) ? (value as readonly Json[])[key] : undefined;
    else value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

function ownerAt(document: EditorDocument, of: FieldOwner): JsonObject {
  if ('socket' in of) return socketAt(document, of.socket) ?? {};
  if ('loop' in of) return loopAt(document, of.loop) ?? {};
  if ('materia' in of) return objectAt(materiaOf(document), of.materia);
  return 'loadout' in of ? loadoutOf(document) : document.config;
}

/** The configuration with the texts of its files in the place of their names, as the checks and a cast want it. */
export function filledIn({ config, files }: EditorDocument): JsonObject {
  const withSchema = (object: Json): Json => {
    if (!isObject(object) || !isString(object.schema)) return object;
    const schema = jsonIn(files[object.schema]);
    return isObject(schema) ? { ...object, schema } : object;
  };
  const materia = Object.entries(objectAt(config, 'materia')).map(([id, written]): [string, Json] => {
    if (!isObject(written) || !isText(written.promptFile) || written.prompt !== undefined)
      return [id, withSchema(written)];
    const { promptFile, ...rest } = written;
    return [id, withSchema({ ...rest, prompt: files[promptFile] ?? '(missing)' })];
  });
  const loadouts = Object.entries(objectAt(config, 'loadouts')).map(([name, written]): [string, Json] => {
    if (!isObject(written) || !isObject(written.sockets)) return [name, written];
    const sockets = Object.entries(written.sockets).map(([id, socket]): [string, Json] => [id, withSchema(socket)]);
    return [name, { ...written, sockets: Object.fromEntries(sockets) }];
  });
  return { ...config, materia: Object.fromEntries(materia), loadouts: Object.fromEntries(loadouts) };
}

function jsonIn(text: string | undefined): Json | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}

/** The way into a value. What writes there changes nothing: it answers a new value that shares what stayed. */
export type ValuePath = readonly (string | number)[];

/** The value with another one at the place. `undefined` removes it, and objects that are empty after that. */
export function writtenAt(value: Json | undefined, path: ValuePath, next: Json | undefined): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return next;
  if (typeof key === 'number') {
    const list = Array.isArray(value) ? [...(value as readonly Json[])] : [];
    const written = writtenAt(list[key], rest, next);
    if (written === undefined) list.splice(key, 1);
    else list[Math.min(key, list.length)] = written;
    return list;
  }
  const object = isObject(value) ? value : {};
  const written = writtenAt(Object.hasOwn(object, key) ? object[key] : undefined, rest, next);
  if (written === undefined || (rest.length > 0 && next === undefined && isEmptyObject(written)))
    return without(object, key);
  return { ...object, [key]: written };
}

export function without(object: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** The object with a member under another name, at the same place. */
export function renamed(object: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]));
}

export function isEmptyObject(value: Json | undefined): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
