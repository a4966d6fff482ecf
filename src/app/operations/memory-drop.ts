// A person drops what was suggested or remembered.
import { type Denied, deny } from '../../kernel/verdict.ts';
import { refusalOfDecision } from '../decision.ts';
import type { Run } from '../operation.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'memory.drop'>> = async (workspace, { id, reason }, { actor }) => {
  if (!workspace.hasLog()) return unknownMemory(workspace, id);
  const isAgent = refusalOfDecision(workspace, 'memory.drop', actor) !== null;
  const request = { kind: 'memory.drop', id, reason: reason || 'a person said no', isAgent } as const;
  return workspace.ledgerStore().submit(request, actor);
};

export function unknownMemory({ program }: Workspace, id: string): Denied {
  return deny('UNKNOWN_MEMORY', `nothing waits under ${id}; \`${program} memory list\` shows what does`, { id });
}
