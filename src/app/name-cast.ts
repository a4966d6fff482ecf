// The cast a person means: an id, a beginning that only one has, or `latest`.
import type { Door } from '../engine/door.ts';
import { type CastSummary, summaries } from '../engine/summary.ts';
import { UsageError } from '../workspace/usage-error.ts';

export async function nameCast(door: Door, word: string | undefined, program = 'baton'): Promise<CastSummary> {
  const casts = await summaries(door);
  const newest = casts.at(-1);
  if (!newest) throw new UsageError(`there is no cast yet; start one with \`${program} cast\``, 'UNKNOWN_CAST');
  if (word === undefined || word === 'latest') return newest;
  const exact = casts.find(({ cast }) => cast === word);
  if (exact) return exact;
  const matching = word === '' ? [] : casts.filter(({ cast }) => cast.startsWith(word));
  if (matching.length === 1 && matching[0]) return matching[0];
  if (matching.length > 1)
    throw new UsageError(`${word} fits ${matching.length} casts: ${matching.map(({ cast }) => cast).join(', ')}`);
  throw new UsageError(`there is no cast ${word}; \`${program} casts\` lists them`, 'UNKNOWN_CAST');
}
