// The texts of `--help`.
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';

export const GROUPS: readonly (readonly [Command['group'], string])[] = [
  ['everyday', 'Every day'],
  ['try', 'To try it'],
  ['casts', 'Casts'],
  ['ledger', 'Tasks and locks, by hand'],
  ['contracts', 'Contracts and checks'],
  ['history', 'What happened'],
];

export function overview(): string {
  const groups = GROUPS.map(([group, title]) => {
    const rows = COMMANDS.filter((command) => command.group === group).map(
      ({ name, summary }) => `  ${name.padEnd(10)} ${summary}`,
    );
    return `${title}:\n${rows.join('\n')}`;
  });
  return `baton runs teams of agents on a graph and lets nothing pass that has not kept its contract.

Usage: baton [-C DIR] COMMAND [--json] …

${groups.join('\n\n')}

Every command has --help with an example, and --json for scripts. \`latest\` stands for the newest cast.`;
}

export function helpOf(command: Command): string {
  const { name, args, summary, help, example } = command;
  return `Usage: baton ${name}${args ? ` ${args}` : ''}

${summary}
${help ? `\n${help}\n` : ''}
Options of every command: -C DIR (the workspace), --json (one JSON value on standard output)

Example: ${example}`;
}
