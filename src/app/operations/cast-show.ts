// One cast, as it is now. What it produced comes first.
import { loadView } from '../look-at-cast.ts';
import { nameCast } from '../name-cast.ts';
import type { Run } from '../operation.ts';
import { castVerdict } from '../views/shown-cast.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'cast.show'>> = async (workspace, { cast: word, turns = false }) => {
  const store = workspace.castStore();
  const { cast } = await nameCast(store, word, workspace.program);
  return castVerdict(await loadView(store, cast, turns, workspace.dir, workspace.program));
};
