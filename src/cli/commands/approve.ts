// `baton approve`: a person says yes to exactly what was sealed.
import { type Call, flag, text } from '../command.ts';
import { settleApproval } from '../settle-approval.ts';

export async function run(call: Call): Promise<number> {
  const again = flag(call.values, 'again');
  const reason = text(call.values, 'reason') ?? '';
  return settleApproval(call, { choice: 'approve', reason, ...(again ? { again } : {}) });
}
