// The texts of `--help`, made from the table of commands.
import type { Command } from './command.ts';

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

/** At most 23 lines of 80 columns: the prompt of the shell below it is the 24th. */
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
