import { expect, test } from 'vitest';
import { stepsOf } from './programs.ts';
import { fileWritten, isFileTool, pathsWritten } from './written-paths.ts';

test.each<[string, readonly string[]]>([
  ['ls src', []],
  ['echo a > x', ['/w/x']],
  ['echo a >> src/x 2>/dev/null', ['/w/src/x', '/dev/null']],
  ['cat a | tee -a b c', ['/w/b', '/w/c']],
  ['touch a; mkdir -p b/c', ['/w/a', '/w/b/c']],
  ['cp -r a b', ['/w/b']],
  ['cp -t dir a b', ['/w/dir']],
  ['cp --target-directory=dir a', ['/w/dir']],
  ['mv a b', ['/w/a', '/w/b']],
  ['rm a', ['/w/a']],
  ["sed -i 's/a/b/' x y", ['/w/x', '/w/y']],
  ["sed -i -e 's/a/b/' x", ['/w/x']],
  ["sed 's/a/b/' x", []],
  ['dd if=a of=b', ['/w/b']],
  ['cp -tdir a b', ['/w/dir']],
  ['install -m 644 a b', ['/w/b']],
  ['install -d a b', ['/w/a', '/w/b']],
  ['rsync -rt a b', ['/w/b']],
  ['rsync -t a b', ['/w/b']],
  ['curl -o .baton/config.json http://x', ['/w/.baton/config.json']],
  ['curl -sSLo a http://x/b', ['/w/a']],
  ['curl -oa http://x/b', ['/w/a']],
  ['curl --output=a http://x', ['/w/a']],
  ['curl --output-dir d -O http://x/b/c.tgz?q=/r', ['/w/d', '/w/c.tgz']],
  ['curl -H o http://x', []],
  ['curl -Ho http://x', []],
  ['curl -o - http://x', []],
  ['curl http://x/a', []],
  ['wget -O a http://x/b', ['/w/a']],
  ['wget -qO- http://x/b', []],
  ['wget -P d http://x/b', ['/w/d']],
  ['wget http://x/b', ['/w/b']],
  ['tar xf a.tar -C .baton', ['/w/.baton']],
  ['tar -xzf a.tgz --directory=d', ['/w/d']],
  ['tar xfC a.tar d', ['/w/d']],
  ['tar -C d -x -f a.tar', ['/w/d']],
  ['tar tf a.tar -C d', []],
  ['tar czf d/a.tgz src', ['/w/d/a.tgz']],
  ['tar -cf a.tar -C d .', ['/w/a.tar']],
  ['unzip -o a.zip -d d', ['/w/d']],
  ['sort -u -o a b', ['/w/a']],
  ['sort -k2 b', []],
  ['chmod +x a', ['/w/a']],
  ['git mv a b', ['/w/a', '/w/b']],
  ['cd sub && touch a', ['/w/sub/a']],
  ['cd "$X" && touch a /b', ['/b']],
  ['touch ~/a', ['/home/me/a']],
  ['touch "~/a"', ['/w/~/a']],
  ['touch src/*.ts', ['/w/src']],
  ['touch "src/*.ts"', ['/w/src/*.ts']],
  ['touch *.ts', ['/w']],
  ['touch "$X"', []],
  ['bash -c "touch a"', ['/w/a']],
  ['sudo touch a', ['/w/a']],
  ['touch ../a', ['/a']],
])('%s writes %j', (line, expected) => {
  const read = stepsOf(line);
  if (!read.ok) throw new Error(read.why);
  expect(pathsWritten(read.steps, '/w', '/home/me')).toEqual(expected);
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
