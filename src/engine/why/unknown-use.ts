// Approved commands that began and of which nobody knows how they ended: a person says whether they may run once more.
import { isOver } from '../../kernel/state.ts';
import { type Standing, said, type Told } from './standing.ts';

/** What was asked for under the approvals with such a command, by their ids. */
export function unknownIn(entries: Standing['entries'], isOver = false): ReadonlyMap<string, string> {
  const asked = new Map<string, string>();
  const open = new Set<string>();
  for (const { fact } of entries) {
    if (fact.kind === 'approval.requested') asked.set(fact.id, fact.sealed.operation);
    // Nothing of a cast that is over runs on: what began and did not say how it ended will not say it any more.
    if (fact.kind === 'approval.unknown' || (isOver && fact.kind === 'approval.used')) open.add(fact.id);
    if (fact.kind === 'approval.finished' || fact.kind === 'approval.rejected') open.delete(fact.id);
    if (fact.kind === 'approval.approved' && fact.again) open.delete(fact.id);
  }
  return new Map([...open].map((id) => [id, asked.get(id) ?? '']));
}

export function unknownUses({ cast, entries, baton }: Standing): Told {
  const isEnded = isOver(cast.status);
  const open = [...unknownIn(entries, isEnded)];
  return {
    code: open.length > 0 ? 'OUTCOME_UNKNOWN' : null,
    sentences: open.map(
      ([id, operation]) => `A command of ${id} (${said(operation, 80)}) began, and nobody knows how it ended.`,
    ),
    commands: open.map(([id]) =>
      isEnded
        ? { does: `settle ${id}, once you know whether it did its work`, command: `${baton} reject ${id} --reason "…"` }
        : { does: `let the command of ${id} run once more`, command: `${baton} approve ${id} --again` },
    ),
  };
}
