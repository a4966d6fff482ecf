// A project may bring commands along that run without being asked for: the set-up of worktrees, checkers, and filters of git. A
// person says once that a folder is trusted, as in an editor. `baton init` says so too.
import { isTrusted } from '../git/folder-trust.ts';
import { untrustedDrivers } from '../git/run-git.ts';
import { type CheckerTime, checkersAt, checkersOfTurns, type Rules, readChecker } from '../kernel/graph/config.ts';
import { scrub } from '../kernel/secrets.ts';
import { deny } from '../kernel/verdict.ts';
import { AsksPerson } from './refused.ts';
import type { Workspace } from './workspace.ts';

/** A command that is going to run, and the member of the configuration that says so. */
type ProjectCommand = { readonly member: string; readonly command: readonly string[] };

/** Refuses commands of a folder that no person trusts. A person at hand may trust it now. */
export async function requireTrust(
  { dir, env, program }: Pick<Workspace, 'dir' | 'env' | 'program'>,
  commands: readonly ProjectCommand[] = [],
): Promise<void> {
  const unknown = (isTrusted(dir, env) ? [] : commands).map(({ member, command }) => {
    return { member, line: scrub(command.join(' ')).text };
  });
  const drivers = await untrustedDrivers(dir);
  if (unknown.length + drivers.length === 0) return;
  const what = [
    ...unknown.map(({ member, line }) => `${member} runs \`${line}\``),
    ...(drivers.length === 0 ? [] : [`.git/config defines ${drivers.join(', ')}`]),
  ].join('; ');
  const reason = `${dir} brings commands along, and nobody has said that it is trusted: ${what}. Look at them; \`${program} trust\` lets them run.`;
  const details = { folder: dir, setup: unknown.map(({ line }) => line), drivers };
  const question = `${dir} brings commands along: ${what}. Do you trust what is in this folder?`;
  throw new AsksPerson(deny('FOLDER_UNTRUSTED', reason, details), question, { trust: dir });
}

/** The commands that a cast by these rules runs by itself: the set-up of its worktrees, and the checkers after its turns. */
export function commandsOf(
  { worktree, checkers, graph }: Pick<Rules, 'worktree' | 'checkers' | 'graph'>,
  isInPlace: boolean,
): ProjectCommand[] {
  const setup = isInPlace ? [] : (worktree?.setup ?? []);
  return [
    ...setup.map((command) => ({ member: 'worktree.setup', command })),
    ...commandsNamed(checkers, checkersOfTurns(checkers, graph.sockets)),
  ];
}

export function checkerCommands(checkers: Rules['checkers'], time: CheckerTime): ProjectCommand[] {
  return commandsNamed(checkers, checkersAt(checkers, time));
}

function commandsNamed(checkers: Rules['checkers'], names: readonly string[]): ProjectCommand[] {
  return names.flatMap((name) => {
    const checker = readChecker(checkers[name]);
    return checker?.kind === 'command' ? [{ member: `checkers.${name}`, command: checker.command }] : [];
  });
}
