// Approved commands that began and of which nobody knows how they ended: a person says whether they may run once more.
import { isOver } from '../../kernel/state.ts';
import { type Standing, said, type Told } from './standing.ts';

const NOTHING: Told = { code: null, sentences: [], commands: [] };

export function unknownUses({ cast, entries, baton }: Standing): Told {
  if (isOver(cast.status)) return NOTHING;
  const asked = new Map<string, string>();
  const open = new Set<string>();
  for (const { fact } of entries) {
    if (fact.kind === 'approval.requested') asked.set(fact.id, fact.sealed.operation);
    if (fact.kind === 'approval.unknown') open.add(fact.id);
    if (fact.kind === 'approval.finished' || fact.kind === 'approval.rejected') open.delete(fact.id);
    if (fact.kind === 'approval.approved' && fact.again) open.delete(fact.id);
  }
  const ids = [...open];
  return {
    code: ids.length > 0 ? 'OUTCOME_UNKNOWN' : null,
    sentences: ids.map(
      (id) => `A command of ${id} (${said(asked.get(id) ?? '', 80)}) began, and nobody knows how it ended.`,
    ),
    commands: ids.map((id) => ({
      does: `let the command of ${id} run once more`,
      command: `${baton} approve ${id} --again`,
    })),
  };
}
