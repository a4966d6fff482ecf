// What agents suggest to remember and what was accepted.
import { noKnowledge, numberOf, type Remembered, type Suggested } from '../../kernel/knowledge/state.ts';
import { allow } from '../../kernel/verdict.ts';
import { knowledgeIn } from '../knowledge-in-log.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'memory.list'>> = async (workspace, { all = false }) => {
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
