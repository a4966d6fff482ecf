// Which links lie on the way of paths below a folder, and where they lead. The ledger compares paths by it. A hard link is
// another name of a file; the first name in the order of the alphabet is used for all of them.
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { FindLinks } from '../engine/ports.ts';
import { MAIN_ROOT } from '../kernel/ledger/lock-tree.ts';
import type { Links } from '../kernel/ledger/path.ts';
import { realPath } from '../shell/dangerous.ts';
import { folderEntries } from './changes-mark.ts';

/** Looks at the disk below the folder of a workspace and below its other roots. */
export function findLinksBelow(dir: string): FindLinks {
  return (root, paths, known) => linksOnWay(root === MAIN_ROOT ? dir : resolve(dir, root), paths, known);
}

export function linksOnWay(folder: string, paths: readonly string[], known: Links = {}): Links {
  const base = realOrNull(folder);
  if (base === null) return {};
  const links: Record<string, string> = {};
  const shared: SharedFile[] = [];
  for (const path of paths) {
    const file = path.startsWith('/') ? null : walk(base, path, links);
    if (file) shared.push(file);
  }
  return shared.length === 0 ? links : { ...links, ...hardLinks(base, shared, known) };
}

/** A file with more than one name. */
type SharedFile = { readonly path: string; readonly id: string; readonly names: number };

/** So many entries of a folder are looked at for the other names of a file. */
const SEARCHED_MAX = 100_000;

/** A file that is known already is not searched for again: it keeps the names that it still has. */
function hardLinks(base: string, shared: readonly SharedFile[], known: Links): Links {
  const names = new Map<string, Set<string>>();
  const add = (path: string, id: string) => names.get(id)?.add(path);
  for (const { id } of shared) names.set(id, new Set());
  for (const { path, id } of shared) add(path, id);
  const before = [...Object.keys(known), ...Object.values(known)];
  for (const path of before) {
    const id = idOf(lookAt(join(base, path)));
    if (id !== null) add(path, id);
  }
  const isNew = ({ path, id, names: count }: SharedFile) =>
    !before.includes(path) && (names.get(id)?.size ?? 0) < count;
  if (shared.some(isNew)) for (const { path, id } of filesBelow(base)) add(path, id);
  return Object.fromEntries(
    [...names.values()].flatMap((all) => {
      const [first = '', ...others] = [...all].sort();
      return others.map((other): [string, string] => [other, first]);
    }),
  );
}

/** The files with several names. Folders of git and the rules of the workspace are left out: nothing there can be locked. */
function* filesBelow(base: string): Generator<{ readonly path: string; readonly id: string }> {
  const folders = [''];
  let searched = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of folderEntries(join(base, folder))) {
      if (++searched > SEARCHED_MAX) return;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name !== '.git' && path !== '.baton') folders.push(path);
        continue;
      }
      const id = entry.isFile() ? idOf(lookAt(join(base, path))) : null;
      if (id !== null) yield { path, id };
    }
  }
}

function idOf(found: Stats | null): string | null {
  return found?.isFile() && found.nlink > 1 ? `${found.dev}:${found.ino}` : null;
}

/** Goes down one name at a time; at a link it goes on from where the link leads. Answers a file at the end with more names. */
function walk(base: string, path: string, links: Record<string, string>): SharedFile | null {
  const rest = path === '.' ? [] : path.split('/');
  let at = '';
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    at = at === '' ? name : `${at}/${name}`;
    const place = join(base, at);
    const found = lookAt(place);
    if (!found) return null;
    if (!found.isSymbolicLink()) {
      const id = rest.length === 0 ? idOf(found) : null;
      if (id !== null) return { path: at, id, names: found.nlink };
      continue;
    }
    const target = relative(base, realPath(place));
    const isOut = target === '..' || target.startsWith('../') || isAbsolute(target);
    links[at] = isOut ? realPath(place) : target === '' ? '.' : target;
    if (isOut) return null;
    at = target;
  }
  return null;
}

/** Null where nothing is there, or nothing can be: below a file, or in a circle of links. */
function lookAt(place: string): Stats | null {
  try {
    return lstatSync(place);
  } catch {
    return null;
  }
}

function realOrNull(folder: string): string | null {
  try {
    return realpathSync(folder);
  } catch {
    return null;
  }
}
