import { expect, test } from 'vitest';
import { schemaReference } from './load-config.ts';

test.each([
  ['/p/.baton', '/p/node_modules/baton', '../node_modules/baton/schemas/config.schema.json', false],
  ['/p/app/.baton', '/p/node_modules/baton', '../../node_modules/baton/schemas/config.schema.json', false],
  ['/p/.baton', '/p2/node_modules/baton', './config.schema.json', true],
  ['/p/.baton', '/usr/lib/node_modules/baton', './config.schema.json', true],
  ['/p/.baton', '/src/baton', './config.schema.json', true],
  ['/p/.baton', '/p', './config.schema.json', true],
])('a configuration in %s, the package in %s: %s', (configDir, packageDir, $schema, copied) => {
  expect(schemaReference(configDir, packageDir)).toEqual({ $schema, copied });
});
