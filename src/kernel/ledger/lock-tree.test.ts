import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addLock, type LockMode, locksOf, newLockTree, removeLocks, rivalOf, type TaskLock } from './lock-tree.ts';
import { overlaps } from './path.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

const lock = (task: string, path: string, mode: LockMode = 'write', root = 'main'): TaskLock => {
  return { task: `r/${task}`, root, path, mode };
};

test.each([
  ['web', 'web/src', 'conflict'],
  ['web/src', 'web', 'conflict'],
  ['web', 'web', 'conflict'],
  ['web', 'website', 'free'],
  ['web/src', 'web/test', 'free'],
  ['Web', 'web/src', 'free'],
  ['web/*', 'web/a.ts', 'free'],
  ['web/*', 'web', 'conflict'],
  ['.', 'web/src', 'conflict'],
  ['web/src', '.', 'conflict'],
  ['.', '/opt', 'free'],
  ['/', '/opt', 'conflict'],
  ['/', 'web', 'conflict'],
  ['/opt', '/opt/x', 'conflict'],
  ['/opt', 'opt', 'free'],
  ['café', 'cafe\u0301/menu', 'conflict'],
  ['__proto__', '__proto__/x', 'conflict'],
  ['constructor', 'toString', 'free'],
  ['a/constructor/b', 'a', 'conflict'],
])('%s is held, %s is wanted: %s', (held, wanted, expected) => {
  const tree = newLockTree();
  addLock(tree, lock('T-1', held));
  const rival = rivalOf(tree, lock('T-2', wanted));
  expect(rival).toEqual(expected === 'free' ? null : lock('T-1', held));
});

test.each([
  ['write', 'write', 'conflict'],
  ['write', 'read', 'conflict'],
  ['read', 'write', 'conflict'],
  ['read', 'read', 'free'],
] as const)('one holds it to %s, another wants to %s: %s', (held, wanted, expected) => {
  for (const [one, other] of [
    ['src', 'src'],
    ['src', 'src/a'],
    ['src/a', 'src'],
  ] as const) {
    const tree = newLockTree();
    addLock(tree, lock('T-1', one, held));
    expect(rivalOf(tree, lock('T-2', other, wanted)) === null).toBe(expected === 'free');
  }
});

test('a task is not in its own way, in a directory above all its locks either', () => {
  const tree = newLockTree();
  for (const path of ['src/a', 'src/b', 'test']) addLock(tree, lock('T-1', path));
  expect(rivalOf(tree, lock('T-1', '.'))).toBeNull();
  addLock(tree, lock('T-2', 'src/c'));
  expect(rivalOf(tree, lock('T-1', 'src'))).toEqual(lock('T-2', 'src/c'));
  expect(rivalOf(tree, lock('T-1', 'src'), new Set(['r/T-2']))).toBeNull();
});

test('each root has paths of its own', () => {
  const tree = newLockTree();
  addLock(tree, lock('T-1', '.', 'write', '/lane-1'));
  expect(rivalOf(tree, lock('T-2', 'src', 'write', '/lane-2'))).toBeNull();
  expect(rivalOf(tree, lock('T-2', '/', 'write', 'main'))).toBeNull();
  expect(rivalOf(tree, lock('T-2', 'src', 'read', '/lane-1'))?.path).toBe('.');
});

test.each([
  ['src', 'a', 'main', 'src/a', true],
  ['src', 'a', 'main', 'src', true],
  ['src', 'a', 'main', '.', true],
  ['src', 'a', 'main', 'a', false],
  ['src', '.', 'main', 'src/deep/x', true],
  ['src', 'deep/x', 'src/deep', 'x', true],
  ['src', 'deep/x', 'src/deep', 'y', false],
  ['/other', 'in/a', '/other/in', 'a', true],
  ['/other', 'a', 'main', 'other/a', false],
  ['home/worktrees/w-0a1b2c3d/c', 'a', 'main', '.', false],
  ['home/worktrees/w-0a1b2c3d/c/in', 'a', 'home/worktrees/w-0a1b2c3d/c', 'in', true],
  ['.baton/state/worktrees/c', 'a', 'main', '.', false],
])('%s holds %s, %s wants %s: in the way is %s', (heldRoot, held, wantedRoot, wanted, isInTheWay) => {
  for (const [first, second] of [
    [lock('T-1', held, 'write', heldRoot), lock('T-2', wanted, 'write', wantedRoot)],
    [lock('T-2', wanted, 'write', wantedRoot), lock('T-1', held, 'write', heldRoot)],
  ] as const) {
    const tree = newLockTree();
    addLock(tree, first);
    expect(rivalOf(tree, second)).toEqual(isInTheWay ? first : null);
  }
});

