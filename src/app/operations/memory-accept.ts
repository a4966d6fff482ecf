// A person accepts a suggestion: later turns are told it.
import { refusalOfDecision } from '../decision.ts';
import { declaredSections } from '../knowledge-in-log.ts';
import type { Run } from '../operation.ts';
import { unknownMemory } from './memory-drop.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'memory.accept'>> = async (workspace, { id, section }, { actor }) => {
  if (!workspace.hasLog()) return unknownMemory(workspace, id);
  const declared = declaredSections(workspace);
  const request = {
    kind: 'memory.accept',
    id,
    ...(section === undefined ? {} : { section }),
    ...(declared === null ? {} : { declared }),
    isAgent: refusalOfDecision(workspace, 'memory.accept', actor) !== null,
  } as const;
  return workspace.ledgerStore().submit(request, actor);
};
