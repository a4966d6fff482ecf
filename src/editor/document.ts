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

/** A document without a socket. */
export function emptyDocument(name: string, config: JsonObject = {}): EditorDocument {
  const { activeLoadout: _active, activeLoadoutId: _id, ...rest } = config;
  return {
    name,
    config: { ...rest, materia: objectAt(config, 'materia'), loadouts: { [name]: { sockets: {} } } },
    files: {},
  };
}

/** The document of one loadout of a configuration as it is written. */
export function openDocument(
  config: JsonObject,
  name: string,
  files: Readonly<Record<string, string>> = {},
): EditorDocument {
  const { activeLoadout: _active, activeLoadoutId: _id, ...rest } = config;
  return { name, config: { ...rest, loadouts: { [name]: objectAt(objectAt(config, 'loadouts'), name) } }, files };
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
