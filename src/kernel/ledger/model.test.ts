// The ledger against a naive one that shares no code with it: whatever is asked, in whatever order, both give the same
// verdicts and come to the same rows; and what must never happen does not.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import type { Verdict } from '../verdict.ts';
import { applyLedger } from './apply.ts';
import { decideLedger } from './decide.ts';
import type { LedgerFact, LedgerRequest } from './fact.ts';
import { packet, START } from './fixtures/book.ts';
import { faultsOf } from './fixtures/faults.ts';
import * as naive from './fixtures/naive-ledger.ts';
import { emptyLedger, type Ledger, PRIORITIES, TASK_STATUSES, type Task, type TaskStatus } from './state.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

type Deed = {
  readonly kind: string;
  readonly run: string;
  readonly task: string;
  readonly owner: string;
  readonly status: TaskStatus;
  /** Mostly 0, which stands for what is right; else what is added to it. */
  readonly off: number;
  readonly flag: boolean;
  readonly paths: readonly string[];
  readonly reads: readonly string[];
  readonly deps: readonly string[];
  readonly priority: number;
  readonly deltas: readonly naive.Delta[];
};

const run = fc.constantFrom('r1', 'r1', 'r1', 'r1', 'r1', 'r2');
const task = fc.constantFrom('T-1', 'T-2', 'T-3', 'T-4', 'T-5');
const owner = fc.constantFrom('ann', 'bob');
const status = fc.constantFrom(...TASK_STATUSES);
const path = fc.constantFrom('.', 'a', 'a/b', 'a/b/c', 'ab', 'd', 'd/e', '__proto__');
const id = fc.constantFrom('x', 'y', 'z', 'u', 'v', 'w');
const wait = fc.constantFrom(0, 0, 1500);

type Mix = { readonly kinds: readonly string[]; readonly path: fc.Arbitrary<string>; readonly isCrowded: boolean };
const kinds = (text: string) =>
  text.split(' ').flatMap((kind) => Array(Number(/\d+$/.exec(kind)?.[0])).fill(kind.replace(/\d+$/, '')));
/** Everything happens; or many want the same few paths again and again. */
const MIXES: readonly Mix[] = [
  {
    kinds: kinds('claim12 finish8 next6 deltas6 wait4 move4 create2 expire2 snapshot1 hold1 unhold4'),
    path,
    isCrowded: false,
  },
  {
    kinds: kinds('claim24 next6 deltas4 finish4 move2 wait2 expire1 snapshot1'),
    path: fc.constantFrom('a', 'a', 'a/b', 'a/c', 'd'),
    isCrowded: true,
  },
];

function deedOf({ path, isCrowded }: Mix, kinds: readonly string[]): fc.Arbitrary<Deed> {
  return fc.record({
    kind: fc.constantFrom(...kinds),
    run,
    task,
    owner,
    status: isCrowded ? fc.constantFrom(...TASK_STATUSES, 'blocked', 'todo', 'in_progress') : status,
    off: fc.constantFrom(0, 0, 0, 0, 0, 1),
    flag: fc.boolean(),
    paths: fc.uniqueArray(path, { minLength: 1, maxLength: 2 }),
    reads: fc.uniqueArray(path, { maxLength: 1 }),
    deps: isCrowded ? fc.constant([]) : fc.oneof(fc.constant([]), fc.constant([]), fc.tuple(task)),
    priority: isCrowded ? fc.constantFrom(1, 1, 1, 5, 5, 2, 3, 6, 7) : fc.integer({ min: 0, max: 7 }),
    deltas: fc.array(fc.record({ id, task, status, owner, wait }), { maxLength: 3 }),
  });
}

/** Most tasks exist from the start. */
const OPENING = ['r1/T-1', 'r1/T-2', 'r1/T-3', 'r1/T-4', 'r2/T-1'].map((key) => key.split('/'));
const sequence = fc
  .constantFrom(...MIXES)
  .chain((mix) =>
    fc.tuple(
      fc.tuple(
        ...OPENING.map(([run = '', task = '']) => deedOf(mix, ['create']).map((deed) => ({ ...deed, run, task }))),
      ),
      fc.array(deedOf(mix, mix.kinds), { minLength: 20, maxLength: 60 }),
    ),
  );

