// What a claim and its release cost while 100,000 locks are held, beside a linear scan over the same locks.
import type { JsonObject } from '../src/kernel/json.ts';
import { applyLedger } from '../src/kernel/ledger/apply.ts';
import { decideLedger } from '../src/kernel/ledger/decide.ts';
import type { LedgerFact, LedgerRequest } from '../src/kernel/ledger/fact.ts';
import { addLock, newLockTree, removeLocks, rivalOf, type TaskLock } from '../src/kernel/ledger/lock-tree.ts';
import { overlaps } from '../src/kernel/ledger/path.ts';
import { emptyLedger, type Ledger } from '../src/kernel/ledger/state.ts';
import { median, type Row } from './row.ts';

const HELD = 100_000;
const RUN = '3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4';
const TARGET_MICROS = 50;

const pathOf = (index: number) => `packages/p${index % 300}/src/m${index % 7}/file-${index}.ts`;
const lockOf = (index: number, path = pathOf(index)): TaskLock => {
  return { task: `${RUN}/T-${index}`, root: 'main', path, mode: 'write' };
};

export function lockRates(): Row[] {
  const held = Array.from({ length: HELD }, (_, index) => lockOf(index));
  const tree = newLockTree();
  for (const lock of held) addLock(tree, lock);
  const free = (index: number) => lockOf(HELD + index);
  const taken = (index: number) => lockOf(HELD + index, pathOf((index * 7919) % HELD));
  const around = (index: number) => lockOf(HELD + index, index % 2 === 0 ? '.' : `packages/p${index % 300}`);
  const inTree = (lock: TaskLock) => {
    if (rivalOf(tree, lock)) return;
    addLock(tree, lock);
    removeLocks(tree, lock.task);
  };
  const inList = (lock: TaskLock) => {
    const isRival = (other: TaskLock) => other.task !== lock.task && overlaps(other.path, lock.path);
    if (held.some(isRival)) return;
    held.push(lock);
    held.pop();
  };
  const scan = micros(30, (index) => inList(free(index)));
  const claim = micros(5000, (index) => inTree(free(index)));
  return [
    bounded('claim and release of a free path', claim),
    bounded(
      'refusal of a path that is held',
      micros(5000, (index) => inTree(taken(index))),
    ),
    bounded(
      'refusal of a directory above held paths',
      micros(5000, (index) => inTree(around(index))),
    ),
    { what: 'claim and release of a free path, linear scan', value: shown(scan) },
    { what: 'the tree against the scan', value: `${Math.round(scan / claim).toLocaleString('en')} times as fast` },
    { what: 'three whole decisions, with all rules and facts: claim, block, back to todo', value: shown(decisions()) },
  ];
}

/** Microseconds for a claim, a move to `blocked` and one back to `todo`, in a ledger of as many tasks in progress. */
function decisions(): number {
  const ledger = emptyLedger();
  for (let index = 0; index < HELD; index++)
    ask(ledger, { kind: 'task.create', packet: packet(`T-${index}`, pathOf(index)) });
  for (let index = 0; index < HELD; index++)
    ask(ledger, { kind: 'task.claim', run: RUN, task: `T-${index}`, owner: 'ann' });
  ask(ledger, { kind: 'task.create', packet: packet('T-999999', 'docs/readme.md') });
  const named = { run: RUN, task: 'T-999999' };
  return micros(3000, () => {
    ask(ledger, { kind: 'task.claim', ...named, owner: 'bob' });
    ask(ledger, { kind: 'task.move', ...named, to: 'blocked', reason: 'given back' });
    ask(ledger, { kind: 'task.move', ...named, to: 'todo', reason: 'again' });
  });
}

function ask(ledger: Ledger, request: LedgerRequest): void {
  const at = 0;
  const write = (fact: LedgerFact) => void applyLedger(ledger, fact, at);
  const { allow, reason } = decideLedger({ ledger, at, write }, request);
  if (!allow) throw new Error(reason);
}

function packet(id: string, path: string): JsonObject {
  const task = {
    task_id: id,
    title: id,
    type: 'parallelizable',
    dependencies: [],
    lock_scope: [path],
    forbidden_scope: [],
    acceptance_criteria: ['It works'],
    worklog_path: `worklogs/${id}.jsonl`,
    timeout_seconds: 60,
    heartbeat_interval_seconds: 10,
  };
  return { run_id: RUN, global_objective: 'Measure', task, context_package: [] };
}

/** The median of three rounds, after one to warm up. */
function micros(count: number, once: (index: number) => void): number {
  const round = () => {
    const began = performance.now();
    for (let index = 0; index < count; index++) once(index);
    return ((performance.now() - began) * 1000) / count;
  };
  round();
  return median([round(), round(), round()]);
}

function bounded(what: string, value: number): Row {
  return { what, value: shown(value), target: `≤ ${TARGET_MICROS} µs`, met: value <= TARGET_MICROS };
}

function shown(value: number): string {
  return `${value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')} µs`;
}
