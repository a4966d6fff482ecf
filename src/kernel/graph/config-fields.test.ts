import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { type Field, mismatches } from '../fields.ts';
import type { Json } from '../json.ts';
import { CONFIG_SCHEMA, WHOLE_CONFIG } from './config-fields.ts';
import { software } from './fixtures/software.ts';

/** Every field that is read, by its path. */
function fieldsOf(field: Field, path: string): [path: string, Field][] {
  const below: [string, Field][] =
    field.type === 'object'
      ? Object.entries(field.fields).map(([name, member]) => [`${path}.${name}`, member])
      : field.type === 'oneOf'
        ? field.of.map((one) => [path, one])
        : field.type === 'map' || (field.type === 'list' && field.of !== undefined)
          ? [[`${path}.*`, field.of as Field]]
          : [];
  const members = field.type === 'object' ? below.filter(([, { obsolete, ignored }]) => !obsolete && !ignored) : [];
  return [...members, ...below.flatMap(([at, child]) => fieldsOf(child, at))];
}

const FIELDS = fieldsOf(WHOLE_CONFIG, '');
const byPath = new Map(FIELDS.map(([path, field]) => [path, field]));

test.each([...byPath])('%s says what it means, with an example that fits', (_path, field) => {
  expect(field.means).toMatch(/\S/);
  expect(mismatches(field.example, field)).toEqual([]);
});

test('every part of the configuration is in the table', () => {
  const some = ['.budget.maxTokens', '.materia.*.prompt', '.loadouts.*.sockets.*.edges.*.when', '.checkers.*.command'];
  expect([...byPath.keys()]).toEqual(expect.arrayContaining(some));
});

const fits = new Ajv2020({ strict: false }).compile(CONFIG_SCHEMA);
const bundled = JSON.parse(readFileSync('src/bundled/config.json', 'utf8')) as Json;

test.each<[string, Json, boolean]>([
  ['what comes with the product', bundled, true],
  ['a sound configuration', software(), true],
  ['a layer that deletes a loadout', software({ 'loadouts.Flow': null }), true],
  ['a field that nothing reads', software({ limit: {} }), false],
  ['a name of your own', software({ x_mine: {} }), true],
  ['a misspelt field of a socket', software({ 'loadouts.Flow.sockets.Socket-5.edge': [] }), false],
  ['a socket with a name for people', software({ 'loadouts.Flow.sockets.build': { materia: 'Sum' } }), false],
  ['a section that is taken', software({ context: { sections: { memory: {} } } }), false],
  ['an obsolete field', software({ roles: {} }), false],
])('the published schema judges %s', (_case, config, isFine) => {
  expect(fits(config)).toBe(isFine);
});
