import { expect, test } from 'vitest';
import { applyLedger, openRun, planTasks } from '../kernel/ledger/apply.ts';
import { bareSpec } from '../kernel/ledger/plan.ts';
import { emptyLedger, type Ledger } from '../kernel/ledger/state.ts';
import { runCalled } from './ledger-session.ts';

/** Three casts that their planners call the same; nothing of the last one is open. */
function ledger(): Ledger {
  const made = emptyLedger();
  for (const id of ['c1', 'c2', 'c3']) {
    openRun(made, id, 'same');
    planTasks(made, id, ['T-1'], { ...bareSpec('x'), assigned: true }, [{}]);
  }
  const over = { from: 'todo', to: 'canceled', owner: 'a', code: null, reason: 'x' } as const;
  const rest = { replay: false, releases: false, retries: 0, notBefore: null, evidence: null } as const;
  return applyLedger(made, { kind: 'task.moved', run: 'c3', task: 'T-1', ...over, ...rest }, 1);
}

test.each<[string, string, string | undefined, string | undefined]>([
  ['its own id', 'c1', undefined, 'c1'],
  ['the common name: the newest that is open', 'same', undefined, 'c2'],
  ['the common name, by an agent: the cast it works for', 'same', 'c1', 'c1'],
  ['another cast by its own id', 'c2', 'c1', 'c2'],
  ['what nobody is called', 'other', 'c1', undefined],
])('a run is meant by %s', (_, name, ownCast, run) => {
  expect(runCalled(ledger(), name, ownCast)).toBe(run);
});
