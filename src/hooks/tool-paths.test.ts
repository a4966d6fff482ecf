import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fileWritten, isFileTool, pathsInPatch } from './guard-write.ts';

const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

test.each<[string, string, readonly string[]]>([
  ['no patch', '*** Add File: a', []],
  ['an added file', patch('*** Add File: .baton/y', '+hello'), ['/w/.baton/y']],
  ['a changed file', patch('*** Update File: /etc/x', '@@', '-a', '+b'), ['/etc/x']],
  ['a moved file', patch('*** Update File: a', '*** Move to: ../b', '@@'), ['/w/a', '/b']],
  ['a removed file', patch('*** Delete File: a b\r'), ['/w/a b']],
  ['a patch given to the shell', `apply_patch <<'EOF'\n${patch('*** Add File: a', '+x')}\nEOF\n`, ['/w/a']],
])('%s', (_, text, paths) => {
  expect(pathsInPatch(text, '/w')).toEqual(paths);
});

test('any text has paths that are absolute', () => {
  const line = fc.oneof(fc.string(), fc.constantFrom('*** Begin Patch', '*** Add File: ', '*** Move to: x', '***'));
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      for (const path of pathsInPatch(lines.join('\n'), '/w')) expect(path.startsWith('/')).toBe(true);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});

test.each([
  ['Write', { file_path: 'a' }, '/w/a'],
  ['Edit', { file_path: '/x/../y' }, '/y'],
  ['MultiEdit', { file_path: 'a' }, '/w/a'],
  ['NotebookEdit', { notebook_path: 'n.ipynb' }, '/w/n.ipynb'],
  ['Write', {}, null],
  ['Write', { file_path: 7 }, null],
  ['Write', { file_path: ' ' }, null],
])('%s of %j writes %s', (tool, input, path) => {
  expect(fileWritten(tool, input, '/w')).toBe(path);
});

test.each([
  ['Write', true],
  ['Read', false],
  ['toString', false],
])('%s is a tool that writes: %s', (tool, expected) => {
  expect(isFileTool(tool)).toBe(expected);
});
