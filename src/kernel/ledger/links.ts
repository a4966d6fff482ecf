// Links in a folder: a path below a link is another name of a path below its target. The kernel does not look at the disk;
// what it knows of links arrives as an input, before the first claim that depends on it.
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import type { LedgerPen } from './pen.ts';
import type { RequestOf } from './request.ts';

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

export function linkLedger(pen: LedgerPen, { root, links }: RequestOf<'ledger.link'>): Verdict {
  pen.write({ kind: 'ledger.linked', root, links });
  return allow('paths are compared by where these links lead', { root });
}

/** Refuses a lock on a path that leads out of the folder through a link: two folders may have such a link. */
export function refusalOfLinkOut(id: string, lockScope: readonly string[], links: Links | undefined): Denied | null {
  const path = lockScope.find((path) => !path.startsWith('/') && followLinks(path, links).startsWith('/'));
  if (path === undefined) return null;
  const target = followLinks(path, links);
  const reason = `${id} wants ${JSON.stringify(path)}, which leads out of its folder through a link, to ${JSON.stringify(target)}; lock only what is inside, or work in the folder that the link leads to.`;
  return deny('SCOPE_VIOLATION', reason, { task: id, resource: path, target });
}
