// The tree is the one of RFC 6962: the published roots and paths come out, and proofs hold for what is true only.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EMPTY_ROOT, Frontier, isHash, leafOf, MerkleTree, nodeOf, provesInclusion } from './merkle.ts';

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? 500) };

/** The data of the test vectors that implementations of Certificate Transparency share. */
const DATA = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const A = '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7';
const B = '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e';
const C = '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4';
const D = 'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b';
const E = 'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0';
const F = '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a';

const leaves = DATA.map((hex) => leafOf(Buffer.from(hex, 'hex')));

function treeOf(all: readonly string[]): MerkleTree {
  const tree = new MerkleTree();
  for (const leaf of all) tree.add(leaf);
  return tree;
}

test.each(ROOTS.map((root, size) => [size, root] as const))('the root of the first %i leaves is %s', (size, root) => {
  const frontier = new Frontier();
  for (const leaf of leaves.slice(0, size)) frontier.add(leaf);
  expect(frontier.root()).toBe(root);
  expect(treeOf(leaves).root(size)).toBe(root);
});

test.each<[number, number, string[]]>([
  [0, 1, []],
  [0, 8, [A, B, C]],
  [5, 8, [D, E, ROOTS[4] ?? '']],
  [2, 3, [ROOTS[2] ?? '']],
  [1, 5, [ROOTS[1] ?? '', B, D]],
])('leaf %i is in the tree of %i leaves by its published path', (index, size, path) => {
  expect(treeOf(leaves).inclusion(index, size)).toEqual(path);
  expect(provesInclusion(leaves[index] ?? '', index, size, path, ROOTS[size] ?? '')).toBe(true);
});

test.each<[number, number, string[]]>([
  [1, 1, []],
  [1, 8, [A, B, C]],
  [6, 8, [F, E, ROOTS[4] ?? '']],
  [2, 5, [B, D]],
  [0, 8, []],
])('the tree of %i leaves is extended by that of %i, by the published path', (first, size, path) => {
  expect(treeOf(leaves).consistency(first, size)).toEqual(path);
  expect(provesConsistency(first, ROOTS[first] ?? '', size, ROOTS[size] ?? '', path)).toBe(true);
});

const R1 = ROOTS[1] ?? '';
const R2 = ROOTS[2] ?? '';
const R3 = ROOTS[3] ?? '';
const R4 = ROOTS[4] ?? '';
const R8 = ROOTS[8] ?? '';

test.each<[string, Parameters<typeof provesInclusion>]>([
  ['a leaf that is no hash', ['', 0, 1, [], '']],
  ['a place before the first', [R1, -1, 1, [], R1]],
  ['a place after the last', [R1, 1, 1, [], R1]],
  ['a place that is no number', [R1, Number.NaN, 1, [], R1]],
  ['a path with a text that is no hash', [R1, 0, 2, ['zz'], R2]],
  ['a path with a hash in capitals', [R1, 0, 2, [A.toUpperCase()], R2]],
  ['a path that is too short', [R1, 0, 4, [A], R2]],
  ['a path that is too long', [R1, 0, 1, [A], nodeOf(A, R1)]],
])('no leaf is proved by %s', (_, claim) => {
  expect(provesInclusion(...claim)).toBe(false);
});

// The hashes in these add up: only the number of leaves or the form of the path is wrong.
test.each<[string, Parameters<typeof provesConsistency>]>([
  ['fewer leaves than none', [-1, R1, 1, R1, [R1]]],
  ['more leaves than the later tree has', [2, R1, 1, R1, []]],
  ['a number of leaves that is none', [Number.NaN, R1, 2, R2, [R1, A]]],
  ['a path with a hash in capitals', [1, R1, 2, R2, [A.toUpperCase()]]],
  ['a path between trees of one size', [1, R1, 1, R1, [A]]],
  ['another root of the same size', [1, R1, 1, A, []]],
  ['a path from the empty tree', [0, EMPTY_ROOT, 8, R8, [A]]],
  ['a root that the empty tree does not have', [0, R1, 8, R8, []]],
  ['no path', [3, R3, 8, R8, []]],
  ['a path that is too short', [1, R1, 8, R2, [A]]],
  ['a path that is too long', [3, nodeOf(A, R3), 4, nodeOf(A, R4), [leaves[2] ?? '', leaves[3] ?? '', R2, A]]],
])('no tree is proved to extend another by %s', (_, claim) => {
  expect(provesConsistency(...claim)).toBe(false);
});

test.each<[string, unknown, boolean]>([
  ['64 hexadecimal digits', A, true],
  ['one digit more after them', `${A}0`, false],
  ['one digit more before them', `0${A}`, false],
  ['capitals', A.toUpperCase(), false],
  ['a list that reads like one', [A], false],
])('a hash is spelled in one way: %s', (_, value, is) => {
  expect(isHash(value)).toBe(is);
});

test('an empty tree has the hash of nothing', () => {
  expect(new Frontier().root()).toBe(EMPTY_ROOT);
  expect(new MerkleTree().root()).toBe(EMPTY_ROOT);
});

test.each([-1, 8, Number.NaN])('a tree of 8 leaves has no leaf %d', (index) => {
  expect(() => treeOf(leaves).leaf(index)).toThrow(`there is no hash ${index} among 8`);
});

