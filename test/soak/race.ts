// Long-lived processes race for overlapping paths on real files. In every round exactly one of them gets what it wants and
// the others are told who has it; now and then the winner is paused until it has lost its claim, and whatever it sends
// when it wakes up is refused.
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dialects } from '../../src/dialects/index.ts';
import { Decider } from '../../src/engine/decider.ts';
import { LocalStore } from '../../src/engine/local-store.ts';
import type { Request } from '../../src/kernel/input.ts';
import { packet, result } from '../../src/kernel/ledger/fixtures/book.ts';
import type { Verdict } from '../../src/kernel/verdict.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';
import { logFileIn } from '../../src/log/sqlite/open.ts';
import type { Order, Reply } from './race-worker.ts';

const WORKER = fileURLToPath(new URL('./race-worker.ts', import.meta.url));
const RACERS = 8;
/** Every so many rounds the winner becomes a zombie. */
const ZOMBIE_EVERY = 10;
/** Each of these overlaps each of the others. */
const SCOPES = ['arena', 'arena/a', 'arena/a/b', './arena//a\\b/c', 'arena', 'arena/a/b/c/d', 'arena/a/', 'arena/a/b'];

export type Raced = {
  readonly rounds: number;
  readonly zombies: number;
  readonly lateRefused: number;
  readonly faults: readonly string[];
};

type Unnumbered<O> = O extends Order ? Omit<O, 'id'> : never;

export async function race(rounds: number): Promise<Raced> {
  const dir = mkdtempSync(join(tmpdir(), 'baton-race-'));
  const state = join(dir, 'state');
  mkdirSync(state);
  const log = new SqliteLog(logFileIn(state));
  const store = new LocalStore(await Decider.open(log, dialects));
  const racers = Array.from({ length: RACERS }, (_, index) => new Racer(logFileIn(state), dir, `racer-${index}`));
  const faults: string[] = [];
  let [zombies, lateRefused] = [0, 0];
  try {
    await Promise.all(racers.map((racer) => racer.ready));
    for (let round = 1; round <= rounds; round++) {
      const found = await oneRound(store, racers, dir, round);
      zombies += found.late.length > 0 ? 1 : 0;
      lateRefused += found.late.filter(({ code }) => code === 'CONCURRENCY_CONFLICT').length;
      for (const fault of found.faults) faults.push(`round ${round}: ${fault}`);
      if (faults.length > 20) break;
    }
  } finally {
    for (const racer of racers) racer.end();
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  }
  return { rounds, zombies, lateRefused, faults };
}

async function oneRound(store: LocalStore, racers: readonly Racer[], dir: string, round: number) {
  const run = randomUUID();
  const faults: string[] = [];
  const ids = racers.map((_, index) => `T-${index}`);
  const submitAll = (requests: readonly Request[]) =>
    Promise.all(requests.map((request) => store.submit(request, { name: 'race' })));
  await submitAll(
    ids.map((id, index) => ({
      kind: 'task.create',
      packet: packet(id, { run, lock_scope: [SCOPES[index] ?? 'arena'] }),
    })),
  );
  const answers = await Promise.all(
    racers.map((racer, index) => racer.ask({ do: 'claim', request: claimOf(run, ids[index] ?? '', racer.name) })),
  );
  const winners = answers.flatMap(({ allow }, index) => (allow ? [index] : []));
  const [won] = winners;
  const winner = racers[won ?? -1];
  if (winners.length !== 1 || won === undefined || !winner) return { faults: [`${winners.length} winners`], late: [] };
  const task = ids[won] ?? '';
  for (const [index, { code, details }] of answers.entries()) {
    const holder = details.holder as { task?: string; owner?: string } | undefined;
    if (index === won || (code === 'LOCK_CONFLICT' && holder?.task === task && holder.owner === winner.name)) continue;
    faults.push(`${racers[index]?.name} was told ${code} ${JSON.stringify(holder)}`);
  }
  const fence = Number(answers[won]?.details.fence);
  const isZombie = round % ZOMBIE_EVERY === 0;
  const heir = isZombie ? racers[(won + 1) % racers.length] : winner;
  const late = heir && isZombie ? await raiseZombie(store, { winner, heir, run, task, fence, dir, faults }) : [];
  if (!isZombie) {
    await expectAllowed(faults, 'a write', winner.ask({ do: 'write', fence, path: 'arena/a/b/c/d/file' }));
    await winner.ask({ do: 'release' });
    await expectAllowed(faults, 'a finish', winner.ask({ do: 'submit', request: finishOf(run, task, fence) }));
    if (readFileSync(join(dir, 'arena/a/b/c/d/file'), 'utf8') !== winner.name)
      faults.push('the file is not the winner’s');
  }
  await submitAll(
    ids
      .filter((id) => id !== task)
      .map((id) => ({ kind: 'task.move', run, task: id, to: 'canceled', reason: 'the round is over' })),
  );
  return { faults, late };
}

