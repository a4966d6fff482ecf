// The server as an agent's program is told of it: which command starts it, in which environment, and which of its tools
// belong to a turn.
import { OFFERED_TOOLS } from '../kernel/cast/rules.ts';

export type OfferedServer = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly tools: readonly string[];
};

/** Some programs give their servers an environment of their own, so that what tells an attempt apart is passed on by name. */
const PASSED = [
  ...['BATON_HOME', 'BATON_CONFIG', 'BATON_WORKSPACE'],
  ...['BATON_CAST', 'BATON_ATTEMPT', 'BATON_FENCE', 'BATON_TASK', 'BATON_ATTEMPT_DIR'],
];

/** What an agent may need for its own turn. Tools that take other tasks are not part of one. */
const TOOLS = OFFERED_TOOLS.flatMap(({ tools }) => tools);

/** `dir` is the workspace itself, also where the agent works in another folder; `env` is the environment of the agent. */
export function offeredServer(
  program: string,
  dir: string,
  env: Readonly<Record<string, string | undefined>>,
): OfferedServer {
  const passed = PASSED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { command: program, args: ['-C', dir, 'mcp'], env: Object.fromEntries(passed), tools: TOOLS };
}
