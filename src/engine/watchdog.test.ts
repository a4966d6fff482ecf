import { expect, test } from 'vitest';
import { graph } from '../../test/loadouts.ts';
import { play } from '../../test/play.ts';
import { openBook, RUN, START } from '../kernel/ledger/fixtures/book.ts';
import type { Beat, BeatProcess } from '../kernel/ledger/move.ts';
import { findSilent, observeProcess, waitUntilNext } from './heartbeat.ts';
import { thisDriver } from './lease.ts';

const PROCESS: BeatProcess = { host: 'here', pid: 7, startTime: 'then' };
const S = 1000;

function heardAt(at: number, more: Partial<Beat> = {}): ReadonlyMap<number, Beat> {
  return new Map([[1, { run: RUN, task: 'T-1', owner: 'ann', at: START + at, timeoutS: 60, ...more }]]);
}

function atWork() {
  const book = openBook();
  book.create('T-1');
  book.start('T-1');
  return book;
}

test.each<[string, number, number, 'alive' | 'silent' | 'skewed']>([
  ['exactly as old as the limit', 0, 60 * S, 'alive'],
  ['one second older', 0, 61 * S, 'silent'],
  ['heard of since', 30 * S, 61 * S, 'alive'],
  ['parts of a second do not count', 999, 60 * S + 998, 'alive'],
  ['30 s in the future', 30 * S, 0, 'alive'],
  ['31 s in the future', 31 * S, 0, 'skewed'],
])('a heartbeat %s', (_, heard, now, expected) => {
  const look = findSilent(atWork().ledger, heardAt(heard), START + now);
  expect([look.silent.length, look.skewed.length]).toEqual([
    expected === 'silent' ? 1 : 0,
    expected === 'skewed' ? 1 : 0,
  ]);
  if (expected === 'silent') expect(look.silent[0]).toMatchObject({ ageS: 61, timeoutS: 60, fence: 1, why: 'silent' });
});

test('a claim is a sign of life, and a task that nobody works on cannot be silent', () => {
  const book = atWork();
  expect(findSilent(book.ledger, new Map(), START + 60 * S).silent).toEqual([]);
  expect(findSilent(book.ledger, new Map(), START + 61 * S).silent).toHaveLength(1);
  book.move('T-1', 'blocked');
  expect(findSilent(book.ledger, new Map(), START + 61 * S)).toEqual({ silent: [], skewed: [], next: null });
});

test.each<[string, boolean, number, readonly string[]]>([
  ['is gone', true, 1 * S, ['gone it is so']],
  ['runs', false, 1 * S, []],
  ['runs and says nothing', false, 61 * S, ['silent it is so']],
])('an owner whose process %s', (_, isGone, now, expected) => {
  const look = findSilent(atWork().ledger, heardAt(0, { worker: PROCESS }), START + now, new Set(), () => ({
    isGone,
    text: 'it is so',
  }));
  expect(look.silent.map(({ why, observed }) => `${why} ${observed}`)).toEqual(expected);
});

test('it sleeps until somebody can be silent for too long, and never longer than a new claim would need', () => {
  const look = findSilent(atWork().ledger, heardAt(20 * S), START + 20 * S);
  expect(look.next).toBe(START + 81 * S);
  expect(waitUntilNext(look, START + 70 * S)).toBe(11 * S);
  expect(waitUntilNext(look, START + 20 * S)).toBe(31 * S);
  expect(waitUntilNext({ ...look, next: null }, START)).toBe(31 * S);
  expect(waitUntilNext(look, START + 90 * S)).toBe(100);
});

test('a process is seen as it is', () => {
  const own = thisDriver();
  expect(observeProcess(own)).toMatchObject({ isGone: false, text: expect.stringContaining(`process ${own.pid}`) });
  expect(observeProcess({ ...own, startTime: `${own.startTime}0` })).toEqual({
    isGone: true,
    text: `process ${own.pid} is gone`,
  });
  expect(observeProcess({ ...own, host: 'elsewhere', startTime: 'another' }).isGone).toBe(false);
});

test('a cast watches over its own tasks; one that nobody drives is given the time of its tasks', () => {
  const cast = play({ config: graph({ 'Socket-1': { materia: 'Write' } }), agents: { Write: ['x'] }, hold: true });
  const claimed = cast.state.ledger.tasks['c/T-1']?.claimedAt ?? 0;
  const look = (seconds: number, abandoned: readonly string[]) =>
    findSilent(cast.state.ledger, new Map(), claimed + seconds * S, new Set(abandoned)).silent.map(({ task }) => task);
  expect([look(5_000, []), look(1_800, ['c']), look(1_801, ['c'])]).toEqual([[], [], ['T-1']]);
});

test('a process on another machine is not taken for the one that has its number here', () => {
  const { isGone, text } = observeProcess({ host: 'elsewhere', pid: process.pid, startTime: 'x' });
  expect([isGone, text]).toEqual([false, `process ${process.pid} runs on elsewhere and cannot be seen from here`]);
});
