// One cast, as it is now. What it produced comes first.
import type { CastView } from '../../app/views/shown-cast.ts';
import { itemsText } from '../../kernel/cast/item.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import { loadView } from '../load-view.ts';
import { nameCast } from '../name-cast.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'cast.show'>> = async (workspace, { cast: word, turns = false }) => {
  const store = workspace.castStore();
  const { cast } = await nameCast(store, word, workspace.program);
  return castVerdict(await loadView(store, cast, turns, workspace.dir, workspace.program));
};

/** A cast as a verdict; `stands` says that it does not run. */
export function castVerdict(view: CastView): Verdict {
  const why = view.code === null ? '' : ` (${view.code}): ${view.reason}`;
  const items = view.items ? `; ${itemsText(view.items)}` : '';
  const notRun = (view.notRun ?? []).map(({ outcome, command }) => `; ${outcome}: ${command}`).join('');
  const { result, ...rest } = view;
  const details = { result, ...rest, stands: view.status !== 'running' };
  return allow(`cast ${view.cast} is ${view.status}${why}${items}${notRun}`, details as unknown as JsonObject);
}
