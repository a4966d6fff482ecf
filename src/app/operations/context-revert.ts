// A section gets the value of an earlier version again.
import type { Json } from '../../kernel/json.ts';
import { notEarlier } from '../../kernel/knowledge/write.ts';
import { deny } from '../../kernel/verdict.ts';
import { ERASED } from '../../log/blob-text.ts';
import { refusalOfDecision } from '../decision.ts';
import { declaredSections, heldAt, sectionHistory } from '../knowledge-in-log.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'context.revert'>> = async (workspace, { section, to, ...input }, { actor }) => {
  const { told, present: seen } = await sectionHistory(workspace, section);
  const value = heldAt(told, section, to);
  if (holdsErased(value)) {
    const why = `a text of version ${to} of ${section} was erased, so that it cannot be put back whole`;
    return deny('TEXT_ERASED', why, { section, to });
  }
  if (!workspace.hasLog()) return notEarlier(section, to, 0);
  const isAgent = refusalOfDecision(workspace, 'context.revert', actor) !== null;
  const [reason, declared] = [input.reason || 'a person put it back', declaredSections(workspace) ?? []];
  const request = { kind: 'context.revert', section, to, value, seen, reason, declared, isAgent } as const;
  return workspace.ledgerStore().submit(request, actor);
};

function holdsErased(value: Json): boolean {
  if (typeof value === 'string') return value === ERASED;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsErased);
}
