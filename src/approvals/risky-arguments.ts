// Arguments with which a program that otherwise only reads or checks does more than that, and variables that change what
// a program does.
import type { Invocation } from '../shell/programs.ts';
import type { Word } from '../shell/read-line.ts';
import { wordsOf } from './command-words.ts';
import { optionsOf } from './risky-options.ts';

/** Variables that programs only read to speak or to run a little differently. */
const HARMLESS =
  /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|CI|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|DEBUG|VERBOSE|NODE_ENV|RUST_BACKTRACE|RUST_LOG|CARGO_TERM_COLOR|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|AWS_PROFILE|AWS_REGION|AWS_DEFAULT_REGION|[A-Z][0-9]?|[a-z][a-z0-9]*)$/;
/** Names that are ordinary in one shell and special in another. */
const SPECIAL =
  /^(?:path|cdpath|fpath|mailpath|manpath|fignore|prompt|psvar|watch|argv|histchars|status|pipestatus|options|commands|functions|aliases|galiases|saliases|parameters|modules|dirstack|nameddirs|userdirs)$/;

export function isHarmlessVariable(name: string): boolean {
  return HARMLESS.test(name) && !SPECIAL.test(name);
}

/** Programs whose operands beyond this number are files that are written, or values that are set. */
const OPERANDS_MAX: Readonly<Record<string, number>> = { uniq: 1, xxd: 1, hostname: 0, tsort: 1 };

/** Words of `git branch` and `git tag` that only list; a name without one of them makes or changes something. */
const LISTS =
  /^(?:-l|--list|-a|--all|-r|--remotes|-v|-vv|--verbose|--show-current|--merged|--no-merged|--contains|--no-contains|--points-at|--sort=.*|--format=.*|--color=.*|--column|-n\d*|-i)$/;

/** Those of them that are given the names or patterns to list. */
const TAKES_NAMES = /^(?:--list|--merged|--no-merged|--contains|--no-contains|--points-at)$/;
const FETCHES = /^(?:-q|--quiet|-v|--verbose|--all|--tags|-t|--prune|-p|--dry-run|--depth=\d+|--no-tags|-j\d+)$/;

/** Programs that do everything that is named, one after the other. */
const TARGETS = ['make', 'gradle', 'gradlew', 'mvn'];
/** Tests that calculate with what they are given, or look up a name: that may run what stands in it. */
const CALCULATES = /^-(?:eq|ne|lt|le|gt|ge|v|R|o|a|t)$/;
const TESTS = ['[', '[[', 'test'];

