import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../kernel/json.ts';
import { sha256 } from './fixtures/world.ts';
import { driftFrom, lockOf, readLock } from './lock.ts';
import { isPinnedModel } from './manifest.ts';

const manifest = (version: string): Json => ({
  version: '1.0.0',
  domains: { one: { file: 'one.md', version }, two: { file: 'two.md', version: '1.0.0' } },
});
const files = (one: string) => (path: string) => new TextEncoder().encode(path === 'one.md' ? one : 'two');
const DECLARED = expect.stringMatching(/^[0-9a-f]{64}$/);
const prompts = (lock: JsonObject) => lock.prompts as Record<string, JsonObject>;

test.each([
  [null, false],
  ['', false],
  ['opus', false],
  ['claude-sonnet-4-5', false],
  ['claude-sonnet-4-5-20250929', true],
  ['gpt-5-2025-08-07', true],
  ['gpt-5-latest', false],
  ['llama@20250101', true],
  [`mixtral@sha256:${'a'.repeat(64)}`, true],
  [`mixtral@sha256:${'a'.repeat(63)}`, false],
  ['20250929-preview', false],
  [`${'x'.repeat(300)}-20250929`, false],
])('the model %j is one exact release: %s', (model, expected) => {
  expect(isPinnedModel(model)).toBe(expected);
});

test('a lock records what each agent was approved with, and says what cannot be pinned', () => {
  const approvals = new Map([['one', { runner: 'claude', model: 'opus', tools: 'coding' }]]);
  const lock = lockOf(manifest('1.0.0'), files('one'), sha256, { approvals });
  expect(prompts(lock).one).toMatchObject({ runner: 'claude', model: 'opus', tools: 'coding', pinned: false });
  expect(prompts(lock).two).not.toHaveProperty('runner');
  expect(readLock(lock).entries.get('one')?.approval).toEqual({ runner: 'claude', model: 'opus', tools: 'coding' });
});

test('approvals that nobody repeats are taken over', () => {
  const approvals = new Map([['one', { runner: 'pi', model: null, tools: 'none' }]]);
  const before = readLock(lockOf(manifest('1.0.0'), files('one'), sha256, { approvals }));
  expect(prompts(lockOf(manifest('1.0.0'), files('one'), sha256, { before })).one).toMatchObject({ runner: 'pi' });
});

test('a pin that is superseded is kept, and one that stays is not repeated', () => {
  const first = readLock(lockOf(manifest('1.0.0'), files('one'), sha256));
  const again = lockOf(manifest('1.0.0'), files('one'), sha256, { before: first, at: 'T1' });
  expect(again).not.toHaveProperty('history');
  const second = lockOf(manifest('1.1.0'), files('ONE'), sha256, { before: readLock(again), at: 'T2' });
  const third = lockOf(manifest('1.2.0'), files('one!'), sha256, { before: readLock(second), at: 'T3' });
  expect(third.history).toEqual({
    one: [
      { version: '1.0.0', hash: sha256('one'), file: 'one.md', declared: DECLARED, locked_at: 'T1', until: 'T2' },
      { version: '1.1.0', hash: sha256('ONE'), file: 'one.md', declared: DECLARED, locked_at: 'T2', until: 'T3' },
    ],
  });
});

test('an agent that is left out of the manifest stays in the history', () => {
  const before = readLock(lockOf(manifest('1.0.0'), files('one'), sha256));
  const lock = lockOf(
    { version: '1.0.0', domains: { two: { file: 'two.md', version: '1.0.0' } } },
    files('one'),
    sha256,
    { before },
  );
  expect(Object.keys(prompts(lock))).toEqual(['two']);
  expect(lock.history).toMatchObject({ one: [{ version: '1.0.0' }] });
});

test.each<[Json, Json, string[]]>([
  ['none', 'none', []],
  ['none', 'coding', ['tools']],
  [{ type: 'custom', tools: ['a', 'b'] }, { type: 'custom', tools: ['b', 'a'] }, []],
  [{ type: 'custom', tools: ['a'] }, { type: 'custom', tools: ['a', 'b'] }, ['tools']],
])('approved with the tools %j, used with %j: %j', (approved, used, expected) => {
  const rest = { runner: 'claude', model: null };
  expect(driftFrom({ ...rest, tools: approved }, { ...rest, tools: used })).toEqual(expected);
  expect(driftFrom(null, { ...rest, tools: used })).toEqual([]);
});
