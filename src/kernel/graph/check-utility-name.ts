// Checks that a utility which is named exists: a built-in alias, or a script that comes with the product.
import { isObject, type Json } from '../json.ts';
import { nearestName } from '../nearest-name.ts';
import { given, objectAt, stringAt, typeOfMateria } from './authored.ts';
import { error, type Findings, listed, shown } from './issue.ts';

/** What there is by name. The rules know no utility themselves. */
export type UtilityNames = {
  readonly aliases: readonly string[];
  readonly scripts: readonly string[];
  /** By name, the slots of the cast data that a utility sets. */
  readonly slots?: Readonly<Record<string, readonly string[]>>;
  /** Materia that a script speaks for: what they name is never run. */
  readonly scripted?: readonly string[];
};

export function* checkUtilityName(id: string, materia: Json, names: UtilityNames): Findings {
  const { aliases, scripts, scripted = [] } = names;
  if (!isObject(materia) || typeOfMateria(materia) !== 'utility' || scripted.includes(id)) return;
  // A fixed output is all such a utility ever says, whatever its name.
  if (given(objectAt(materia, 'params'), 'output') !== undefined) return;
  yield* checkName(stringAt(materia, 'utility'), aliases, `materia.${id}.utility`, 'built-in utility');
  yield* checkName(stringAt(objectAt(materia, 'script'), 'name'), scripts, `materia.${id}.script.name`, 'script');
}

function* checkName(name: string | null, known: readonly string[], path: string, what: string): Findings {
  // A blank name is refused where the shapes are.
  if (name === null || name.trim() === '' || known.includes(name)) return;
  const meant = nearestName(name, known);
  const fix = `${meant === null ? '' : `Did you mean ${meant}? `}There are ${listed(known)}; for a program of your own write command.`;
  yield error('INVALID_MATERIA', path, `There is no ${what} ${shown(name)}. ${fix}`);
}
