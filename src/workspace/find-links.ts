// Which links lie on the way of paths below a folder, and where they lead. The ledger compares paths by it.
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { FindLinks } from '../engine/ports.ts';
import type { Links } from '../kernel/ledger/path.ts';
import { MAIN_ROOT } from '../kernel/ledger/state.ts';
import { realPlace } from './real-place.ts';

/** Looks at the disk below the folder of a workspace and below its other roots. */
export function findLinksBelow(dir: string): FindLinks {
  return (root, paths) => linksOnWay(root === MAIN_ROOT ? dir : resolve(dir, root), paths);
}

export function linksOnWay(folder: string, paths: readonly string[]): Links {
  const base = realOrNull(folder);
  if (base === null) return {};
  const links: Record<string, string> = {};
  for (const path of paths) if (!path.startsWith('/')) walk(base, path, links);
  return links;
}

/** Goes down one name at a time; at a link it goes on from where the link leads. */
function walk(base: string, path: string, links: Record<string, string>): void {
  const rest = path === '.' ? [] : path.split('/');
  let at = '';
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    at = at === '' ? name : `${at}/${name}`;
    const place = join(base, at);
    const found = lookAt(place);
    if (!found) return;
    if (!found.isSymbolicLink()) continue;
    const target = relative(base, realPlace(place));
    const isOut = target === '..' || target.startsWith('../') || isAbsolute(target);
    links[at] = isOut ? realPlace(place) : target === '' ? '.' : target;
    if (isOut) return;
    at = target;
  }
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
