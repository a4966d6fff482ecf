// The program of the thread that makes one checkpoint: reading, hashing and syncing happen here, and whoever drives a cast
// goes on meanwhile.
import { parentPort, workerData } from 'node:worker_threads';
import { SqliteLog } from '../log/sqlite/log.ts';
import type { Place } from './checkpoint-files.ts';
import { makeCheckpoint } from './make-checkpoint.ts';

export type Order = { readonly place: Place; readonly logFile: string; readonly env: Readonly<Record<string, string>> };

const { place, logFile, env } = workerData as Order;
const log = new SqliteLog(logFile);
parentPort?.postMessage(await makeCheckpoint(place, log, env));
await log.close();
