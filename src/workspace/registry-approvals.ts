// What the agents of a configuration run with, by registry id: this is what a lock approves beside the prompts.

import { DEFAULT_RUNNER } from '../kernel/capabilities.ts';
import { typeOfMateria } from '../kernel/graph/authored.ts';
import { isToolScope } from '../kernel/graph/config.ts';
import { given, isObject, isText, type Json, objectAt, stringAt } from '../kernel/json.ts';
import type { Approval } from '../trust/approval.ts';

/** Of several materia with the same identity the first one counts. */
export function approvalsOf(config: Json): ReadonlyMap<string, Approval> {
  const approvals = new Map<string, Approval>();
  const all = isObject(config) ? objectAt(config, 'materia') : {};
  for (const id of Object.keys(all)) {
    const materia = objectAt(all, id);
    const identity = stringAt(materia, 'identity');
    if (identity === null || typeOfMateria(materia) !== 'agent' || approvals.has(identity)) continue;
    const model = given(materia, 'model');
    approvals.set(identity, {
      runner: stringAt(materia, 'runner') ?? DEFAULT_RUNNER,
      model: isText(model) ? model : null,
      tools: toolsOf(given(materia, 'tools')),
    });
  }
  return approvals;
}

function toolsOf(tools: Json | undefined): Json {
  if (isToolScope(tools)) return tools;
  return isObject(tools) && tools.type === 'custom' && Array.isArray(tools.tools)
    ? { type: 'custom', tools: tools.tools }
    : 'none';
}
