// The ledger told alone is the ledger of the whole state, after every fact.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hangingCasts } from '../../../test/hanging-casts.ts';
import { crew, plan, workflow } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import { envelope, result, TEAM } from '../../../test/team.ts';
import { apply } from '../apply.ts';
import type { Entry } from '../fact.ts';
import { emptyState } from '../state.ts';
import { applyToLedger, LEDGER_KINDS } from './history.ts';
import { emptyLedger } from './state.ts';

const RUNS = { numRuns: Math.ceil(Number(process.env.FUZZ_RUNS ?? 500) / 100) };

/** Compares both after every fact; the one that is told alone hears only what it asks for. */
function agree(entries: readonly Entry[]): void {
  const [state, alone] = [emptyState(), emptyLedger()];
  for (const entry of entries) {
    apply(state, entry);
    if (LEDGER_KINDS.some((kind) => entry.fact.kind.startsWith(kind))) applyToLedger(alone, entry);
    expect(alone).toEqual(state.ledger);
  }
  expect(Object.keys(state.ledger.tasks).length).toBeGreaterThan(0);
}

test('the items of a loop', () => {
  agree(play({ config: workflow({}), agents: crew({ Plan: [plan(3)] }) }).entries);
});

test('a team, with whatever its workers report and a person who interferes', () => {
  const report = fc.constantFrom('done', 'blocked', 'failed');
  fc.assert(
    fc.property(fc.array(report, { minLength: 2, maxLength: 4 }), fc.boolean(), (reports, isHeld) => {
      const ids = reports.map((_, index) => `T-${index + 1}`);
      const Lead = [envelope(...ids.map((id) => ({ id, lock_scope: [`src/${id}`] })))];
      const Worker = ids.map((id, index) => result(id, { status: reports[index] ?? 'done' }));
      const cast = play({ config: TEAM, agents: { Lead, Worker, Sum: ['ok', '$repeat'] } });
      if (isHeld) cast.say({ kind: 'ledger.hold', reason: 'wait' });
      agree(cast.entries);
      expect(hangingCasts(cast.state, Date.parse(cast.entries.at(-1)?.at ?? ''))).toEqual([]);
    }),
    RUNS,
  );
});