test.each([
  ['b', 'a/x', true],
  ['a/x', 'b', true],
  ['a', 'b', true],
  ['b', 'a', true],
  ['c/y', 'a', true],
  ['b', 'c', true],
  ['b', 'a/y', false],
])('a/x, b and c/y are one file: %s is held, %s is in the way: %s', (held, wanted, isInTheWay) => {
  const tree = newLockTree(false, { '/main': { b: 'a/x', 'c/y': 'a/x' } });
  addLock(tree, lock('T-1', held));
  expect(rivalOf(tree, lock('T-2', wanted)) !== null).toBe(isInTheWay);
  removeLocks(tree, 'r/T-1');
  expect({ ...tree, links: {} }).toEqual(newLockTree());
});

test('where the disk does not tell capitals apart, neither do locks, and they keep the name they were given', () => {
  const tree = newLockTree(true);
  addLock(tree, lock('T-1', 'Src/API'));
  expect(rivalOf(tree, lock('T-2', 'src/api/x'))?.path).toBe('Src/API');
  removeLocks(tree, 'r/T-1');
  expect(tree).toEqual(newLockTree(true));
});

test('a release takes away everything of the task and leaves nothing behind', () => {
  const tree = newLockTree();
  for (const path of ['src/a/b', 'src/a', 'src/a', '/', '.']) addLock(tree, lock('T-1', path));
  addLock(tree, lock('T-1', 'docs', 'read'));
  expect(locksOf(tree, 'r/T-1')).toHaveLength(6);
  removeLocks(tree, 'r/T-1');
  removeLocks(tree, 'r/T-1');
  expect(tree).toEqual(newLockTree());
});

const path = fc
  .tuple(fc.constantFrom('', '/'), fc.array(fc.constantFrom('a', 'b', 'ab', 'A', '__proto__'), { maxLength: 4 }))
  .map(([lead, parts]) => (parts.length === 0 ? lead || '.' : lead + parts.join('/')));
const anyLock = fc
  .tuple(
    fc.integer({ min: 1, max: 5 }),
    path,
    fc.constantFrom<LockMode>('write', 'read'),
    fc.constantFrom('main', 'a', '/w'),
  )
  .map(([task, path, mode, root]) => lock(`T-${task}`, path, mode, root));

/** `a` lies inside the main root. */
const inTree = ({ root, path }: TaskLock) =>
  root !== 'a' || path.startsWith('/') ? path : path === '.' ? 'a' : `a/${path}`;

test('the tree answers as a walk through the list of locks does, also after a round through JSON', () => {
  const deed = fc.oneof(anyLock, fc.integer({ min: 1, max: 5 }));
  fc.assert(
    fc.property(fc.array(deed, { maxLength: 30 }), fc.boolean(), (deeds, foldCase) => {
      let tree = newLockTree(foldCase);
      let list: TaskLock[] = [];
      const fold = (text: string) => (foldCase ? text.toLowerCase() : text);
      for (const deed of deeds) {
        if (typeof deed === 'number') {
          removeLocks(tree, `r/T-${deed}`);
          list = list.filter(({ task }) => task !== `r/T-${deed}`);
          tree = JSON.parse(JSON.stringify(tree)) as typeof tree;
          continue;
        }
        const rivals = list.filter(
          (other) =>
            other.task !== deed.task &&
            (other.root === '/w') === (deed.root === '/w') &&
            (other.mode === 'write' || deed.mode === 'write') &&
            overlaps(fold(inTree(other)), fold(inTree(deed))),
        );
        const found = rivalOf(tree, deed);
        expect(found === null).toBe(rivals.length === 0);
        if (found) expect(rivals).toContainEqual(found);
        addLock(tree, deed);
        list.push(deed);
      }
      for (const { task } of list) removeLocks(tree, task);
      expect(tree).toEqual(newLockTree(foldCase));
    }),
    { numRuns: RUNS },
  );
});

test('a hundred thousand locks in one directory slow nothing down', () => {
  const tree = newLockTree();
  for (let index = 0; index < 100_000; index++) addLock(tree, lock(`T-${index}`, `src/f${index}`));
  const started = performance.now();
  for (let index = 0; index < 1000; index++) {
    for (const wanted of ['src', '.', '/', `new/f${index}`, 'src/f5/x']) rivalOf(tree, lock('T-new', wanted));
    addLock(tree, lock('T-new', `src/n${index}`));
    removeLocks(tree, 'r/T-new');
  }
  // Looking through the siblings even once in a round would take seconds.
  expect(performance.now() - started).toBeLessThan(60_000);
});

test('a path deeper than the stack is found from above and taken away again', () => {
  const tree = newLockTree();
  const path = Array.from({ length: 100_000 }, () => 'd').join('/');
  addLock(tree, lock('T-1', path));
  expect(rivalOf(tree, lock('T-2', 'd'))?.task).toBe('r/T-1');
  removeLocks(tree, 'r/T-1');
  expect(tree.write.below).toBeNull();
});
