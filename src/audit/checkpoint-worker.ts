// The program of the thread that makes one checkpoint. Reading, hashing and syncing happen here, so the driver of a cast is not
// delayed.
import { parentPort, workerData } from 'node:worker_threads';
import { SqliteLog } from '../log/sqlite/log.ts';
import { type CheckpointJob, makeCheckpoint } from './make-checkpoint.ts';

const { place, logFile, env } = workerData as CheckpointJob;
const log = SqliteLog.open(logFile);
parentPort?.postMessage(await makeCheckpoint(place, log, env));
await log.close();
