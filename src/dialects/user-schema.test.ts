import { expect, test } from 'vitest';
import { readWithSchema } from './user-schema.ts';

const SCHEMA = { type: 'object', properties: { x: { type: 'string', pattern: '^(a+)+$' } } };

test('a pattern that would run for ever is stopped, and says what to do', () => {
  const reading = readWithSchema(SCHEMA, { x: `${'a'.repeat(40)}!` });
  expect(reading).toMatchObject({ usable: true, problems: [{ path: '$' }] });
  expect(JSON.stringify(reading)).toContain('without nested repetition');
});

test.each([
  [{ x: 'aaa' }, 0],
  [{ x: 'ab' }, 1],
])('patterns count as they should: %j has %i problems', (payload, count) => {
  const reading = readWithSchema(SCHEMA, payload);
  expect(reading.usable && reading.problems).toHaveLength(count);
});
