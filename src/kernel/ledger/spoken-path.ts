// Paths in sentences for people and agents: in quotes, so that no full stop and no comma reads as a part of one, and the
// folder itself by words, for a dot says nothing.

export function spokenPath(path: string): string {
  return path === '.' ? 'the whole folder' : JSON.stringify(path);
}

const NAMED_MAX = 5;

/** The first of them, and how many more there are. */
export function spokenPaths(paths: readonly string[], max = NAMED_MAX): string {
  const more = paths.length - max;
  return `${paths.slice(0, max).map(spokenPath).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
