// The texts made from the table of commands: `--help`, and `baton completion SHELL`, a script that completes commands, their forms and
// their options. Casts and loadouts are completed by asking `baton` itself.
import { type Call, type Command, EXIT_CODE, UsageError } from './command.ts';

export const GROUPS: readonly (readonly [Command['group'], string])[] = [
  ['everyday', 'Every day'],
  ['try', 'To try it'],
  ['casts', 'Casts'],
  ['ledger', 'Tasks and locks, by hand'],
  ['contracts', 'Contracts and checks'],
  ['history', 'What happened'],
];

/** What fits one screen: the everyday commands, and those that people look for next, in a few words each. */
const EVERYDAY = {
  init: 'write a team into .baton/: steps, prompts and a configuration',
  cast: 'run a team on a request, with live progress',
  status: 'what runs, waits and ended last',
  continue: 'carry on a cast that stopped',
  approve: 'allow what an agent asks for, once',
  ui: 'watch and steer casts in the browser',
} as const;

const NEXT = {
  why: 'why a cast is where it is, and how to carry it on',
  show: 'what a cast produced, step by step',
  watch: 'follow a cast that runs elsewhere',
  diff: 'what a cast changed; `merge` takes it over, `undo` takes it back',
  graph: 'draw a team, or the way a cast took',
  check: 'find mistakes in a team before it runs',
  doctor: 'find what is missing on this machine',
  demo: 'a whole team on scripted agents; no key, no network',
} as const;

/** At most 24 lines of 80 columns. */
export function overview(commands: readonly Command[]): string {
  return `baton runs teams of AI agents. No work passes on that broke its contract.

Usage: baton [-C DIR] COMMAND [--json] [-v] …

Every day:
${rowsOf(commands, EVERYDAY)}

Also:
${rowsOf(commands, NEXT)}

baton COMMAND --help   one command, with an example
baton --help --all     all commands`;
}

function rowsOf(commands: readonly Command[], words: Readonly<Record<string, string>>): string {
  return commands
    .filter(({ name }) => Object.hasOwn(words, name))
    .toSorted((one, other) => Object.keys(words).indexOf(one.name) - Object.keys(words).indexOf(other.name))
    .map(({ name }) => `  ${name.padEnd(9)} ${words[name]}`)
    .join('\n');
}

export function everyCommand(commands: readonly Command[]): string {
  const groups = GROUPS.map(([group, title]) => {
    const rows = commands
      .filter((command) => command.group === group)
      .map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`);
    return `${title}:\n${rows.join('\n')}`;
  });
  return `${groups.join('\n\n')}

Every command has --help with an example, and --json for scripts. \`latest\` is the newest cast.`;
}

export function helpOf(command: Command): string {
  const { name, args, summary, help, example } = command;
  return `Usage: baton ${name}${args ? ` ${args}` : ''}

${summary}
${help ? `\n${help}\n` : ''}
Options of every command: -C DIR (the workspace), --json (one JSON value on standard output), -v (more details)

Example: ${example}`;
}

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export async function completionCommand({ words, commands }: Call): Promise<number> {
  const [shell = ''] = words;
  const print = { bash, zsh, fish }[shell as (typeof SHELLS)[number]];
  if (!print)
    throw new UsageError(`there is no completion for ${shell || 'no shell'}; use one of: ${SHELLS.join(', ')}`);
  process.stdout.write(print(commands.map(completed)));
  return EXIT_CODE.ok;
}

type Completed = {
  readonly name: string;
  readonly summary: string;
  readonly forms: readonly string[];
  readonly options: readonly string[];
  /** Its first word names a cast. */
  readonly takesCast: boolean;
};

function completed({ name, summary, act, options, args }: Command): Completed {
  const forms = typeof act === 'string' ? [] : Object.keys(act).filter((form) => form !== '');
  const own = Object.keys(options).map((option) => `--${option}`);
  return { name, summary, forms, options: [...own, '--json', '--help'], takesCast: /^\[?CAST\b/.test(args) };
}

/** Prints one id on each line. */
const CASTS = `baton casts --limit 50 --json 2>/dev/null | tr ',' '\\n' | sed -n 's/.*"cast":"\\([^"]*\\)".*/\\1/p'`;

function bash(commands: readonly Completed[]): string {
  const rows = commands.map(({ name, forms, options, takesCast }) => {
    const casts = takesCast ? ' latest $(_baton_casts)' : '';
    return `    ${name}) words="${[...forms, ...options].join(' ')}${casts}" ;;`;
  });
  return `# Completion of baton for bash: eval "$(baton completion bash)"
_baton_casts() { ${CASTS}; }
_baton() {
  local word="\${COMP_WORDS[COMP_CWORD]}" command="" at words
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${COMP_WORDS[at]}" in
      -C) ((at++)) ;;
      -*) ;;
      *) command="\${COMP_WORDS[at]}"; break ;;
    esac
  done
  case "$command" in
    '') words="${commands.map(({ name }) => name).join(' ')} --help --version -C" ;;
${rows.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _baton baton
`;
}

function zsh(commands: readonly Completed[]): string {
  const names = commands.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`);
  const rows = commands.map(({ name, forms, options, takesCast }) => {
    const words = [...forms, ...options].map((word) => `'${word}'`).join(' ');
    // The braces are those of zsh.
    const casts = ' latest $' + '{(f)"$(_baton_casts)"}';
    return `    ${name}) words=(${words}${takesCast ? casts : ''}) ;;`;
  });
  return `#compdef baton
# Completion of baton for zsh: eval "$(baton completion zsh)"
_baton_casts() { ${CASTS} }
_baton() {
  local -a commands words
  commands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$words[2]" in
${rows.join('\n').replaceAll('words=(', 'reply=(')}
  esac
  compadd -a reply
  _files
}
compdef _baton baton
`;
}

/** Within single quotes of a shell, and without a colon, which parts name and meaning in zsh. */
function quoted(text: string): string {
  return text.replaceAll("'", "'\\''").replaceAll(':', '\\:');
}

function fish(commands: readonly Completed[]): string {
  const rows = commands.flatMap(({ name, summary, forms, options, takesCast }) => {
    const within = `complete -c baton -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c baton -n __fish_use_subcommand -f -a ${name} -d '${summary.replaceAll("'", "\\'")}'`,
      ...(forms.length === 0 ? [] : [`${within} -f -a '${forms.join(' ')}'`]),
      ...(takesCast ? [`${within} -f -a 'latest (__baton_casts)'`] : []),
      ...options.map((option) => `${within} -l ${option.slice(2)}`),
    ];
  });
  return `# Completion of baton for fish: baton completion fish | source
function __baton_casts
  ${CASTS}
end
${rows.join('\n')}
`;
}