type Scene = {
  readonly winner: Racer;
  readonly heir: Racer;
  readonly run: string;
  readonly task: string;
  readonly fence: number;
  readonly dir: string;
  readonly faults: string[];
};

/** The winner sleeps, its task goes to another, and then it goes on as if nothing had happened. */
async function raiseZombie(store: LocalStore, scene: Scene): Promise<readonly Verdict[]> {
  const { winner, heir, run, task, fence, dir, faults } = scene;
  winner.signal('SIGSTOP');
  const late = [
    winner.ask({ do: 'submit', request: finishOf(run, task, fence) }),
    winner.ask({ do: 'heartbeat', run, task, owner: winner.name, fence }),
    winner.ask({ do: 'write', fence, path: 'arena/a/b/c/d/late' }),
  ];
  await expectAllowed(
    faults,
    'an expiry',
    store.submit({ kind: 'task.expire', run, task, lastHeartbeatAt: null, why: 'gone' }, { name: 'race' }),
  );
  rmSync(join(dir, 'owner'), { force: true });
  const again = await heir.ask({ do: 'claim', request: claimOf(run, task, heir.name) });
  if (!again.allow) faults.push(`the heir was refused: ${again.reason}`);
  winner.signal('SIGCONT');
  const verdicts = await Promise.all(late);
  for (const { code } of verdicts) if (code !== 'CONCURRENCY_CONFLICT') faults.push(`a zombie was told ${code}`);
  await heir.ask({ do: 'release' });
  const finish = heir.ask({ do: 'submit', request: finishOf(run, task, Number(again.details.fence)) });
  await expectAllowed(faults, 'the finish of the heir', finish);
  return verdicts;
}

async function expectAllowed(faults: string[], what: string, asked: Promise<Verdict>): Promise<void> {
  const { allow, code, reason } = await asked;
  if (!allow) faults.push(`${what} was refused: ${code} ${reason}`);
}

function claimOf(run: string, task: string, owner: string): Request {
  return { kind: 'task.claim', run, task, owner };
}

function finishOf(run: string, task: string, fence: number): Request {
  return { kind: 'task.finish', run, task, fence, result: { ...result(task, { changes: [] }), run_id: run } };
}

class Racer {
  readonly name: string;
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (verdict: Verdict) => void>();
  #orders = 0;

  constructor(logFile: string, arena: string, name: string) {
    this.name = name;
    const execArgv = ['--disable-warning=ExperimentalWarning'];
    this.#child = fork(WORKER, [logFile, arena, name], { execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.ready = new Promise((resolve) => this.#waiting.set(0, () => resolve()));
    this.#child.on('message', ({ id, verdict }: Reply) => {
      this.#waiting.get(id)?.(verdict);
      this.#waiting.delete(id);
    });
  }

  ask(order: Unnumbered<Order>): Promise<Verdict> {
    const id = ++this.#orders;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.send({ ...order, id });
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}
