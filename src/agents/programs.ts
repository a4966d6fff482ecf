// The programs that carry agents out, by the runner that names them: one row each, like in kernel/capabilities.ts.
import { PRESENT, runnerCan } from '../kernel/capabilities.ts';
import type { AgentMateria } from '../kernel/graph/config.ts';
import type { Program } from './agent-call.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { command } from './command.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';

const PROGRAMS: Readonly<Record<string, Program>> = { claude, codex, pi, gemini, opencode };

/** The program of a materia, and whether it is looked for on this machine. A command is what the materia says. */
export function programOf({
  runner,
  command: template,
}: Pick<AgentMateria, 'runner' | 'command'>): { readonly adapter: Program; readonly isFound: boolean } | null {
  const adapter = Object.hasOwn(PROGRAMS, runner) ? PROGRAMS[runner] : undefined;
  if (adapter) return { adapter, isFound: true };
  return runnerCan(PRESENT, runner, 'runsCommand') ? { adapter: command(template ?? []), isFound: false } : null;
}
