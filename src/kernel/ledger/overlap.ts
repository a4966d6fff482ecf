// When two claimed paths get in each other's way. A path stands for itself and everything below it, by whole segments:
// `src` covers `src/api` and not `src2`. `.` covers every relative path and `/` covers everything. All paths given here
// are normal forms. The larger questions walk a tree of segments, so that thousands of claims cost no thousands squared.

export type Claim = { readonly holder: string; readonly path: string };
/** Two claims in conflict, by their places in the list that was given; the smaller place comes first. */
export type Pair = readonly [number, number];
export type Conflicts = { readonly pairs: readonly Pair[]; readonly truncated: boolean };

export const PAIRS_MAX = 1000;

/** Whether `inner` is `outer` or lies below it. */
export function covers(outer: string, inner: string): boolean {
  if (outer === inner || outer === '/') return true;
  return outer === '.' ? !inner.startsWith('/') : inner.startsWith(`${outer}/`);
}

export function overlaps(a: string, b: string): boolean {
  return covers(a, b) || covers(b, a);
}

/** All overlapping pairs of different holders, in the order of the list; cut off where there are too many to be read. */
export function conflictsAmong(claims: readonly Claim[], pairsMax = PAIRS_MAX): Conflicts {
  const root = newNode();
  claims.forEach(({ holder, path }, index) => {
    const node = nodeFor(root, path);
    node.held ??= new Map();
    const places = node.held.get(holder);
    if (places) places.push(index);
    else node.held.set(holder, [index]);
  });
  const pairs: Pair[] = [];
  let truncated = false;
  // Each pair is found from its deeper member, which meets the other one on the way down.
  search: for (const [index, { holder, path }] of claims.entries()) {
    for (const { node, last } of nodesAlong(root, path)) {
      for (const [other, places] of node.held ?? []) {
        if (other === holder) continue;
        for (const place of places) {
          if (last && place > index) break; // Of two claims on the same path the later one reports.
          if (pairs.length === pairsMax) {
            truncated = true;
            break search;
          }
          pairs.push(place < index ? [place, index] : [index, place]);
        }
      }
    }
  }
  return { pairs: pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1]), truncated };
}

/** A fixed list of paths that can be asked, many times, which of them a path overlaps. */
export class PathIndex {
  readonly #root = newNode();

  constructor(paths: readonly string[]) {
    paths.forEach((path, index) => {
      let node = this.#root;
      node.first = Math.min(node.first, index);
      for (const segment of segmentsOf(path)) {
        node = child(node, segment);
        node.first = Math.min(node.first, index);
      }
      node.own = Math.min(node.own, index);
    });
  }

  /** The place of the first path in the list that overlaps the one asked for, or null. */
  firstOverlap(path: string): number | null {
    let node: Node | undefined = this.#root;
    let first = node.own;
    for (const segment of segmentsOf(path)) {
      node = node.below?.get(segment);
      if (!node) break;
      first = Math.min(first, node.own);
    }
    if (node) first = Math.min(first, node.first);
    return first === Number.POSITIVE_INFINITY ? null : first;
  }
}

type Node = {
  below: Map<string, Node> | null;
  held: Map<string, number[]> | null;
  /** The smallest place of a path that ends here, and of one that ends here or below. */
  own: number;
  first: number;
};

function newNode(): Node {
  return { below: null, held: null, own: Number.POSITIVE_INFINITY, first: Number.POSITIVE_INFINITY };
}

// The root of the tree is `/`; under it relative paths live below `.`, absolute ones below an empty name.
function segmentsOf(path: string): readonly string[] {
  if (path === '/') return [];
  if (path === '.') return ['.'];
  return path.startsWith('/') ? path.split('/') : ['.', ...path.split('/')];
}

function child(node: Node, segment: string): Node {
  node.below ??= new Map();
  let next = node.below.get(segment);
  if (!next) {
    next = newNode();
    node.below.set(segment, next);
  }
  return next;
}

function nodeFor(root: Node, path: string): Node {
  return segmentsOf(path).reduce(child, root);
}

function* nodesAlong(root: Node, path: string): Generator<{ node: Node; last: boolean }> {
  const segments = segmentsOf(path);
  let node: Node | undefined = root;
  yield { node, last: segments.length === 0 };
  for (const [index, segment] of segments.entries()) {
    node = node.below?.get(segment);
    if (!node) return;
    yield { node, last: index === segments.length - 1 };
  }
}
