// Arguments with which a program that otherwise only reads or checks does more than that, and variables that change what
// a program does.
import type { Invocation } from '../hooks/programs.ts';
import type { Word } from '../hooks/shell.ts';

/** Variables that programs only read to speak or to run a little differently. */
const HARMLESS =
  /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|CI|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|DEBUG|VERBOSE|NODE_ENV|RUST_BACKTRACE|RUST_LOG|CARGO_TERM_COLOR|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|AWS_PROFILE|AWS_REGION|AWS_DEFAULT_REGION|[a-z][a-z0-9]*)$/;

export function isHarmlessVariable(name: string): boolean {
  return HARMLESS.test(name);
}

/** By program, the options that make it write, run something else or forget where it should look. */
const OPTIONS: Readonly<Record<string, RegExp>> = {
  env: /^(?:-[a-zA-Z]*S|--s)/,
  rg: /^--(?:pre|hostname-bin|search-zip)/,
  sort: /^(?:-[a-zA-Z]*[oT]|--o|--comp|--temp|--files0)/,
  tree: /^-[a-zA-Z]*[oR]$|^--output/,
  date: /^(?:-[a-zA-Z]*s|--s)/,
  yq: /^(?:-[a-zA-Z]*[is]|--in|--split)/,
  find: /^-(?:delete|fprint|fls|fprintf|ok|okdir)/,
  diff: /^--(?:out|to-file=-)/,
  file: /^(?:-[a-zA-Z]*C|--comp)/,
  man: /^(?:-[a-zA-Z]*[PHC]|--pager|--html|--config)/,
  journalctl: /^--(?:vacuum|rotate|flush|sync|setup|update|relinquish|smart)/,
  ss: /^(?:-[a-zA-Z]*[KD]|--kill|--diag)/,
  go: /^(?:-w|-u|-o|-exec|-toolexec|-vettool|-overlay|-modfile)(?:=|$)/,
  git: /^(?:--output|--ext-diff|--textconv|--exec|--upload-pack|-O|--open-files|--receive-pack|-c$|--config-env|--no-index=|--worktree|-W|--git-dir|--work-tree|--exec-path)/,
  kubectl: /^(?:--kubeconfig|--server|-s$|--as|--token|--exec)/,
  helm: /^(?:--post-renderer|--kubeconfig|--output-dir|--registry-config)/,
  docker: /^(?:-H|--host)/,
  terraform: /^-chdir|^-backend/,
  awk: /^-(?!F.)/,
  gawk: /^-(?!F.)/,
  mawk: /^-(?!F.)/,
  sed: /^-(?![nErs]+$)/,
  eslint: /^(?:-o|--output-file|--resolve-plugins|--rulesdir|-c|--config|--plugin)/,
  prettier: /^--(?:plugin|config)/,
  npm: /^--(?:script-shell|node-options|prefix=\/|globalconfig|userconfig)/,
  pytest: /^(?:-p$|--basetemp|-c$|--rootdir|-o$)/,
  make: /^(?:-f|--file|--makefile|--eval|SHELL=|-e$|--environment)/,
  cargo: /^(?:--config|--manifest-path|--target-dir)/,
  jq: /^--(?:rawfile|from-file)$/,
  xxd: /^-[a-zA-Z]*r/,
  aws: /^--(?:endpoint-url|ca-bundle|no-verify)/,
  gh: /^--(?:web|hostname)/,
};

/** Programs whose operands beyond this number are files that are written, or values that are set. */
const OPERANDS_MAX: Readonly<Record<string, number>> = { uniq: 1, xxd: 1, hostname: 0, tsort: 1 };

/** Words of `git branch` and `git tag` that only list; a name without one of them makes or changes something. */
const LISTS =
  /^(?:-l|--list|-a|--all|-r|--remotes|-v|-vv|--verbose|--show-current|--merged|--no-merged|--contains|--no-contains|--points-at|--sort=.*|--format=.*|--color=.*|--column|-n\d*|-i)$/;

/** Programs that do everything that is named, one after the other. */
const TARGETS = ['make', 'gradle', 'gradlew', 'mvn'];
const EVALUATED = ['[', '[[', 'test', 'printf', 'export', 'wait'];

/** Why the arguments make more of it than the words say, or null. */
export function riskInArguments({ program, args }: Invocation): string | null {
  const option = Object.hasOwn(OPTIONS, program) ? OPTIONS[program] : undefined;
  const hidden = args.find(({ isPlain }) => !isPlain);
  // A word that only the shell knows may be such an option.
  if (hidden && (option || Object.hasOwn(OPERANDS_MAX, program))) return `an argument of ${program} cannot be seen`;
  const risky = args.find(({ text }) => option?.test(text));
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
  // The shell evaluates what stands between square brackets in a name, commands included.
  if (EVALUATED.includes(program) && args.some(({ text }) => /\$\(|`/.test(text)))
    return `${program} would run what is in it`;
  if (program === 'git') return riskInGit(args);
  if (program === 'sed') return riskInSed(operands);
  if (/^[gm]?awk$/.test(program)) return riskInAwk(operands);
  if (program === 'export' && operands.some(({ text }) => !isHarmlessVariable(text.split('=')[0] ?? ''))) {
    return 'it exports a variable that other programs heed';
  }
  return null;
}

function targetsIn(args: readonly Word[]): readonly Word[] {
  return args.filter(({ text }, index) => !text.startsWith('-') && args[index - 1]?.text !== '-C');
}

function dateRisk(args: readonly Word[]): string | null {
  return args.some(({ text }) => /^(?:-d|--date|-r|--reference|-u|-I)/.test(text)) ? null : 'date may set the clock';
}

function riskInGit(args: readonly Word[]): string | null {
  const words = args.map(({ text }) => text);
  const at = words.findIndex((word) => word === 'branch' || word === 'tag');
  const first = words.find((word) => !word.startsWith('-'));
  if (at === -1 || first !== words[at]) return null;
  const rest = words.slice(at + 1);
  const isListing =
    rest.length === 0 || (LISTS.test(rest[0] ?? '') && rest.every((word) => LISTS.test(word) || !word.startsWith('-')));
  return isListing ? null : `git ${words[at]} ${rest.join(' ')} changes names`;
}

/** Printing lines and plain replacement; everything else of the language can write files or run programs. */
const SED =
  /^(?:[0-9$]{1,12}(?:,[0-9$]{1,12})?[pdq]|\/[^/\\\n;{}]{0,200}\/[pd]|s([/|#,])[^\\\n;{}/|#,]{0,200}\1[^\\\n;{}/|#,]{0,200}\1[gIip0-9]{0,4})$/;

function riskInSed([script]: readonly Word[]): string | null {
  return script && SED.test(script.text) ? null : 'only plain scripts of sed are known to be harmless';
}

function riskInAwk([script]: readonly Word[]): string | null {
  if (!script || script.text.length > 2_000) return 'what awk runs cannot be seen';
  return /system|getline|[|>@]|printf\s*\(.*>|ENVIRON|close|fflush/.test(script.text)
    ? 'this awk script may write or run programs'
    : null;
}
