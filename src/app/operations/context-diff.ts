// What differs between two versions of a section.
import { valuesOf } from '../../kernel/knowledge/merge.ts';
import { allow } from '../../kernel/verdict.ts';
import { CHANGES_SHOWN_MAX, heldAt, sectionHistory, wholeChange } from '../knowledge-in-log.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'context.diff'>> = async (workspace, { section, ...versions }) => {
  const { told, present } = await sectionHistory(workspace, section);
  const to = versions.to ?? present;
  const from = versions.from ?? Math.max(0, to - 1);
  const changes = valuesOf(heldAt(told, section, from), heldAt(told, section, to), CHANGES_SHOWN_MAX);
  return allow(`${changes.length} changes`, { section, from, to, changes: changes.map(wholeChange) });
};
