// `baton completion SHELL`: prints a script that completes commands, their forms and their options. It is made from the table
// of commands. Casts and loadouts are completed by asking `baton` itself.
import { type Call, type Command, EXIT_CODE, UsageError } from '../command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export async function run({ words, commands }: Call): Promise<number> {
  const [shell = ''] = words;
  const print = { bash, zsh, fish }[shell as (typeof SHELLS)[number]];
  if (!print)
    throw new UsageError(`there is no completion for ${shell || 'no shell'}; use one of: ${SHELLS.join(', ')}`);
  process.stdout.write(print(commands.map(completed)));
  return EXIT_CODE.ok;
}

export type Completed = {
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
