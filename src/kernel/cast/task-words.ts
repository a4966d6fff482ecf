// What a cast writes into the row of a task that it makes of an item or a turn, so that a packet can be built from it: the
// objective, the criteria by which one sees that it is done, and the context that the item brings.
import { isObject, isText, type Json, type JsonObject } from '../json.ts';
import type { TaskSpec } from '../ledger/state.ts';
import type { Cast } from '../state.ts';
import { cut } from './cut.ts';

const OBJECTIVE_CHARS_MAX = 5_000;
const CONTEXT_CHARS_MAX = 16_384;

/** The whole of which the task is a part. */
export function objectiveOf({ request, loadout }: Pick<Cast, 'request' | 'loadout'>): string {
  return cut(isText(request) ? request : `Run the loadout ${loadout}`, OBJECTIVE_CHARS_MAX);
}

/** Criteria and context of an item. An item that states no criterion is done when what its title says is done. */
export function wishesIn(title: string, item: Json | undefined): Pick<TaskSpec, 'criteria' | 'context'> {
  const { acceptance_criteria: written, acceptanceCriteria = written } = isObject(item) ? item : {};
  const stated = Array.isArray(acceptanceCriteria) ? acceptanceCriteria.filter(isText) : [];
  return { criteria: stated.length > 0 ? [...new Set(stated)] : [title], context: contextOf(item) };
}

/** Whether the one criterion of a task is only its title, which nobody stated as a criterion. */
export function isUnstated({ own, title, criteria }: Pick<TaskSpec, 'own' | 'title' | 'criteria'>): boolean {
  return own === true && criteria.length === 1 && criteria[0] === title;
}

function contextOf(item: Json | undefined): readonly JsonObject[] {
  if (item === undefined) return [];
  if (!isObject(item)) return notes(typeof item === 'string' ? item : JSON.stringify(item));
  if (isText(item.context)) return notes(item.context);
  const { title: _title, name: _name, acceptance_criteria: _one, acceptanceCriteria: _other, ...rest } = item;
  return Object.keys(rest).length === 0 ? [] : notes(JSON.stringify(rest));
}

function notes(text: string): readonly JsonObject[] {
  return isText(text) ? [{ kind: 'note', value: cut(text, CONTEXT_CHARS_MAX) }] : [];
}
