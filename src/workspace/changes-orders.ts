// The files at the top of a repository by which agent programs take orders, where git does not track them: a program reads them
// although git ignores them, so they are looked at by name; and those that are links to other files, tracked or not.
import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { AGENT_CONFIG } from '../kernel/capabilities.ts';
import { records, tryGit } from './changes-ask-git.ts';
import { FileReader, type Mark } from './changes-mark.ts';
import { nameOf, walkInto } from './changes-walk.ts';

export type Orders = Readonly<Record<string, Mark>>;

/** `known` are those of an earlier look: what was not touched since is not read again. */
export async function untrackedAgentConfig(
  root: string,
  known: { readonly taken: number; readonly orders?: Orders } | null,
): Promise<Orders> {
  const reader = new FileReader(root, known && { taken: known.taken, files: known.orders ?? {} });
  const orders: Record<string, Mark> = {};
  const followed: Record<string, Mark> = {};
  for (const path of AGENT_CONFIG) {
    // What a link leads to is what is obeyed, whatever git makes of the link.
    const target = linkedFrom(join(root, path));
    const leads = target === null ? null : await reader.mark(path, Buffer.from(target));
    if (leads) followed[path] = leads;
    const mark = await reader.mark(path, Buffer.from(join(root, path)));
    if (mark === null) await walkInto(orders, reader, path, []);
    else if (mark.content !== null) orders[path] = mark;
  }
  if (Object.keys(orders).length === 0) return followed;
  const { code, out } = await tryGit(root, ['ls-files', '-z', '--', ...AGENT_CONFIG]);
  const tracked = new Set(code === 0 ? records(out).map(nameOf) : []);
  return { ...Object.fromEntries(Object.entries(orders).filter(([path]) => !tracked.has(path))), ...followed };
}

function linkedFrom(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : null;
  } catch {
    return null;
  }
}
