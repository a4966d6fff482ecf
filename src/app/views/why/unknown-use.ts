// Approved commands that began and of which nobody knows how they ended: a person says whether they may run once more.
import { isOver } from '../../../kernel/state.ts';
import { unknownIn } from '../approval-outcomes.ts';
import { type Situation, said, type Told } from './situation.ts';

export function unknownUses({ cast, view, baton }: Situation): Told {
  const isEnded = isOver(cast.status);
  const open = [...unknownIn(view.commands, isEnded)];
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
