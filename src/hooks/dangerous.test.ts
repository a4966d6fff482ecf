import { expect, test } from 'vitest';
import { dangerIn } from './dangerous.ts';
import { stepsOf } from './programs.ts';

function isRefused(line: string): boolean {
  const read = stepsOf(line);
  return !read.ok || read.steps.some(({ runs }) => runs.some((run) => dangerIn(run) !== null));
}

test.each([
  'sleep 5',
  'true && sleep 1',
  '/bin/sleep 1',
  'rm -rf x',
  'rm -r x',
  'rm -f x',
  'rm x -fr',
  'rm --recursive x',
  'rm --rec x',
  'rm -v --force x',
  '"rm" -R x',
  'r\\m -r x',
  'X=1 rm -r x',
  '$NOTHING rm -r x',
  '\\\nrm -r x',
  'sudo -u root rm -r x',
  'env A=1 rm -f x',
  'timeout 5 rm -rf x',
  'timeout -k 5 10 rm -rf x',
  'sudo -u root env -u A B=1 nice -n 5 rm -rf x',
  'env -- rm -rf x',
  'ls | xargs -n 1 rm -f',
  'find . -name a -exec rm -rf {} \\;',
  'find . -delete',
  'bash -c "rm -rf x"',
  'bash -lc "cd y && rm -rf x"',
  'sh -c \'bash -c "rm -rf x"\'',
  'bash <<E\nrm -rf x\nE',
  'bash <<< "rm -rf x"',
  'eval rm -rf x',
  'echo $(rm -rf x)',
  '(rm -rf x)',
  'git reset --hard',
  'git reset HEAD~1 --hard',
  'git -C sub reset --hard',
  'git -c a=b reset --hard',
  'git clean -fd',
  'git clean',
  'git checkout .',
  'git checkout -- .',
  'git checkout HEAD -- ./',
  'git checkout -f main',
  'git restore .',
  'git restore --staged --worktree .',
  'git switch --discard-changes main',
  'git push --force',
  'git push -f origin main',
  'git push --force-with-lease',
  'git push origin +main',
  'git push --mirror',
])('%s is refused', (line) => {
  expect(isRefused(line)).toBe(true);
});

test.each([
  'rm x',
  'rm my-rf-file',
  'rm -- -rf',
  'rm -i x',
  'echo rm -rf x',
  'echo "rm -rf x"',
  "git commit -m 'rm -rf and git reset --hard'",
  'grep -rf patterns src',
  'cat > f <<E\nrm -rf x\nE',
  'git reset HEAD x',
  'git reset --soft HEAD~1',
  'git clean -n',
  'git clean -fdn',
  'git checkout -b fix',
  'git checkout main -- src/a.ts',
  'git restore src/a.ts',
  'git restore --staged .',
  'git push origin main',
  'git push -u origin feature',
  'git log --format=%h',
  'npm test',
  'sleeper',
  'man sleep',
  'ls | xargs grep -l sleep',
  'find . -name sleep -print',
  'timeout 60 grep -rf words src',
  'sudo -u sleep ls',
  'env rm=1 ls -r',
])('%s is let through', (line) => {
  expect(isRefused(line)).toBe(false);
});

test('shells in shells come to an end', () => {
  const nested = (depth: number): string => (depth === 0 ? 'ls' : `bash -c ${JSON.stringify(nested(depth - 1))}`);
  expect(isRefused(nested(4))).toBe(false);
  expect(stepsOf('eval '.repeat(20))).toMatchObject({ ok: false });
});
