// The generated pages of the reference are what the tables say.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REFERENCE_PAGES } from '../../scripts/reference-pages.ts';
import { OPERATIONS } from '../../src/app/operations/table.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { CODES } from '../../src/kernel/codes.ts';
import { CHECKOUT } from './baton.ts';

const page = (name: string) => readFileSync(join(CHECKOUT, 'docs/reference', name), 'utf8');

test.each(Object.keys(REFERENCE_PAGES))('%s is not stale; `npm run docs` writes it', (name) => {
  expect(page(name)).toBe(REFERENCE_PAGES[name]?.());
});

test('every command, code and operation is on its page', () => {
  expect(Object.keys(OPERATIONS).filter((name) => !page('operations.md').includes(`## ${name}\n`))).toEqual([]);
  expect(COMMANDS.filter(({ name }) => !page('commands.md').includes(`## baton ${name}\n`))).toEqual([]);
  expect(Object.keys(CODES).filter((code) => !page('codes.md').includes(`| \`${code}\` |`))).toEqual([]);
});
