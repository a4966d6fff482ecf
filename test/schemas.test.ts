// The published schemas are what the sources say, and each is a schema.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { PUBLISHED_SCHEMAS, schemaText } from '../src/dialects/published-schemas.ts';
import { check } from '../src/kernel/graph/check.ts';

const folder = fileURLToPath(new URL('../schemas/', import.meta.url));
const names = Object.keys(PUBLISHED_SCHEMAS);

test('no schema is missing, stale or left over; `npm run schemas` writes them', () => {
  expect(readdirSync(folder).sort()).toEqual(names.map((name) => `${name}.schema.json`).sort());
});

test.each(names)('%s is published as it is, and compiles', (name) => {
  expect(readFileSync(`${folder}${name}.schema.json`, 'utf8')).toBe(schemaText(name));
  expect(() => new Ajv2020({ strict: false }).compile(PUBLISHED_SCHEMAS[name] ?? {})).not.toThrow();
});

const validate = new Ajv2020({ strict: false }).compile(PUBLISHED_SCHEMAS.config ?? {});
const example = JSON.parse(readFileSync(new URL('../examples/graph-semantics-loadout.json', import.meta.url), 'utf8'));
const socket = example.loadouts['Software-Workflow'].sockets['Socket-5'];

test.each([
  ['as it is', (config: typeof example) => config],
  [
    'an unknown condition',
    (config: typeof example) => set(config, { ...socket, edges: [{ when: 'sometimes', to: 'end' }] }),
  ],
  [
    'a malformed target',
    (config: typeof example) => set(config, { ...socket, edges: [{ when: 'always', to: 'Build' }] }),
  ],
  [
    'maxTraversals 0',
    (config: typeof example) => set(config, { ...socket, edges: [{ when: 'always', to: 'end', maxTraversals: 0 }] }),
  ],
  ['a bad parse', (config: typeof example) => set(config, { ...socket, parse: 'yaml' })],
  [
    'an unknown tool scope',
    (config: typeof example) => ({ ...config, materia: { ...config.materia, Build: { prompt: 'x', tools: 'all' } } }),
  ],
])('the schema of the configuration and `baton check` agree: %s', (_name, change) => {
  const config = change(structuredClone(example));
  const hasErrors = check(config).some(({ level }) => level === 'error');
  expect(validate(config)).toBe(!hasErrors);
});

function set(config: typeof example, value: unknown) {
  config.loadouts['Software-Workflow'].sockets['Socket-5'] = value;
  return config;
}
