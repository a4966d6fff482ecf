// The cast a person means: an id, a beginning that only one has, or `latest`.
import type { Door } from '../engine/door.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import { UsageError } from '../workspace/usage-error.ts';

export async function nameCast(
  door: Pick<Door, 'casts'>,
  word: string | undefined,
  program = 'baton',
): Promise<CastSummary> {
  const [newest] = await door.casts({ limit: 1 });
  if (!newest) throw new UsageError(`there is no cast yet; start one with \`${program} cast\``, 'UNKNOWN_CAST');
  if (word === undefined || word === 'latest') return newest;
  const [exact] = await door.casts({ cast: word });
  if (exact) return exact;
  const matching = word === '' ? [] : await door.casts({ prefix: word });
  if (matching.length === 1 && matching[0]) return matching[0];
  if (matching.length > 1)
    throw new UsageError(`${word} fits ${matching.length} casts: ${matching.map(({ cast }) => cast).join(', ')}`);
  throw new UsageError(`there is no cast ${word}; \`${program} casts\` lists them`, 'UNKNOWN_CAST');
}
