// Tasks in the order of their creation, as a tree over the digits of their number. The first ones are found without a look
// at the others, however many there are. It is plain JSON; whole numbers are the one kind of key that keeps its order there.

/** At the leaves, the id of the task. */
export type OrderTree = { [digit: number]: OrderTree | string };

const BITS = 6;
const DEPTH = 5;
const MASK = (1 << BITS) - 1;

/** Makes the task a member of the tree, or takes it out. */
export function place(tree: OrderTree, order: number, id: string, isMember: boolean): void {
  if (isMember) add(tree, order, id);
  else remove(tree, order);
}

/** The members in their order, from the oldest on. `before` ends the walk at that number. */
export function* inOrder(
  tree: OrderTree,
  before = Number.POSITIVE_INFINITY,
): Generator<{ readonly order: number; readonly id: string }> {
  yield* below(tree, 0, DEPTH - 1, before);
}

export function oldest(tree: OrderTree): string | null {
  for (const { id } of inOrder(tree)) return id;
  return null;
}

function* below(tree: OrderTree, from: number, level: number, before: number): ReturnType<typeof inOrder> {
  for (const digit of Object.keys(tree)) {
    const member = tree[Number(digit)];
    const order = from + Number(digit) * 2 ** (BITS * level);
    if (order >= before) return;
    if (typeof member === 'string') yield { order, id: member };
    else if (member !== undefined) yield* below(member, order, level - 1, before);
  }
}

function add(tree: OrderTree, order: number, id: string): void {
  let node = tree;
  for (let level = DEPTH - 1; level > 0; level--) {
    const digit = digitOf(order, level);
    const next = node[digit] ?? {};
    if (typeof next === 'string') return;
    node[digit] = next;
    node = next;
  }
  node[digitOf(order, 0)] = id;
}

function remove(tree: OrderTree, order: number): void {
  removeBelow(tree, order, DEPTH - 1);
}

/** Answers whether the node is empty: then it is no longer there. */
function removeBelow(node: OrderTree, order: number, level: number): boolean {
  const digit = digitOf(order, level);
  const next = node[digit];
  if (next === undefined || (typeof next === 'object' && !removeBelow(next, order, level - 1))) return false;
  delete node[digit];
  for (const _ in node) return false;
  return true;
}

function digitOf(order: number, level: number): number {
  return Math.floor(order / 2 ** (BITS * level)) & MASK;
}
