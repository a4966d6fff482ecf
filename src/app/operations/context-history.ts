// Every version of a section, and every write that was refused.
import { valuesOf } from '../../kernel/knowledge/merge.ts';
import { counted } from '../../kernel/text.ts';
import { allow } from '../../kernel/verdict.ts';
import { CHANGES_SHOWN_MAX, sectionHistory, type Told, valueAt, wholeChange } from '../knowledge-in-log.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'context.history'>> = async (workspace, { section }) => {
  const { told } = await sectionHistory(workspace, section);
  return allow(`${told.length} entries`, { history: told.map((each) => row(each, told)) });
};

function row({ seq, at, by, fact }: Told, told: readonly Told[]) {
  const { cast, turn } = fact.kind === 'context.reverted' ? {} : fact;
  const where = cast === undefined ? null : `${cast}:${turn}`;
  const author = fact.kind === 'context.rejected' ? (fact.agent ?? by) : fact.author;
  const common = { seq, at, by: author, where };
  if (fact.kind === 'context.rejected') {
    return { ...common, version: null, what: `refused (${fact.code}): ${fact.reason}`, code: fact.code, changes: [] };
  }
  const { version, value } = fact;
  const changes = valuesOf(valueAt(told, version - 1) ?? {}, value, CHANGES_SHOWN_MAX).map(wholeChange);
  const what =
    fact.kind === 'context.reverted'
      ? `back to ${fact.to}: ${fact.reason}`
      : `${fact.replaces ? 'replaced' : 'written'}, ${counted(changes.length, 'change')}`;
  return { ...common, version, what, changes };
}