/** Both ledgers, asked the same things. */
class Pair {
  ledger: Ledger = emptyLedger();
  model: naive.Naive = { rows: [], fence: 0, held: false, applied: [] };
  at = START;
  readonly facts: { readonly fact: LedgerFact; readonly at: number }[] = [];

  do(deed: Deed): void {
    const [verdict, code] = this.ask(deed);
    naive.forget(this.model);
    if (verdict && verdict.code !== code) expect(`${deed.kind}: ${verdict.code} (${verdict.reason})`).toBe(code);
    const [rows, expected] = [rowsOf(this.ledger), this.model.rows.map(shown)];
    if (JSON.stringify(rows) !== JSON.stringify(expected)) expect(rows).toEqual(expected);
    const faults = faultsOf(this.ledger);
    if (faults.length > 0) expect(faults).toEqual([]);
  }

  private decide(request: LedgerRequest): Verdict {
    const { ledger, at } = this;
    const write = (fact: LedgerFact) => {
      this.facts.push({ fact, at });
      applyLedger(ledger, fact, at);
    };
    return decideLedger({ ledger, at, write }, request);
  }

  private ask(deed: Deed): readonly [Verdict | null, string] {
    const { run, task, owner, off, flag } = deed;
    const { model, at } = this;
    const row = naive.find(model, run, task);
    const named = { run, task };
    switch (deed.kind) {
      case 'create':
        return [this.decide({ kind: 'task.create', ...packetOf(deed) }), naive.create(model, run, task, planOf(deed))];
      case 'claim': {
        const version = flag && row ? row.version + off : undefined;
        const expected = version === undefined ? {} : { expectedVersion: version };
        const code = naive.claim(model, row, owner, at, version);
        return [this.decide({ kind: 'task.claim', ...named, owner, ...expected }), code];
      }
      case 'next': {
        const expected = naive.next(model, flag ? run : null, owner, at);
        const verdict = this.decide({ kind: 'task.next', owner, ...(flag ? { run } : {}) });
        if (expected.row) expect(verdict.details).toMatchObject({ run: expected.row.run, task: expected.row.id });
        return [verdict, expected.code];
      }
      case 'finish': {
        const fence = (row?.lastFence ?? 0) + off;
        const report = reportOf(deed, row);
        const code = naive.finish(row, fence, report);
        return [this.decide({ kind: 'task.finish', ...named, fence, result: resultOf(deed, report) }), code];
      }
      case 'move': {
        const guard = flag ? { fence: (row?.lastFence ?? 0) + off } : {};
        const code = naive.move(model, row, deed.status, at, { ...guard, owner });
        return [this.decide({ kind: 'task.move', ...named, to: deed.status, reason: 'x', owner, ...guard }), code];
      }
      case 'expire': {
        const heard = flag ? at : 0;
        return [
          this.decide({ kind: 'task.expire', ...named, lastHeartbeatAt: heard, why: 'silent' }),
          naive.expire(row, heard, at),
        ];
      }
      case 'deltas': {
        const baseVersions = flag && row ? { [task]: row.version + off } : {};
        const stream = deed.deltas.map((delta): JsonObject => {
          return {
            delta_id: delta.id,
            task_id: delta.task,
            status: delta.status,
            owner: delta.owner,
            reason: 'x',
            x_create: true,
            retry_after_ms: delta.wait,
          };
        });
        const verdict = this.decide({ kind: 'deltas.apply', run, stream, baseVersions });
        const outcome = naive.apply(model, run, deed.deltas, baseVersions, at);
        this.model = outcome.model;
        const refused = naive.find(outcome.model, run, outcome.task);
        if (outcome.code === 'LOCK_CONFLICT' && refused?.status !== 'in_progress' && refused) {
          refused.refusals = [...refused.refusals, at];
        }
        return [verdict, outcome.code];
      }
      case 'hold':
      case 'unhold': {
        const isHold = deed.kind === 'hold';
        const code = model.held === isHold ? 'NOT_ALLOWED_NOW' : 'OK';
        model.held = isHold;
        return [this.decide({ kind: isHold ? 'ledger.hold' : 'ledger.unhold', by: owner, reason: 'x' }), code];
      }
      case 'snapshot':
        // The order of keys is not kept in a snapshot.
        this.ledger = turned(this.ledger as unknown as Json) as unknown as Ledger;
        return [null, ''];
      default:
        this.at += flag ? 1000 : 31_000;
        return [null, ''];
    }
  }
}

