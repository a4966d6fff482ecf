import { expect, test } from 'vitest';
import { applyLedger, planTasks } from './apply.ts';
import { bareSpec } from './create.ts';
import { inconsistencies, refusalOfInconsistency } from './inconsistency.ts';
import { addLock, removeLocks } from './lock-tree.ts';
import { emptyLedger, keyOf, type Ledger, MAIN_ROOT, runOf, type Task, taskOf } from './state.ts';

const AT = 1_000;

/** T-1 in progress on `src`, T-2 waiting for it. */
function ledger(): Ledger {
  const made = emptyLedger();
  const spec = { ...bareSpec('x'), lockScope: ['src'], assigned: true };
  planTasks(made, 'r', ['T-1', 'T-2'], spec, [{}, { lockScope: ['docs'], dependencies: ['T-1'] }]);
  const locks = [{ root: MAIN_ROOT, path: 'src', mode: 'write' as const }];
  return applyLedger(made, { kind: 'task.claimed', run: 'r', task: 'T-1', owner: 'a', fence: 1, locks }, AT);
}

const at = (of: Ledger, id: string) => taskOf(of, 'r', id) as Task;

test('a ledger that only rules have changed holds together', () => {
  expect([inconsistencies(ledger(), 'r'), refusalOfInconsistency(ledger(), 'r')]).toEqual([[], null]);
});

test.each<[what: string, spoil: (ledger: Ledger) => void, said: string]>([
  [
    'a claim on a task that is not in progress',
    (of) => Object.assign(at(of, 'T-2'), { fence: 7 }),
    'T-2 is todo and still has a claim',
  ],
  [
    'a lock of such a task',
    (of) => addLock(of.locks, { root: MAIN_ROOT, path: 'docs', mode: 'write', task: keyOf(at(of, 'T-2')) }),
    'T-2 is todo and still holds "docs"',
  ],
  [
    'a task in progress without a claim',
    (of) => Object.assign(at(of, 'T-1'), { fence: null }),
    'T-1 is in progress without a claim',
  ],
  [
    'one without its locks',
    (of) => removeLocks(of.locks, keyOf(at(of, 'T-1'))),
    'T-1 is in progress and lacks locks of its scope',
  ],
  [
    'an unmet dependency',
    (of) => Object.assign(at(of, 'T-1'), { dependencies: ['T-2'] }),
    'which it depends on, is todo',
  ],
  [
    'a dependency that nobody has created',
    (of) => Object.assign(at(of, 'T-2'), { dependencies: ['T-9'] }),
    'T-2 depends on T-9, which is not in the ledger',
  ],
  [
    'a wrong count',
    (of) => Object.assign(runOf(of, 'r') ?? {}, { running: 3 }),
    '1 tasks are in progress, and 3 were counted',
  ],
])('%s is found', (_, spoil, said) => {
  const spoilt = ledger();
  spoil(spoilt);
  expect(inconsistencies(spoilt, 'r').map(({ message }) => message)).toContainEqual(expect.stringContaining(said));
  expect(refusalOfInconsistency(spoilt, 'r')?.code).toBe('LEDGER_INCONSISTENT');
});
