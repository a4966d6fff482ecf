// What a pattern of the shell stands for at the moment. It is wider than a shell where that is simpler: to bind a file too
// many costs a question, to bind one too few costs more.
import { readdirSync } from 'node:fs';

const MATCHES_MAX = 512;
const LOOKS_MAX = 4_096;
const STARS_MAX = 4;

/** The paths that an absolute pattern fits, in order; null where it is none, or where it fits too many. */
export function matchesOf(pattern: string): readonly string[] | null {
  if (!/[*?[{]/.test(pattern) || !pattern.startsWith('/')) return null;
  let places = [''];
  let looks = 0;
  for (const part of pattern.split('/').slice(1)) {
    if (part === '') continue;
    if (!/[*?[{]/.test(part)) {
      places = places.map((place) => `${place}/${part}`);
      continue;
    }
    const fits = fitting(part);
    const next: string[] = [];
    for (const place of places) {
      const names = namesIn(place === '' ? '/' : place);
      looks += names.length + 1;
      if (looks > LOOKS_MAX) return null;
      for (const name of names) if (fits(name)) next.push(`${place}/${name}`);
    }
    if (next.length > MATCHES_MAX) return null;
    places = next;
  }
  return places.sort();
}

/** Braces, and what has many stars, are taken to fit everything. */
function fitting(part: string): (name: string) => boolean {
  if (part.includes('{') || (part.match(/\*+/g)?.length ?? 0) > STARS_MAX) return () => true;
  const source = part
    .replace(/\[[^\]]*\]/g, '?')
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '[^]*')
    .replaceAll('?', '[^]');
  const whole = new RegExp(`^${source}$`, 'u');
  return (name) => whole.test(name);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
