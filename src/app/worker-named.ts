// The process that works on a task, by its number.
import { driverWith } from '../engine/driver.ts';
import type { BeatProcess } from '../kernel/ledger/beat.ts';
import { UsageError } from '../workspace/usage-error.ts';

export function workerNamed(pid: number | undefined): BeatProcess | undefined {
  if (pid === undefined) return undefined;
  const worker = driverWith(pid);
  if (worker === null) throw new UsageError(`there is no process ${pid}; --pid names the one that works on the task`);
  return worker;
}
