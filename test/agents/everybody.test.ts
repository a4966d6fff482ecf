// Who must keep the promises of an agent, and that nobody is left out.
import { expect, test } from 'vitest';
import { RUNNERS } from '../../src/kernel/graph/config.ts';
import { EVERYBODY } from './contenders.ts';

test('every runner that a configuration can name runs through the suite of promises', () => {
  const names = EVERYBODY.map(({ name }) => name.split(' ')[0]);
  expect([...new Set(names)].sort()).toEqual([...RUNNERS].sort());
});

test('a promise that somebody does not keep has its reason in words', () => {
  const reasons = EVERYBODY.flatMap(({ lacks }) => Object.values(lacks));
  expect(reasons.filter((reason) => reason.split(' ').length < 3)).toEqual([]);
});
