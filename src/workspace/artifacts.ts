// Looks at the files that a report names as evidence: whether they lie in the folder of the turn once every link is followed,
// and how large they are. Nothing of them is read.
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Artifact, Artifacts } from '../kernel/knowledge/entries.ts';

export function artifactsIn(folder: string, paths: readonly string[]): Artifacts {
  return Object.fromEntries(paths.map((path) => [path, artifactIn(folder, path)]));
}

function artifactIn(folder: string, path: string): Artifact {
  try {
    const root = realpathSync(folder);
    const place = join(root, path);
    const nearest = nearestThere(place);
    if (!isWithin(root, realpathSync(nearest))) return { inside: false, bytes: null };
    const found = nearest === place ? statSync(place) : null;
    return { inside: true, bytes: found?.isFile() ? found.size : null };
  } catch {
    // A link to nowhere, a circle of links, or a folder that may not be entered: where it leads is not known.
    return { inside: false, bytes: null };
  }
}

/** The path itself, or the nearest folder above it that is there. A link is there, wherever it leads. */
function nearestThere(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    if (lstatSync(at, { throwIfNoEntry: false }) !== undefined || dirname(at) === at) return at;
  }
}

function isWithin(root: string, place: string): boolean {
  const below = relative(root, place);
  return below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below);
}
