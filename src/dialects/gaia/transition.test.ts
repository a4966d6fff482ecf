import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../kernel/json.ts';
import { type NOT_STARTED, PLAN_STATUSES, type PlanStatus, SET_TO_WORK } from '../../kernel/report/status.ts';
import { follow, judgeTransitions } from './validate.ts';

const runs = Number(process.env.FUZZ_RUNS ?? 500);
const patient = { timeout: 20_000 + runs * 10 };
const judge = (...reports: Json[]) => judgeTransitions({ reports });

const [P, A, C, B, N] = PLAN_STATUSES;
const MATRIX: [PlanStatus | null, PlanStatus, boolean][] = [
  [null, P, true],
  [null, A, true],
  [null, C, true],
  [null, B, true],
  [null, N, true],
  [P, P, true],
  [P, A, true],
  [P, C, true],
  [P, B, true],
  [P, N, true],
  [A, P, true],
  [A, A, false],
  [A, C, false],
  [A, B, false],
  [A, N, false],
  [C, P, true],
  [C, A, false],
  [C, C, false],
  [C, B, false],
  [C, N, false],
  [B, P, true],
  [B, A, false],
  [B, C, false],
  [B, B, false],
  [B, N, false],
  [N, P, true],
  [N, A, false],
  [N, C, false],
  [N, B, false],
  [N, N, false],
];

test.each(MATRIX)('after %s, %s is legal: %j', (from, to, legal) => {
  const verdict = from === null ? judge(to) : judge(from, to);
  expect(verdict.code).toBe(legal ? 'OK' : 'ILLEGAL_TRANSITION');
});

const STORIES: [string, Json[], string, number][] = [
  ['a first IN_PROGRESS', ['IN_PROGRESS'], 'OK', 1],
  ['a second in a row', ['IN_PROGRESS', 'IN_PROGRESS'], 'OK', 2],
  ['a third in a row', ['IN_PROGRESS', 'IN_PROGRESS', 'IN_PROGRESS'], 'RETRY_LIMIT', 3],
  ['a fourth in a row', Array(4).fill('IN_PROGRESS'), 'RETRY_LIMIT', 3],
  ['COMPLETE after a refused third', [...Array(3).fill('IN_PROGRESS'), 'COMPLETE'], 'OK', 0],
  ['a new cycle', ['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETE', 'IN_PROGRESS'], 'OK', 1],
  ['COMPLETE without the approval', ['APPROVAL_REQUEST', 'COMPLETE'], 'ILLEGAL_TRANSITION', 0],
  ['a refused move is not recorded', ['APPROVAL_REQUEST', 'COMPLETE', 'BLOCKED'], 'ILLEGAL_TRANSITION', 0],
  ['COMPLETE after an answer', ['NEEDS_INPUT', 'IN_PROGRESS', 'COMPLETE'], 'OK', 0],
  ['BLOCKED after COMPLETE', ['COMPLETE', 'BLOCKED'], 'ILLEGAL_TRANSITION', 0],
  ['work again after a refused move', ['COMPLETE', 'BLOCKED', 'IN_PROGRESS'], 'OK', 1],
  ['any letter case and blanks', [' in_progress ', 'complete.'], 'OK', 0],
  ['an unknown first status', ['DONE'], 'ILLEGAL_TRANSITION', 0],
  ['a known one after an unknown first', ['DONE', 'BLOCKED'], 'OK', 0],
  ['an unknown status at work', ['IN_PROGRESS', 'DONE'], 'ILLEGAL_TRANSITION', 1],
  ['no status at all', ['IN_PROGRESS', null], 'ILLEGAL_TRANSITION', 1],
  ['no report', [], 'CONTRACT_VIOLATION', 0],
];

test.each(STORIES)('%s', (_name, reports, code, count) => {
  const verdict = judge(...reports);
  expect([verdict.code, verdict.details.in_progress_count]).toEqual([code, count]);
});

test('the last IN_PROGRESS that is allowed comes with a warning', () => {
  expect(judge('IN_PROGRESS').details.warning).toBeNull();
  expect(judge('IN_PROGRESS', 'IN_PROGRESS').details.warning).toBe(
    'IN_PROGRESS 2 times in a row: another one will be refused',
  );
});

test('a refusal lists what may follow', () => {
  expect(judge('BLOCKED', 'COMPLETE').details.allowed).toEqual(['IN_PROGRESS']);
  expect(judge('IN_PROGRESS', 'IN_PROGRESS', 'IN_PROGRESS').details.allowed).toEqual([
    'APPROVAL_REQUEST',
    'COMPLETE',
    'BLOCKED',
    'NEEDS_INPUT',
  ]);
});

test('being set to work by the runtime opens every move and counts against no cap', () => {
  const counts = [1, 2].reduce<{ at: typeof NOT_STARTED; seen: Json[] }>(
    ({ at, seen }) => {
      const { verdict, progress } = follow(at, 'IN_PROGRESS');
      return { at: progress, seen: [...seen, verdict.details.in_progress_count ?? null] };
    },
    { at: SET_TO_WORK, seen: [] },
  );
  expect(counts.seen).toEqual([1, 2]);
  expect(follow(SET_TO_WORK, 'COMPLETE').verdict.code).toBe('OK');
});

test('any reports get a well-shaped verdict', patient, () => {
  const report = fc.oneof(fc.constantFrom<Json>(...PLAN_STATUSES), fc.jsonValue() as fc.Arbitrary<Json>);
  fc.assert(
    fc.property(fc.array(report), (reports) => {
      const { code, details } = judgeTransitions({ reports });
      expect(['OK', 'ILLEGAL_TRANSITION', 'RETRY_LIMIT', 'CONTRACT_VIOLATION']).toContain(code);
      expect(details.in_progress_count).toBeTypeOf('number');
      expect(details).toHaveProperty('warning');
    }),
    { numRuns: runs },
  );
});
