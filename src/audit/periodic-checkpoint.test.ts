import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PeriodicCheckpoint } from './make-checkpoint.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What happens, in order: a fact is seen, a minute goes by, or what is being signed is done. */
type Step = number | 'minute' | 'done';

/** How often it was signed by then. */
async function signedAfter(steps: readonly Step[]): Promise<number> {
  let count = 0;
  let done: () => void = () => undefined;
  const periodic = new PeriodicCheckpoint({ minutes: 1, facts: 3 }, () => {
    count += 1;
    return new Promise<void>((resolve) => {
      done = resolve;
    });
  });
  for (const step of steps) {
    if (step === 'minute') await vi.advanceTimersByTimeAsync(60_000);
    else if (step === 'done') {
      done();
      await vi.advanceTimersByTimeAsync(0);
    } else periodic.saw(step);
  }
  done();
  await periodic.stop();
  return count;
}

test.each<[string, readonly Step[], number]>([
  ['nothing was appended', ['minute', 'minute'], 0],
  ['too few facts, too little time', [5, 6], 0],
  ['a fact, and a minute', [5, 'minute'], 1],
  ['no further fact, and another minute', [5, 'minute', 'done', 'minute'], 1],
  ['a further one', [5, 'minute', 'done', 6, 'minute'], 2],
  ['three facts of this log, whoever appended them', [5, 7], 1],
  ['three more', [5, 7, 'done', 8, 9, 10], 2],
  ['three more while it is being signed', [5, 7, 8, 9, 10], 1],
  ['and one after that', [5, 7, 8, 9, 10, 'done', 11], 2],
])('%s', async (_what, steps, count) => {
  expect(await signedAfter(steps)).toBe(count);
});

test('the process is not kept alive by it, and its end waits for what is being signed', async () => {
  vi.useRealTimers();
  const timers = () => process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length;
  const before = timers();
  let isSigned = false;
  const periodic = new PeriodicCheckpoint({ minutes: 1e9, facts: 1 }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    isSigned = true;
  });
  expect(timers()).toBe(before);
  periodic.saw(1);
  await periodic.stop();
  expect(isSigned).toBe(true);
});
