// Who holds which paths, as a prefix tree that answers in the depth of a path, however many locks are held. A lock covers
// its path and everything below it, inside one root: `.` covers every relative path there, `/` covers everything. Writers
// exclude all others; readers share. A task never conflicts with itself. Writers and readers have a tree each, so every node
// has a holder at it or below it: a search for a rival goes down anywhere and never looks through siblings. For the same
// reason the members of a node are chained, because the keys of a large object cannot be listed in parts. It is plain JSON.
// Keys begin with a slash or hold one, so none equals an inherited member.
import { covers, followLinks, type Links, pathKey } from './path.ts';

/** The root of the workspace itself. A task may also work in another folder, which is then its root. */
export const MAIN_ROOT = 'main';

export type LockMode = 'write' | 'read';
export type Lock = { readonly root: string; readonly path: string; readonly mode: LockMode };
/** A lock together with the key of the task that holds or wants it. */
export type TaskLock = Lock & { readonly task: string };

export type LockTree = {
  readonly foldCase: boolean;
  /** By root, the links that were found on the way of a claimed path. */
  readonly links: Readonly<Record<string, Links>>;
  readonly write: Node;
  readonly read: Node;
  /** The locks of each holder, so that a release needs no search. */
  readonly held: Record<string, Lock[]>;
};

type HeldPath = { readonly root: string; readonly path: string };
type Node = { holders: Chain<HeldPath> | null; below: Chain<Node> | null };
type Chain<T> = { first: string | null; readonly links: Record<string, Link<T>> };
type Link<T> = { previous: string | null; next: string | null; readonly value: T };
type Found = HeldPath & { readonly task: string };

/** With `foldCase`, `Src` and `src` are the same path, as they are on the disks of most laptops. */
export function newLockTree(foldCase = false, links: LockTree['links'] = {}): LockTree {
  return { foldCase, links, write: newNode(), read: newNode(), held: {} };
}

/** The same locks, compared another way. */
export function compared(tree: LockTree, how: Partial<Pick<LockTree, 'foldCase' | 'links'>>): LockTree {
  const { foldCase, links } = { ...tree, ...how };
  const other = newLockTree(foldCase, links);
  for (const [task, locks] of Object.entries(tree.held)) for (const lock of locks) addLock(other, { ...lock, task });
  return other;
}

/** The key of a path below its root, with the root's own links followed. */
export function keyIn({ foldCase, links }: Pick<LockTree, 'foldCase' | 'links'>, root: string) {
  const its = linksOfRoot(links, root);
  return (path: string): string => pathKey(followLinks(path, its), foldCase);
}

/** The key of a path in the tree of its root: equal keys in one tree are the same file. */
export function fileKeyIn({ foldCase, links }: Pick<LockTree, 'foldCase' | 'links'>, root: string) {
  const file = fileIn(links, root);
  return (path: string): string => pathKey(file(path), foldCase);
}

/** Where a path below a root leads, with its capitals as they are written. */
export function realIn({ links }: Pick<LockTree, 'links'>, root: string): (path: string) => string {
  const its = linksOfRoot(links, root);
  return (path) => followLinks(path, its);
}

/** The name of the tree that holds a root, and the path of the root in it. */
type Site = { readonly tree: string; readonly below: string };

/** The folder of a cast's worktree, wherever it lies: `…/worktrees/project-0a1b2c3d/cast`. */
const WORKTREE = /^(.*?(?:^|\/)worktrees\/[^/]+-[0-9a-f]{8}\/[^/]+)(?:\/(.*))?$/;

/**
 * Roots that lie inside each other share one tree, because a path below one is a path below the other. A worktree is a copy,
 * also where it lies inside the project, and so is everything below `.baton`: these are trees of their own.
 */
