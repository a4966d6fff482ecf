// How a snapshot is divided, so that a start reads only what it is asked about. A long member of the state is a part of its
// own; a record with many members is a tree of parts, by the hash of the key. A part names the parts below it by their
// digests, and the root is vouched for by a fact: whatever is read is checked first. What is stored by digest is stored
// once, and a part that was never read need not be written again.

import { parseJson } from '../kernel/json.ts';
import type { Part } from './ports.ts';

/** How a value is written. Everything that no shape names is written whole, at its place. */
export type Shape =
  | { readonly kind: 'whole' }
  /** An object whose members have shapes of their own. */
  | { readonly kind: 'members'; readonly of: Readonly<Record<string, Shape>> }
  /** An object of any number of members of one shape. They keep their order. */
  | { readonly kind: 'each'; readonly of: Shape }
  /** A tree of objects that has texts at its leaves. */
  | { readonly kind: 'tree' }
  /** A record of whole values whose order does not matter. Its keys hold a slash. */
  | { readonly kind: 'record'; readonly byTask?: boolean };

/** Longer values are parts of their own. */
const PART_MIN = 512;
/** A longer group of members is divided. */
const GROUP_MAX = 4_096;
const BITS = 5;
const WAYS = 1 << BITS;
const DEPTH_MAX = 6;

/** A part of a snapshot is not there any more, or not as it was written. The snapshot cannot be used. */
export class PartGone extends Error {
  /** The digest of the snapshot. */
  readonly root: string;

  constructor(root: string) {
    super(`a part of the snapshot ${root} is gone or was changed`);
    this.root = root;
  }
}

/** Reads a part, checked. */
type Load = (digest: string) => string;
type Kind = 'value' | 'record';
type Ref = { readonly path: readonly string[]; readonly kind: Kind; readonly digest: string };
type Written = { readonly text: string; readonly refs: readonly Ref[] };
type Body = {
  readonly value: unknown;
  readonly refs: readonly [path: readonly string[], kind: Kind, digest: string][];
};

// Writing.

export class PartsWriter {
  /** Everything written, by digest. A part that was not read is not among them. */
  readonly parts = new Map<string, Part>();
  readonly #digestOf: (text: string) => string;
  /** The tasks that are left out of records by task. */
  readonly #without: ReadonlySet<string>;
  bytes = 0;

  constructor(digestOf: (text: string) => string, without: ReadonlySet<string>) {
    this.#digestOf = digestOf;
    this.#without = without;
  }

  /** The text of the root, and the parts that it names. */
  root(value: object, shape: Shape): { readonly body: string; readonly children: readonly string[] } {
    const { body, children } = bodyOf(this.#write(value, shape));
    this.bytes += body.length;
    return { body, children };
  }

  #write(value: unknown, shape: Shape): Written {
    if (typeof value !== 'object' || value === null || shape.kind === 'whole') return whole(value);
    switch (shape.kind) {
      case 'record':
        return this.#writeRecord(value as Record<string, unknown>, shape.byTask ? this.#without : NONE);
      case 'members':
        return this.#writeMembers(value, (key) => shape.of[key] ?? WHOLE);
      case 'each':
        return this.#writeMembers(value, () => shape.of);
      case 'tree':
        return this.#writeMembers(value, () => shape);
    }
  }

