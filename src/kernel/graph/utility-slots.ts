// Which slots of the cast data a utility sets by itself, as far as that is known before it runs.
import { isObject, isString, type Json, type JsonObject } from '../json.ts';
import { given, objectAt, stringAt } from './authored.ts';
import type { UtilityNames } from './check-utility-name.ts';
import { GENERATED } from './loop-region.ts';

/** The slots, or null where it may set any: a program of the user's own says whatever it says. */
export function slotsOfUtility(materia: JsonObject, names: UtilityNames | undefined): readonly string[] | null {
  if (given(materia, 'command') !== undefined) return null;
  const alias = stringAt(materia, 'utility');
  const fixed = fixedOutput(objectAt(materia, 'params'), alias === 'echo');
  if (fixed !== undefined) return slotsOfOutput(fixed);
  const name = alias ?? stringAt(objectAt(materia, 'script'), 'name') ?? '';
  const known = names?.slots ?? {};
  return Object.hasOwn(known, name) ? (known[name] ?? null) : null;
}

/** What is all that such a utility ever says. */
function fixedOutput(params: JsonObject, isEcho: boolean): Json | undefined {
  const fields = isEcho ? ['output', 'text', 'message'] : ['output'];
  return fields.map((field) => given(params, field)).find((value) => value !== undefined);
}

function slotsOfOutput(output: Json): readonly string[] | null {
  // How a text will be read is the reader's business.
  if (isString(output)) return null;
  if (!isObject(output)) return [];
  return [...Object.keys(objectAt(output, 'state')), ...(output[GENERATED] === undefined ? [] : [GENERATED])];
}
