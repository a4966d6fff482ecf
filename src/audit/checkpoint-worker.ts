// The program of the thread that makes one checkpoint. Reading, hashing and syncing happen here, so the driver of a cast is not
// delayed.
import { parentPort, workerData } from 'node:worker_threads';
import { SqliteLog } from '../log/sqlite/log.ts';
import type { CheckpointPlace } from './checkpoints.ts';
import { makeCheckpoint } from './make-checkpoint.ts';

export type CheckpointJob = {
  readonly place: CheckpointPlace;
  readonly logFile: string;
  readonly env: Readonly<Record<string, string>>;
};

const { place, logFile, env } = workerData as CheckpointJob;
const log = new SqliteLog(logFile);
parentPort?.postMessage(await makeCheckpoint(place, log, env));
await log.close();