export function siteOf(root: string): Site {
  if (root === MAIN_ROOT) return { tree: MAIN_ROOT, below: '' };
  const [, worktree, rest = ''] = WORKTREE.exec(root) ?? [];
  if (worktree !== undefined) return { tree: worktree, below: rest };
  if (root.startsWith('.baton/')) return { tree: root, below: '' };
  return root.startsWith('/') ? { tree: '/', below: root.slice(1) } : { tree: MAIN_ROOT, below: root };
}

/** A locked path as it is named below `root`; null where it is no part of that root. What covers the root is `.` there. */
export function seenFrom(root: string, { root: other, path }: HeldPath): string | null {
  if (other === root) return path;
  const [here, there] = [siteOf(root), siteOf(other)];
  if (here.tree !== there.tree || path.startsWith('/')) return null;
  const place = path === '.' ? there.below : [there.below, path].filter((part) => part !== '').join('/');
  if (here.below === '') return place;
  if (place === '' || covers(place, here.below)) return '.';
  return covers(here.below, place) ? place.slice(here.below.length + 1) : null;
}

/** The path of a file in the tree of its root, with all links followed. */
function fileIn(links: LockTree['links'], root: string): (path: string) => string {
  const { tree, below } = siteOf(root);
  const own = linksOfRoot(links, root);
  if (below === '') return (path) => followLinks(path, own);
  const outer = linksOfRoot(links, tree);
  return (path) => {
    const local = followLinks(path, own);
    if (local.startsWith('/')) return local;
    return followLinks(local === '.' ? below : `${below}/${local}`, outer);
  };
}

export function linksOfRoot(links: LockTree['links'], root: string): Links | undefined {
  return Object.hasOwn(links, `/${root}`) ? links[`/${root}`] : undefined;
}

/** The table with the links of one root replaced. */
export function withLinks(table: LockTree['links'], root: string, links: Links): LockTree['links'] {
  const { [`/${root}`]: _before, ...others } = table;
  return Object.keys(links).length === 0 ? others : { ...others, [`/${root}`]: links };
}

/** A lock of another task that conflicts with the wanted one, or null. The locks of `ignored` tasks do not count. */
export function rivalOf(tree: LockTree, wanted: TaskLock, ignored?: { has(task: string): boolean }): TaskLock | null {
  for (const rival of rivalsOf(tree, wanted)) if (!ignored?.has(rival.task)) return rival;
  return null;
}

/** All locks of other tasks that conflict with the wanted one. */
export function* rivalsOf(tree: LockTree, wanted: TaskLock): Generator<TaskLock> {
  const places = placesOf(wanted, tree);
  for (const mode of wanted.mode === 'write' ? (['write', 'read'] as const) : (['write'] as const)) {
    for (const keys of places) {
      for (const { task, root, path } of holdersAlong(tree[mode], keys)) {
        if (task !== wanted.task) yield { task, root, path, mode };
      }
    }
  }
}

/** Books a lock. Whether it may be had is asked before. */
export function addLock(tree: LockTree, { task, root, path, mode }: TaskLock): void {
  for (const keys of placesOf({ root, path }, tree)) {
    let node = tree[mode];
    for (const key of keys) {
      node.below ??= newChain();
      let link = node.below.links[key];
      if (!link) link = insert(node.below, key, newNode());
      node = link.value;
    }
    node.holders ??= newChain();
    if (!node.holders.links[task]) insert(node.holders, task, { root, path });
  }
  const own = tree.held[task];
  if (own) own.push({ root, path, mode });
  else put(tree.held, task, [{ root, path, mode }]);
}

/** Takes away every lock of a task. */
export function removeLocks(tree: LockTree, task: string): void {
  for (const lock of tree.held[task] ?? []) {
    for (const keys of placesOf(lock, tree)) removeLock(tree[lock.mode], keys, task);
  }
  delete tree.held[task];
}

export function locksOf(tree: LockTree, task: string): readonly Lock[] {
  return tree.held[task] ?? [];
}

/** The holders above a path, at it, and below it. */
function* holdersAlong(top: Node, keys: readonly string[]): Generator<Found> {
  let node = top;
  for (const key of keys) {
    yield* holdersAt(node);
    const link = node.below?.links[key];
    if (!link) return;
    node = link.value;
  }
  yield* holdersAt(node);
  yield* holdersBelow(node);
}

