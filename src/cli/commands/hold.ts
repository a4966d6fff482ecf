// `baton hold`: nothing new is handed out in this workspace until it is no longer held; what runs goes on.
import type { Call } from '../command.ts';
import { answering, needed, withLedger } from '../ledger-session.ts';
import { person } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const reason = needed(call, 'reason');
  const begins = { begins: true };
  return answering(() =>
    withLedger(call, ({ door }) => door.submit({ kind: 'ledger.hold', reason }, person()), begins),
  );
}
