// What an agent was approved with beside its prompt: runner, model and tools. They stand in the lock; what runs otherwise
// is reported, never passed over in silence.
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { isPinnedModel } from './model-pin.ts';

export type Approval = {
  readonly runner: string;
  readonly model: string | null;
  readonly tools: Json;
};

/** Null where the lock says nothing about it. */
export function readApproval(entry: JsonObject): Approval | null {
  const { runner, model = null, tools = 'none' } = entry;
  if (!isString(runner) || (model !== null && !isString(model))) return null;
  return { runner, model, tools: isString(tools) || isObject(tools) ? tools : 'none' };
}

export function approvalJson(approval: Approval | null): JsonObject {
  return approval ? { ...approval, pinned: isPinnedModel(approval.model) } : {};
}

/** The parts in which what is used now differs from what was approved. */
export function driftFrom(approved: Approval | null, used: Approval): readonly string[] {
  if (!approved) return [];
  return (['runner', 'model', 'tools'] as const).filter((part) => written(approved[part]) !== written(used[part]));
}

/** The order of a list of tools means nothing. */
function written(value: Json): string {
  const tools = isObject(value) && Array.isArray(value.tools) ? value.tools.map(String).toSorted() : null;
  return JSON.stringify(tools ?? value);
}
