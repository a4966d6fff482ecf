// What agents suggest to remember. A person accepts or drops it.
import { noKnowledge, numberOf, type Remembered, type Suggested } from '../../kernel/knowledge/state.ts';
import { allow, type Denied, deny } from '../../kernel/verdict.ts';
import { refusalOfDecision } from '../decision.ts';
import { declaredSections, knowledgeIn } from '../knowledge-in-log.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

/** What agents suggest to remember and what was accepted. */
export const memoryList: Operation<'memory.list'> = async (workspace, { all = false }) => {
  const known = workspace.hasLog() ? await knowledgeIn(workspace.ledgerStore().log) : noKnowledge();
  const waiting = Object.values(known.open).map(suggested);
  const accepted = all ? Object.values(known.memory).map(remembered) : [];
  const memory = [...waiting, ...accepted].toSorted((a, b) => numberOf(a.id) - numberOf(b.id));
  return allow(`${memory.length} entries`, { memory });
};

function suggested({ key: _key, at, ...words }: Suggested) {
  return { status: 'waiting', section: null, ...words, at: new Date(at).toISOString() };
}

function remembered({ key: _key, at, ...words }: Remembered) {
  return { status: 'accepted', ...words, at: new Date(at).toISOString() };
}

/** A person accepts a suggestion: later turns are told it. */
export const memoryAccept: Operation<'memory.accept'> = async (workspace, { id, section }, { actor }) => {
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

/** A person drops what was suggested or remembered. */
export const memoryDrop: Operation<'memory.drop'> = async (workspace, { id, reason }, { actor }) => {
  if (!workspace.hasLog()) return unknownMemory(workspace, id);
  const isAgent = refusalOfDecision(workspace, 'memory.drop', actor) !== null;
  const request = { kind: 'memory.drop', id, reason: reason || 'a person said no', isAgent } as const;
  return workspace.ledgerStore().submit(request, actor);
};

export function unknownMemory({ program }: Workspace, id: string): Denied {
  return deny('UNKNOWN_MEMORY', `nothing waits under ${id}; \`${program} memory list\` shows what does`, { id });
}