function planOf({ paths, reads, deps, flag, priority }: Deed): naive.Plan {
  const root = priority === 6 ? naive.INNER : priority === 7 ? naive.APART : 'main';
  return {
    type: priority === 3 ? 'serial' : 'parallelizable',
    priority: priority % 4,
    deps,
    wants: [
      ...paths.map((path) => ({ root, path, read: false })),
      ...reads.map((path) => ({ root, path, read: true })),
    ],
    scope: paths,
    forbidden: flag ? ['d/e'] : [],
    criteria: ['It works'],
    timeoutMs: 60_000,
  };
}

function packetOf(deed: Deed): { packet: JsonObject; root: string } {
  const plan = planOf(deed);
  const task = {
    type: plan.type,
    priority: PRIORITIES[plan.priority] ?? 'normal',
    dependencies: plan.deps,
    lock_scope: plan.scope,
    x_read_scope: deed.reads,
    forbidden_scope: plan.forbidden,
  };
  return { packet: packet(deed.task, { run: deed.run, ...task }), root: plan.wants[0]?.root ?? '' };
}

function reportOf({ flag, priority, paths, off, deps }: Deed, row: naive.Row | undefined): naive.Report {
  const status = priority < 4 ? 'done' : priority < 6 ? 'failed' : 'blocked';
  const changes = flag ? (row?.scope ?? []) : off === 0 ? [] : paths;
  const passed = deps.length === 0 || status !== 'done' ? ['It works'] : flag ? ['it works'] : ['It works', 'and more'];
  return { status, changes, passed, code: priority === 5 ? 'NON_COMPLIANT' : null };
}

function resultOf({ run, task }: Deed, { status, changes, passed, code }: naive.Report): JsonObject {
  return {
    run_id: run,
    task_id: task,
    status,
    changes: changes.map((path) => ({ resource: `./${path}/`, action: 'edit' })),
    acceptance_check: passed.map((criterion) => ({ criterion, status: 'pass', evidence: 'seen' })),
    ...(code === null ? {} : { x_code: code }),
  };
}

const VISIBLE = ['run', 'id', 'order', 'status', 'owner', 'version', 'retries', 'fence', 'lastFence', 'code'] as const;

function shown(row: naive.Row): object {
  return { ...Object.fromEntries(VISIBLE.map((name) => [name, row[name]])), passedOver: row.refusals.length };
}

function rowsOf(ledger: Ledger): object[] {
  return Object.values(ledger.tasks)
    .sort((a, b) => a.order - b.order)
    .map((task: Task) => ({
      ...Object.fromEntries(VISIBLE.map((name) => [name, task[name]])),
      passedOver: task.passedOver,
    }));
}

function turned(value: Json): Json {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, turned(member as Json)]),
  );
}

test(
  'the ledger and the naive one agree on everything, and what must never happen does not',
  () => {
    const codes = new Map<string, number>();
    fc.assert(
      fc.property(sequence, ([opening, deeds]) => {
        const pair = new Pair();
        for (const each of [...opening, ...deeds]) pair.do(each);
        const fences = pair.facts.flatMap(({ fact }) => (fact.kind === 'task.claimed' ? [fact.fence] : []));
        expect(fences).toEqual(fences.map((_, index) => index + 1));
        const again = emptyLedger();
        for (const { fact, at } of pair.facts) applyLedger(again, JSON.parse(JSON.stringify(fact)) as LedgerFact, at);
        expect(again).toEqual(pair.ledger);
        for (const { fact } of pair.facts) {
          const name = fact.kind === 'task.refused' ? fact.code : fact.kind;
          codes.set(name, (codes.get(name) ?? 0) + 1);
        }
      }),
      { numRuns: RUNS },
    );
    // The sequences are of use only while they come to all of these.
    const met = [
      'task.claimed',
      'task.moved',
      'deltas.applied',
      'LOCK_CONFLICT',
      'DEPENDENCY_NOT_MET',
      'INVALID_TRANSITION',
    ];
    const more = ['CONCURRENCY_CONFLICT', 'SCOPE_VIOLATION', 'ACCEPTANCE_FAILED', 'NOT_ALLOWED_NOW', 'NON_COMPLIANT'];
    expect([...met, ...more].filter((name) => !codes.has(name))).toEqual([]);
  },
  60_000 + RUNS * 100,
);
