// What makes two normal paths the same file: composed and decomposed letters always are; capitals are told apart only
// where the disk does so; a path through a link is the path it leads to.
import { followLinks, type Links } from './links.ts';
import { covers } from './overlap.ts';

export function pathKey(path: string, foldCase: boolean, links?: Links): string {
  const composed = followLinks(path, links).normalize('NFC');
  return foldCase ? composed.toLowerCase().normalize('NFC') : composed;
}

/** A fixed set of paths that can be asked, many times, whether one of them is a path or lies above it. */
export function coverOf(keys: readonly string[]): (key: string) => boolean {
  const set = new Set(keys);
  return (key) => {
    if (set.has('/') || (set.has('.') && covers('.', key))) return true;
    for (let end = key.length; end > 0; end = key.lastIndexOf('/', end - 1))
      if (set.has(key.slice(0, end))) return true;
    return false;
  };
}
