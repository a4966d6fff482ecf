// update_contracts: which sections the INPUT lets an agent write. The entries themselves are sorted by the rule that also
// stores them.
import { isObject, isString, type JsonObject } from '../../kernel/json.ts';

export { sortEntries } from '../../kernel/knowledge/entries.ts';
export { EVIDENCE } from '../../kernel/knowledge/state.ts';

/** The sections the INPUT allows to be written; null when there was no INPUT to say so. */
export function writableSections(injectedContext: JsonObject | null): readonly string[] | null {
  if (injectedContext === null) return null;
  const { write_permissions: permissions } = injectedContext;
  const sections = isObject(permissions) ? permissions.writable_sections : undefined;
  return Array.isArray(sections) ? sections.filter(isString) : [];
}
