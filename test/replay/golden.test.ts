// Old logs must be read for ever: the chain holds, every fact still does what it did, and the casts come to the same.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Entry, Fact } from '../../src/kernel/fact.ts';
import { entryFromLine } from '../../src/log/line.ts';
import { faultsOf, leafOf } from '../conformance/chain.ts';
import { FACT_FORMS } from './fact-forms.ts';
import { outcomeOf, silentKinds } from './outcome.ts';

/** Facts that are there to be read and change no state, and why. */
const SILENT: Readonly<Partial<Record<Fact['kind'], string>>> = {
  'access.refused': 'who was turned away may try again, and is judged anew',
  'approval.refused': 'the approval stays as it was',
  'blob.erased': 'it is the log that forgets a text',
  'cast.recovered': 'what follows from it is told by facts of its own',
  'context.rejected': 'nothing was written',
  'evidence.deposited': 'nothing that is decided rests on it',
  'handoff.judged': 'that its id is used up stands beside the facts',
  'sink.recovered': 'how far a sink has come stands beside the log',
  'sink.skipped': 'how far a sink has come stands beside the log',
  'sink.stalled': 'how far a sink has come stands beside the log',
  'snapshot.taken': 'it says what the state is already',
  'workspace.opened': 'it is the beginning',
};

const KINDS_3: readonly Fact['kind'][] = [
  'access.refused',
  'approval.approved',
  'approval.expired',
  'approval.finished',
  'approval.linked',
  'approval.refused',
  'approval.rejected',
  'approval.requested',
  'approval.unknown',
  'approval.used',
  'approval.withdrawn',
  'attempt.answered',
  'attempt.failed',
  'attempt.lost',
  'attempt.refused',
  'attempt.started',
  'blob.erased',
  'budget.changed',
  'budget.warned',
  'cast.aborted',
  'cast.completed',
  'cast.failed',
  'cast.paused',
  'cast.recast',
  'cast.recovered',
  'cast.resumed',
  'cast.started',
  'cast.waiting',
  'context.rejected',
  'context.reverted',
  'context.written',
  'cursor.advanced',
  'cursor.reset',
  'deltas.applied',
  'edge.taken',
  'evidence.deposited',
  'exit.taken',
  'handoff.judged',
  'items.planned',
  'lane.ended',
  'lanes.held',
  'lanes.opened',
  'ledger.configured',
  'ledger.held',
  'ledger.unheld',
  'memory.accepted',
  'memory.dropped',
  'memory.suggested',
  'merge.awaited',
  'merge.refused',
  'quarantine.opened',
  'quarantine.released',
  'registry.loaded',
  'report.noted',
  'rework.cleared',
  'rework.noted',
  'run.named',
  'snapshot.taken',
  'task.claimed',
  'task.created',
  'task.moved',
  'task.refused',
  'turn.accepted',
  'turn.answered',
  'turn.asked',
  'turn.blocked',
  'turn.decided',
  'turn.dropped',
  'turn.freed',
  'turn.held',
  'turn.merged',
  'turn.reopened',
  'turn.reported',
  'turn.started',
  'turn.unknown',
  'worklog.added',
  'workspace.opened',
];

const KINDS_8 = [
  ...KINDS_3,
  ...(['attempt.spent', 'edge.extended', 'edge.spent', 'item.dropped', 'item.parked', 'item.retried'] as const),
  ...(['ledger.linked', 'park.awaited'] as const),
].toSorted();

const KINDS_10 = [...KINDS_8, 'cast.said'].sort() as readonly Fact['kind'][];

const KINDS_11 = [
  ...KINDS_10,
  ...(['quest.added', 'quest.ended', 'quest.moved', 'quest.rang', 'quest.removed', 'quest.requeued'] as const),
  ...(['quest.resumed', 'quest.scheduled', 'quest.started', 'quest.stopped'] as const),
].toSorted() as readonly Fact['kind'][];

const KINDS_14 = [...KINDS_11, 'attempt.interrupted'].sort() as readonly Fact['kind'][];

const KINDS_13 = [
  ...KINDS_14,
  ...(['wait.begun', 'wait.ended', 'wait.seen'] as const),
].toSorted() as readonly Fact['kind'][];

/** All of this release. */
const KINDS_NOW = [
  ...KINDS_13,
  ...(['event.emitted', 'sink.recovered', 'sink.skipped', 'sink.stalled'] as const),
].toSorted() as readonly Fact['kind'][];

