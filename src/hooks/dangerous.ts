// Shell commands that no agent runs in a workspace where others work too: they wait instead of working, or they take away
// what cannot be brought back.
import type { Invocation } from './programs.ts';

/** Why the command is refused and what to do instead, or null. */
export function dangerIn({ program, args }: Invocation): string | null {
  const words = args.map(({ text }) => text);
  switch (program) {
    case 'sleep':
      return 'sleep only waits; do not poll, go on with something else or end your turn';
    case 'rm':
      return isFlagged(words, 'rRf', ['--recursive', '--force'])
        ? 'rm with -r or -f takes away more than can be seen; remove single files by name'
        : null;
    case 'find':
      return words.includes('-delete')
        ? 'find -delete takes away more than can be seen; remove single files by name'
        : null;
    case 'git':
      return dangerInGit(words);
    default:
      return null;
  }
}

/** Options of git that stand before its command and take a value. */
const GIT_VALUES = ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--config-env'];

function dangerInGit(words: readonly string[]): string | null {
  let at = 0;
  while (words[at]?.startsWith('-')) at += GIT_VALUES.includes(words[at] ?? '') ? 2 : 1;
  const [command, ...rest] = words.slice(at);
  switch (command) {
    case 'reset':
      return hasLong(rest, '--hard') ? 'git reset --hard throws uncommitted work away; keep it, or commit it' : null;
    case 'clean':
      return isFlagged(rest, 'n', ['--dry-run']) ? null : 'git clean removes files of others; remove yours by name';
    case 'checkout':
    case 'restore':
      // What is only taken out of the index stays in the files.
      if (command === 'restore' && hasLong(rest, '--staged') && !hasLong(rest, '--worktree')) return null;
      return rest.some(isEverything) || isFlagged(rest, 'f', ['--force'])
        ? `git ${command} of everything throws uncommitted work away; name your own files`
        : null;
    case 'switch':
      return isFlagged(rest, 'f', ['--force', '--discard-changes'])
        ? 'git switch with force throws uncommitted work away'
        : null;
    case 'push':
      return isForced(rest) ? 'a forced push takes commits of others away; pull and push without force' : null;
    default:
      return null;
  }
}

/** The folder one stands in, or the whole repository. */
function isEverything(word: string): boolean {
  return /^(?:\.\/*|:\/|:\(top\)|\*)$/.test(word);
}

function isForced(words: readonly string[]): boolean {
  return (
    isFlagged(words, 'f', ['--force', '--mirror']) ||
    words.some((word) => word.startsWith('--force-') || /^\+\S/.test(word))
  );
}

/** Whether one of the letters stands in a bundle of short options, or one of the long options is given. */
export function isFlagged(words: readonly string[], letters: string, long: readonly string[]): boolean {
  const end = words.indexOf('--');
  const options = (end === -1 ? words : words.slice(0, end)).filter((word) => word.startsWith('-'));
  return (
    options.some((word) => !word.startsWith('--') && [...letters].some((letter) => word.includes(letter))) ||
    long.some((name) => hasLong(options, name))
  );
}

/** Long options may be shortened as long as they stay clear; three letters are enough for all that matter here. */
function hasLong(words: readonly string[], name: string): boolean {
  return words.some((word) => word === name || (word.length >= 5 && name.startsWith(word)));
}
