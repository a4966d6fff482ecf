// A short key for a text: the same for the same words, however they are spaced or capitalised. Not a digest to trust: two
// texts that share one by design are merely taken for the same suggestion.

export function textKey(text: string): string {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).join(' ');
  return `${hash(words, 0x811c9dc5)}${hash(words, 0x050c5d1f)}`;
}

/** FNV-1a over the code units. */
function hash(text: string, start: number): string {
  let value = start;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return value.toString(16).padStart(8, '0');
}
