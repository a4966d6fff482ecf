// `baton registry release`: a person lets go what was blocked, for a reason. Manifest, lock and prompts are looked at anew.
import { join } from 'node:path';
import { keptBlocks } from '../../audit/kept-quarantine.ts';
import { OUTCOMES } from '../../kernel/trust/fact.ts';
import { keeperOf } from '../../workspace/registry-kept.ts';
import { bringIntoForce } from '../bring-into-force.ts';
import { keepQuarantine } from '../carry-quarantine.ts';
import { type Call, EXIT, out, outJson, Refused, text, UsageError } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { needed, withLedger } from '../ledger-session.ts';
import { isByAgent, RefusedAgent } from '../refuse-agents.ts';
import { person } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const [id = ''] = call.words;
  const reason = needed(call, 'reason');
  const word = text(call.values, 'outcome');
  const outcome = OUTCOMES.find((known) => known === word);
  if (word !== undefined && !outcome) throw new UsageError(`--outcome is one of: ${OUTCOMES.join(', ')}`);
  const begins = keptBlocks(workspaceOf(call).dir, call.env).length > 0;
  const verdict = await withLedger(
    call,
    async ({ door, workspace }) => {
      await bringIntoForce(door, workspace);
      const { registry, loaded } = keeperOf(join(workspace.dir, '.baton'))();
      const faults = [...registry.agents.values()].flatMap((agent) =>
        agent.faults.slice(0, 1).map(({ message }) => [agent.id, message] as const),
      );
      const released = await door.submit(
        {
          kind: 'quarantine.release',
          id,
          reason,
          ...(outcome ? { outcome } : {}),
          isAgent: isByAgent(call),
          registry: loaded,
          faults: Object.fromEntries(faults),
        },
        person(),
      );
      await keepQuarantine(door, workspace, call.env);
      return released;
    },
    { begins },
  );
  if (!verdict.allow) throw verdict.code === 'APPROVER_IS_AGENT' ? new RefusedAgent(verdict) : new Refused(verdict);
  if (call.json) outJson(verdict);
  else out(verdict.reason);
  return EXIT.ok;
}
