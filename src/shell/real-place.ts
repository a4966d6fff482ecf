// Where a path leads once every link on the way is followed, also where the file itself is not there yet.
import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const LINKS_MAX = 10;

/** Of a file that is not there yet: the real place of the nearest folder that is, and the rest as it is written. */
export function realPlace(path: string, links = 0): string {
  let rest = '';
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(realpathSync(at), rest);
    } catch {
      const target = links < LINKS_MAX ? danglingTarget(at) : null;
      if (target !== null) return join(realPlace(resolve(dirname(at), target), links + 1), rest);
      if (dirname(at) === at) return path;
      rest = join(basename(at), rest);
    }
  }
}

/** Where a link leads whose target is not there yet: writing through it makes the target. */
function danglingTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
