import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import { check } from './check.ts';
import { SETUP_TIMEOUT_MS } from './config.ts';
import { resolve, worktreeOf } from './resolve.ts';

const MATERIA = { Build: { tools: 'coding', prompt: 'Build it.' } };
const LOADOUTS = { L: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Build' } } } };

function config(worktree: Json): JsonObject {
  return { materia: MATERIA, loadouts: LOADOUTS, worktree };
}

test.each<[Json, string | null]>([
  [false, null],
  [true, null],
  [{ setup: ['npm', 'ci'], copy: ['.env', 'local/keys'], timeoutMs: 1000 }, null],
  [
    {
      setup: [
        ['npm', 'ci'],
        ['make', ''],
      ],
    },
    null,
  ],
  [{ setup: [] }, null],
  ['yes', 'worktree'],
  [{ setup: 'npm ci' }, 'worktree.setup'],
  [{ setup: [''] }, 'worktree.setup'],
  [{ setup: [['npm'], 'ci'] }, 'worktree.setup'],
  [{ setup: [[]] }, 'worktree.setup'],
  [{ copy: '.env' }, 'worktree.copy'],
  [{ copy: ['.env', 7] }, 'worktree.copy[1]'],
  [{ copy: ['../.env'] }, 'worktree.copy[0]'],
  [{ copy: ['/etc/passwd'] }, 'worktree.copy[0]'],
  [{ copy: ['.'] }, 'worktree.copy[0]'],
  [{ copy: ['.git/config'] }, 'worktree.copy[0]'],
  [{ copy: ['.baton/state'] }, 'worktree.copy[0]'],
  [{ link: ['node_modules', 'web/node_modules'] }, null],
  [{ link: [] }, null],
  [{ link: 'node_modules' }, 'worktree.link'],
  [{ link: ['../node_modules'] }, 'worktree.link[0]'],
  [{ timeoutMs: 0 }, 'worktree.timeoutMs'],
  [{ mainCheckout: 'refuse' }, null],
  [{ mainCheckout: 'warn' }, null],
  [{ mainCheckout: 'ignore' }, 'worktree.mainCheckout'],
])('%j: %s', (worktree, path) => {
  const issues = check(config(worktree)).filter(({ level }) => level === 'error');
  expect(issues.map((issue) => [issue.code, issue.path])).toEqual(path === null ? [] : [['INVALID_CONFIG', path]]);
});

test('a name that nothing reads is pointed out', () => {
  const [issue] = check(config({ setUp: ['npm', 'ci'] }));
  expect([issue?.level, issue?.message]).toEqual(['error', expect.stringContaining('Did you mean setup?')]);
});

test('the rules of a cast keep how its worktree is set up, and that it has none', () => {
  expect(resolve(config({ setup: ['npm', 'ci'] }), 'L').worktree).toEqual({
    setup: [['npm', 'ci']],
    copy: [],
    timeoutMs: SETUP_TIMEOUT_MS,
  });
  const shared = { link: ['node_modules'], mainCheckout: 'warn' };
  expect(resolve(config(shared), 'L').worktree).toMatchObject(shared);
  expect(resolve(config(false), 'L').worktree).toBeNull();
  expect(resolve(config(true), 'L')).not.toHaveProperty('worktree');
  expect(worktreeOf({})).toEqual({ setup: [], copy: [], timeoutMs: SETUP_TIMEOUT_MS });
});

test('whatever is written, it is read without a fault, and what passes its checks keeps its shape', () => {
  const words = fc.constantFrom<Json>('npm', '', ' ', '.env', '../x', '/x', 7, null, 'a/../b', '\u0000');
  const lists = fc.array(fc.oneof(words, fc.array(words, { maxLength: 3 })), { maxLength: 3 });
  const field = fc.oneof(words, lists, fc.jsonValue() as fc.Arbitrary<Json>);
  const written = fc.record({ setup: field, copy: field, link: field, timeoutMs: field }, { requiredKeys: [] });
  const anything = fc.oneof(written, fc.jsonValue() as fc.Arbitrary<Json>);
  fc.assert(
    fc.property(anything, (value) => {
      const issues = check(config(value as Json)).filter(({ level }) => level === 'error');
      const again = check(JSON.parse(JSON.stringify(config(value as Json)))).filter(({ level }) => level === 'error');
      expect(again).toEqual(issues);
      if (issues.length > 0) return;
      const rules = worktreeOf(config(value as Json));
      expect(
        rules === null || rules.setup.every((step) => step.length > 0 && step.every((word) => word !== null)),
      ).toBe(true);
      expect((rules?.link ?? []).every((name) => !name.startsWith('..') && !name.startsWith('/'))).toBe(true);
      expect(rules?.copy.every((name) => !name.startsWith('..') && !name.startsWith('/')) ?? true).toBe(true);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});
