// A patch of git is shown whole: what looks like a heading of the patch is a line like others.
import { expect, test } from 'vitest';
import { numbersOf, patchesIn, wordsIn } from '../../web/src/parts/patches.ts';

const PATCH = `diff --git a/db.sql b/db.sql
index 1..2 100644
--- a/db.sql
+++ b/db.sql
@@ -1,3 +1,3 @@
 select 1;
--- keep the audit table
+++ plus two signs
-drop table a;
diff --git "a/\\303\\244.txt" "b/\\303\\244.txt"
new file mode 100644
--- /dev/null
+++ "b/\\303\\244.txt"
@@ -0,0 +1 @@
+neu
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
`;

test('every line of a file is there, also one that begins like a heading', () => {
  const [sql] = patchesIn(PATCH);
  expect(sql?.lines).toEqual([
    '@@ -1,3 +1,3 @@',
    ' select 1;',
    '--- keep the audit table',
    '+++ plus two signs',
    '-drop table a;',
  ]);
  expect(numbersOf(sql?.lines ?? [])).toEqual(['', '1', '', '2', '']);
});

test('names in other scripts, new files and files that are no text', () => {
  expect(patchesIn(PATCH).map(({ path, what, lines }) => [path, what, lines.length])).toEqual([
    ['db.sql', 'changed', 5],
    ['ä.txt', 'new file', 1],
    ['logo.png', 'changed', 1],
  ]);
  expect(patchesIn('')).toEqual([]);
});

test.each<[string, readonly string[]]>([
  ['const a = "b"; // c', ['word:const', 'text:"b"', 'comment:// c']],
  ['return 12_000', ['word:return', 'number:12_000']],
  ['x'.repeat(3_000), []],
])('words of %j', (line, set) => {
  const words = wordsIn(line);
  expect(words.map(({ text }) => text).join('')).toBe(line);
  expect(words.flatMap(({ sort, text }) => (sort === 'plain' ? [] : [`${sort}:${text}`]))).toEqual(set);
});
