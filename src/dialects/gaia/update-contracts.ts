// update_contracts: what an agent wants written to the shared knowledge of the project. Which entries it may write is
// decided entry by entry and never breaks the report they came in.
import { isObject, isString, type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { below, type Finding, textOf, warning } from './finding.ts';

export type Entry = { readonly contract: string; readonly payload: JsonObject };

export type Sorted = {
  readonly permitted: readonly Entry[];
  /** Sections named by entries that may not be written, each once. */
  readonly rejected: readonly string[];
  readonly findings: readonly Finding[];
};

/** Sorts entries by whether they may be written. `writable` is null when nobody said what is: then all may. */
export function sortEntries(entries: Json | undefined, writable: readonly string[] | null, path: string): Sorted {
  if (entries === undefined || entries === null) return { permitted: [], rejected: [], findings: [] };
  if (!Array.isArray(entries)) {
    const skipped = skip(path, `expected an array of {contract, payload}, got ${nameOfType(entries)}`);
    return { permitted: [], rejected: [], findings: [skipped] };
  }
  const sections = writable && new Set(writable);
  const list = writable?.length ? textOf(writable.toSorted().join(', ')) : '(none)';
  const permitted: Entry[] = [];
  const rejected = new Set<string>();
  const findings: Finding[] = [];
  for (const [index, entry] of (entries as readonly Json[]).entries()) {
    const at = below(path, index);
    const { contract, payload } = isObject(entry) ? entry : {};
    if (!isString(contract) || payload === undefined) {
      findings.push(skip(at, 'not an object with contract and payload'));
    } else if (sections && !sections.has(contract)) {
      rejected.add(contract);
      findings.push(rejection(contract, at, `may not be written; writable sections: ${list}`));
    } else if (!isObject(payload)) {
      rejected.add(contract);
      findings.push(rejection(contract, at, `its payload must be an object, got ${nameOfType(payload)}`));
    } else {
      permitted.push({ contract, payload });
    }
  }
  return { permitted, rejected: [...rejected], findings };
}

/** The sections the INPUT allows to be written; null when there was no INPUT to say so. */
export function writableSections(injectedContext: JsonObject | null): readonly string[] | null {
  if (injectedContext === null) return null;
  const { write_permissions: permissions } = injectedContext;
  const sections = isObject(permissions) ? permissions.writable_sections : undefined;
  return Array.isArray(sections) ? sections.filter(isString) : [];
}

export function rejection(contract: string, path: string, why: string): Finding {
  return warning(`UPDATE_CONTRACTS_REJECTED:${textOf(contract)}`, path, `${textOf(contract)}: ${why}`);
}

function skip(path: string, why: string): Finding {
  return warning(`UPDATE_CONTRACTS_SKIPPED:${path}`, path, why);
}
