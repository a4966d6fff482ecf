// The sections of what the workspace knows, or the one that is named.
import { canonicalJson, type JsonObject } from '../../kernel/json.ts';
import { type Section, sectionOf } from '../../kernel/knowledge/state.ts';
import { utf8Length } from '../../kernel/text.ts';
import { allow } from '../../kernel/verdict.ts';
import { declaredSections, knowledgeIn, unknownSection } from '../knowledge-in-log.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'context.show'>> = async (workspace, { section }) => {
  const known = workspace.hasLog() ? (await knowledgeIn(workspace.ledgerStore().log)).sections : {};
  const declared = declaredSections(workspace) ?? [];
  if (section !== undefined) {
    const [view] = viewIn(known, section, declared);
    return view ? allow(`what is known of ${section}`, { section: view }) : unknownSection(section);
  }
  const names = [...new Set([...Object.keys(known), ...declared])].sort();
  const sections = names.flatMap((each) => viewIn(known, each, declared));
  return allow(`${sections.length} sections`, { sections });
};

/** A section that is declared and was never written has no version, and is empty. */
type View = {
  readonly section: string;
  readonly version: number;
  readonly at: string | null;
  readonly by: string | null;
  readonly bytes: number;
  readonly value: JsonObject;
};

function viewIn(
  sections: Readonly<Record<string, Section>>,
  name: string,
  declared: readonly string[],
): readonly View[] {
  const section = sectionOf({ sections }, name);
  if (section) return [viewOf(name, section)];
  return declared.includes(name) ? [{ section: name, version: 0, at: null, by: null, bytes: 2, value: {} }] : [];
}

function viewOf(section: string, { value, version, at, by }: Section): View {
  const bytes = utf8Length(canonicalJson(value));
  return { section, version, at: new Date(at).toISOString(), by, bytes, value };
}
