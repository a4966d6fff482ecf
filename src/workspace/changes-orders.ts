// The files at the top of a repository by which agent programs take orders, where git does not track them: a program reads them
// although git ignores them, so they are looked at by name.
import { join } from 'node:path';
import { ORDERS } from '../kernel/gate/orders.ts';
import { records, tryGit } from './changes-ask-git.ts';
import { FileReader, type Mark } from './changes-mark.ts';
import { nameOf, walkInto } from './changes-walk.ts';

export type Orders = Readonly<Record<string, Mark>>;

/** `known` are those of an earlier look: what was not touched since is not read again. */
export async function untrackedOrders(
  root: string,
  known: { readonly taken: number; readonly orders?: Orders } | null,
): Promise<Orders> {
  const reader = new FileReader(root, known && { taken: known.taken, files: known.orders ?? {} });
  const orders: Record<string, Mark> = {};
  for (const path of ORDERS) {
    const mark = await reader.mark(path, Buffer.from(join(root, path)));
    if (mark === null) await walkInto(orders, reader, path, []);
    else if (mark.content !== null) orders[path] = mark;
  }
  if (Object.keys(orders).length === 0) return orders;
  const { code, out } = await tryGit(root, ['ls-files', '-z', '--', ...ORDERS]);
  const tracked = new Set(code === 0 ? records(out).map(nameOf) : []);
  return Object.fromEntries(Object.entries(orders).filter(([path]) => !tracked.has(path)));
}
