import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { activeLoadout, checkActive } from './check-config.ts';

const loadouts = { One: { id: 'first' }, Two: { id: 'second' }, Bare: {} };

test.each<[string, JsonObject, string | null]>([
  ['no loadouts', {}, null],
  ['the only one', { loadouts: { One: {} } }, 'One'],
  ['several', { loadouts }, null],
  ['by its name', { loadouts, activeLoadout: 'Two' }, 'Two'],
  ['by a name that none has', { loadouts, activeLoadout: 'Nope' }, null],
  ['by a name that every object has', { loadouts, activeLoadout: 'toString' }, null],
  ['by a name that is no text', { loadouts, activeLoadout: 5 }, null],
  ['by its id', { loadouts, activeLoadoutId: 'second' }, 'Two'],
  ['by an id that none has', { loadouts, activeLoadoutId: 'third' }, null],
  ['by an id that is no text, next to a loadout without an id', { loadouts, activeLoadoutId: 5 }, null],
  ['by a wrong id of the only one', { loadouts: { One: {} }, activeLoadoutId: 'third' }, null],
  ['by its name and its id', { loadouts, activeLoadout: 'Two', activeLoadoutId: 'second' }, 'Two'],
  ['by its name and the id of another', { loadouts, activeLoadout: 'Two', activeLoadoutId: 'first' }, null],
  ['by its name and an id that none has', { loadouts, activeLoadout: 'Two', activeLoadoutId: 'third' }, null],
])('the active loadout: %s', (_, config, name) => {
  expect(activeLoadout(config)).toBe(name);
});

test.each<[string, JsonObject, readonly string[]]>([
  ['one is active', { activeLoadout: 'Two' }, []],
  ['none is active', {}, ['activeLoadout: There are several loadouts and none is active']],
  ['no such name', { activeLoadout: 'Nope' }, ['activeLoadout: There is no loadout "Nope".']],
  ['no such id', { activeLoadoutId: 'third' }, ['activeLoadoutId: There is no loadout with the id "third".']],
  [
    'the name is wrong and the id is right',
    { activeLoadout: 'Nope', activeLoadoutId: 'first' },
    ['activeLoadout: There is no loadout "Nope".'],
  ],
  [
    'the name is right and the id is wrong',
    { activeLoadout: 'Two', activeLoadoutId: 'third' },
    ['activeLoadoutId: There is no loadout with the id "third".'],
  ],
  [
    'they name two',
    { activeLoadout: 'Two', activeLoadoutId: 'first' },
    ['activeLoadoutId: activeLoadout is "Two", and activeLoadoutId is the id of "One".'],
  ],
])('which field is at fault: %s', (_, config, begins) => {
  const found = [...checkActive({ loadouts, ...config })].map(({ path, message }) => `${path}: ${message}`);
  expect(found).toEqual(begins.map((text) => expect.stringContaining(text)));
});
