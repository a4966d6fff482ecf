// What one edit works on: the document as far as it is changed, what to say about it, and what to select afterwards.
import { isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import {
  type EditorDocument,
  isEmptyObject,
  loadoutOf,
  loopAt,
  loopsOf,
  nameOf,
  socketAt,
  socketsOf,
  type ValuePath,
  without,
  writtenAt,
} from './document.ts';

export class Sheet {
  readonly notes: string[] = [];
  /** Ids of sockets, loops, exits, or of edges as `edgeId` makes them. */
  selected: readonly string[] = [];
  document: EditorDocument;

  constructor(document: EditorDocument) {
    this.document = document;
  }

  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }

  name(socket: string): string {
    return nameOf(this.document, socket);
  }

  // Reading

  get socketIds(): readonly string[] {
    return Object.keys(socketsOf(this.document));
  }

  has(socket: string): boolean {
    return socketAt(this.document, socket) !== null;
  }

  socket(id: string): JsonObject {
    return socketAt(this.document, id) ?? {};
  }

  edges(id: string): readonly JsonObject[] {
    return listAt(this.socket(id), 'edges').filter(isObject);
  }

  loop(id: string): JsonObject {
    return loopAt(this.document, id) ?? {};
  }

  get loopIds(): readonly string[] {
    return Object.keys(loopsOf(this.document)).filter((id) => loopAt(this.document, id) !== null);
  }

  members(loop: string): readonly string[] {
    return listAt(this.loop(loop), 'sockets').filter((each) => typeof each === 'string');
  }

  get entry(): string | null {
    return stringAt(loadoutOf(this.document), 'entry');
  }

  /** The first id that no socket has. */
  freeSocket(taken: readonly string[] = []): string {
    const used = new Set([...this.socketIds, ...taken]);
    let number = 1;
    while (used.has(`Socket-${number}`)) number += 1;
    return `Socket-${number}`;
  }

  // Writing

  /** `path` starts in the configuration. */
  write(path: ValuePath, value: Json | undefined): void {
    const config = writtenAt(this.document.config, path, value);
    this.document = { ...this.document, config: isObject(config) ? config : {} };
  }

  putLoadout(change: (loadout: JsonObject) => JsonObject): void {
    const { config, name } = this.document;
    const loadouts = { ...objectAt(config, 'loadouts'), [name]: change(loadoutOf(this.document)) };
    this.document = { ...this.document, config: { ...config, loadouts } };
  }

  putSocket(id: string, socket: JsonObject | null): void {
    this.putLoadout((loadout) => {
      const sockets = objectAt(loadout, 'sockets');
      return { ...loadout, sockets: socket === null ? without(sockets, id) : { ...sockets, [id]: socket } };
    });
  }

  /** Edges that are no objects, as a broken text may have them, are dropped. No edges at all are no field. */
  putEdges(id: string, edges: readonly JsonObject[]): void {
    const socket = this.socket(id);
    if (edges.length === 0 && !Object.hasOwn(socket, 'edges')) return;
    this.putSocket(id, edges.length === 0 ? without(socket, 'edges') : { ...socket, edges });
  }

  putLoop(id: string, loop: JsonObject | null): void {
    this.putLoadout((loadout) => {
      const loops = objectAt(loadout, 'loops');
      const next = loop === null ? without(loops, id) : { ...loops, [id]: loop };
      return isEmptyObject(next) ? without(loadout, 'loops') : { ...loadout, loops: next };
    });
  }

  putExits(loop: string, exits: readonly Json[]): void {
    const written = this.loop(loop);
    this.putLoop(loop, exits.length === 0 ? without(written, 'exits') : { ...written, exits });
  }

  putFile(name: string, text: string | null): void {
    const { files } = this.document;
    this.document = {
      ...this.document,
      files:
        text === null
          ? Object.fromEntries(Object.entries(files).filter(([each]) => each !== name))
          : { ...files, [name]: text },
    };
  }

  // Refusals

  noSocket(id: string): Denied | null {
    if (this.has(id)) return null;
    return deny('UNKNOWN_ENDPOINT', `There is no socket ${shortened(id)}.`, { socket: shortened(id) });
  }

  noLoop(id: string): Denied | null {
    if (loopAt(this.document, id) !== null) return null;
    return deny('INVALID_LOOP', `There is no loop ${shortened(id)}.`, { loop: shortened(id) });
  }
}

export function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** The first refusal, if there is one. */
export function first(...found: readonly (Denied | null)[]): Denied | null {
  return found.find((each) => each !== null) ?? null;
}
