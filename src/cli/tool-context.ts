// The workspace as the tools of an MCP server see it: for the user who started the server, or for a caller over HTTP.
import type { Actor } from '../access/actor.ts';
import { actorCalling, refusedCaller, type ServerCaller } from '../access/server-callers.ts';
import type { RefusalCount } from '../app/note-refusal.ts';
import type { Workspace } from '../app/workspace.ts';
import type { Denied } from '../kernel/verdict.ts';
import { contextIn, type ToolContext } from '../mcp/tool.ts';

export type Serving = {
  /** Who started the server. */
  readonly here: Actor;
  readonly refusals: RefusalCount;
};

/** The workspace as the user who started the server sees it, or, over HTTP, as the caller does. */
export function contextFor(workspace: Workspace, { here, refusals }: Serving, caller?: ServerCaller): ToolContext {
  const actor = caller ? actorCalling(caller, here) : here;
  const role = caller ? caller.role : here.role;
  const onRefused = (verdict: Denied) => void refusals.add(verdict, refusedCaller(verdict, actor), Date.now());
  const checkWork: ToolContext['checkWork'] = async (cast, turn, signal) =>
    (await import('../app/submitted-work.ts')).checkSubmitted(workspace, cast, turn, signal);
  return { ...contextIn(workspace, actor), checkWork, ...(role === null ? {} : { role }), onRefused };
}