/** The kinds of facts each log must hold. That they are kinds of today is checked by the compiler. */
const KINDS: Readonly<Record<string, readonly Fact['kind'][]>> = {
  'golden-1': [
    'attempt.failed',
    'attempt.lost',
    'attempt.refused',
    'attempt.started',
    'budget.changed',
    'budget.warned',
    'cast.aborted',
    'cast.completed',
    'cast.failed',
    'cast.paused',
    'cast.recast',
    'cast.resumed',
    'cast.started',
    'cast.waiting',
    'cursor.advanced',
    'cursor.reset',
    'edge.taken',
    'exit.taken',
    'rework.cleared',
    'rework.noted',
    'snapshot.taken',
    'turn.accepted',
    'turn.decided',
    'turn.dropped',
    'turn.reopened',
    'turn.started',
    'turn.unknown',
    'workspace.opened',
  ],
  'golden-2': [
    'attempt.failed',
    'attempt.lost',
    'attempt.refused',
    'attempt.started',
    'budget.changed',
    'budget.warned',
    'cast.aborted',
    'cast.completed',
    'cast.failed',
    'cast.paused',
    'cast.recast',
    'cast.resumed',
    'cast.started',
    'cast.waiting',
    'cursor.advanced',
    'cursor.reset',
    'deltas.applied',
    'edge.taken',
    'exit.taken',
    'items.planned',
    'lane.ended',
    'lanes.opened',
    'ledger.configured',
    'ledger.held',
    'ledger.unheld',
    'rework.cleared',
    'rework.noted',
    'run.named',
    'snapshot.taken',
    'task.claimed',
    'task.created',
    'task.moved',
    'task.refused',
    'turn.accepted',
    'turn.blocked',
    'turn.decided',
    'turn.dropped',
    'turn.freed',
    'turn.held',
    'turn.reopened',
    'turn.started',
    'turn.unknown',
    'worklog.added',
    'workspace.opened',
  ],
  'golden-3': KINDS_3,
  'golden-4': [...KINDS_3, 'attempt.spent' as const].toSorted(),
  'golden-5': [...KINDS_3, 'attempt.spent' as const].toSorted(),
  'golden-6': [...KINDS_3, 'attempt.spent' as const, 'ledger.linked' as const].toSorted(),
  'golden-7': [...KINDS_3, 'attempt.spent' as const, 'ledger.linked' as const].toSorted(),
  'golden-8': KINDS_8,
  'golden-9': KINDS_8,
  'golden-10': KINDS_10,
  'golden-11': KINDS_NOW,
  'golden-12': KINDS_14,
  'golden-13': KINDS_13,
  'golden-14': KINDS_NOW,
  'golden-15': KINDS_NOW,
};

type Stored = { readonly line: string; readonly texts: Readonly<Record<string, string>> };

const here = new URL('./', import.meta.url);
const names = readdirSync(here)
  .filter((name) => /^golden-\d+\.jsonl$/.test(name))
  .map((name) => name.replace('.jsonl', ''))
  .sort((one, other) => numberOf(one) - numberOf(other));

function numberOf(name: string): number {
  return Number(name.replace('golden-', ''));
}

function load(name: string): { stored: Stored[]; expected: { head: { seq: number; hash: string } } } {
  const [, ...lines] = readFileSync(new URL(`${name}.jsonl`, here), 'utf8')
    .trimEnd()
    .split('\n');
  const expected = JSON.parse(readFileSync(new URL(`${name}.out.json`, here), 'utf8'));
  return { stored: lines.map((line) => JSON.parse(line) as Stored), expected };
}

function entriesOf(stored: readonly Stored[]): Entry[] {
  return stored.map(({ line, texts }) => entryFromLine(line, (digest) => texts[digest] ?? null));
}

const newest = entriesOf(load(names.at(-1) ?? '').stored);

/** The digests of the texts that were erased, by the numbers of the entries that held them. */
function erasedIn(entries: readonly Entry[]): ReadonlyMap<number, ReadonlySet<string>> {
  const erased = new Map<number, Set<string>>();
  for (const { fact } of entries) {
    if (fact.kind !== 'blob.erased') continue;
    for (const seq of fact.from) erased.set(seq, (erased.get(seq) ?? new Set()).add(fact.digest));
  }
  return erased;
}

test('there are old logs', () => {
  expect(names).toEqual(Object.keys(KINDS));
});

test('the newest log shows what a clock behind the log said', () => {
  expect(newest.filter(({ clock }) => clock !== undefined)).toMatchObject([{ fact: { kind: 'ledger.unheld' } }]);
});

