// Only casts that are over lose texts: by age where they completed, the others when that is asked for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fact } from '../kernel/fact.ts';
import { digestOf } from '../log/blob-text.ts';
import { SqliteLog } from '../log/sqlite.ts';
import { planErasures, type Wish } from './retention.ts';

const root = mkdtempSync(join(tmpdir(), 'baton-retention-'));
const SHARED = 's'.repeat(300);
const OWN = (cast: string) => `${cast} ${'o'.repeat(300)}`;
let db: DatabaseSync;

beforeAll(async () => {
  const log = new SqliteLog(join(root, 'log.sqlite'));
  const facts = (cast: string, end: string) => [
    { kind: 'cast.paused', cast, reason: SHARED },
    { kind: 'cast.paused', cast, reason: OWN(cast) },
    { kind: end, cast, reason: '' },
  ];
  const all = [
    ...facts('done', 'cast.completed'),
    ...facts('failed', 'cast.failed'),
    ...facts('aborted', 'cast.aborted'),
    ...facts('open', 'cast.waiting'),
    ...facts('again', 'cast.failed'),
    { kind: 'cast.recast', cast: 'again' },
    { kind: 'task.moved', run: 'by hand', task: 'T-1', reason: SHARED },
    ...facts('late', 'cast.completed'),
  ];
  await log.commit(0, () => all.map((fact, at) => ({ fact: fact as unknown as Fact, by: 'test', at: at * 1000 })));
  await log.close();
  db = new DatabaseSync(join(root, 'log.sqlite'), { readOnly: true });
});

afterAll(() => {
  db.close();
  rmSync(root, { recursive: true, force: true });
});

const BEFORE_LATE = new Date(18_000).toISOString();

test.each<[string, Partial<Wish>, string[], number]>([
  ['nothing', {}, [], 0],
  ['what is old and completed', { before: BEFORE_LATE }, ['done'], 0],
  ['what is old and over', { before: BEFORE_LATE, stopped: true }, ['done', 'failed', 'aborted'], 0],
  ['what is over', { before: '9', stopped: true }, ['done', 'failed', 'aborted', 'late'], 0],
  [
    'a text, wherever it is, but not where a cast is not over',
    { digests: [digestOf(SHARED)] },
    ['done', 'failed', 'aborted', 'late'],
    3,
  ],
  ['a text of a cast that is not over', { digests: [digestOf(OWN('open'))] }, [], 1],
])('%s', (_, wish, casts, kept) => {
  const plan = planErasures(db, { before: null, stopped: false, digests: [], ...wish });
  expect([plan.casts, plan.kept]).toEqual([casts, kept]);
});

test('a text that several casts share is named once, with the entries it goes from', () => {
  const { erasures } = planErasures(db, { before: BEFORE_LATE, stopped: true, digests: [] });
  expect(erasures.find(({ digest }) => digest === digestOf(SHARED))).toEqual({
    digest: digestOf(SHARED),
    from: [1, 4, 7],
    bytes: 900,
  });
  expect(erasures).toHaveLength(4);
});
