// The hook of a cast. It guards the commands of a turn that change state: always if the configuration says so, and by default if
// the agent of the turn can ask for approvals. The hook exists for one run of the agent's program, so nothing is installed.
// What a turn ran without the approval it needed is reported with the turn.
import { dirname } from 'node:path';
import { classify, readPolicy } from '../approvals/risk.ts';
import type { AttemptDirs, AttemptResult, Runner, Runners } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { AgentNote } from '../kernel/cast/state.ts';
import { projectAreaAt } from '../shell/dangerous.ts';
import { plainWords, shellWord } from '../shell/programs.ts';
import type { LocatedWorkspace } from '../workspace/locate.ts';
import { workRoot } from '../workspace/worktree/record.ts';
import { execCall } from './exec-call.ts';
import { letThroughIn } from './guard-command.ts';
import { beforeArgs, groupFor, type Hooked, type HookGroup, type HookOptions } from './install/host.ts';
import { CLAUDE_BEFORE, CODEX_BEFORE } from './install/hosts.ts';

type Turn = Pick<Packet, 'materia' | 'holdsCommands'>;

type RunHook = {
  /** For an agent that asks by calling a program. */
  readonly program: string;
  readonly args: readonly string[];
  /** For an agent that has hooks in its settings, else null. */
  readonly group: HookGroup | null;
};

/** Null if the turn needs no guard. `program` is how baton is started. */
export function guardFor(turn: Turn, workspace: LocatedWorkspace, program: string): RunHook | null {
  const { materia } = turn;
  return materia.type === 'agent' && needsGuard(turn, workspace)
    ? runHookFor(materia.runner, program, workspace.dir)
    : null;
}

/** A policy that cannot be read guards every command. The hook then says what is wrong with it. */
function needsGuard({ materia, holdsCommands }: Turn, workspace: LocatedWorkspace): boolean {
  if (materia.type === 'utility' || materia.tools === 'none') return false;
  const policy = readPolicy(workspace);
  if ('allow' in policy || policy.hook === 'deny') return true;
  return policy.hook !== 'off' && holdsCommands;
}

const BEFORE: Readonly<Record<string, Hooked>> = { claude: CLAUDE_BEFORE, codex: CODEX_BEFORE };

/** The hook before a tool, the same that an installation writes. */
function runHookFor(runner: string, program: string, dir: string): RunHook {
  const how: HookOptions = { program, dir, reportOnly: false };
  const hooked = BEFORE[runner];
  return { program, args: beforeArgs(how), group: hooked ? groupFor(hooked, how, shellWord(dir)) : null };
}

type ReportContext = {
  readonly workspace: LocatedWorkspace;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The path of this program. */
  readonly program: string;
};

/** Adds to each result which commands ran without approval. Scripted agents and utilities stay as they are. */
export function reportingUnapproved(runners: Runners, context: ReportContext): Runners {
  return {
    runnerFor(packet) {
      const runner = runners.runnerFor(packet);
      return packet.scripted || packet.materia.type === 'utility' ? runner : reporting(runner, context);
    },
  };
}

function reporting(runner: Runner, context: ReportContext): Runner {
  return {
    run: async (packet, place, signal) => withReport(await runner.run(packet, place, signal), packet, place, context),
    recover: async (packet, place, signal) =>
      withReport(await runner.recover(packet, place, signal), packet, place, context),
    ...(runner.forget ? { forget: (place: AttemptDirs) => runner.forget?.(place) ?? Promise.resolve() } : {}),
  };
}

/** A lost attempt runs again, and what it was allowed to run may be unknown. So it gets no report. */
function withReport(result: AttemptResult, packet: Packet, place: AttemptDirs, context: ReportContext): AttemptResult {
  const { agent } = result;
  if (result.kind === 'lost' || !agent?.commands?.length) return result;
  const unapproved = unapprovedIn(agent.commands, packet, place, context);
  return unapproved.length === 0 ? result : { ...result, agent: withUnapproved(agent, unapproved) };
}

/** Above this number, commands are only counted. */
const LISTED_MAX = 5;

function withUnapproved(agent: AgentNote, unapproved: readonly string[]): AgentNote {
  const more = unapproved.length - LISTED_MAX;
  const warnings = [
    ...(agent.warnings ?? []),
    ...unapproved.slice(0, LISTED_MAX).map((command) => `ran without approval: ${command}`),
    ...(more > 0 ? [`ran without approval: ${more} more`] : []),
  ];
  return { ...agent, warnings, unapproved };
}

/** The commands that change state and that neither the hook nor `baton exec` checked. */
function unapprovedIn(
  commands: readonly string[],
  packet: Turn,
  { cwd, attemptDir }: Pick<AttemptDirs, 'cwd' | 'attemptDir'>,
  { workspace, env, program }: ReportContext,
): readonly string[] {
  if (!needsGuard(packet, workspace)) return [];
  const policy = readPolicy(workspace);
  if ('allow' in policy) return [];
  const wasLetThrough = letThroughIn(attemptDir);
  const area = projectAreaAt(workRoot(cwd, workspace), cwd, env.HOME);
  const call = { cwd, path: `${env.PATH ?? ''}:${dirname(program)}`, program };
  return [...new Set(commands.map(unwrapped))].filter(
    (line) =>
      !wasLetThrough(line) &&
      // `baton exec` checks and records what it runs.
      execCall(line, call)?.kind !== 'alone' &&
      classify(line, policy, area).tier === 'T3',
  );
}

/** Some programs report the shell that they start around the agent's command. */
function unwrapped(command: string): string {
  const [shell = '', option = '', line, ...more] = plainWords(command) ?? [];
  const isShell = /(?:^|\/)(?:ba|da|z)?sh$/.test(shell) && /^-l?c$/.test(option);
  return isShell && line !== undefined && more.length === 0 ? line : command;
}
