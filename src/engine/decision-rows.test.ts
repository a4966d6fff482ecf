// Ids that may be used once, at the decider: across commits, within one batch, and between two processes.
import { expect, test } from 'vitest';
import { seat } from '../../test/conformance/seat.ts';
import type { Request } from '../kernel/input.ts';
import { allow, deny } from '../kernel/verdict.ts';

const ID = '550e8400-e29b-41d4-a716-446655440000';

const handoff = (handoffId: string, stage = Number.POSITIVE_INFINITY): Request => {
  const refused = deny('SCHEMA_MISSING', 'no', { stage });
  const isRefused = Number.isFinite(stage);
  return {
    kind: 'handoff.judge',
    handoff: handoffId,
    source: 'a',
    target: 'b',
    claimed: { source: null, target: null },
    parent: null,
    verdict: isRefused ? refused : allow('accepted'),
    otherwise: { replay: deny('REPLAY', 'no'), source: deny('QUARANTINED', 'no'), target: deny('QUARANTINED', 'no') },
    refusal: isRefused ? { stage, verdict: refused, blocks: null } : null,
    registry: null,
    envelopeDigest: null,
    requestDigest: null,
    envelope: '{}',
  };
};

test('of any number of copies exactly one is judged: in one batch, and later', async () => {
  const { submit, memory } = await seat();
  const answers = await Promise.all([handoff(ID), handoff(ID.toUpperCase()), handoff(ID)].map(submit));
  expect(answers.map(({ verdict }) => verdict.code)).toEqual(['OK', 'REPLAY', 'REPLAY']);
  expect(answers[1]?.verdict.details.prior).toEqual({ seq: answers[0]?.entries[0]?.seq });
  expect((await submit(handoff(ID))).verdict.code).toBe('REPLAY');
  const entries = await memory.read({ after: 0, kindPrefix: 'handoff.' });
  expect(entries.map(({ once }) => once ?? null)).toEqual([[`handoff:${ID}`], null, null, null]);
});

test('another process that was faster has used the id', async () => {
  const one = await seat();
  const other = await seat({ memory: one.memory });
  one.log.beforeCommit(() => other.submit(handoff(ID)));
  expect((await one.submit(handoff(ID))).verdict.code).toBe('REPLAY');
});

test('a restart forgets no id', async () => {
  const { memory, submit } = await seat();
  await submit(handoff(ID));
  const later = await seat({ memory });
  expect((await later.submit(handoff(ID))).verdict.code).toBe('REPLAY');
});

test('what failed the schema may be corrected under the same id', async () => {
  const { submit } = await seat();
  const codes = [];
  for (const request of [handoff(ID, 4), handoff(ID), handoff(ID)]) codes.push((await submit(request)).verdict.code);
  expect(codes).toEqual(['SCHEMA_MISSING', 'OK', 'REPLAY']);
});

test('content is noted by the first handoff that is accepted with it: in one batch, and after a restart', async () => {
  const { submit, memory } = await seat();
  const ids = [1, 2, 3, 4].map((n) => ID.replace('550e8400', `550e840${n}`));
  const same = (id = '', stage?: number): Request => Object.assign(handoff(id, stage), { contentDigest: 'c' });
  expect((await submit(same(ids[0], 8))).verdict.code).toBe('SCHEMA_MISSING');
  const answers = await Promise.all([same(ids[1]), same(ids[2])].map(submit));
  const later = await (await seat({ memory })).submit(same(ids[3]));
  const first = answers[0]?.entries[0]?.seq;
  expect([...answers, later].map(({ verdict }) => [verdict.code, verdict.details.duplicate_of ?? null])).toEqual([
    ['OK', null],
    ['OK', { seq: first }],
    ['OK', { seq: first }],
  ]);
});
