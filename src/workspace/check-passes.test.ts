import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aboutTurn, passesIn } from './checkers.ts';

const seal = (text: string) => `sealed ${text}`;

test('a pass is known for the same files and command, and only under the same key', () => {
  const dir = mkdtempSync(join(tmpdir(), 'passes-'));
  passesIn(dir, seal).add('a');
  expect([passesIn(dir, seal).has('a'), passesIn(dir, seal).has('b')]).toEqual([true, false]);
  expect(passesIn(dir, (text) => `other ${text}`).has('a')).toBe(false);
});

test.each([['["b"]'], ['no JSON'], ['{"0":"sealed b"}']])('a file with %s forges no pass', (text) => {
  const dir = mkdtempSync(join(tmpdir(), 'passes-'));
  writeFileSync(join(dir, 'check-passes.json'), text);
  expect(passesIn(dir, seal).has('b')).toBe(false);
});

test('only so many passes are kept, the newest', () => {
  const dir = mkdtempSync(join(tmpdir(), 'passes-'));
  const passes = passesIn(dir, seal);
  for (let index = 0; index < 510; index++) passes.add(`${index}`);
  expect(JSON.parse(readFileSync(join(dir, 'check-passes.json'), 'utf8'))).toHaveLength(500);
  expect([passes.has('0'), passes.has('509')]).toEqual([false, true]);
});

test('the name of a turn’s changes depends on what changed and not on its order', () => {
  const about = aboutTurn('c', 1, { a: 'x', b: null });
  expect(aboutTurn('c', 1, { b: null, a: 'x' })).toBe(about);
  expect(aboutTurn('c', 1, { a: 'y', b: null })).not.toBe(about);
  expect(aboutTurn('c', 2, { a: 'x', b: null })).not.toBe(about);
});
