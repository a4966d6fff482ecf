// What somebody wants written to the shared knowledge: `{contract, payload}` each. Which entries may be written is decided
// entry by entry, and never breaks the report they came in.

import type { Code } from '../codes.ts';
import { isObject, isString, type Json, type JsonObject, nameOfType } from '../json.ts';
import { type Artifacts, type Deposit, type Placed, readDeposits } from './evidence.ts';
import { below, type Finding, textOf, warning } from './finding.ts';
import { EVIDENCE } from './state.ts';

export type Entry = { readonly contract: string; readonly payload: JsonObject };

export type Refused = {
  readonly contract: string;
  readonly code: Code;
  readonly why: string;
  /** The place in the report, where that says more than the section. */
  readonly path?: string;
};

export type Sorted = {
  readonly permitted: readonly Entry[];
  /** The evidence that is deposited; none where a piece of it cannot be taken. */
  readonly deposits: readonly Deposit[];
  /** One for each entry that names a section and may not be written, and for each piece of evidence that is not taken. */
  readonly refused: readonly Refused[];
  /** The sections these entries name, each once. */
  readonly rejected: readonly string[];
  /** The warnings about entries that are none, and about evidence that is taken all the same. */
  readonly skipped: readonly Finding[];
  /** The warnings about all entries that are not written. */
  readonly findings: readonly Finding[];
};

const NO_ENTRIES: Sorted = { permitted: [], deposits: [], refused: [], rejected: [], skipped: [], findings: [] };

/**
 * Sorts entries by whether they may be written. `writable` is null when nobody said what is: then all may. `seen` is what was
 * seen of the files that evidence names; null where nothing could be looked at.
 */
export function sortEntries(
  entries: Json | undefined,
  writable: readonly string[] | null,
  path: string,
  seen: Artifacts | null = null,
): Sorted {
  if (entries === undefined || entries === null) return NO_ENTRIES;
  if (!Array.isArray(entries)) {
    const skipped = [skip(path, `expected an array of {contract, payload}, got ${nameOfType(entries)}`)];
    return { ...NO_ENTRIES, skipped, findings: skipped };
  }
  const sections = writable && new Set(writable);
  const list = writable?.length ? textOf(writable.toSorted().join(', ')) : '(none)';
  const permitted: Entry[] = [];
  const evidence: Placed[] = [];
  const refused: Refused[] = [];
  const skipped: Finding[] = [];
  const findings: Finding[] = [];
  const refuse = (at: string, contract: string, code: Code, why: string) => {
    refused.push({ contract, code, why });
    findings.push(rejection(contract, at, why));
  };
  for (const [index, entry] of (entries as readonly Json[]).entries()) {
    const at = below(path, index);
    const { contract, payload } = isObject(entry) ? entry : {};
    if (!isString(contract) || payload === undefined) {
      const found = skip(at, 'not an object with contract and payload');
      skipped.push(found);
      findings.push(found);
    } else if (contract === EVIDENCE) {
      evidence.push({ at, payload });
    } else if (sections && !sections.has(contract)) {
      refuse(at, contract, 'WRITE_NOT_PERMITTED', `may not be written; writable sections: ${list}`);
    } else if (!isObject(payload)) {
      refuse(at, contract, 'PAYLOAD_NOT_OBJECT', `its payload must be an object, got ${nameOfType(payload)}`);
    } else {
      permitted.push({ contract, payload });
    }
  }
  const { deposits, faults, findings: doubts } = readDeposits(evidence, seen);
  for (const { code, path: place, why } of faults) {
    refused.push({ contract: EVIDENCE, code, why: `${place}: ${why}`, path: place });
    findings.push(rejection(EVIDENCE, place, `${code}: ${why}`));
  }
  skipped.push(...doubts);
  findings.push(...doubts);
  const rejected = [...new Set(refused.map(({ contract }) => contract))];
  return { permitted, deposits, refused, rejected, skipped, findings };
}

export function rejection(contract: string, path: string, why: string): Finding {
  return warning(`UPDATE_CONTRACTS_REJECTED:${textOf(contract)}`, path, `${textOf(contract)}: ${why}`);
}

function skip(path: string, why: string): Finding {
  return warning(`UPDATE_CONTRACTS_SKIPPED:${path}`, path, why);
}
