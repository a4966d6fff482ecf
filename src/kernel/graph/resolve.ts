// Turns a loadout that passed its checks into the rules of a cast, with every default filled in and old spellings
// replaced by what they stand for.
import { isPositiveInteger, isString, isText, type Json, type JsonObject } from '../json.ts';
import { type Draft, draftOf, given, isGenerator, listAt, objectAt, stringAt, typeOfMateria } from './authored.ts';
import { type Budget, DEFAULTS, type Limits, type Materia, type Rules, type Tools } from './config.ts';
import { graphOf, lockScopeOf } from './resolve-graph.ts';

/**
 * The rules for casting a loadout whose issues hold no error. Files that the configuration names (`promptFile`, a
 * `schema` given by name) have been read and put in place of their names before.
 */
export function resolve(config: JsonObject, loadoutName: string): Rules {
  const draft = draftOf(config, loadoutName);
  const graph = graphOf(draft);
  const used = new Set(Object.values(graph.sockets).map((socket) => socket.materia));
  for (const id of draft.socketIds) refuseFileName(given(objectAt(draft.sockets, id), 'schema'), id);
  return {
    graph,
    materia: Object.fromEntries([...used].map((id) => [id, materiaFor(draft, id)])),
    budget: budgetOf(objectAt(config, 'budget')),
    limits: limitsOf(objectAt(config, 'limits')),
    checkers: objectAt(config, 'checkers'),
  };
}

function materiaFor(draft: Draft, id: string): Materia {
  const written = objectAt(draft.materia, id);
  refuseFileName(given(written, 'schema'), id);
  refuseFileName(given(written, 'promptFile'), id);
  const common = { id, label: textAt(written, 'label') ?? id, generator: isGenerator(written) };
  if (typeOfMateria(written) === 'utility') {
    return {
      type: 'utility',
      ...common,
      utility: stringAt(written, 'utility'),
      command: given(written, 'command') === undefined ? null : listAt(written, 'command').filter(isString),
      script: stringAt(objectAt(written, 'script'), 'name'),
      params: objectAt(written, 'params'),
      once: given(written, 'once') === true,
      lockScope: lockScopeOf(written),
    };
  }
  return {
    type: 'agent',
    ...common,
    multiTurn: given(written, 'multiTurn') === true,
    prompt: stringAt(written, 'prompt') ?? '',
    tools: toolsOf(written),
    runner: stringAt(written, 'runner') ?? 'claude',
    model: textAt(written, 'model'),
    thinking: textAt(written, 'thinking'),
    identity: stringAt(written, 'identity'),
    onCrash: given(written, 'onCrash') === 'wait' ? 'wait' : 'rerun',
    lockScope: lockScopeOf(written),
  };
}

function toolsOf(materia: JsonObject): Tools {
  const tools = given(materia, 'tools');
  if (tools === 'readOnly' || tools === 'coding') return tools;
  const custom = objectAt(materia, 'tools');
  if (given(custom, 'type') !== 'custom') return 'none';
  return { type: 'custom', tools: [...new Set(listAt(custom, 'tools').filter(isString))] };
}

function budgetOf(budget: JsonObject): Budget {
  return {
    maxTokens: numberAt(budget, 'maxTokens'),
    maxCost: numberAt(budget, 'maxCost'),
    maxDurationMs: numberAt(budget, 'maxDurationMs'),
    warnAtPercent: numberAt(budget, 'warnAtPercent') ?? DEFAULTS.warnAtPercent,
  };
}

function limitsOf(limits: JsonObject): Limits {
  const positive = (key: 'maxNoAdvanceCycles' | 'maxBriefBytes') => {
    const value = given(limits, key);
    return isPositiveInteger(value) ? value : DEFAULTS[key];
  };
  return {
    maxNoAdvanceCycles: positive('maxNoAdvanceCycles'),
    repairTurnsMax: numberAt(limits, 'repairTurnsMax') ?? DEFAULTS.repairTurnsMax,
    maxBriefBytes: positive('maxBriefBytes'),
  };
}

// An agent without its prompt, or a socket without its schema, must not start as if nothing were missing.
function refuseFileName(value: Json | undefined, id: string): void {
  if (isString(value)) throw new Error(`${id} names a file; its text must be in place before the loadout is resolved`);
}

function numberAt(object: JsonObject, key: string): number | null {
  const value = given(object, key);
  return typeof value === 'number' ? value : null;
}

function textAt(object: JsonObject, key: string): string | null {
  const value = given(object, key);
  return isText(value) ? value : null;
}
