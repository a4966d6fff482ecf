import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../kernel/json.ts';
import { commitSigil, suggestTitle } from './commit-sigil.ts';

async function check(workItems: Json | undefined) {
  const state = workItems === undefined ? {} : { workItems };
  const outcome = await commitSigil({ cwd: '/', castId: 'c', params: {}, state, item: null });
  return JSON.parse(outcome.ok ? outcome.output : 'null') as { workItems: Json; satisfied: boolean; context: string };
}

const titled = (...titles: Json[]) => titles.map((title) => ({ title, context: 'c' }));

test.each<[string, boolean, string]>([
  ['feat: x', true, ''],
  ['  fix(api)!: mend it  ', true, ''],
  ['refactor(a b): x', true, ''],
  ['wip: x', true, '"wip" is not one of'],
  ['Feat: x', false, 'use "feat: x"'],
  ['feat:x', false, 'use "feat: x"'],
  ['feat:  x', false, 'use "feat: x"'],
  ['feat : x', false, 'use "feat: x"'],
  ['Fix ( api ) ! : x', false, 'use "fix(api)!: x"'],
  ['feat(): x', false, 'use "feat: x"'],
  ['feat: ', false, 'use "feat: feat"'],
  ['Add a login page', false, 'use "feat: Add a login page"'],
  ['Fixes the login page', false, 'use "fix: Fixes the login page"'],
  ['two words: x', false, 'use "feat: two words  x"'],
  [' ', false, 'use "feat: describe the change"'],
])('%j: satisfied is %s', async (title, satisfied, told) => {
  const result = await check(titled(title));
  expect(result.satisfied).toBe(satisfied);
  expect(result.workItems).toEqual(titled(title));
  if (told === '') expect(result.context).toBe('');
  else expect(result.context).toContain(`$.workItems.0.title ${JSON.stringify(title.trim())}: ${told}`);
});

test.each<[string, Json | undefined, boolean, Json]>([
  ['an empty list', [], true, []],
  ['no list', undefined, false, []],
  ['something else', 'x', false, []],
  ['items that are no objects', [1, null, 'x'], true, [1, null, 'x']],
  ['an item without a title', [{ context: 'c' }], false, [{ context: 'c' }]],
  ['a title that is a number', titled(7), false, titled(7)],
])('%s', async (_name, items, satisfied, passedOn) => {
  expect(await check(items)).toMatchObject({ satisfied, workItems: passedOn });
});

test('every title that is wrong is named by its place, up to a bound', async () => {
  const { context } = await check(titled('feat: a', ...Array.from({ length: 30 }, () => 'x'.repeat(5000)), 'wip: b'));
  expect(context).toContain('$.workItems.1.title');
  expect(context).toContain('- and 10 more');
  expect(context).toContain('$.workItems.31.title "wip: b"');
  expect(context.length).toBeLessThan(15_000);
});

test('every suggestion is a title that passes', async () => {
  const part = fc.constantFrom('feat', 'Fix', '(', ')', '!', ':', ' ', 'x', '((', '::', '\n', '-', '7', '🙂');
  const title = fc.oneof(
    fc.string(),
    fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
  );
  await fc.assert(
    fc.asyncProperty(title, async (text) => {
      const suggestion = suggestTitle(text);
      expect(await check(titled(suggestion))).toMatchObject({ satisfied: true });
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});

test('long titles take no longer than their length', async () => {
  for (const unit of ['(', ' ', 'a', ':', '!', 'a (', '- ']) {
    const { satisfied, context } = await check(titled(unit.repeat(200_000)));
    expect([unit, satisfied, context.length < 2_000]).toEqual([unit, false, true]);
  }
});
