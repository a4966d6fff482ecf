// Paths and how they are compared: the normal form, links, keys of equal files, and which paths overlap. The normal form has
// forward slashes, no empty or `.` segments, and `..` resolved; an absolute path and a relative one are never the same.

type PathFault = 'empty' | 'escapes' | 'nul';
type NormalPath = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly fault: PathFault };

/** The rest of a sentence that begins with the name of the field. */
export const PATH_FAULTS: Readonly<Record<PathFault, string>> = {
  empty: 'names no path; give a path such as src/api.ts',
  escapes: 'leads out of the workspace; stay inside it',
  nul: 'holds a NUL character, which no path can',
};

export function normalPath(raw: string): NormalPath {
  const slashed = raw.trim().replaceAll('\\', '/');
  // One slash is the root; several and nothing else are a slip, and as a root they would claim everything.
  if (slashed === '' || /^\/{2,}$/.test(slashed)) return { ok: false, fault: 'empty' };
  if (slashed.includes('\0')) return { ok: false, fault: 'nul' };
  const absolute = slashed.startsWith('/');
  const kept: string[] = [];
  for (const segment of slashed.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') kept.push(segment);
    else if (kept.pop() === undefined && !absolute) return { ok: false, fault: 'escapes' };
  }
  if (absolute) return { ok: true, path: `/${kept.join('/')}` };
  return { ok: true, path: kept.length === 0 ? '.' : kept.join('/') };
}

/**
 * Two normal paths with one key are one file: composed and decomposed letters are equal, and so are capitals where the disk
 * ignores case.
 */
export function pathKey(path: string, foldCase: boolean): string {
  const composed = path.normalize('NFC');
  return foldCase ? composed.toLowerCase().normalize('NFC') : composed;
}

/** A fixed set of paths that can be asked, many times, whether one of them is a path or lies above it. */
export function coverOf(keys: readonly string[]): (key: string) => boolean {
  const set = new Set(keys);
  return (key) => {
    if (set.has('/') || (set.has('.') && covers('.', key))) return true;
    for (let end = key.length; end > 0; end = key.lastIndexOf('/', end - 1))
      if (set.has(key.slice(0, end))) return true;
    return false;
  };
}

/** A path in a sentence: in quotes, and the folder itself by words. */
export function spokenPath(path: string): string {
  return path === '.' ? 'the whole folder' : JSON.stringify(path);
}

const NAMED_MAX = 5;

/** The first of them, and how many more there are. */
export function spokenPaths(paths: readonly string[], max = NAMED_MAX): string {
  const more = paths.length - max;
  return `${paths.slice(0, max).map(spokenPath).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** By the path of a link, where it leads: a path below the same root, or an absolute one where it leads out of it. */
export type Links = Readonly<Record<string, string>>;

/** More links than that on one way are a circle. */
const FOLLOWED_MAX = 40;

/** The path with every known link on its way replaced by the link's target. */
export function followLinks(path: string, links: Links | undefined): string {
  if (links === undefined) return path;
  let followed = path;
  for (let count = 0; count < FOLLOWED_MAX; count++) {
    const next = followFirst(followed, links);
    if (next === null) return followed;
    followed = next;
  }
  return followed;
}

function followFirst(path: string, links: Links): string | null {
  for (let end = path.indexOf('/', 1); ; end = path.indexOf('/', end + 1)) {
    const above = end === -1 ? path : path.slice(0, end);
    if (Object.hasOwn(links, above)) {
      const [target = above, rest] = [links[above], end === -1 ? '' : path.slice(end + 1)];
      if (target === above) return null;
      if (rest === '') return target;
      return target === '.' ? rest : `${target}/${rest}`;
    }
    if (end === -1) return null;
  }
}

/**
 * A claimed path covers itself and everything below it, by whole segments. `.` covers every relative path, `/` every path.
 * All paths here are normal forms.
 */
export type Claim = { readonly holder: string; readonly path: string };
/** Two claims in conflict, by their places in the list that was given; the smaller place comes first. */
export type Pair = readonly [number, number];
type Conflicts = { readonly pairs: readonly Pair[]; readonly truncated: boolean };

const PAIRS_MAX = 1000;

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

/** Below the root `/`, relative paths start with `.` and absolute ones with an empty name. */
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
