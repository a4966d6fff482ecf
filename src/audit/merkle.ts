// The Merkle tree of RFC 6962 over the leaves of the log. Hashes are lower-case hex. Leaves are numbered from 0, so entry `seq` has
// leaf `seq - 1`.
//
// A tree head needs only the frontier: the roots of the complete subtrees. It is kept with every checkpoint, so the next one
// costs only what was appended since. Proofs need the whole tree.
import { hash } from 'node:crypto';

export const EMPTY_ROOT = hash('sha256', '', 'hex');

/** leaf = SHA-256(0x00 ‖ data). */
export function leafOf(data: string | Uint8Array): string {
  if (typeof data === 'string') return hash('sha256', `\0${data}`, 'hex');
  return hash('sha256', Buffer.concat([Buffer.from([0]), data]), 'hex');
}

const HASH_BYTES = 32;
const pair = Buffer.alloc(1 + 2 * HASH_BYTES, 1);

/** node = SHA-256(0x01 ‖ left ‖ right). */
export function nodeOf(left: string, right: string): string {
  pair.write(left, 1, 'hex');
  pair.write(right, 1 + HASH_BYTES, 'hex');
  return hash('sha256', pair, 'hex');
}

/** Grows leaf by leaf and always knows its root. `peaks` are the roots of its complete subtrees, largest first. */
export class Frontier {
  #size: number;
  readonly #peaks: string[];

  constructor(size = 0, peaks: readonly string[] = []) {
    if (peaks.length !== onesIn(size)) throw new Error(`a tree of ${size} leaves has ${onesIn(size)} peaks`);
    this.#size = size;
    this.#peaks = [...peaks];
  }

  get size(): number {
    return this.#size;
  }

  get peaks(): readonly string[] {
    return [...this.#peaks];
  }

  add(leaf: string): void {
    let node = leaf;
    for (let rest = this.#size; rest % 2 === 1; rest = Math.floor(rest / 2)) {
      node = nodeOf(this.#peaks.pop() as string, node);
    }
    this.#peaks.push(node);
    this.#size += 1;
  }

  root(): string {
    return this.#peaks.length === 0 ? EMPTY_ROOT : this.#peaks.reduceRight((right, left) => nodeOf(left, right));
  }
}

/** The whole tree, for proofs: every complete subtree's root, level by level. */
export class MerkleTree {
  readonly #levels: HashList[] = [];

  get size(): number {
    return this.#at(0).length;
  }

  add(leaf: string): void {
    this.#at(0).push(leaf);
    for (let level = 0; this.#at(level).length % 2 === 0; level++) {
      const { length } = this.#at(level);
      this.#at(level + 1).push(nodeOf(this.#at(level).get(length - 2), this.#at(level).get(length - 1)));
    }
  }

  leaf(index: number): string {
    return this.#at(0).get(index);
  }

  root(size = this.size): string {
    return size === 0 ? EMPTY_ROOT : this.#range(0, size);
  }

  /** The audit path of a leaf in the tree of the first `size` leaves, from the bottom up. */
  inclusion(index: number, size = this.size): string[] {
    const path: string[] = [];
    let [from, to] = [0, size];
    while (to - from > 1) {
      const middle = from + splitOf(to - from);
      if (index < middle) {
        path.push(this.#range(middle, to));
        to = middle;
      } else {
        path.push(this.#range(from, middle));
        from = middle;
      }
    }
    return path.reverse();
  }

  /** The proof that the tree of the first `size` leaves begins with that of the first `first`. */
  consistency(first: number, size = this.size): string[] {
    const path: string[] = [];
    let [from, to] = [0, size];
    while (first !== to && first > 0) {
      const middle = from + splitOf(to - from);
      if (first <= middle) {
        path.push(this.#range(middle, to));
        to = middle;
      } else {
        path.push(this.#range(from, middle));
        from = middle;
      }
    }
    // If the old tree is complete, it is the last subtree. The checker already knows its root.
    if (from > 0) path.push(this.#range(from, to));
    return path.reverse();
  }

  /** `from` is a multiple of the smallest power of two that `to - from` fits into. */
  #range(from: number, to: number): string {
    const size = to - from;
    const level = Math.log2(size);
    if (Number.isInteger(level)) return this.#at(level).get(from / size);
    const middle = from + splitOf(size);
    return nodeOf(this.#range(from, middle), this.#range(middle, to));
  }

  #at(level: number): HashList {
    let list = this.#levels[level];
    if (!list) {
      list = new HashList();
      this.#levels[level] = list;
    }
    return list;
  }
}

/** Whether `path` leads from a leaf to the root of a tree of `size` leaves (RFC 9162, 2.1.3.2). */
export function provesInclusion(
  leaf: string,
  index: number,
  size: number,
  path: readonly string[],
  root: string,
): boolean {
  if (!isHash(leaf) || !(index >= 0 && index < size)) return false;
  let [at, last, node] = [index, size - 1, leaf];
  for (const other of path) {
    if (last === 0 || !isHash(other)) return false;
    if (at % 2 === 1 || at === last) {
      node = nodeOf(other, node);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else node = nodeOf(node, other);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && node === root;
}

export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

/** The largest power of two below `size`. */
function splitOf(size: number): number {
  return 2 ** (Math.ceil(Math.log2(size)) - 1);
}

function half(value: number): number {
  return Math.floor(value / 2);
}

function onesIn(size: number): number {
  let ones = 0;
  for (let rest = size; rest > 0; rest = half(rest)) ones += rest % 2;
  return ones;
}

/** A compact list: a million hashes as texts would need several times the memory. */
class HashList {
  #bytes = Buffer.alloc(16 * HASH_BYTES);
  length = 0;

  push(value: string): void {
    const at = this.length * HASH_BYTES;
    if (at === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    this.#bytes.write(value, at, 'hex');
    this.length += 1;
  }

  get(index: number): string {
    if (!(index >= 0 && index < this.length)) throw new RangeError(`there is no hash ${index} among ${this.length}`);
    return this.#bytes.toString('hex', index * HASH_BYTES, (index + 1) * HASH_BYTES);
  }
}
