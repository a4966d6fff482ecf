import { expect, test } from 'vitest';
import type { Json } from '../../kernel/json.ts';
import { validateLocks } from './locks.ts';

const lock = (task_id: string, resource: Json, active: Json = true) => ({ task_id, resource, active });
const held = (...paths: string[]) => ({ locks: paths.map((path, index) => lock(`T-${index + 1}`, path)) });

test.each<[string, unknown, string]>([
  ['a list', [], 'SCHEMA_INVALID'],
  ['no locks', {}, 'MISSING_REQUIRED_INPUT'],
  ['locks as an object', { locks: {} }, 'MISSING_REQUIRED_INPUT'],
  ['an unknown version', { schema_version: '2', locks: [] }, 'UNKNOWN_SCHEMA_VERSION'],
  ['a bad run_id', { run_id: 'x', locks: [] }, 'SCHEMA_INVALID'],
  ['a bad generated_at', { generated_at: 'now', locks: [] }, 'SCHEMA_INVALID'],
  ['an entry that is no object', { locks: ['src'] }, 'SCHEMA_INVALID'],
  ['no active', { locks: [{ task_id: 'T-1', resource: 'a' }] }, 'SCHEMA_INVALID'],
  ['a holder that is no task', { locks: [lock('worker-2', 'a')] }, 'SCHEMA_INVALID'],
  ['two slashes', { locks: [lock('T-1', '//')] }, 'SCHEMA_INVALID'],
  [
    'a malformed released lock beats a conflict',
    { locks: [...held('a', 'a').locks, lock('T-9', 5, false)] },
    'SCHEMA_INVALID',
  ],
  ['parent and child', held('web', 'web/src'), 'LOCK_CONFLICT'],
  ['a common beginning', held('web', 'website'), 'OK'],
  ['two ways to write it', held('.\\web\\', 'web//src/'), 'LOCK_CONFLICT'],
  ['one task', { locks: [lock('T-1', 'web'), lock('T-1', 'web/src')] }, 'OK'],
  ['another case', held('Web', 'web/src'), 'OK'],
  ['a glob is a name', held('web/*', 'web/a.ts'), 'OK'],
  ['a glob and its folder', held('web/*', 'web'), 'LOCK_CONFLICT'],
  ['through ..', held('api/../web', 'web'), 'LOCK_CONFLICT'],
  ['the whole workspace', held('.', 'web'), 'LOCK_CONFLICT'],
  ['composed and decomposed letters', held('caf\u00e9', 'cafe\u0301/x'), 'LOCK_CONFLICT'],
  ['the same path below two roots', { locks: [lock('T-1', 'web'), { ...lock('T-2', 'web'), x_root: 'lane-1' }] }, 'OK'],
  [
    'the same path below the same root',
    { locks: ['T-1', 'T-2'].map((id) => ({ ...lock(id, 'web'), x_root: 'lane-1' })) },
    'LOCK_CONFLICT',
  ],
  ['a released lock', { locks: [lock('T-1', 'web', false), lock('T-2', 'web')] }, 'OK'],
  ['an empty table', { locks: [] }, 'OK'],
])('%s: %#', (_what, input, code) => {
  expect(validateLocks(input).code).toBe(code);
});

test('all pairs are listed in order, with normal forms', () => {
  expect(validateLocks(held('d', './d//e', 'd/e/f')).details.conflicts).toEqual([
    { task_a: 'T-1', resource_a: 'd', task_b: 'T-2', resource_b: 'd/e' },
    { task_a: 'T-1', resource_a: 'd', task_b: 'T-3', resource_b: 'd/e/f' },
    { task_a: 'T-2', resource_a: 'd/e', task_b: 'T-3', resource_b: 'd/e/f' },
  ]);
});

test('success counts the active locks', () => {
  expect(validateLocks({ locks: [] }).details).toEqual({ active_lock_count: 0 });
  expect(validateLocks({ locks: [lock('T-1', 'a'), lock('T-2', 'b', false)] }).details.active_lock_count).toBe(1);
});

test('a malformed entry is named by its place', () => {
  expect(validateLocks({ locks: [lock('T-1', 'a'), lock('T-2', 'b', 'yes')] }).details.index).toBe(1);
});

test('extra fields are refused in strict mode', () => {
  expect(validateLocks({ locks: [], note: 1 }, { strict: true }).code).toBe('SCHEMA_INVALID');
  expect(validateLocks({ locks: [], note: 1 }).code).toBe('OK');
  const record = { locks: [{ ...lock('T-1', 'a'), since: 1 }] };
  expect(validateLocks(record).code).toBe('OK');
  expect(validateLocks(record, { strict: true })).toMatchObject({
    code: 'SCHEMA_INVALID',
    details: { path: 'locks[0].since' },
  });
});

test('two ways to write a path are reported in their normal forms', () => {
  expect(validateLocks(held('.\\web\\', 'web//src/')).details.conflicts).toMatchObject([
    { resource_a: 'web', resource_b: 'web/src' },
  ]);
});