test('a log shows the inputs that a cast was started with, frozen in its graph and its data', () => {
  const started = entriesOf(load('golden-13').stored).flatMap(({ fact }) =>
    fact.kind === 'cast.started' ? [fact] : [],
  );
  const given = started.find(({ loadout }) => loadout === 'Given');
  expect([given?.rules.graph.inputs, given?.data]).toEqual([['severity'], { inputs: { severity: 'high' } }]);
});

test('the newest log shows how long casts ran, as their drivers measured it', () => {
  const counted = newest.filter(({ ranMs }) => ranMs !== undefined);
  expect(counted.length).toBeGreaterThan(0);
  expect(counted.every(({ fact }) => 'cast' in fact && fact.cast !== undefined)).toBe(true);
});

test.each(Object.entries(FACT_FORMS))('the newest log shows %s, with all that it may have', (kind, members) => {
  const facts = newest.filter(({ fact }) => fact.kind === kind).map(({ fact }) => fact);
  expect(facts.length).toBeGreaterThan(0);
  expect(Object.keys(members).filter((member) => !facts.some((fact) => member in fact))).toEqual([]);
});

/** What may be missing deeper inside of facts: the rules that a cast is frozen with, and what is sealed. */
test.each([
  ['cast.started', 'rules.limits.modelSilenceMs'],
  ['cast.started', 'rules.worktree.link'],
  ['cast.started', 'rules.worktree.mainCheckout'],
  ['cast.started', 'rules.checkers.*.when'],
  ['cast.started', 'rules.graph.loops.*.barrier'],
  ['cast.started', 'rules.graph.loops.*.prelude'],
  ['cast.started', 'rules.materia.*.env'],
  ['cast.started', 'rules.materia.*.writes'],
  ['cast.started', 'rules.graph.sockets.*.strict'],
  ['cast.started', 'rules.graph.sockets.*.edges.*.then'],
  ['cast.started', 'rules.language'],
  ['attempt.started', 'envelope.mediation'],
  ['approval.requested', 'sealed.plainEnv'],
  ['approval.used', 'executor.machine'],
  ['approval.used', 'executor.namespace'],
])('the newest log shows %s with %s', (kind, path) => {
  const facts = newest.filter(({ fact }) => fact.kind === kind).map(({ fact }) => fact as unknown);
  const within = (values: readonly unknown[], step: string) =>
    values.flatMap((value) => {
      if (typeof value !== 'object' || value === null) return [];
      return step === '*' ? Object.values(value) : step in value ? [(value as Record<string, unknown>)[step]] : [];
    });
  expect(path.split('.').reduce(within, facts)).not.toEqual([]);
});

describe.each(names)('%s', (name) => {
  const { stored, expected } = load(name);
  const entries = entriesOf(stored);

  test('the chain holds', () => {
    expect(faultsOf(stored.map(({ line }, index) => ({ seq: index + 1, line })))).toEqual([]);
    expect({ seq: stored.length, hash: leafOf(stored.at(-1)?.line ?? '') }).toEqual(expected.head);
  });

  test('the texts are those the lines refer to, without those that were erased', () => {
    const erased = erasedIn(entries);
    for (const [index, { line, texts }] of stored.entries()) {
      const referred = [...line.matchAll(/"\$blob":"(sha256:[0-9a-f]{64})"/g)].map(([, digest = '']) => digest);
      const gone = erased.get(index + 1) ?? new Set();
      expect([...gone].filter((digest) => !referred.includes(digest))).toEqual([]);
      expect(new Set(Object.keys(texts))).toEqual(new Set(referred.filter((digest) => !gone.has(digest))));
      for (const [digest, text] of Object.entries(texts)) {
        expect(`sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`).toBe(digest);
      }
    }
    expect(stored.some(({ texts }) => Object.keys(texts).length > 0)).toBe(true);
  });

  test('every kind of fact still does something', () => {
    expect([...new Set(entries.map(({ fact }) => fact.kind))].sort()).toEqual(KINDS[name]);
    expect(silentKinds(entries)).toEqual((KINDS[name] ?? []).filter((kind) => kind in SILENT));
  });

  test('the casts come to what they came to', () => {
    expect({ head: expected.head, ...outcomeOf(entries) }).toEqual(expected);
  });
});

// The newest log has every kind, and all logs are asked by the same function.
test.each((KINDS[names.at(-1) ?? ''] ?? []).filter((kind) => !(kind in SILENT)))(
  'it would be seen if %s were not known any more',
  (kind) => {
    const renamed = load(names.at(-1) ?? '').stored.map(({ line, texts }) => ({
      line: line.replace(`"kind":"${kind}"`, `"kind":"${kind}d"`),
      texts,
    }));
    expect(silentKinds(entriesOf(renamed), `${kind}d`)).toEqual([`${kind}d`]);
  },
);
