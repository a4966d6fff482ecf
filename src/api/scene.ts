// A workspace as the tools see it, whoever calls them: the MCP server or a program that uses the library. Who is below an
// attempt of a cast is an agent here too.
import { fileURLToPath } from 'node:url';
import type { Actor } from '../access/actor.ts';
import { actorHere } from '../access/actor-here.ts';
import { attemptIn } from '../access/attempt.ts';
import { TOKEN_VARIABLE } from '../access/shown-token.ts';
import { isInsideAttempt, isStartedByAttempt } from '../agents/inside-attempt.ts';
import type { Workspace } from '../app/workspace.ts';
import { commandLine } from '../mcp/command-line.ts';
import type { Scene } from '../mcp/tool.ts';

/** The program itself: the tools act through its commands. */
const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));

/** `commandEnv` is what the commands get, where that is not all we have; `actor` is who calls. */
export function sceneIn(workspace: Workspace, commandEnv = workspace.env, actor?: Actor): Scene {
  const { env } = workspace;
  return {
    workspace,
    // The token stays in the environment: commands that are started for the caller show it, too.
    actor: actor ?? actorHere(workspace, { shown: env[TOKEN_VARIABLE] || null }),
    attempt: attemptIn(env, workspace.stateDir),
    isAgent: isAgentIn(env),
    baton: commandLine({ file: BATON, dir: workspace.dir, env: commandEnv }),
    isOwn: ({ dir }) => isStartedByAttempt(dir),
    cast: async (id) => (workspace.hasLog() ? workspace.ledgerStore().cast(id) : null),
  };
}

/** Whoever says that it works for a cast is taken at its word. */
export function isAgentIn(env: NodeJS.ProcessEnv): boolean {
  return env.BATON_CAST !== undefined || isInsideAttempt(env);
}
