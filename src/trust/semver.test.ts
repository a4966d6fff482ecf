import { expect, test } from 'vitest';
import { isSemver } from './manifest.ts';

test.each([
  ['1.0.0', true],
  ['0.0.0', true],
  ['10.20.30', true],
  ['1.0.0-alpha.1', true],
  ['1.0.0-0a', true],
  ['1.0.0--', true],
  ['1.0.0+build.001', true],
  ['1.0.0-rc.1+exp.sha.5114f85', true],
  ['', false],
  ['1.0', false],
  ['v1.0.0', false],
  ['01.0.0', false],
  ['1.0.0.0', false],
  ['latest', false],
  ['1.0.0-', false],
  ['1.0.0-01', false],
  ['1.0.0-a..b', false],
  ['1.0.0+', false],
  ['1.0.0+a+b', false],
  ['1.0.0 ', false],
  ['1.0.0\n', false],
  [`1.0.0-${'0'.repeat(300)}a`, false],
])('%j is semver: %s', (text, expected) => {
  expect(isSemver(text)).toBe(expected);
});