/** Why the arguments make more of it than the words say, or null. */
export function riskInArguments({ program, args }: Invocation): string | null {
  const option = optionsOf(program, args);
  const hidden = args.find((word) => isUnseen(word));
  // A word that only the shell knows may be such an option.
  if (hidden && option && program !== 'printf') return `an argument of ${program} cannot be seen`;
  if (Object.hasOwn(OPERANDS_MAX, program) && args.some((word) => !word.isPlain || word.isOpen)) {
    return `an argument of ${program} cannot be seen`;
  }
  const risky = program === 'printf' ? riskyFormat(args) : args.find(({ text }) => option?.test(text));
  if (risky) return `${program} ${risky.text} does more than that`;
  const operands = args.filter(({ text }) => !text.startsWith('-'));
  if (operands.length > (OPERANDS_MAX[program] ?? Number.POSITIVE_INFINITY))
    return `${program} changes what its last argument names`;
  if (program === 'date' && operands.some(({ text }) => !text.startsWith('+'))) return dateRisk(args);
  if (
    TARGETS.includes(program) &&
    targetsIn(args).some(({ text }) => !/^(?:test|check|lint|build|compile|verify)$/.test(text))
  ) {
    return `${program} has more to do than that`;
  }
  if (TESTS.includes(program) && isEvaluated(program, args)) return `${program} would run what is in it`;
  if (program === 'git') return riskInGit(args);
  if (program === 'aws') return riskInAws(args);
  if (program === 'cmake') return riskInCmake(args);
  // A word without a scheme may be taken for a host of another protocol, in which anything can be said.
  if (program === 'curl' && operands.some(({ text }) => !/^https?:\/\//.test(text)))
    return 'curl may speak any protocol';
  if (program === 'sed') return riskInSed(operands);
  if (/^[gm]?awk$/.test(program)) return riskInAwk(operands);
  if (program === 'export' && args.some((word) => isUnseen(word) || word.isOpen))
    return 'what it exports cannot be seen';
  if (program === 'export' && operands.some(({ text }) => !isHarmlessVariable(text.split('=')[0] ?? ''))) {
    return 'it exports a variable that other programs heed';
  }
  return null;
}

/** A word that only the shell knows, or that it may make an option of. */
function isUnseen({ text, isPlain, isOpen }: Word): boolean {
  return !isPlain || (isOpen && /^(?:-|[*?[{])/.test(text));
}

/** The first argument says what is printed, unless it is an option. */
function riskyFormat([format]: readonly Word[]): Word | undefined {
  return format && (!format.isPlain || format.isOpen || format.text.startsWith('-')) ? format : undefined;
}

/** The shell evaluates numbers and names, and what stands between square brackets in them, commands included. */
function isEvaluated(program: string, args: readonly Word[]): boolean {
  const words = args.filter(({ text }) => !/^(?:\]\]?|!|&&|\|\|)$/.test(text));
  const isSplit = program !== '[[' && words.some(({ isPlain, isOpen }) => !isPlain && isOpen);
  const isFirstHidden =
    words[0]?.isPlain === false && !/^(?:=|==|!=|-eq|-ne|-lt|-gt|-le|-ge|=~)$/.test(words[1]?.text ?? '');
  if (isSplit || (program !== '[[' && isFirstHidden)) return true;
  if (!words.some(({ text, isPlain }) => isPlain && CALCULATES.test(text))) return false;
  const calculates = program === '[[' || words.some(({ text }) => /^-[vR]$/.test(text));
  return calculates && words.some(({ text, isPlain }) => !isPlain || (!CALCULATES.test(text) && !/^-?\d+$/.test(text)));
}

function targetsIn(args: readonly Word[]): readonly Word[] {
  return args.filter(({ text }, index) => !text.startsWith('-') && args[index - 1]?.text !== '-C');
}

function dateRisk(args: readonly Word[]): string | null {
  return args.some(({ text }) => /^(?:-d|--date|-r|--reference)/.test(text)) ? null : 'date may set the clock';
}

/** Options that name a program, a file to write or another repository. Git takes their beginnings for the whole. */
const GIT_OPTIONS = [
  ...['output', 'ext-diff', 'textconv', 'exec', 'upload-pack', 'open-files-in-pager', 'receive-pack', 'config-env'],
  ...['worktree', 'git-dir', 'work-tree', 'exec-path', 'template', 'separate-git-dir', 'force', 'delete', 'mirror'],
  ...['filters', 'update-head-ok', 'refmap', 'server-option', 'edit-description', 'set-upstream-to', 'unset-upstream'],
].map((name) => `--${name}`);

function riskInGit(args: readonly Word[]): string | null {
  const [command, ...rest] = wordsOf('git', args).map((word) => word ?? '');
  const long = rest.find((word) => isGitOption(word));
  if (long !== undefined) return `git ${command} ${long} does more than that`;
  const operands = rest.filter((word) => !word.startsWith('-'));
  const options = rest.filter((word) => word.startsWith('-'));
  switch (command) {
    case 'branch':
    case 'tag': {
      const isListing = options.every((word) => LISTS.test(word));
      const takes = options.some((word) => TAKES_NAMES.test(word) || (command === 'tag' && word === '-l'));
      return isListing && (operands.length === 0 || takes) ? null : `git ${command} ${rest.join(' ')} changes names`;
    }
    case 'ls-remote':
    case 'remote':
      return operands.some((word) => word.includes('::'))
        ? 'git may run a program that speaks to the other side'
        : null;
    case 'fetch':
      return operands.some((word) => !/^[\w][\w./-]*$/.test(word)) || options.some((word) => !FETCHES.test(word))
        ? 'git fetch may change names of this repository'
        : null;
    case 'init':
      return /^(?:(?:-q|--quiet|--initial-branch=[\w./-]+|-b [\w./-]+) ?)*$/.test(rest.join(' '))
        ? null
        : 'git init may bring programs along';
    case 'restore':
      return options.every((word) => /^(?:--staged|-S|-q|--quiet|--)$/.test(word))
        ? null
        : 'git restore may throw work away';
    case 'switch':
    case 'checkout':
      return rest.length === 2 || (rest.length === 3 && !rest[2]?.startsWith('-'))
        ? null
        : `git ${command} may throw work away`;
    default:
      return null;
  }
}

/** What an answer of `aws get-…` is written to stands alone; so does all but the first of several values. */
function riskInAws(args: readonly Word[]): string | null {
  const [, command = '', ...rest] = wordsOf('aws', args).map((word) => word ?? '');
  if (!command.startsWith('get-')) return null;
  const stray = rest.find((word, at) => !word.startsWith('-') && !takesValue(rest[at - 1]));
  return stray === undefined ? null : `aws may write ${stray}`;
}

function takesValue(option = ''): boolean {
  return option.startsWith('--') && !/^--(?:no-|debug$)/.test(option) && !option.includes('=');
}

const BUILT = /^(?:all|test|check|build|lint)$/;

/** Only what builds and tests; what stands behind two dashes is for a program that is not known. */
function riskInCmake(args: readonly Word[]): string | null {
  const texts = args.map(({ text }) => text);
  const [target] = texts.flatMap((text, at) => {
    if (/^(?:-t|--target)$/.test(text)) return texts.slice(at + 1).filter((word) => !BUILT.test(word));
    return /^(?:--target=|-t.|--$|--install)/.test(text) ? [text] : [];
  });
  return target === undefined ? null : `cmake has more to do than that: ${target}`;
}

function isGitOption(word: string): boolean {
  const [stem = ''] = word.split('=');
  return stem.length >= 3 && stem.startsWith('--') && GIT_OPTIONS.some((option) => option.startsWith(stem));
}

/** Printing lines and plain replacement; everything else of the language can write files or run programs. */
const SED =
  /^(?:[0-9$]{1,12}(?:,[0-9$]{1,12})?[pdq]|\/[^/\\\n;{}]{0,200}\/(?:,\/[^/\\\n;{}]{0,200}\/)?[pd]|s([/|#,])[^\\\n;{}/|#,]{0,200}\1[^\\\n;{}/|#,]{0,200}\1[gIip0-9]{0,4})$/;

function riskInSed([script]: readonly Word[]): string | null {
  return script && !script.isOpen && SED.test(script.text)
    ? null
    : 'only plain scripts of sed are known to be harmless';
}

function riskInAwk([script]: readonly Word[]): string | null {
  if (!script || script.isOpen || script.text.length > 2_000) return 'what awk runs cannot be seen';
  // A pattern alone prints what it fits and does nothing else.
  if (/^[\w\s$<>=!&%+()-]{1,200}$/.test(script.text) && !/getline|system/.test(script.text)) return null;
  return /system|getline|[|>@]|printf\s*\(.*>|ENVIRON|close|fflush/.test(script.text)
    ? 'this awk script may write or run programs'
    : null;
}
