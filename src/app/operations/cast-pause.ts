// Pauses a cast that runs: whoever drives it stops its agents and lets go of it.
import { allow } from '../../kernel/verdict.ts';
import { nameCast } from '../name-cast.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'cast.pause'>> = async (
  workspace,
  { cast: word, reason = 'paused by a person' },
  { actor },
) => {
  const store = workspace.castStore();
  const { cast } = await nameCast(store, word, workspace.program);
  const verdict = await store.submit({ kind: 'cast.pause', cast, reason }, actor);
  return verdict.allow
    ? allow(`cast ${cast} is paused; \`${workspace.program} continue ${cast}\` carries it on`, { cast })
    : verdict;
};
