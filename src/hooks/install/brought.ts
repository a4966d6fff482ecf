// The hook that a cast brings along for one run of an agent's program, so that nobody has to install anything and nothing is
// written where the agent works. It is the one that an installation writes into the program's settings.
import { CLAUDE_BEFORE } from './claude.ts';
import { CODEX_BEFORE } from './codex.ts';
import { beforeArgs, groupFor, type Hooked, type HookGroup, quoted } from './hook-groups.ts';
import type { How } from './host.ts';

export type Brought = {
  /** For a program that asks by itself. */
  readonly program: string;
  readonly args: readonly string[];
  /** For a program with hooks in its settings; null for one that has none. */
  readonly group: HookGroup | null;
};

const BEFORE: Readonly<Record<string, Hooked>> = { claude: CLAUDE_BEFORE, codex: CODEX_BEFORE };

/** The hook before a tool, for the program of that runner. */
export function broughtTo(runner: string, program: string, dir: string): Brought {
  const how: How = { program, dir, reportOnly: false };
  const hooked = BEFORE[runner];
  return { program, args: beforeArgs(how), group: hooked ? groupFor(hooked, how, quoted(dir)) : null };
}
