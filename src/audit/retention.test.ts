// Only casts that are over lose texts: by age where they completed, the others when that is asked for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Evidence } from '../engine/ports.ts';
import type { Fact } from '../kernel/fact.ts';
import { textDigest } from '../log/line.ts';
import { SqliteEvidence } from '../log/sqlite/evidence.ts';
import { SqliteLog } from '../log/sqlite/log.ts';
import { type ErasureRequest, planErasures } from './erasure.ts';

const root = mkdtempSync(join(tmpdir(), 'baton-retention-'));
const SHARED = 's'.repeat(300);
const OWN = (cast: string) => `${cast} ${'o'.repeat(300)}`;
let evidence: Evidence;

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
    { kind: 'task.created', run: 'ended', task: 'T-1', reason: OWN('run') },
    { kind: 'task.moved', run: 'ended', task: 'T-1', to: 'done', reason: '' },
    { kind: 'handoff.judged', envelope: OWN('handoff') },
    { kind: 'context.written', section: 's', value: OWN('known') },
    { kind: 'approval.requested', sealed: OWN('asked') },
    ...facts('late', 'cast.completed'),
    { kind: 'registry.loaded', texts: { manifest: OWN('superseded'), lock: OWN('same') } },
    { kind: 'registry.loaded', texts: { manifest: OWN('in force'), lock: OWN('same') } },
  ];
  await log.commit(0, {
    decide: () => all.map((fact, at) => ({ fact: fact as unknown as Fact, by: 'test', at: at * 1000 })),
  });
  await log.close();
  evidence = new SqliteEvidence(join(root, 'log.sqlite'));
});

afterAll(async () => {
  await evidence.close();
  rmSync(root, { recursive: true, force: true });
});

const BEFORE_LATE = new Date(22_000).toISOString();

test.each<[string, Partial<ErasureRequest>, string[], number]>([
  ['nothing', {}, [], 0],
  ['a registry that is in force', { digests: [textDigest(OWN('in force'))] }, [], 1],
  ['one that was superseded, and what it has in common', { digests: [textDigest(OWN('same'))] }, [], 1],
  ['what is old and completed', { before: BEFORE_LATE }, ['done'], 0],
  ['what is old and over', { before: BEFORE_LATE, stopped: true }, ['done', 'failed', 'aborted'], 0],
  ['what is over', { before: '9', stopped: true }, ['done', 'failed', 'aborted', 'late'], 0],
  [
    'a text, wherever it is, but not where a cast is not over',
    { digests: [textDigest(SHARED)] },
    ['done', 'failed', 'aborted', 'late'],
    3,
  ],
  ['a text of a cast that is not over', { digests: [textDigest(OWN('open'))] }, [], 1],
  ['a text of tasks by hand that are all over', { digests: [textDigest(OWN('run'))] }, [], 0],
  ['a foreign handoff', { digests: [textDigest(OWN('handoff'))] }, [], 0],
  ['what the workspace knows', { digests: [textDigest(OWN('known'))] }, [], 1],
  ['what waits for a person', { digests: [textDigest(OWN('asked'))] }, [], 1],
])('%s', async (_, wish, casts, kept) => {
  const plan = await planErasures(evidence, { before: null, stopped: false, digests: [], ...wish });
  expect([plan.casts, plan.kept]).toEqual([casts, kept]);
});

test.each([
  ['tasks by hand that are all over', 'run', 1],
  ['a foreign handoff', 'handoff', 1],
  ['what the workspace knows', 'known', 0],
  ['what waits for a person', 'asked', 0],
  ['nothing', 'nowhere', 0],
])('a named text of %s', async (_, text, erased) => {
  const digest = textDigest(OWN(text));
  const { erasures, untouched } = await planErasures(evidence, { before: null, stopped: false, digests: [digest] });
  expect(erasures.map((each) => each.digest)).toEqual(erased ? [digest] : []);
  expect(untouched.map((each) => each.digest)).toEqual(erased ? [] : [digest]);
});

test('by age a foreign handoff goes, and tasks by hand stay', async () => {
  const { erasures } = await planErasures(evidence, { before: BEFORE_LATE, stopped: false, digests: [] });
  const digests = erasures.map(({ digest }) => digest);
  expect([digests.includes(textDigest(OWN('handoff'))), digests.includes(textDigest(OWN('run')))]).toEqual([
    true,
    false,
  ]);
  const early = await planErasures(evidence, { before: new Date(17_000).toISOString(), stopped: false, digests: [] });
  expect(early.erasures.map(({ digest }) => digest)).not.toContain(textDigest(OWN('handoff')));
});

test('a text that several casts share is named once, with the entries it goes from', async () => {
  const { erasures } = await planErasures(evidence, { before: BEFORE_LATE, stopped: true, digests: [] });
  expect(erasures.find(({ digest }) => digest === textDigest(SHARED))).toEqual({
    digest: textDigest(SHARED),
    from: [1, 4, 7],
    bytes: 900,
  });
  expect(erasures).toHaveLength(5);
});
