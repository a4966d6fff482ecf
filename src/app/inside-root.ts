// Paths as the ledger compares them: relative to the folder a task works in. An absolute path that lies in the folder is the
// same file under another name, and one that does not is nobody's to lock.
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { followLinks, normalPath } from '../kernel/ledger/path.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { linksOnWay } from '../workspace/find-links.ts';

/** The path inside the folder; null where it lies outside. Relative paths are left to the ledger's own rules. */
export function insideRoot(folder: string, path: string): string | null {
  if (!isAbsolute(path)) return path;
  const below = relative(folder, resolve(path));
  if (below === '') return '.';
  return below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) ? null : below;
}

/** The path with its links followed: where it lies below the folder, or absolute where it leads out of it. */
export function realInRoot(folder: string, path: string): string {
  const normal = normalPath(path);
  return normal.ok ? followLinks(normal.path, linksOnWay(folder, [normal.path])) : path;
}

export type Placed =
  | { readonly ok: true; readonly packet: JsonObject }
  | { readonly ok: false; readonly refusal: Denied };

const SCOPES = ['lock_scope', 'forbidden_scope', 'x_read_scope'] as const;

/** The packet with its scopes inside the folder. */
export function placedIn(folder: string, packet: JsonObject): Placed {
  const task: JsonObject = isObject(packet.task) ? packet.task : {};
  const placed: Record<string, Json> = { ...task };
  for (const scope of SCOPES) {
    const paths = task[scope];
    if (!Array.isArray(paths)) continue;
    const inside: Json[] = [];
    for (const [index, path] of paths.entries()) {
      const below = isString(path) ? insideRoot(folder, path) : path;
      if (below === null || below === undefined) {
        const place = `task.${scope}[${index}]`;
        const reason = `${place} lies outside ${folder}; a task may only lock what is inside the folder it works in.`;
        return { ok: false, refusal: deny('SCOPE_VIOLATION', reason, { path: place, resource: path ?? null }) };
      }
      inside.push(below);
    }
    placed[scope] = inside;
  }
  return { ok: true, packet: { ...packet, task: placed } };
}
