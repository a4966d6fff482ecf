// `baton reject`: a person says no, for a reason that the agent is told.
import type { Call } from '../command.ts';
import { needed } from '../ledger-session.ts';
import { settleApproval } from '../settle-approval.ts';

export async function run(call: Call): Promise<number> {
  return settleApproval(call, { choice: 'reject', reason: needed(call, 'reason') });
}
