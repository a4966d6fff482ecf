// Who holds which paths, and who held them.
import type { Entry } from '../../kernel/fact.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { heldLocks } from '../../kernel/ledger/wire.ts';
import { allow } from '../../kernel/verdict.ts';
import { type LedgerSession, ledgerSession, runWanted } from '../ledger-session.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'lock.list'>> = async (workspace, { run, history = false }, context) => {
  const locks = workspace.hasLog() ? await rowsOf(ledgerSession(workspace, context), run, history) : [];
  return allow(`${locks.length} locks`, { locks });
};

async function rowsOf(
  session: LedgerSession,
  word: string | undefined,
  withHistory: boolean,
): Promise<readonly JsonObject[]> {
  const run = await runWanted(session, word);
  const held = (await session.store.look((ledger) => heldLocks(ledger, run), run)).map((lock) => ({
    ...lock,
    since: lock.since === null ? null : new Date(lock.since).toISOString(),
    active: true,
  }));
  if (!withHistory) return held;
  const about = run === undefined ? {} : { cast: run };
  return [...releasedIn(await session.store.read({ after: 0, kindPrefix: 'task.', ...about })), ...held];
}

/** The locks that were given back, in the order in which they were. */
function releasedIn(facts: readonly Entry[]): readonly JsonObject[] {
  const open = new Map<
    number,
    { readonly at: string; readonly fact: Extract<Entry['fact'], { kind: 'task.claimed' }> }
  >();
  const released: JsonObject[] = [];
  const release = (fence: number | undefined, until: string) => {
    const claim = fence === undefined ? undefined : open.get(fence);
    if (!claim || fence === undefined) return;
    open.delete(fence);
    const { run, task, owner, locks } = claim.fact;
    for (const lock of locks)
      released.push({ run, task, owner, fence, ...lock, since: claim.at, until, active: false });
  };
  for (const { at, fact } of facts) {
    if (fact.kind === 'task.moved') release(fact.fence, at);
    if (fact.kind !== 'task.claimed') continue;
    release(fact.replaces, at);
    open.set(fact.fence, { at, fact });
  }
  return released;
}
