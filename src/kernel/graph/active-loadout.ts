// Which loadout is meant where nobody names one: the active one, by its name or by its id, or the only one there is.
import type { JsonObject } from '../json.ts';
import { given, objectAt, stringAt } from './authored.ts';
import { error, type Findings, listed, shown } from './issue.ts';

/** Its name, or null where the configuration does not tell. */
export function activeLoadout(config: JsonObject): string | null {
  const loadouts = objectAt(config, 'loadouts');
  const names = Object.keys(loadouts);
  if (given(config, 'activeLoadout') !== undefined) {
    const active = stringAt(config, 'activeLoadout') ?? '';
    return Object.hasOwn(loadouts, active) ? active : null;
  }
  if (given(config, 'activeLoadoutId') !== undefined) {
    const id = stringAt(config, 'activeLoadoutId');
    return names.find((name) => stringAt(objectAt(loadouts, name), 'id') === id) ?? null;
  }
  return names.length === 1 ? (names[0] ?? null) : null;
}

/** The fields that say it. What is wrong with them concerns nobody who names a loadout. */
export const ACTIVE_FIELDS: readonly string[] = ['activeLoadout', 'activeLoadoutId'];

export function* checkActive(config: JsonObject): Findings {
  const names = Object.keys(objectAt(config, 'loadouts'));
  if (names.length === 0 || activeLoadout(config) !== null) return;
  const fix = `one of: ${listed(names)}; a cast can name one with -l`;
  const field = ACTIVE_FIELDS.find((each) => given(config, each) !== undefined);
  if (field === undefined) {
    const message = `There are several loadouts and none is active, so a cast that names none does not know which to run. Set activeLoadout to ${fix}.`;
    yield error('INVALID_CONFIG', 'activeLoadout', message);
    return;
  }
  const what = field === 'activeLoadoutId' ? 'no loadout with the id' : 'no loadout';
  yield error('INVALID_CONFIG', field, `There is ${what} ${shown(given(config, field))}. Set activeLoadout to ${fix}.`);
}
