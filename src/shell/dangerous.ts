// Shell commands that lose work outside the project, lose history, or only wait, and the paths that an agent may write. Each
// rule has a name, so people can switch it off or allow single commands (`hooks.rules`). Ordinary build steps pass: `rm -rf
// dist`, `sleep 1`, `git push --force-with-lease`.
import { existsSync, readlinkSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { HookRule, HookRuleSettings } from '../kernel/graph/config.ts';
import { AGENT_FOLDERS } from '../kernel/ledger/scope.ts';
import { gitCommand, type Invocation, operands, type ShellStep } from './programs.ts';
import type { Word } from './read-line.ts';
import { ShellFolder } from './written-paths.ts';

type Danger = { readonly rule: HookRule; readonly program: string; readonly reason: string };

type Rule = {
  readonly name: HookRule;
  /** Why the command is refused and what to do instead, or null. */
  refuses(run: Invocation, shell: ShellFolder, area: ProjectArea): string | null;
};

const RULES: readonly Rule[] = [
  { name: 'remove', refuses: removal },
  { name: 'git-discard', refuses: ({ program, args }) => inGit(program, args, discarding) },
  { name: 'git-force-push', refuses: ({ program, args }) => inGit(program, args, forcing) },
  { name: 'git-history', refuses: ({ program, args }) => inGit(program, args, forgetting) },
  { name: 'sleep', refuses: waiting },
];

/** The first command of the line that a rule refuses. */
export function dangerIn(
  steps: readonly ShellStep[],
  area: ProjectArea,
  settings: HookRuleSettings = {},
): Danger | null {
  const shell = new ShellFolder(area.cwd, area.home);
  for (const run of steps.flatMap(({ runs }) => runs)) {
    shell.follow(run);
    for (const { name, refuses } of RULES) {
      const setting = settings[name] ?? true;
      if (setting === false || (setting !== true && setting.allow.some((allowed) => isSameCommand(run, allowed))))
        continue;
      const reason = refuses(run, shell, area);
      if (reason !== null) return { rule: name, program: run.program, reason };
    }
  }
  return null;
}

/** An allowed command is compared word by word. A star alone allows any one word. */
function isSameCommand({ program, args }: Invocation, allowed: string): boolean {
  const parts = allowed.trim().split(/\s+/);
  const words = [program, ...args.map(({ text, isPlain }) => (isPlain ? text : null))];
  return parts.length === words.length && parts.every((part, at) => part === words[at] || (part === '*' && words[at]));
}

/** Programs that remove or wipe the files in their arguments. */
const REMOVERS = ['rm', 'unlink', 'shred'];

function removal({ program, args }: Invocation, shell: ShellFolder, area: ProjectArea): string | null {
  if (program === 'find') return foundAndRemoved(args, shell, area);
  if (!REMOVERS.includes(program)) return null;
  const words = args.map(({ text }) => text);
  const isWhole = program === 'rm' && isFlagged(words, 'rR', ['--recursive']);
  return refusedTarget(program, operands(args), isWhole, shell, area);
}

/** `find` removes files below the folders in its arguments. Its options about links come first. */
function foundAndRemoved(words: readonly Word[], shell: ShellFolder, area: ProjectArea): string | null {
  const args = words.slice(words.findIndex(({ text }) => !/^-(?:[HLP]|O\d?)$/.test(text)));
  const end = args.findIndex(({ text }) => /^[-(!]/.test(text));
  const isRemoving = args.some(
    ({ text }, at) => text === '-delete' || (/^-(?:exec|ok)/.test(text) && args[at + 1]?.text.endsWith('rm')),
  );
  if (!isRemoving) return null;
  const roots = args.slice(0, end === -1 ? undefined : end);
  // With a condition that selects files, the project itself may be the root, but nothing outside.
  const isSelective = args.some(({ text }) => SELECTS.test(text));
  const isProject = (place: string) => place === area.cwd && area.isOwn(`${place}/-`);
  const wholes = roots.length === 0 ? [HERE] : roots;
  if (!isSelective && wholes.some((word) => isProject(shell.placeOf(word) ?? '') && !area.isOwn(area.cwd)))
    return 'find would remove the whole project; select files, as with -name, or name a folder';
  const outside = wholes.find((word) => {
    const place = shell.placeOf(word);
    return place === null || !(area.isOwn(place) || isProject(place));
  });
  return outside
    ? `find would remove files at ${outside.text}, outside the project; name a folder of the project`
    : null;
}

/** What `find` searches if no folder is named. */
const HERE: Word = { text: '.', isPlain: true, isQuoted: false, isOpen: false, isHome: false };
const SELECTS = /^-(?:i?(?:name|path|wholename|regex|lname)|empty|size|newer.*|[acm](?:time|min)|perm|user|group)$/;

/** Without `-r`, a word that only the shell can resolve passes: it removes single files. */
function refusedTarget(
  program: string,
  targets: readonly Word[],
  isWhole: boolean,
  shell: ShellFolder,
  area: ProjectArea,
): string | null {
  for (const word of targets) {
    const place = shell.placeOf(word);
    if (place === null) {
      if (isWhole) return 'rm -r of a word that only the shell can resolve; name the folder';
    } else if (!(area.isOwn(place) || (!isWhole && word.isOpen && area.isOwn(`${place}/-`)))) {
      return `${program} would remove ${word.text}, which you may not remove; remove your own files by name`;
    }
  }
  return null;
}

function inGit(
  program: string,
  args: readonly Word[],
  refuses: (command: string, rest: readonly string[]) => string | null,
): string | null {
  if (program !== 'git') return null;
  const { command, rest } = gitCommand(args);
  return refuses(
    command,
    rest.map(({ text }) => text),
  );
}

function discarding(command: string, rest: readonly string[]): string | null {
  switch (command) {
    case 'reset':
      return hasLong(rest, '--hard') ? 'git reset --hard discards uncommitted work; commit it instead' : null;
    case 'clean':
      // In `-enode_modules` the letters are a pattern.
      return isFlagged(
        rest.filter((word) => !/^-[a-z]*e/.test(word)),
        'n',
        ['--dry-run'],
      )
        ? null
        : 'git clean may remove files of others; remove yours by name';
    case 'checkout':
    case 'restore':
      // Changes only in the index stay in the files.
      if (command === 'restore' && isFlagged(rest, 'S', ['--staged']) && !isFlagged(rest, 'W', ['--worktree']))
        return null;
      return rest.some(isEverything) || isFlagged(rest, 'f', ['--force'])
        ? `git ${command} of everything discards uncommitted work; name your own files`
        : null;
    case 'switch':
      return isFlagged(rest, 'f', ['--force', '--discard-changes'])
        ? 'git switch with force discards uncommitted work'
        : null;
    case 'stash':
      return ['drop', 'clear'].includes(rest[0] ?? '') ? `git stash ${rest[0]} discards work of others` : null;
    default:
      return null;
  }
}

/** The current folder, or the whole repository. */
function isEverything(word: string): boolean {
  return /^(?:\.\/*|:\/|:\(top\)|\*)$/.test(word);
}

function forcing(command: string, rest: readonly string[]): string | null {
  if (command !== 'push') return null;
  const isForced = isFlagged(rest, 'f', ['--force', '--mirror']) || rest.some((word) => /^\+\S/.test(word));
  return isForced ? 'a forced push removes commits of others; use --force-with-lease, or pull first' : null;
}

function forgetting(command: string, rest: readonly string[]): string | null {
  const [first = ''] = rest;
  const isLost =
    (command === 'reflog' && ['expire', 'delete'].includes(first)) ||
    (command === 'gc' && rest.some((word) => /^--prune=(?:now|all)$/.test(word))) ||
    (command === 'prune' && !isFlagged(rest, 'n', ['--dry-run'])) ||
    ['filter-branch', 'filter-repo'].includes(command) ||
    (command === 'push' && (isFlagged(rest, 'd', ['--delete']) || rest.some((word) => /^:\S/.test(word))));
  return isLost ? `git ${command} would remove commits for good; only a person may do that` : null;
}

const SLEEP_S_MAX = 60;
const SECONDS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400 };

function waiting({ program, args }: Invocation): string | null {
  if (program !== 'sleep') return null;
  const total = args.reduce((sum, { text }) => {
    if (/^inf/i.test(text)) return Number.POSITIVE_INFINITY;
    const [, amount = '0', unit = ''] = /^([0-9.]+)([smhd]?)$/.exec(text) ?? [];
    return sum + Number(amount) * (SECONDS[unit] ?? 1);
  }, 0);
  return total > SLEEP_S_MAX
    ? `sleep of more than ${SLEEP_S_MAX} s only waits; continue with something else, or end your turn`
    : null;
}

/** Whether one of the letters is in a bundle of short options, or one of the long options is given. */
export function isFlagged(words: readonly string[], letters: string, long: readonly string[]): boolean {
  const end = words.indexOf('--');
  const options = (end === -1 ? words : words.slice(0, end)).filter((word) => word.startsWith('-'));
  return (
    options.some((word) => !word.startsWith('--') && [...letters].some((letter) => word.includes(letter))) ||
    long.some((name) => hasLong(options, name))
  );
}

/** Long options may be shortened. Three letters are enough for the options here. */
function hasLong(words: readonly string[], name: string): boolean {
  return words.some((word) => word === name || (word.length >= 5 && name.startsWith(word)));
}

/** Where commands run, and which paths they may write. */
export type ProjectArea = {
  readonly cwd: string;
  readonly home: string | undefined;
  /** Whether the agent may write or remove the path: below the project, or a scratch file. */
  isOwn(path: string): boolean;
};

const GOVERNING = ['.baton', '.git', ...AGENT_FOLDERS];
/** A folder with one of these is a project. */
const PROJECT = ['.git', '.baton'];

/** `root` is the folder of the project, or of the worktree, that the agent works in. */
export function projectAreaAt(root: string, cwd: string, home: string | undefined): ProjectArea {
  const real = realPath(root);
  const homeFolder = home === undefined || home === '' ? null : realPath(home);
  const scratch = [realPath(tmpdir()), realPath('/tmp')];
  return {
    cwd,
    home,
    isOwn(path) {
      const place = realPath(path);
      const below = relative(real, place);
      if (isInside(below)) return !below.split('/').some((part) => GOVERNING.includes(part.toLowerCase()));
      if (place.split('/').some((part) => GOVERNING.includes(part.toLowerCase()))) return false;
      // A home is never scratch, wherever it is.
      if (homeFolder !== null && isInside(relative(homeFolder, place))) return false;
      if (real.startsWith(place)) return false;
      return scratch.some((folder) => isInside(relative(folder, place)) && !isOfProject(place, folder));
    },
  };
}

/** Whether the path, or a folder above it in the scratch folder, is a project. */
function isOfProject(place: string, scratch: string): boolean {
  for (let at = place; at !== scratch && dirname(at) !== at; at = dirname(at)) {
    if (PROJECT.some((name) => existsSync(join(at, name)))) return true;
  }
  return false;
}

function isInside(below: string): boolean {
  return below !== '' && below !== '..' && !below.startsWith('../') && !isAbsolute(below);
}

const LINKS_MAX = 10;

/** The path with all links resolved. For a missing file: the real path of the nearest folder, then the rest as written. */
export function realPath(path: string, links = 0): string {
  let rest = '';
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(realpathSync(at), rest);
    } catch {
      const target = links < LINKS_MAX ? danglingTarget(at) : null;
      if (target !== null) return join(realPath(resolve(dirname(at), target), links + 1), rest);
      if (dirname(at) === at) return path;
      rest = join(basename(at), rest);
    }
  }
}

/** The target of a dangling link. Writing through the link creates it. */
function danglingTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
