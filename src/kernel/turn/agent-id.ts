// The name under which an agent reports in a cast. The runtime issues it; the same agent at the same piece of work keeps it
// through repairs, answers, approvals and rework, so that what it reported before still counts.

/** `a` and sixteen hex digits, from the cast, the socket and the item. Not a secret: authority never rests on knowing it. */
export function agentIdOf(cast: string, socket: string, item: string | null): string {
  const text = `${cast}\u0000${socket}\u0000${item ?? ''}`;
  return `a${hash(text, 0x811c9dc5)}${hash(text, 0x01000193)}`;
}

/** FNV-1a over the code units, from two different starts. */
function hash(text: string, start: number): string {
  let value = start;
  for (let index = 0; index < text.length; index += 1) {
    value ^= text.charCodeAt(index);
    value = Math.imul(value, 0x01000193) >>> 0;
  }
  return (value >>> 0).toString(16).padStart(8, '0');
}
