import { expect, test } from 'vitest';
import { applyLedger, planTasks } from './apply.ts';
import type { LedgerFact } from './fact.ts';
import { addLock, type Lock, MAIN_ROOT, removeLocks } from './lock-tree.ts';
import { bareSpec } from './plan.ts';
import { inconsistencies, refusalOfInconsistency } from './run-index.ts';
import { emptyLedger, keyOf, type Ledger, runOf, type Task, type TaskSpec, type TaskStatus, taskOf } from './state.ts';

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
    'a wrong count',
    (of) => Object.assign(runOf(of, 'r') ?? {}, { running: 3 }),
    '1 tasks are in progress, and 3 were counted',
  ],
])('%s is found by a walk over the run', (_, spoil, said) => {
  const spoilt = ledger();
  spoil(spoilt);
  expect(inconsistencies(spoilt, 'r').map(({ message }) => message)).toContainEqual(expect.stringContaining(said));
});

const SRC = { root: MAIN_ROOT, path: 'src', mode: 'write' } as const;
const DOCS = { ...SRC, path: 'docs' } as const;
const claimed = (task: string, locks: readonly Lock[], owner = 'b'): LedgerFact => {
  return { kind: 'task.claimed', run: 'r', task, owner, fence: 2, locks };
};
const moved = (task: string, to: TaskStatus, releases: boolean): LedgerFact => {
  const rest = { retries: 0, owner: 'a', code: null, reason: '', notBefore: null, evidence: null };
  return { kind: 'task.moved', run: 'r', task, from: 'in_progress', to, replay: false, releases, ...rest };
};
const created = (task: string, spec: Partial<TaskSpec>): LedgerFact => {
  const row = { owner: 'unassigned', reason: '', notBefore: null };
  return { kind: 'task.created', run: 'r', task, ...row, spec: { ...bareSpec('x'), assigned: true, ...spec } };
};

test.each<[what: string, facts: readonly LedgerFact[], said: string]>([
  ['a task that left and kept its lock', [moved('T-1', 'blocked', false)], 'T-1 is blocked and still holds "src"'],
  ['a claim without its locks', [moved('T-1', 'done', true), claimed('T-2', [])], 'T-2 is in progress and lacks locks'],
  [
    'a claim of nobody',
    [moved('T-1', 'done', true), claimed('T-2', [DOCS], '')],
    'T-2 is in progress and has no owner',
  ],
  ['a claim before its dependency is done', [claimed('T-2', [DOCS])], 'T-1, which it depends on, is in_progress'],
  ['a claim of a held path', [created('T-3', { lockScope: ['src'] }), claimed('T-3', [SRC])], 'T-3 and T-1 both hold'],
  ['paths that are one by a link', [claimed('T-2', [DOCS]), linked({ docs: 'src' })], 'T-1 and T-2 both hold'],
  [
    'a scope that grew under its claim',
    [created('T-1', { lockScope: ['src', 'lib'] })],
    'T-1 is in progress and lacks',
  ],
  ['a dependency that nobody has created', [created('T-3', { dependencies: ['T-9'] })], 'T-3 depends on T-9'],
])('%s is noticed by the fact, and nothing is handed out', (_, facts, said) => {
  const spoilt = facts.reduce((of, fact) => applyLedger(of, fact, AT), ledger());
  expect(inconsistencies(spoilt, 'r').map(({ message }) => message)).toContainEqual(expect.stringContaining(said));
  expect(refusalOfInconsistency(spoilt, 'r')?.code).toBe('LEDGER_INCONSISTENT');
});

test.each<[what: string, facts: readonly LedgerFact[]]>([
  ['the dependency is created', [created('T-3', { dependencies: ['T-9'] }), created('T-9', {})]],
  ['the task that wants it is canceled', [created('T-3', { dependencies: ['T-9'] }), moved('T-3', 'canceled', false)]],
  ['the lock is given back', [moved('T-1', 'blocked', false), moved('T-1', 'canceled', true)]],
  ['a holder of the same path is over', [claimed('T-2', [DOCS]), linked({ docs: 'src' }), moved('T-1', 'done', true)]],
])('a run holds together again when %s', (_, facts) => {
  const mended = facts.reduce((of, fact) => applyLedger(of, fact, AT), ledger());
  expect([inconsistencies(mended, 'r'), refusalOfInconsistency(mended, 'r')]).toEqual([[], null]);
});

function linked(links: Record<string, string>): LedgerFact {
  return { kind: 'ledger.linked', root: MAIN_ROOT, links };
}
