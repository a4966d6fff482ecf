// Which loadout is meant where nobody names one: the active one, by its name or by its id, or the only one there is.
import type { JsonObject } from '../json.ts';
import { given, objectAt, stringAt } from './authored.ts';
import { error, type Findings, listed, shown } from './issue.ts';

/** Its name, or null where the configuration does not tell. */
export function activeLoadout(config: JsonObject): string | null {
  const loadouts = objectAt(config, 'loadouts');
  const names = Object.keys(loadouts);
  const byId = given(config, 'activeLoadoutId') === undefined ? undefined : namedById(config);
  if (given(config, 'activeLoadout') !== undefined) {
    const active = stringAt(config, 'activeLoadout') ?? '';
    const isOne = Object.hasOwn(loadouts, active) && (byId === undefined || byId === active);
    return isOne ? active : null;
  }
  if (byId !== undefined) return byId;
  return names.length === 1 ? (names[0] ?? null) : null;
}

function namedById(config: JsonObject): string | null {
  const loadouts = objectAt(config, 'loadouts');
  const id = stringAt(config, 'activeLoadoutId');
  if (id === null) return null; // Else it would name a loadout that has no id.
  return Object.keys(loadouts).find((name) => stringAt(objectAt(loadouts, name), 'id') === id) ?? null;
}

/** The fields that say it. What is wrong with them concerns nobody who names a loadout. */
export const ACTIVE_FIELDS: readonly string[] = ['activeLoadout', 'activeLoadoutId'];

function isFound(config: JsonObject, field: string): boolean {
  if (field === 'activeLoadoutId') return namedById(config) !== null;
  return Object.hasOwn(objectAt(config, 'loadouts'), stringAt(config, 'activeLoadout') ?? '');
}

/** For a configuration with at least one loadout. */
export function* checkActive(config: JsonObject): Findings {
  const names = Object.keys(objectAt(config, 'loadouts'));
  if (activeLoadout(config) !== null) return;
  const fix = `one of: ${listed(names)}; a cast can name one with -l`;
  const field = ACTIVE_FIELDS.find((each) => given(config, each) !== undefined && !isFound(config, each));
  if (field === undefined && ACTIVE_FIELDS.every((each) => given(config, each) !== undefined)) {
    const message = `activeLoadout is ${shown(given(config, 'activeLoadout'))}, and activeLoadoutId is the id of ${shown(namedById(config))}. Let both name the same one, ${fix}.`;
    yield error('INVALID_CONFIG', 'activeLoadoutId', message);
    return;
  }
  if (field === undefined) {
    const message = `There are several loadouts and none is active, so a cast that names none does not know which to run. Set activeLoadout to ${fix}.`;
    yield error('INVALID_CONFIG', 'activeLoadout', message);
    return;
  }
  const what = field === 'activeLoadoutId' ? 'no loadout with the id' : 'no loadout';
  yield error('INVALID_CONFIG', field, `There is ${what} ${shown(given(config, field))}. Set activeLoadout to ${fix}.`);
}