  #writeMembers(value: object, shapeOf: (key: string) => Shape): Written {
    const members: string[] = [];
    const refs: Ref[] = [];
    for (const key of Object.keys(value)) {
      const unread = unreadAt(value, key);
      if (unread) {
        members.push(`${JSON.stringify(key)}:null`);
        refs.push({ path: [key], kind: 'value', digest: unread });
        continue;
      }
      const member = (value as Record<string, unknown>)[key];
      if (member === undefined) continue;
      const written = this.#write(member, shapeOf(key));
      const isPart = typeof member === 'object' && lengthOf(written) > PART_MIN;
      const [only] = written.refs;
      if (isPart && !(only?.kind === 'record' && only.path.length === 0)) {
        members.push(`${JSON.stringify(key)}:null`);
        refs.push({ path: [key], kind: 'value', digest: this.#part(bodyOf(written)) });
      } else {
        members.push(`${JSON.stringify(key)}:${written.text}`);
        for (const { path, kind, digest } of written.refs) refs.push({ path: [key, ...path], kind, digest });
      }
    }
    return { text: `{${members.join()}}`, refs };
  }

  #writeRecord(record: Record<string, unknown>, without: ReadonlySet<string>): Written {
    const members = RECORDS.get(record);
    if (members) {
      for (const key of without) members.has(key);
      return { text: 'null', refs: [{ path: [], kind: 'record', digest: this.#groups(members.top, without, 0) }] };
    }
    const texts = textsOf(record, without);
    if (sizeOf(texts) <= GROUP_MAX) return { text: recordText(texts), refs: [] };
    return { text: 'null', refs: [{ path: [], kind: 'record', digest: this.#divided(texts, 0) }] };
  }

  /** What was read is written again; it has the same digest where nothing changed. */
  #groups(group: Group, without: ReadonlySet<string>, depth: number): string {
    if ('digest' in group) return group.digest;
    if ('members' in group) return this.#divided(textsOf(group.members, without), depth);
    return this.#branch(group.below.map((below) => below && this.#groups(below, without, depth + 1)));
  }

  #divided(texts: readonly Text[], depth: number): string {
    if (sizeOf(texts) <= GROUP_MAX || texts.length === 1 || depth === DEPTH_MAX)
      return this.#part({ body: `{"members":${recordText(texts)}}`, children: [] });
    const below: Text[][] = Array.from({ length: WAYS }, () => []);
    for (const text of texts) below[wayOf(hashOf(text.key), depth)]?.push(text);
    return this.#branch(below.map((each) => (each.length === 0 ? null : this.#divided(each, depth + 1))));
  }

  #branch(below: readonly (string | null)[]): string {
    return this.#part({ body: JSON.stringify({ below }), children: below.filter((digest) => digest !== null) });
  }

  #part(part: Part): string {
    const digest = this.#digestOf(part.body);
    this.parts.set(digest, part);
    this.bytes += part.body.length;
    return digest;
  }
}

type Text = { readonly key: string; readonly text: string };

const WHOLE: Shape = { kind: 'whole' };
const NONE: ReadonlySet<string> = new Set();

function whole(value: unknown): Written {
  return { text: JSON.stringify(value), refs: [] };
}

function bodyOf({ text, refs }: Written): Part {
  const named = refs.map(({ path, kind, digest }) => [path, kind, digest]);
  return { body: `{"value":${text},"refs":${JSON.stringify(named)}}`, children: refs.map(({ digest }) => digest) };
}

function lengthOf({ text, refs }: Written): number {
  return text.length + refs.length * 100;
}

function textsOf(record: Readonly<Record<string, unknown>>, without: ReadonlySet<string>): readonly Text[] {
  return Object.keys(record).flatMap((key) => {
    const value = without.has(key) ? undefined : record[key];
    return value === undefined ? [] : [{ key, text: `${JSON.stringify(key)}:${JSON.stringify(value)}` }];
  });
}

function sizeOf(texts: readonly Text[]): number {
  return texts.reduce((size, { text }) => size + text.length + 1, 0);
}

function recordText(texts: readonly Text[]): string {
  return `{${texts.map(({ text }) => text).join()}}`;
}

// Reading.

/** The value of a root, with every part read when it is asked for. A part that is gone throws `PartGone`. */
export function openParts(body: string, load: Load): unknown {
  const { value, refs } = parseJson(body) as Body;
  for (const [path, kind, digest] of refs) {
    const { parent, key } = placeOf(value, path);
    if (kind === 'record') parent[key] = openRecord(new Members(load, { digest }));
    else readLater(parent, key, digest, load);
  }
  return value;
}

/** The same with all its parts read, as plain objects. */
export function readParts(body: string, load: Load): unknown {
  const { value, refs } = parseJson(body) as Body;
  for (const [path, kind, digest] of refs) {
    const { parent, key } = placeOf(value, path);
    parent[key] = kind === 'record' ? new Members(load, { digest }).all() : readParts(load(digest), load);
  }
  return value;
}

function placeOf(value: unknown, path: readonly string[]): { parent: Record<string, unknown>; key: string } {
  const parent = path
    .slice(0, -1)
    .reduce((at, key) => at[key] as Record<string, unknown>, value as Record<string, unknown>);
  return { parent, key: path.at(-1) ?? '' };
}

/** By the function that reads it, the digest of a part that was not read yet. */
const UNREAD = new WeakMap<() => unknown, string>();

function unreadAt(value: object, key: string): string | undefined {
  const read = Object.getOwnPropertyDescriptor(value, key)?.get;
  return read && UNREAD.get(read);
}

/** Whether a member of the state is there and was not read yet: then it is as the snapshot has it. */
export function isUnread(value: object, key: string): boolean {
  return unreadAt(value, key) !== undefined;
}

function readLater(parent: object, key: string, digest: string, load: Load): void {
  const keep = (value: unknown) =>
    Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
  const get = () => {
    const value = openParts(load(digest), load);
    keep(value);
    return value;
  };
  UNREAD.set(get, digest);
  Object.defineProperty(parent, key, { get, set: keep, enumerable: true, configurable: true });
}

/** A group of members: not read yet, read, or divided by the hash of the key. */
type Group =
  | { readonly digest: string }
  | { readonly members: Record<string, unknown> }
  | { readonly below: (Group | null)[] };

class Members {
  readonly #load: Load;
  top: Group;

  constructor(load: Load, top: Group) {
    this.#load = load;
    this.top = top;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#near(key), key);
  }

  get(key: string): unknown {
    return this.#near(key)[key];
  }

  set(key: string, value: unknown): void {
    // The engine uses the place of a deleted member again only when it is set by reflection.
    Reflect.set(this.#near(key), key, value);
  }

  delete(key: string): void {
    delete this.#near(key)[key];
  }

  all(): Record<string, unknown> {
    const all: Record<string, unknown> = {};
    this.top = this.#read(this.top);
    this.#collect(this.top, all);
    return all;
  }

  #collect(group: Group, into: Record<string, unknown>): void {
    if ('members' in group) Object.assign(into, group.members);
    if (!('below' in group)) return;
    for (const [way, below] of group.below.entries()) {
      if (!below) continue;
      const read = this.#read(below);
      group.below[way] = read;
      this.#collect(read, into);
    }
  }

  /** The members among which the key is, or would be. */
  #near(key: string): Record<string, unknown> {
    let group = this.#read(this.top);
    this.top = group;
    if ('members' in group) return group.members;
    const hash = hashOf(key);
    for (let depth = 0; 'below' in group; depth++) {
      const way = wayOf(hash, depth);
      const next: Group = this.#read(group.below[way] ?? { members: {} });
      group.below[way] = next;
      group = next;
    }
    return (group as { members: Record<string, unknown> }).members;
  }

  #read(group: Group): Exclude<Group, { digest: string }> {
    if (!('digest' in group)) return group;
    const read = parseJson(this.#load(group.digest)) as
      | { members: Record<string, unknown> }
      | { below: (string | null)[] };
    if ('members' in read) return read;
    return { below: read.below.map((digest) => (digest === null ? null : { digest })) };
  }
}

const RECORDS = new WeakMap<object, Members>();

/** Looks like a plain object. Every key holds a slash; what holds none is a member that every object has. */
function openRecord(members: Members): Record<string, unknown> {
  const record = new Proxy<Record<string, unknown>>(
    {},
    {
      get: (target, key) => (isKey(key) ? members.get(key) : Reflect.get(target, key)),
      has: (target, key) => (isKey(key) ? members.has(key) : Reflect.has(target, key)),
      set: (_, key, value) => {
        members.set(String(key), value);
        return true;
      },
      deleteProperty: (_, key) => {
        if (isKey(key)) members.delete(key);
        return true;
      },
      ownKeys: () => Object.keys(members.all()),
      getOwnPropertyDescriptor: (_, key) =>
        isKey(key) && members.has(key)
          ? { value: members.get(key), writable: true, enumerable: true, configurable: true }
          : undefined,
    },
  );
  RECORDS.set(record, members);
  return record;
}

function isKey(key: string | symbol): key is string {
  return typeof key === 'string' && key.includes('/');
}

function wayOf(hash: number, depth: number): number {
  return (hash >>> (BITS * depth)) & (WAYS - 1);
}

/** FNV-1a, which spreads keys that differ in their last digit only; it need not be hard to guess. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return hash ^ (hash >>> 15);
}
