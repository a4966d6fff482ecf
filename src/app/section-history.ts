// What the operations on one section of shared knowledge need: how it came to be, and what it held at a version.
import type { JsonObject } from '../kernel/json.ts';
import type { ValueChange } from '../kernel/knowledge/merge.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { declaredSections, historyOf, type Told, valueAt } from './knowledge-in-log.ts';
import { Refused } from './refused.ts';
import type { Workspace } from './workspace.ts';

/** More changes than that are not shown. */
export const CHANGES_SHOWN_MAX = 10_000;

export type SectionHistory = { readonly told: readonly Told[]; readonly present: number };

/** Of a section that was written at least once, or that the configuration names; anything else is refused. */
export async function sectionHistory(workspace: Workspace, name: string): Promise<SectionHistory> {
  const told = workspace.hasLog() ? await historyOf(workspace.ledgerStore().log, name) : [];
  if (told.length === 0 && declaredSections(workspace)?.includes(name) !== true)
    throw new Refused(unknownSection(name));
  const versions = told.map(({ fact }) => (fact.kind === 'context.rejected' ? 0 : fact.version));
  return { told, present: Math.max(0, ...versions) };
}

export function heldAt(told: readonly Told[], section: string, version: number): JsonObject {
  const value = valueAt(told, version);
  if (value) return value;
  throw new Refused(deny('UNKNOWN_VERSION', `${section} never had a version ${version}`, { section, version }));
}

/** A side without a value has no member: null is a value like any other. */
export function wholeChange({ path, before, after }: ValueChange): JsonObject {
  return { path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

export function unknownSection(section: string): Denied {
  return deny('UNKNOWN_SECTION', `there is no section ${section}; \`baton context show\` lists them`, { section });
}
