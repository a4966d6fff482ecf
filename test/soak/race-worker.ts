// One of the processes that race for paths: it lives long, claims, writes real files, finishes and gives signs of life as
// it is told to, and answers what it was told.
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dialects } from '../../src/dialects/index.ts';
import { Decider } from '../../src/engine/decider.ts';
import { beat } from '../../src/engine/heartbeat.ts';
import { LocalStore } from '../../src/engine/local-store.ts';
import type { Request } from '../../src/kernel/input.ts';
import { mayWriteNow } from '../../src/kernel/ledger/scope.ts';
import { allow, deny, type Verdict } from '../../src/kernel/verdict.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';

export type Order =
  | { readonly id: number; readonly do: 'submit'; readonly request: Request }
  /** Claims the task; who gets it marks the arena as its own, which must never be somebody's already. */
  | { readonly id: number; readonly do: 'claim'; readonly request: Request }
  | { readonly id: number; readonly do: 'release' }
  | {
      readonly id: number;
      readonly do: 'heartbeat';
      readonly run: string;
      readonly task: string;
      readonly owner: string;
      readonly fence: number;
    }
  | { readonly id: number; readonly do: 'write'; readonly fence: number; readonly path: string };
export type Reply = { readonly id: number; readonly verdict: Verdict };

const [logFile = '', arena = '', name = ''] = process.argv.slice(2);
const log = new SqliteLog(logFile);
const store = new LocalStore(await Decider.open(log, dialects));
const mark = join(arena, 'owner');

process.on('message', (order: Order) => {
  void carryOut(order).then((verdict) => process.send?.({ id: order.id, verdict } satisfies Reply));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ id: 0, verdict: allow('ready') } satisfies Reply);

async function carryOut(order: Order): Promise<Verdict> {
  switch (order.do) {
    case 'submit':
      return store.submit(order.request, { name: name });
    case 'claim':
      return claim(order.request);
    case 'release':
      rmSync(mark, { force: true });
      return allow('released');
    case 'heartbeat': {
      const { run, task, owner, fence } = order;
      if (await beat(log, { run, task, owner, fence, at: Date.now() })) return allow('heard');
      return store.submit({ kind: 'task.heartbeat', run, task, owner, fence }, { name: name });
    }
    case 'write':
      return write(order.fence, order.path);
  }
}

async function claim(request: Request): Promise<Verdict> {
  const verdict = await store.submit(request, { name: name });
  if (!verdict.allow) return verdict;
  try {
    const handle = openSync(mark, 'wx');
    writeSync(handle, name);
    closeSync(handle);
    return verdict;
  } catch {
    return deny('INTERNAL', `${name} was given what somebody else has`);
  }
}

/** Who asks before it writes finds out that it has lost its claim. */
async function write(fence: number, path: string): Promise<Verdict> {
  const verdict = mayWriteNow(await store.view('ledger'), fence, [path]);
  if (!verdict.allow) return verdict;
  const file = join(arena, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, name);
  return verdict;
}
