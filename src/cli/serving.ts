// The server of a workspace in the process of a command: who started it, and what becomes of those it turns away.
import { shownToken, whyNotPerson } from '../access/actor.ts';
import { refusalToAgent } from '../access/rights.ts';
import { refusalOfStart } from '../access/server-callers.ts';
import { actorHere } from '../access/who-acts.ts';
import { keepDriven } from '../app/driving/keep-driven.ts';
import { noteRefusal, RefusalCount } from '../app/note-refusal.ts';
import type { Workspace } from '../app/workspace.ts';
import { type Call, note, Refused } from './command.ts';
import { listen, type Server, version, type Where } from './listen.ts';
import { contextFor } from './tool-context.ts';

/** Runs the server for as long as `work` takes. */
export async function serving<T>(
  call: Call,
  workspace: Workspace,
  where: Where,
  work: (server: Server) => Promise<T>,
): Promise<T> {
  const refusals = new RefusalCount((verdict, turned) => noteRefusal(workspace, verdict, turned, note));
  const shown = shownToken();
  const here = actorHere(workspace, { isServer: true, shown });
  const why = whyNotPerson(here, call.command.name, null, workspace.program);
  // The server's own token acts as an administrator.
  const refusal =
    why === null
      ? refusalOfStart(call.env, shown, here, 'govern')
      : refusalToAgent('serve a workspace', { operation: 'serve' }, why);
  if (refusal) {
    await noteRefusal(workspace, refusal, { who: here.name }, note);
    throw new Refused(refusal);
  }
  const { serverFor } = await import('../mcp/server.ts');
  const server = await listen(call, workspace, { here, refusals }, where, (caller) =>
    serverFor(contextFor(workspace, { here, refusals }, caller), version()),
  );
  const driven = keepDriven(workspace, here, { say: note });
  try {
    return await work(server);
  } finally {
    driven.close();
    await server.close();
    await refusals.close(Date.now());
  }
}
