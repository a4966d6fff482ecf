import { expect, test } from 'vitest';
import { isHigher } from './quarantine.ts';

test.each([
  ['1.0.1', '1.0.0', true],
  ['1.1.0', '1.0.9', true],
  ['2.0.0', '1.9.9', true],
  ['1.0.0', '1.0.0', false],
  ['1.0.0', '1.0.1', false],
  ['1.10.0', '1.9.0', true],
  ['1.0.0', '1.0.0-rc.1', true],
  ['1.0.0-rc.1', '1.0.0', false],
  ['1.0.0-rc.10', '1.0.0-rc.9', true],
  ['1.0.0-rc.1', '1.0.0-beta.9', true],
  ['1.0.0-rc.1.1', '1.0.0-rc.1', true],
  ['1.0.0-a', '1.0.0-1', true],
  ['1.0.0+build.2', '1.0.0+build.1', false],
  ['latest', '1.0.0', false],
  ['1.0.0', 'latest', true],
  ['', '', false],
])('%j is higher than %j: %s', (version, before, expected) => {
  expect(isHigher(version, before)).toBe(expected);
});
