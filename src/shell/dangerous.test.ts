import { expect, test } from 'vitest';
import type { HookRuleSettings } from '../kernel/graph/config.ts';
import { dangerIn } from './dangerous.ts';
import { stepsOf } from './programs.ts';

/** A project at /p with scratch files at /scratch. */
const AREA = {
  cwd: '/p',
  home: '/home/me',
  isOwn: (path: string) => /^\/(?:p|scratch)\/./.test(path) && !path.includes('/.git'),
};

function ruleFor(line: string, settings: HookRuleSettings = {}): string | null {
  const read = stepsOf(line);
  return read.ok ? (dangerIn(read.steps, AREA, settings)?.rule ?? null) : 'unreadable';
}

test.each([
  ['sleep', ['sleep 61', 'true && sleep 5m', '/bin/sleep 1h', 'sleep 30 40', 'sleep infinity']],
  [
    'remove',
    [
      'rm -rf /',
      'rm -rf /p',
      'rm -rf .',
      'rm -rf ./',
      'rm -rf *',
      'rm -rf ./*',
      'rm -rf ..',
      'rm -rf ../other',
      'rm -r ~/notes',
      'rm /home/me/notes.txt',
      'rm -f ../other/x',
      'rm -rf dist /home/me',
      'rm x -fr .git',
      'rm --recursive /etc/app',
      'rm --rec /etc/app',
      '"rm" -R /etc/app',
      'r\\m -r /etc/app',
      'X=1 rm -r /etc/app',
      '$NOTHING rm -r /etc/app',
      '\\\nrm -r /etc/app',
      'sudo -u root rm -r /etc/app',
      'timeout -k 5 10 rm -rf /etc/app',
      'sudo -u root env -u A B=1 nice -n 5 rm -rf /etc/app',
      'env -- rm -rf /etc/app',
      'rm -rf "$BUILD"',
      'rm -rf $(cat folders)',
      'ls | xargs -n 1 rm -rf',
      'find /etc -name a -exec rm -rf {} \\;',
      'find / -delete',
      'find -L / -name a -delete',
      'find -H -O3 /home -exec rm {} +',
      'unlink /home/me/notes.txt',
      'shred -u ../other/x',
      'find ~ -name x -delete',
      'find . -delete',
      'find -delete',
      'find . -mindepth 1 -type f -exec rm {} +',
      'find .git -name HEAD -delete',
      'bash -c "rm -rf /etc/app"',
      'bash -lc "cd /etc && rm -rf app"',
      'cd /etc && rm -rf app',
      'sh -c \'bash -c "rm -rf /etc/app"\'',
      'bash <<E\nrm -rf /etc/app\nE',
      'bash <<< "rm -rf /etc/app"',
      'eval rm -rf /etc/app',
      'echo $(rm -rf /etc/app)',
      '(rm -rf /etc/app)',
    ],
  ],
  [
    'git-discard',
    [
      'git reset --hard',
      'git reset HEAD~1 --hard',
      'git -C sub reset --hard',
      'git -c a=b reset --hard',
      'git clean -fd',
      'git clean',
      'git clean -fd -enode_modules',
      'git checkout .',
      'git checkout -- .',
      'git checkout HEAD -- ./',
      'git checkout -f main',
      'git restore .',
      'git restore --staged --worktree .',
      'git restore -SW .',
      'git switch --discard-changes main',
      'git stash drop',
      'git stash clear',
    ],
  ],
  [
    'git-force-push',
    [
      'git push --force',
      'git push -f origin main',
      'git push origin +main',
      'git push --mirror',
      'git push --force --force-with-lease',
    ],
  ],
  [
    'git-history',
    [
      'git reflog expire --all',
      'git reflog delete HEAD@{1}',
      'git gc --prune=now',
      'git prune',
      'git filter-branch --all',
      'git push origin --delete main',
      'git push origin :main',
    ],
  ],
])('%s refuses', (rule, lines) => {
  expect(lines.map((line) => [line, ruleFor(line)])).toEqual(lines.map((line) => [line, rule]));
});

test.each([
  'rm x',
  'rm -f tmp.txt',
  'rm -rf dist',
  'rm -rf ./dist build/*',
  'rm -f *.log',
  'rm -rf /scratch/run-1',
  'rm -f /scratch/*.log',
  'cd build && rm -rf ../dist',
  'rm -f "$FILE"',
  'ls | xargs rm -f',
  'rm my-rf-file',
  'rm -- -rf',
  'rm -i x',
  'find . -name "*.pyc" -delete',
  'find src -name a -exec rm -f {} \\;',
  'find / -name a -print',
  'find -L . -name a -delete',
  'find -name a -delete',
  'find . -type d -empty -delete',
  'find dist -delete',
  'unlink a',
  'sleep 1',
  'sleep 60',
  'sleep $N',
  'echo rm -rf /',
  'echo "rm -rf /"',
  "git commit -m 'rm -rf and git reset --hard'",
  'grep -rf patterns src',
  'cat > f <<E\nrm -rf /\nE',
  'git reset HEAD x',
  'git reset --soft HEAD~1',
  'git clean -n',
  'git clean -fdn',
  'git checkout -b fix',
  'git checkout main -- src/a.ts',
  'git restore src/a.ts',
  'git restore --staged .',
  'git restore -S .',
  'git stash',
  'git stash pop',
  'git push origin main',
  'git push --force-with-lease',
  'git push -u origin feature',
  'git gc',
  'git prune -n',
  'git reflog',
  'git log --format=%h',
  'npm test',
  'make clean',
  'cargo clean',
  'seq 100',
  'sleeper',
  'man sleep',
  'ls | xargs grep -l sleep',
  'find . -name sleep -print',
  'timeout 60 grep -rf words src',
  'sudo -u sleep ls',
  'env rm=1 ls -r',
])('%s is let through', (line) => {
  expect(ruleFor(line)).toBe(null);
});

const PREVIEW = 'git push -f origin preview';

test.each<[string, string, HookRuleSettings, string | null]>([
  ['a rule that is off refuses nothing', 'git reset --hard', { 'git-discard': false }, null],
  ['the other rules stay on', 'git push -f', { 'git-discard': false }, 'git-force-push'],
  ['a rule can be named and on', 'git push -f', { 'git-force-push': true }, 'git-force-push'],
  ['an allowed command passes', PREVIEW, { 'git-force-push': { allow: [PREVIEW] } }, null],
  ['one word more is another command', 'rm -rf /opt /home', { remove: { allow: ['rm -rf /opt'] } }, 'remove'],
  ['one word less is another command', 'git push -f', { 'git-force-push': { allow: [PREVIEW] } }, 'git-force-push'],
  ['a star allows any one word', 'sleep 300', { sleep: { allow: ['sleep *'] } }, null],
  ['a star does not allow two words', 'sleep 300 400', { sleep: { allow: ['sleep *'] } }, 'sleep'],
  ['a star allows no word that only the shell knows', 'rm -r $X', { remove: { allow: ['rm -r *'] } }, 'remove'],
])('%s', (_name, line, settings, rule) => {
  expect(ruleFor(line, settings)).toBe(rule);
});

test('shells in shells come to an end', () => {
  const nested = (depth: number): string => (depth === 0 ? 'ls' : `bash -c ${JSON.stringify(nested(depth - 1))}`);
  expect(ruleFor(nested(4))).toBe(null);
  expect(stepsOf('eval '.repeat(20))).toMatchObject({ ok: false });
});
