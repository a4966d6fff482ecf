// `baton unhold`: what was held is handed out again.
import { type Call, text } from '../command.ts';
import { answering, withLedger } from '../ledger-session.ts';
import { person } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const reason = text(call.values, 'reason') ?? 'no longer held';
  return answering(() => withLedger(call, ({ door }) => door.submit({ kind: 'ledger.unhold', reason }, person())));
}
