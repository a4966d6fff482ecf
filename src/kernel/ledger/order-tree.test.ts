import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inOrder, oldest, place } from './rank.ts';
import type { OrderTree } from './state.ts';

const idsIn = (tree: OrderTree, before?: number) => Array.from(inOrder(tree, before), ({ id }) => id);

test('the members come by age, whatever the order in which they joined', () => {
  const tree: OrderTree = {};
  for (const order of [70, 2, 5_000_000, 64, 1]) place(tree, order, `T-${order}`, true);
  expect(idsIn(tree)).toEqual(['T-1', 'T-2', 'T-64', 'T-70', 'T-5000000']);
  expect([idsIn(tree, 70), oldest(tree)]).toEqual([['T-1', 'T-2', 'T-64'], 'T-1']);
});

test('who leaves leaves nothing behind', () => {
  const tree: OrderTree = {};
  place(tree, 9, 'T-9', true);
  place(tree, 9, 'T-9', false);
  place(tree, 8, 'T-8', false);
  expect([tree, oldest(tree)]).toEqual([{}, null]);
});

test('it is a set in order, also after it went through JSON', () => {
  const step = fc.tuple(fc.integer({ min: 1, max: 300 }), fc.boolean());
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const tree: OrderTree = {};
      const members = new Set<number>();
      for (const [order, isMember] of steps) {
        place(tree, order, `T-${order}`, isMember);
        if (isMember) members.add(order);
        else members.delete(order);
      }
      const expected = [...members].sort((a, b) => a - b);
      const again = JSON.parse(JSON.stringify(tree)) as OrderTree;
      expect(Array.from(inOrder(again), ({ order }) => order)).toEqual(expected);
      expect(idsIn(tree)).toEqual(expected.map((order) => `T-${order}`));
    }),
  );
});
