// Which casts a server carries on: those that run and that nobody drives, and not for ever.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Workspace } from '../workspace.ts';
import { keepDriven } from './detach.ts';

const ANN = { name: 'user:ann', kind: 'person', role: 'admin', attempt: null } as const;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Casts by their status, and those that somebody drives. */
function kept(statuses: Record<string, string>, driven: readonly string[] = []) {
  const casts = Object.entries(statuses).map(([cast, status]) => ({ cast, status }));
  const drivers = new Set(driven);
  const store = {
    view: async (name: string, cast: string) => (name === 'casts' ? casts : drivers.has(cast) ? {} : null),
  };
  const workspace = { hasLog: () => true, castStore: () => store } as unknown as Workspace;
  const started: string[] = [];
  const living = new Set<string>();
  const drive = (cast: string) => {
    started.push(cast);
    return { file: `${cast}.out`, isRunning: () => living.has(cast) };
  };
  const said: string[] = [];
  const { close } = keepDriven(workspace, ANN, { say: (line) => void said.push(line), lookEveryMs: 1_000, drive });
  const looks = async (count: number) => {
    for (let look = 0; look < count; look += 1) {
      await vi.advanceTimersByTimeAsync(1_000);
      await sleep(0);
    }
  };
  return { started, said, drivers, living, looks, close };
}

test('a cast that runs without a driver is carried on; a cast that is driven or that does not run is left', async () => {
  const { started, looks, close } = kept({ a: 'running', b: 'running', c: 'paused', d: 'waiting' }, ['b']);
  // One that has only just begun may be about to get its driver.
  await looks(1);
  expect(started).toEqual([]);
  await looks(1);
  expect(started).toEqual(['a']);
  close();
  await looks(20);
  expect(started).toEqual(['a']);
});

test('a driver that lives is not started again, and one that keeps dying is left in the end', async () => {
  const { started, said, drivers, living, looks } = kept({ a: 'running' });
  living.add('a');
  await looks(10);
  expect(started).toEqual(['a']);
  living.delete('a');
  await looks(200);
  expect(started).toEqual(['a', 'a', 'a', 'a', 'a']);
  expect(said.at(-1)).toContain('a.out');
  // What was driven well for a while counts as new.
  drivers.add('a');
  await looks(70);
  drivers.delete('a');
  await looks(3);
  expect(started).toHaveLength(6);
});

test('many casts are carried on a few at a time', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `c-${index}`);
  const { started, looks } = kept(Object.fromEntries(names.map((name) => [name, 'running'])));
  await looks(2);
  expect(started).toHaveLength(4);
  await looks(4);
  expect(new Set(started)).toEqual(new Set(names));
});
