// A resource is a path, compared only in its normal form: forward slashes, no empty or `.` segments, `..` resolved.
// Letter case, globs and links are taken literally here (`pathKey` follows links); an absolute path and a relative one are
// never unified.

export type PathFault = 'empty' | 'escapes' | 'nul';
export type NormalPath =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly fault: PathFault };

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
