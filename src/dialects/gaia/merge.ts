// The answer to `gaia/merge`: what stored sections become when a report's entries are written to them. Nothing is stored
// here; a cast writes by the same rules.
import { isObject, type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { rejection, sortEntries } from '../../kernel/knowledge/entries.ts';
import { findLiveState } from '../../kernel/knowledge/live-state.ts';
import { mergePayloads } from '../../kernel/knowledge/merge.ts';
import { normaliseReferences } from '../../kernel/knowledge/repo-reference.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { asDetails, type Finding } from './finding.ts';

export type MergeRequest = {
  /** The stored sections. */
  readonly base: JsonObject;
  /** `{contract, payload}` each; two for one section apply in order. */
  readonly entries: readonly Json[];
  readonly writable_sections: readonly string[];
};

/** A section that may not be written is rejected and the others still apply. Live state is only pointed out. */
export function mergeContracts({ base, entries, writable_sections }: MergeRequest): Verdict {
  const {
    permitted,
    deposits,
    rejected: refused,
    findings: found,
  } = sortEntries(entries, writable_sections, 'entries');
  const rejected = new Set(refused);
  const findings = [...found];
  const sections = new Map(Object.entries(base));
  for (const [contract, written] of Map.groupBy(permitted, (entry) => entry.contract)) {
    const stored = sections.get(contract) ?? {};
    if (isObject(stored)) {
      const payloads = written.map(({ payload }) => prepare(payload, contract, findings));
      sections.set(contract, mergePayloads(stored, payloads, contract, findings));
    } else {
      rejected.add(contract);
      const why = `the stored section is ${nameOfType(stored)}, so that nothing can be merged into it`;
      findings.push(rejection(contract, contract, why));
    }
  }
  const { warnings, issues } = asDetails(findings);
  const details = {
    ...{ result: Object.fromEntries(sections), rejected: [...rejected], warnings, issues },
    ...(deposits.length > 0 ? { evidence: deposits } : {}),
  };
  if (rejected.size === 0)
    return allow(`${permitted.length + deposits.length} of ${entries.length} entries were merged`, details);
  return deny('WRITE_NOT_PERMITTED', `${rejected.size} sections were not written; the others were`, details);
}

/** References in their canonical spelling; that, and what looks like live state, is pointed out. */
export function prepare(payload: JsonObject, contract: string, findings: Finding[]): JsonObject {
  const normalised = normaliseReferences(payload, contract, findings);
  findLiveState(normalised, contract, findings);
  return normalised;
}
