// `baton exec`: the approved command prints as it prints, and ends with its own exit code.
import { ownWorkspace } from '../../app/exec-caller.ts';
import type { OperationEvent } from '../../app/operation.ts';
import { Refused } from '../../app/refused.ts';
import { ownStreams } from '../../approvals/run-command.ts';
import type { Denied } from '../../kernel/verdict.ts';
import { type Call, EXIT_CODE, note, outJson } from '../command.ts';
import { workspaceOf } from '../open-workspace.ts';
import type { Giving } from '../operation-command.ts';
import { performing } from '../show-operation.ts';

export async function run(call: Call, giving: Giving): Promise<number> {
  const located = ownWorkspace(call.env) ?? workspaceOf(call);
  const given = await giving();
  const listening = {
    signal: new AbortController().signal,
    onEvent: (event: OperationEvent) => void (event.kind === 'note' && note(event.text)),
    streams: ownStreams(),
  };
  try {
    const verdict = await performing(call, 'exec', (each) => each(given), listening, located);
    return verdict.allow ? Number(verdict.details.code) : refused(call, verdict);
  } catch (error) {
    if (error instanceof Refused) return refused(call, error.verdict);
    throw error;
  }
}

/** Standard output is the command's; without one it is the verdict's, where it is asked for. */
function refused(call: Call, verdict: Denied): number {
  note(`baton: ${verdict.code}: ${verdict.reason}`);
  if (call.json) outJson(verdict);
  return EXIT_CODE.denied;
}
