// Checks of when a conversation is shortened before it is too long: at one percentage, or at several by the size of the
// model's window. The sizes must be covered from 0 on without a gap, so that every model is meant exactly once.
import { isObject, type Json, type JsonObject } from '../json.ts';
import { given } from './authored.ts';
import { checkFields } from './check-fields.ts';
import { TIER } from './config-fields.ts';
import { error, type Findings, shown } from './issue.ts';

const EXAMPLE =
  'Write a list such as [{"minContextWindow": 0, "maxContextWindow": 128000, "thresholdPercent": 70}, {"minContextWindow": 128000, "thresholdPercent": 60}]';

export function* checkCompaction(compaction: Json | undefined): Findings {
  const tiers = isObject(compaction) ? given(compaction, 'proactiveThresholdTiers') : undefined;
  if (tiers === undefined) return;
  const path = 'compaction.proactiveThresholdTiers';
  if (!Array.isArray(tiers) || tiers.length === 0) {
    const found = Array.isArray(tiers) ? 'empty' : shown(tiers);
    yield error('INVALID_CONFIG', path, `proactiveThresholdTiers is ${found}. ${EXAMPLE}, or leave it out.`);
    return;
  }
  let sound = true;
  for (const [index, tier] of tiers.entries()) {
    const issues = [...checkTier(tier, `${path}[${index}]`)];
    yield* issues;
    sound = sound && isObject(tier) && issues.every(({ level }) => level !== 'error');
  }
  // Between tiers that are none, gaps would be found that nobody left.
  if (sound) yield* checkCover(tiers.filter(isObject), path);
}

function* checkTier(tier: Json, path: string): Findings {
  if (!isObject(tier)) {
    yield error('INVALID_CONFIG', path, `A tier is an object, not ${shown(tier)}. ${EXAMPLE}.`);
    return;
  }
  yield* checkFields(tier, TIER, { path, code: 'INVALID_CONFIG', what: 'a tier' });
}

/** A tier begins where the one before it ends; the first at 0, and the last has no end. */
function* checkCover(tiers: readonly JsonObject[], path: string): Findings {
  let from = 0;
  for (const [index, tier] of tiers.entries()) {
    const min = numberAt(tier, 'minContextWindow') ?? 0;
    const max = numberAt(tier, 'maxContextWindow');
    const isLast = index === tiers.length - 1;
    if (min !== from) {
      const what =
        min > from ? `Nothing is said of windows from ${from} to ${min}` : 'Two tiers are for the same windows';
      const message = `${what}. Let this tier begin at ${from}, where the one before it ends.`;
      yield error('INVALID_CONFIG', `${path}[${index}].minContextWindow`, index === 0 ? STARTS : message);
    }
    if (isLast && max !== null) {
      const message = `Nothing is said of windows from ${max} on. Leave maxContextWindow of the last tier out.`;
      yield error('INVALID_CONFIG', `${path}[${index}].maxContextWindow`, message);
    }
    if (!isLast && (max === null || max <= min)) {
      const message = `A tier that others follow ends above its beginning, ${min}. Write maxContextWindow.`;
      yield error('INVALID_CONFIG', `${path}[${index}].maxContextWindow`, message);
      return;
    }
    from = max ?? from;
  }
}

const STARTS = 'The first tier begins at 0. Write 0, or leave minContextWindow out.';

function numberAt(tier: JsonObject, field: string): number | null {
  const value = given(tier, field);
  return typeof value === 'number' ? value : null;
}
