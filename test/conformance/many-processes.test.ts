// One log file, many processes: nobody forks the chain, nobody's facts are lost, and a kill takes nothing back.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Entry } from '../../src/kernel/fact.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';
import { logFileIn } from '../../src/log/sqlite/open.ts';
import { faultsOf } from './chain.ts';
import { type Program, startProgram } from './program.ts';

const WRITER = fileURLToPath(new URL('./writer.ts', import.meta.url));
const LIMIT_MS = 120_000;

let folder = '';
let file = '';
const programs: Program[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-many-'));
  file = logFileIn(folder);
});

afterEach(async () => {
  for (const program of programs.splice(0)) await program.kill();
  rmSync(folder, { recursive: true, force: true });
});

function start(...args: string[]): Program {
  const program = startProgram(WRITER, [file, ...args]);
  programs.push(program);
  return program;
}

async function contents(): Promise<{ faults: string[]; entries: readonly Entry[]; lines: number }> {
  const log = new SqliteLog(file);
  const lines = await log.lines(0, 1_000_000);
  const entries = await log.read({ after: 0 });
  await log.close();
  return { faults: faultsOf(lines), entries, lines: lines.length };
}

/** The numbers a writer wrote, in the order of the log. */
function numbersOf(entries: readonly Entry[], name: string): number[] {
  return entries
    .filter(({ by }) => by === name)
    .map(({ fact }) => Number.parseInt('reason' in fact ? fact.reason : '', 10));
}

function oneTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

test.each([
  [2, 120],
  [4, 60],
])('%i processes that append at once share one chain', { timeout: LIMIT_MS }, async (processes, each) => {
  const names = oneTo(processes).map((n) => `writer-${n}`);
  const writers = names.map((name) => start('append', name, String(each), String(processes)));
  await Promise.all(writers.map((writer) => writer.hears('ready')));
  for (const writer of writers) writer.tell('go');
  for (const writer of writers) expect([await writer.ended, writer.complaints()]).toEqual([0, '']);
  const { faults, entries } = await contents();
  expect(faults).toEqual([]);
  expect(entries).toHaveLength(processes * each);
  for (const name of names) expect(numbersOf(entries, name)).toEqual(oneTo(each));
});

test('a process that watches hears of what another one appends', { timeout: LIMIT_MS }, async () => {
  const watcher = start('watch');
  await watcher.hears('ready');
  const writer = start('append', 'writer', '1');
  await writer.hears('ready');
  expect(watcher.said).toEqual(['ready']);
  writer.tell('go');
  await watcher.hears('changed');
});

test('a kill in the middle of commits loses nothing that was answered, and needs no repair', {
  timeout: LIMIT_MS,
}, async () => {
  const bystander = start('append', 'bystander', '400');
  await bystander.hears('ready');
  bystander.tell('go');
  const answered = new Map<string, number>();
  for (const round of oneTo(4)) {
    const victim = start('append', `victim-${round}`, '1000000');
    await victim.hears('ready');
    victim.tell('go');
    await victim.hears(1 + 20 * round);
    await victim.kill();
    answered.set(`victim-${round}`, victim.said.length - 1);
    expect((await contents()).faults).toEqual([]);
  }
  expect([await bystander.ended, bystander.complaints()]).toEqual([0, '']);
  const { faults, entries } = await contents();
  expect(faults).toEqual([]);
  expect(numbersOf(entries, 'bystander')).toEqual(oneTo(400));
  for (const [name, said] of answered) {
    const written = numbersOf(entries, name);
    expect(written).toEqual(oneTo(written.length));
    expect(written.length).toBeGreaterThanOrEqual(said);
    // At most the one commit it was killed in was not answered.
    expect(written.length).toBeLessThanOrEqual(said + 1);
  }
});
