// consolidation_report: what an agent must say when several surfaces are at work, so that their findings can be joined.
import type { JsonObject } from '../../kernel/json.ts';
import { CONSOLIDATION_KEYS, isOneOf, OWNERSHIP_ASSESSMENTS } from './contract.ts';
import { type Finding, invalid, missing } from './finding.ts';
import { either, isEmpty, usable } from './presence.ts';

/** Looked at only when the INPUT asked for it. Every key must hold something: `["none"]` says there are no conflicts. */
export function checkConsolidation(report: JsonObject, required: boolean): Finding[] {
  if (!required) return [];
  const section = usable(report.consolidation_report);
  const findings = CONSOLIDATION_KEYS.flatMap((key) => checkKey(section, key));
  if (section) return findings;
  const advice = 'the INPUT asks for a consolidation_report: give an object with its six keys';
  return [missing('CONSOLIDATION_REPORT', 'consolidation_report', advice), ...findings];
}

function checkKey(section: JsonObject | null, key: (typeof CONSOLIDATION_KEYS)[number]): Finding[] {
  const path = `consolidation_report.${key}`;
  const value = either(section, key);
  const words = OWNERSHIP_ASSESSMENTS.join(', ');
  if (value === undefined || isEmpty(value)) {
    const advice =
      key === 'ownership_assessment' ? `use one of ${words}` : 'it must not be empty; ["none"] says there is nothing';
    return [missing(key.toUpperCase(), path, `${key} is missing: ${advice}`)];
  }
  if (key !== 'ownership_assessment' || isOneOf(OWNERSHIP_ASSESSMENTS, value)) return [];
  return [invalid('OWNERSHIP_ASSESSMENT', value, path, `not an ownership_assessment: use one of ${words}`)];
}
