// `baton init`: shows what was written, and offers the first cast.
import type { Detected } from '../../agents/detect.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { again, type Call, EXIT, out, outJson } from '../command.ts';
import type { Giving } from '../operation-command.ts';
import { ask } from '../read-input.ts';
import { rowsIn } from '../show/form.ts';
import { allowed } from '../show-operation.ts';

const FIRST_REQUEST = 'Say what this project is in one sentence of its README';

export async function run(call: Call, giving: Giving): Promise<number> {
  const { sorts, agents, ...done } = await allowed(call, 'init', await giving());
  if (call.json) {
    outJson(done);
    return EXIT.ok;
  }
  const found = rowsIn(agents) as unknown as readonly Detected[];
  const agent = found.find(({ name }) => name === done.runner) ?? null;
  for (const file of [done.written].flat()) out(`wrote ${file}`);
  for (const line of projectLines([sorts].flat().map(String), done)) out(line);
  for (const line of nextSteps(agent, found, again(call))) out(line);
  return done.signedIn === true && (await ask('Run your first cast now?')) ? firstCast(call) : EXIT.ok;
}

/** As if it had been typed. It costs money, so a person has to agree first. */
async function firstCast(call: Call): Promise<number> {
  const { COMMANDS } = await import('../commands.ts');
  const command = COMMANDS.find(({ name }) => name === 'cast') ?? call.command;
  const { run: cast } = await command.load();
  const { directory } = call.values;
  return cast({ ...call, command, words: [FIRST_REQUEST], values: directory === undefined ? {} : { directory } });
}

function nextSteps(agent: Detected | null, found: readonly Detected[], baton: string): string[] {
  const look = `Next: \`${baton} check\` looks for mistakes, \`${baton} cast --dry-run "…"\` shows the briefs.`;
  const cast = `${baton} cast "${FIRST_REQUEST}"`;
  if (agent === null) {
    const ways = found.map(({ name, hint }) => `  ${name}: ${hint}`);
    return [
      'No agent that works is on this machine. Install one of these, then cast:',
      ...ways,
      look,
      `Your first cast: ${cast}`,
    ];
  }
  const { name, version, signedInBy, hint } = agent;
  const using = `The agents run on ${name} ${version ?? ''}; \`runner\` in .baton/config.json names another.`.replace(
    ' ;',
    ';',
  );
  const signIn = signedInBy === null ? [`No one is signed in to ${name}: ${hint}.`] : [];
  return [using, ...signIn, look, `Your first cast: ${cast}`];
}

function projectLines(sorts: readonly string[], { checkers, worktree }: JsonObject): readonly string[] {
  const named = (isObject(checkers) ? Object.entries(checkers) : []).map(([name, checker]) => {
    const command = isObject(checker) ? [checker.command].flat() : [];
    return `${name} (${command.join(' ')})`;
  });
  const ready = isObject(worktree) ? Object.entries(worktree) : [];
  const steps = ready.map(([field, value]) => `${field} ${JSON.stringify(value)}`).join(', ');
  return [
    ...(named.length > 0
      ? [`Checks of this ${sorts.join(' and ')} project: ${named.join(', ')}; \`checkers\` changes them.`]
      : []),
    ...(isObject(worktree) ? [`Worktrees of casts are made ready by ${steps}; \`worktree\` changes that.`] : []),
  ];
}
