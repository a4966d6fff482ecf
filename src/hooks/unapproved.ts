// Of the commands that a program was seen to run in a turn, those that change state and that neither the hook nor `baton exec`
// had in hand.
import { dirname } from 'node:path';
import { letThroughIn } from '../approvals/let-through.ts';
import { readPolicy } from '../approvals/policy.ts';
import { classify } from '../approvals/risk.ts';
import type { Place } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import { projectAreaAt } from '../shell/project-area.ts';
import { plainWords } from '../shell/words.ts';
import type { Workspace } from '../workspace/locate.ts';
import { workRoot } from '../workspace/worktree/record.ts';
import { isHeldBack } from './cast-guard.ts';
import { execCall } from './exec-call.ts';

export type UnapprovedScene = {
  readonly workspace: Workspace;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program that we are. */
  readonly program: string;
};

export function unapprovedIn(
  commands: readonly string[],
  packet: Pick<Packet, 'materia' | 'holdsCommands'>,
  { cwd, attemptDir }: Pick<Place, 'cwd' | 'attemptDir'>,
  { workspace, env, program }: UnapprovedScene,
): readonly string[] {
  if (!isHeldBack(packet, workspace.configFile)) return [];
  const policy = readPolicy(workspace.configFile);
  if ('allow' in policy) return [];
  const wasLetThrough = letThroughIn(attemptDir);
  const area = projectAreaAt(workRoot(cwd, workspace), cwd, env.HOME);
  const call = { cwd, path: `${env.PATH ?? ''}:${dirname(program)}`, program };
  return [...new Set(commands.map(unwrapped))].filter(
    (line) =>
      !wasLetThrough(line) &&
      // It compares and writes down by itself what it runs.
      execCall(line, call)?.kind !== 'alone' &&
      classify(line, policy, area).tier === 'T3',
  );
}

/** Some programs tell the shell that they start around what their agent asked for. */
function unwrapped(command: string): string {
  const [shell = '', option = '', line, ...more] = plainWords(command) ?? [];
  const isShell = /(?:^|\/)(?:ba|da|z)?sh$/.test(shell) && /^-l?c$/.test(option);
  return isShell && line !== undefined && more.length === 0 ? line : command;
}
