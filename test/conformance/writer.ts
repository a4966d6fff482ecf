// A process of its own that uses a log; the tests start it, several at once, and kill it. It says `ready` when the log is
// open, begins when it is told anything, and says every number once its commit was answered.
//   FILE append NAME COUNT WRITERS   appends; after the first fact it waits until so many writers have begun
//   FILE fill NAME COUNT             appends long texts until it cannot, then says why
//   FILE watch                       says `changed`
//   FILE cast ID TURNS [hold]        drives a scripted cast behind a worker; `hold`: its builder takes for ever
//   FILE open UID                    tries to open and append, as somebody else where a number is given
import { writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { runners } from '../../src/agents/index.ts';
import { Engine } from '../../src/engine/drive.ts';
import { thisDriver } from '../../src/engine/lease.ts';
import { type Append, type Log, StorageError } from '../../src/engine/ports.ts';
import type { Store } from '../../src/engine/store.ts';
import { WorkerStore } from '../../src/engine/worker-store.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';
import { startOf } from './round.ts';

const [file = '', mode = '', name = '', count = '0', writers = '1'] = process.argv.slice(2);

// Written at once, so that a kill right after it does not take the word back.
function say(word: string | number): void {
  writeSync(1, `${word}\n`);
}

function begun(): Promise<unknown> {
  say('ready');
  return new Promise((resolve) => process.stdin.once('data', resolve));
}

function fact(reason: string): Append {
  return { fact: { kind: 'cast.paused', cast: name, reason }, by: name, at: Date.now() };
}

async function allHaveBegun(log: Log): Promise<void> {
  for (;;) {
    const names = new Set((await log.read({ after: 0 })).map(({ by }) => by));
    if (names.size >= Number(writers)) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

function sayFault(error: unknown): void {
  const { message, code } = error as Error & { code?: string };
  say(`${error instanceof StorageError ? 'StorageError' : 'Error'} ${code}: ${message}`);
}

async function runRound(store: Store): Promise<void> {
  await begun();
  const cwd = dirname(file);
  const engine = new Engine({ store, runners, cwd, configDir: cwd, stateDir: cwd });
  const build = writers === 'hold' ? { $turn: { output: 'Built.', delayMs: 3_600_000 } } : 'Built.';
  const start = startOf(name, { turns: Number(count), build });
  await store.lease('takeCast', name, thisDriver());
  await engine.drive(name, async () => void (await store.submit(start, { name: 'test' })));
  const cast = await store.view('cast', name);
  say(`${cast?.status} after ${cast?.turnsAccepted} turns`);
  await store.close();
}

if (mode === 'append') {
  const log = new SqliteLog(file);
  await begun();
  let seen = 0;
  for (let n = 1; n <= Number(count); n++) {
    const entries = await log.commit(seen, { decide: () => [fact(`${n} ${'text '.repeat(n % 80)}`)] });
    seen = entries.at(-1)?.seq ?? seen;
    say(n);
    if (n === 1) await allHaveBegun(log);
  }
  await log.close();
} else if (mode === 'fill') {
  const log = new SqliteLog(file);
  await begun();
  try {
    for (let n = 1; n <= Number(count); n++) {
      await log.commit(0, { decide: () => [fact(`${n} ${'text '.repeat(1000)}`)] });
      say(n);
    }
  } catch (error) {
    sayFault(error);
  }
  say(`readable: ${(await log.read({ after: 0 })).length}`);
} else if (mode === 'open') {
  if (name !== '') process.seteuid?.(Number(name));
  try {
    const log = new SqliteLog(file);
    await log.commit(0, { decide: () => [fact('x')] });
    say('opened');
    await log.close();
  } catch (error) {
    sayFault(error);
  }
} else if (mode === 'watch') {
  const log = new SqliteLog(file);
  log.watch(() => say('changed'));
  await begun();
  await log.close();
} else if (mode === 'cast') {
  await WorkerStore.open(file).then(runRound, sayFault);
}
process.stdin.destroy();
