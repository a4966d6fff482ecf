// `baton registry release`: a person lets go what was blocked, for a reason. Manifest, lock and prompts are looked at anew.
import { join } from 'node:path';
import { OUTCOMES } from '../../kernel/trust/fact.ts';
import { keeperOf } from '../../workspace/registry-kept.ts';
import { type Call, EXIT, out, outJson, Refused, text, UsageError } from '../command.ts';
import { needed, withLedger } from '../ledger-session.ts';
import { isByAgent, RefusedAgent } from '../refuse-agents.ts';
import { person } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const [id = ''] = call.words;
  const reason = needed(call, 'reason');
  const word = text(call.values, 'outcome');
  const outcome = OUTCOMES.find((known) => known === word);
  if (word !== undefined && !outcome) throw new UsageError(`--outcome is one of: ${OUTCOMES.join(', ')}`);
  const verdict = await withLedger(call, ({ door, workspace }) => {
    const { registry, loaded } = keeperOf(join(workspace.dir, '.baton'))();
    const faults = [...registry.agents.values()].flatMap((agent) =>
      agent.faults.slice(0, 1).map(({ message }) => [agent.id, message] as const),
    );
    return door.submit(
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
  });
  if (!verdict.allow) throw verdict.code === 'APPROVER_IS_AGENT' ? new RefusedAgent(verdict) : new Refused(verdict);
  if (call.json) outJson(verdict);
  else out(verdict.reason);
  return EXIT.ok;
}
