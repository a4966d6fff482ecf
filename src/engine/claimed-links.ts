// Which links have to be known before a decision counts: a claim through a link is compared by where the link leads.
import type { Fact } from '../kernel/fact.ts';
import { isString } from '../kernel/json.ts';
import type { RequestOf } from '../kernel/ledger/fact.ts';
import { type LockTree, linksIn, siteOf } from '../kernel/ledger/lock-tree.ts';
import type { Links } from '../kernel/ledger/path.ts';
import type { FindLinks } from './ports.ts';

/** What is to be said of links first: empty where the ledger knows all that matter to these facts. */
export function linksToLearn(facts: readonly Fact[], { links }: LockTree, find: FindLinks): RequestOf<'ledger.link'>[] {
  const wanted = new Map<string, Set<string>>();
  const pathsIn = (root: string) => {
    const paths = wanted.get(root) ?? new Set(Object.keys(linksIn(links, root) ?? {}));
    wanted.set(root, paths);
    return paths;
  };
  const add = (root: string, path: string) => {
    pathsIn(root).add(path);
    const { tree, below } = siteOf(root);
    if (below !== '' && tree !== '/') pathsIn(tree).add(path === '.' ? below : `${below}/${path}`);
  };
  for (const fact of facts) {
    if (fact.kind === 'task.claimed') for (const { root, path } of fact.locks) add(root, path);
    // A link that was taken away since stands in nobody's way.
    if (fact.kind === 'task.refused' && fact.code === 'LOCK_CONFLICT' && isString(fact.details.root)) {
      add(fact.details.root, isString(fact.details.wanted) ? fact.details.wanted : '.');
    }
  }
  return [...wanted].flatMap(([root, paths]) => {
    const known = linksIn(links, root) ?? {};
    const found = find(root, [...paths], known);
    return areSame(found, known) ? [] : [{ kind: 'ledger.link', root, links: found }];
  });
}

function areSame(a: Links, b: Links): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
