// Durable means on disk: counts how often the kernel of the system was asked to sync while a process committed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { logFileIn } from '../../src/log/sqlite/open.ts';
import { startProgram } from './program.ts';

const WRITER = fileURLToPath(new URL('./writer.ts', import.meta.url));
const LIMIT_MS = 120_000;
const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Why syncs cannot be counted here, or null. */
function obstacle(): string | null {
  if (process.platform !== 'linux') return 'strace is there on Linux only';
  if (works('strace', '-V') || installs()) {
    return works('strace', '-o', '/dev/null', 'true') ? null : 'strace may not trace on this system';
  }
  return 'strace is not installed (apt-get install strace)';
}

/** Where it may be, what is missing is installed, and whoever runs the tests is told. */
function installs(): boolean {
  if (process.getuid?.() !== 0) return false;
  console.warn('strace is missing; it is installed now to count syncs: apt-get install -y strace');
  return works('apt-get', 'install', '-y', 'strace');
}

function works(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: LIMIT_MS });
    return true;
  } catch {
    return false;
  }
}

const why = obstacle();
if (why && process.env.CI === 'true') throw new Error(`syncs cannot be counted: ${why}`);
if (why) console.warn(`syncs are not counted: ${why}`);

/** Runs the writer on a new log. For each of its words after `ready`: the syncs since the word before. */
async function syncsOf(
  mode: string,
  name: string,
  count: number,
): Promise<{ syncs: number[]; said: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-syncs-'));
  folders.push(folder);
  const trace = join(folder, 'trace');
  const wrapper = ['strace', '-f', '-e', 'trace=fsync,fdatasync,write', '-s', '64', '-o', trace];
  const program = startProgram(WRITER, [logFileIn(folder), mode, name, String(count)], wrapper);
  await program.hears('ready');
  program.tell('go');
  expect([await program.ended, program.complaints()]).toEqual([0, '']);
  const [, ...words] = program.said;
  const lines = readFileSync(trace, 'utf8').split('\n');
  const placeOf = (word: string) => lines.findIndex((line) => line.includes(`write(1, "${word}\\n"`));
  let from = placeOf('ready');
  expect(from).toBeGreaterThan(0);
  const syncs = words.map((word) => {
    const to = placeOf(word);
    expect(to).toBeGreaterThan(from);
    const between = lines.slice(from, to).filter((line) => /\bf(data)?sync\(/.test(line));
    from = to;
    return between.length;
  });
  return { syncs, said: program.said };
}

test.skipIf(why !== null)('every commit is synced before it is answered', { timeout: LIMIT_MS }, async () => {
  const { syncs } = await syncsOf('append', 'writer', 25);
  expect(syncs).toHaveLength(25);
  expect(Math.min(...syncs)).toBeGreaterThanOrEqual(1);
});

test.skipIf(why !== null)('a cast syncs at least once for each of its turns', { timeout: LIMIT_MS }, async () => {
  const turns = 12;
  const { syncs, said } = await syncsOf('cast', 'c', turns);
  expect(said).toEqual(['ready', `completed after ${turns} turns`]);
  expect(syncs[0]).toBeGreaterThanOrEqual(turns);
});
