// `baton exec`: the approved command prints as it prints, and ends with its own exit code.
import { actorHere } from '../../access/actor-here.ts';
import { perform } from '../../app/perform.ts';
import { Refused } from '../../app/refused.ts';
import { Workspace } from '../../app/workspace.ts';
import { ownStreams } from '../../approvals/run-command.ts';
import type { Denied } from '../../kernel/verdict.ts';
import { again, type Call, EXIT, note, outJson } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import type { Giving } from '../operation-command.ts';
import { ownWorkspace } from '../own-workspace.ts';

export async function run(call: Call, given: Giving): Promise<number> {
  // What an agent was allowed is kept where its cast is, wherever it has gone to.
  const located = ownWorkspace(call.env) ?? workspaceOf(call);
  const workspace = new Workspace(located, { env: call.env, cwd: call.cwd, program: again(call) });
  try {
    const verdict = await perform(workspace, 'exec', await given(), {
      actor: actorHere(workspace),
      signal: new AbortController().signal,
      onEvent: (event) => event.kind === 'note' && note(event.text),
      streams: ownStreams(),
    });
    return verdict.allow ? Number(verdict.details.code) : refused(call, verdict);
  } catch (error) {
    if (error instanceof Refused) return refused(call, error.verdict);
    throw error;
  } finally {
    await workspace.close();
  }
}

/** Standard output is the command's; without one it is the verdict's, where it is asked for. */
function refused(call: Call, verdict: Denied): number {
  note(`baton: ${verdict.code}: ${verdict.reason}`);
  if (call.json) outJson(verdict);
  return EXIT.denied;
}
