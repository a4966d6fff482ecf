// `baton reject`: a person says no, for a reason that the agent is told.
import { type Call, text } from '../command.ts';
import { settleApproval } from '../settle-approval.ts';

export async function run(call: Call): Promise<number> {
  return settleApproval(call, { choice: 'reject', reason: text(call.values, 'reason') || 'a person said no' });
}
