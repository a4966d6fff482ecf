// Old logs must be read for ever: the chain holds, every fact still does what it did, and the casts come to the same.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Entry, Fact } from '../../src/kernel/fact.ts';
import { entryOf } from '../../src/log/line.ts';
import { faultsOf, leafOf } from '../conformance/chain.ts';
import { outcomeOf, silentKinds } from './outcome.ts';

/** Facts that are there for their own sake and change no state. */
const SILENT = ['snapshot.taken', 'workspace.opened'] as const satisfies readonly Fact['kind'][];

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
};

type Stored = { readonly line: string; readonly texts: Readonly<Record<string, string>> };

const here = new URL('./', import.meta.url);
const names = readdirSync(here)
  .filter((name) => /^golden-\d+\.jsonl$/.test(name))
  .map((name) => name.replace('.jsonl', ''));

function load(name: string): { stored: Stored[]; expected: { head: { seq: number; hash: string } } } {
  const [, ...lines] = readFileSync(new URL(`${name}.jsonl`, here), 'utf8')
    .trimEnd()
    .split('\n');
  const expected = JSON.parse(readFileSync(new URL(`${name}.out.json`, here), 'utf8'));
  return { stored: lines.map((line) => JSON.parse(line) as Stored), expected };
}

function entriesOf(stored: readonly Stored[]): Entry[] {
  return stored.map(({ line, texts }) => entryOf(line, (digest) => texts[digest] ?? null));
}

test('there are old logs', () => {
  expect(names).toEqual(Object.keys(KINDS));
});

describe.each(names)('%s', (name) => {
  const { stored, expected } = load(name);
  const entries = entriesOf(stored);

  test('the chain holds', () => {
    expect(faultsOf(stored.map(({ line }, index) => ({ seq: index + 1, line })))).toEqual([]);
    expect({ seq: stored.length, hash: leafOf(stored.at(-1)?.line ?? '') }).toEqual(expected.head);
  });

  test('the texts are those the lines refer to', () => {
    for (const { line, texts } of stored) {
      const referred = [...line.matchAll(/"\$blob":"(sha256:[0-9a-f]{64})"/g)].map(([, digest]) => digest);
      expect(new Set(Object.keys(texts))).toEqual(new Set(referred));
      for (const [digest, text] of Object.entries(texts)) {
        expect(`sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`).toBe(digest);
      }
    }
    expect(stored.some(({ texts }) => Object.keys(texts).length > 0)).toBe(true);
  });

  test('every kind of fact still does something', () => {
    expect([...new Set(entries.map(({ fact }) => fact.kind))].sort()).toEqual(KINDS[name]);
    expect(silentKinds(entries)).toEqual(SILENT);
  });

  test('the casts come to what they came to', () => {
    expect({ head: expected.head, ...outcomeOf(entries) }).toEqual(expected);
  });

  test.each((KINDS[name] ?? []).filter((kind) => !SILENT.some((silent) => silent === kind)))(
    'it would be seen if %s were not known any more',
    (kind) => {
      const renamed = stored.map(({ line, texts }) => ({
        line: line.replace(`"kind":"${kind}"`, `"kind":"${kind}d"`),
        texts,
      }));
      expect(silentKinds(entriesOf(renamed))).toContain(`${kind}d`);
    },
  );
});
