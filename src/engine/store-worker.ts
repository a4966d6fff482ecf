// The program of the worker thread of a store: it answers the calls of `WorkerStore`.
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { dialects } from '../dialects/index.ts';
import { SqliteLog } from '../log/sqlite/log.ts';
import { findLinksBelow } from '../workspace/find-links.ts';
import { Decider } from './decider.ts';
import { LocalStore } from './local-store.ts';
import { StorageError } from './ports.ts';
import type { WorkerCall, WorkerData, WorkerReply } from './worker-store.ts';

const port = parentPort;
if (!port) throw new Error('this file runs as a worker');

let outbox: WorkerReply[] = [];
const watches = new Map<number, () => void>();
const opening = open(workerData as WorkerData);
// Every call waits for it and reports its failure; the failure itself is no fault of the worker.
opening.catch(() => undefined);

async function open({ logFile, dir }: WorkerData): Promise<LocalStore> {
  const findLinks = dir === null ? undefined : findLinksBelow(dir);
  const log = SqliteLog.open(logFile, { onBlocked: warn });
  return new LocalStore(await Decider.open(log, dialects, { findLinks, isShared: true }));
}

/** This thread waits for the lock and can send no message, so it writes by itself. */
function warn(why: string): void {
  writeSync(2, `${why}\n`);
}

port.on('message', (calls: WorkerCall[]) => {
  for (const call of calls) void answer(call);
});

async function answer(call: WorkerCall): Promise<void> {
  try {
    post({ id: call.id, value: await perform(await opening, call) });
  } catch (error) {
    const { message, stack } = error as Error;
    const code = error instanceof StorageError ? { code: error.code } : {};
    post({ id: call.id, error: { message, ...code, ...(stack ? { stack } : {}) } });
  }
}

function perform(store: LocalStore, { id, method, args }: WorkerCall): unknown {
  switch (method) {
    case 'ready':
      return null;
    case 'watchCast':
      return watchCast(store, id, args as [string, boolean]);
    case 'watch':
      watches.set(
        id,
        store.watch(() => post({ wake: id })),
      );
      return null;
    case 'unwatch':
      watches.get(args[0] as number)?.();
      return watches.delete(args[0] as number);
    default:
      return (store as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[method]?.(...args);
  }
}

async function watchCast(store: LocalStore, id: number, [cast, withEntries]: [string, boolean]): Promise<null> {
  watches.set(id, await store.watchCast(cast, withEntries, (change) => post({ watch: id, change })));
  return null;
}

function post(reply: WorkerReply): void {
  // A batch of inputs is answered in one go; its answers leave in one message.
  if (outbox.length === 0) setImmediate(flush);
  outbox.push(reply);
}

function flush(): void {
  const replies = outbox;
  outbox = [];
  port?.postMessage(replies);
}