test('bytes are hashed as they are, and a text as its UTF-8', () => {
  expect(leafOf(Uint8Array.of(0xff))).toBe('06eb7d6a69ee19e5fbdf749018d3d2abfa04bcbd1365db312eb86dc7169389b8');
  expect(leafOf('ü')).toBe('fcf14630be82302ee9b5959950bcefb57b9e7c9a956f4d73cbe1619cb3dafb61');
});

test('a frontier that was put away goes on where it stood, and one with the wrong number of peaks is none', () => {
  const frontier = new Frontier();
  for (const leaf of leaves.slice(0, 5)) frontier.add(leaf);
  const later = new Frontier(frontier.size, frontier.peaks);
  for (const leaf of leaves.slice(5)) later.add(leaf);
  expect(later.root()).toBe(ROOTS[8]);
  expect(() => new Frontier(5, frontier.peaks.slice(1))).toThrow('has 2 peaks');
});

const sizes = fc.tuple(fc.nat(200), fc.nat(200), fc.nat(200)).map((all) => all.sort((a, b) => a - b));

test('every leaf is proved in every tree, and no other leaf, place, size, root or path is', () => {
  const tree = treeOf(Array.from({ length: 200 }, (_, index) => leafOf(String(index))));
  fc.assert(
    fc.property(sizes, fc.nat(), ([index = 0, , size = 0], at) => {
      fc.pre(index < size);
      const path = tree.inclusion(index, size);
      const holds = (leaf: string, place: number, of: number, by: readonly string[], root: string) =>
        provesInclusion(leaf, place, of, by, root);
      expect(holds(tree.leaf(index), index, size, path, tree.root(size))).toBe(true);
      expect(holds(leafOf('other'), index, size, path, tree.root(size))).toBe(false);
      expect(holds(tree.leaf(index), index, size, path, tree.root(size - 1))).toBe(false);
      expect(holds(tree.leaf(index), index, size, [...path, A], tree.root(size))).toBe(false);
      expect(holds(tree.leaf(index), (index + 1) % size, size, path, tree.root(size))).toBe(size === 1);
      if (path.length === 0) return;
      const spoilt = path.map((each, place) => (place === at % path.length ? leafOf(each) : each));
      expect(holds(tree.leaf(index), index, size, spoilt, tree.root(size))).toBe(false);
      expect(holds(tree.leaf(index), index, size, path.slice(1), tree.root(size))).toBe(false);
    }),
    RUNS,
  );
});

test('every tree is proved to extend every smaller one, and no other', () => {
  const tree = treeOf(Array.from({ length: 200 }, (_, index) => leafOf(String(index))));
  fc.assert(
    fc.property(sizes, fc.nat(), ([, first = 0, size = 0], at) => {
      fc.pre(first > 0);
      const path = tree.consistency(first, size);
      const [before, after] = [tree.root(first), tree.root(size)];
      expect(provesConsistency(first, before, size, after, path)).toBe(true);
      expect(provesConsistency(first, leafOf('x'), size, after, path)).toBe(false);
      expect(provesConsistency(first, before, size, leafOf('x'), path)).toBe(false);
      if (path.length === 0) return;
      const spoilt = path.map((each, place) => (place === at % path.length ? leafOf(each) : each));
      expect(provesConsistency(first, before, size, after, spoilt)).toBe(false);
    }),
    RUNS,
  );
});

test('an inner node is no leaf, and a leaf no inner node', () => {
  const tree = treeOf(leaves.slice(0, 4));
  const [left, right] = [nodeOf(tree.leaf(0), tree.leaf(1)), nodeOf(tree.leaf(2), tree.leaf(3))];
  expect(nodeOf(left, right)).toBe(tree.root(4));
  // The root of four leaves as that of two: the hashes are right, the number of leaves is not.
  expect(provesInclusion(left, 0, 2, [right], tree.root(4))).toBe(true);
  for (const [index, path] of [
    [0, [right]],
    [1, [right]],
    [2, [left]],
    [3, [left]],
  ] as const)
    expect(provesInclusion(index < 2 ? left : right, index, 4, path, tree.root(4))).toBe(false);
  // Data that spells two hashes makes a leaf, not the node above them.
  const bytes = Buffer.from(tree.leaf(0) + tree.leaf(1), 'hex');
  expect(leafOf(bytes)).not.toBe(left);
  expect(provesInclusion(leafOf(bytes), 0, 2, [right], tree.root(4))).toBe(false);
  expect(leafOf(bytes.toString('latin1'))).not.toBe(left);
});

/** Whether `path` shows that the tree with `root` extends the one with `firstRoot` (RFC 9162, 2.1.4.2). */
function provesConsistency(
  first: number,
  firstRoot: string,
  size: number,
  root: string,
  path: readonly string[],
): boolean {
  if (!(first >= 0 && first <= size) || !path.every(isHash)) return false;
  if (first === size) return path.length === 0 && firstRoot === root;
  if (first === 0) return path.length === 0 && firstRoot === EMPTY_ROOT;
  const [start, ...rest] = Number.isInteger(Math.log2(first)) ? [firstRoot, ...path] : path;
  if (start === undefined) return false;
  let [at, last] = [first - 1, size - 1];
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  let [before, after] = [start, start];
  for (const other of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      before = nodeOf(other, before);
      after = nodeOf(other, after);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else after = nodeOf(after, other);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && before === firstRoot && after === root;
}

function half(value: number): number {
  return Math.floor(value / 2);
}