function* holdersAt({ holders }: Node): Generator<Found> {
  if (!holders) return;
  for (let task = holders.first; task !== null; ) {
    const link: Link<HeldPath> = linkOf(holders, task);
    yield { task, ...link.value };
    task = link.next;
  }
}

/** Goes down, one child at a time; without a loop of its own, because a path may be deeper than the stack. */
function* holdersBelow(top: Node): Generator<Found> {
  const trail: { readonly chain: Chain<Node>; at: string | null }[] = [];
  if (top.below) trail.push({ chain: top.below, at: top.below.first });
  for (let step = trail.at(-1); step; step = trail.at(-1)) {
    if (step.at === null) {
      trail.pop();
      continue;
    }
    const { value: node, next } = linkOf(step.chain, step.at);
    step.at = next;
    yield* holdersAt(node);
    if (node.below) trail.push({ chain: node.below, at: node.below.first });
  }
}

function removeLock(top: Node, keys: readonly string[], task: string): void {
  const way = [top];
  for (const key of keys) {
    const link = way.at(-1)?.below?.links[key];
    if (!link) return;
    way.push(link.value);
  }
  const last = way.at(-1);
  if (!last?.holders?.links[task]) return;
  remove(last.holders, task);
  if (last.holders.first === null) last.holders = null;
  // A node without a holder at it or below it is removed.
  for (let depth = keys.length; depth > 0; depth--) {
    const [node, parent, key] = [way[depth], way[depth - 1], keys[depth - 1]];
    if (!parent?.below || key === undefined || node?.holders || node?.below) return;
    remove(parent.below, key);
    if (parent.below.first === null) parent.below = null;
  }
}

/** The places of a lock in the tree: that of its file, and those of the file's other names. */
function placesOf({ root, path }: HeldPath, tree: LockTree): readonly string[][] {
  const { tree: name } = siteOf(root);
  if (path === '/') return [[`/${name}`]];
  const file = fileIn(tree.links, root)(path);
  const key = (one: string) => pathKey(one, tree.foldCase);
  const names = Object.entries(linksOfRoot(tree.links, name) ?? {}).flatMap(([other, target]) =>
    target !== other && key(target) === key(file) ? [other] : [],
  );
  return [file, ...names].map((one) => keysBelow(name, key(one)));
}

/** From the root of the locks down; relative paths lie below `.`, absolute ones below an empty name. */
function keysBelow(tree: string, key: string): string[] {
  const keys = [`/${tree}`];
  if (!key.startsWith('/')) keys.push('/.');
  if (key !== '.') for (const segment of key.split('/')) keys.push(`/${segment}`);
  return keys;
}

function newNode(): Node {
  return { holders: null, below: null };
}

function newChain<T>(): Chain<T> {
  return { first: null, links: {} };
}

function linkOf<T>(chain: Chain<T>, key: string): Link<T> {
  const link = chain.links[key];
  if (!link) throw new Error(`the lock tree has no link ${key}`);
  return link;
}

function insert<T>(chain: Chain<T>, key: string, value: T): Link<T> {
  const link = { previous: null, next: chain.first, value };
  if (chain.first !== null) linkOf(chain, chain.first).previous = key;
  put(chain.links, key, link);
  chain.first = key;
  return link;
}

function remove<T>(chain: Chain<T>, key: string): void {
  const { previous, next } = linkOf(chain, key);
  if (previous === null) chain.first = next;
  else linkOf(chain, previous).next = next;
  if (next !== null) linkOf(chain, next).previous = previous;
  delete chain.links[key];
}

/**
 * Sets a member by reflection. A plain assignment never reuses the slot of a deleted member, so a large record whose names
 * come and go gets slower each time.
 */
export function put<T>(record: Record<string, T>, key: string, value: T): void {
  Reflect.set(record, key, value);
}
