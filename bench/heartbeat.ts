// What a heartbeat costs in a workspace with a million facts: the whole command, against bare Node, in turns.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packet } from '../src/kernel/ledger/fixtures/book.ts';
import { logFileIn } from '../src/log/sqlite/open.ts';
import { makeLongLog } from './long-log.ts';
import { median, type Row } from './row.ts';

const BATON = fileURLToPath(new URL('../bin/baton', import.meta.url));
const FACTS = Number(process.env.BENCH_FACTS ?? 1_000_000);
const RUNS = 15;
const LIMIT = 3;

export async function heartbeatTimes(): Promise<Row[]> {
  const long = await workspaceOf(FACTS);
  const short = await workspaceOf(0);
  const beat = ['heartbeat', 'T-1', '--owner', 'ann', '--fence', '1'];
  const time = (file: string, args: readonly string[], cwd: string) => {
    const began = performance.now();
    execFileSync(file, args, { cwd, stdio: 'ignore', input: '' });
    return performance.now() - began;
  };
  const times: [number[], number[], number[]] = [[], [], []];
  for (let run = 0; run <= RUNS; run++) {
    const round = [time(process.execPath, ['-e', '0'], short), time(BATON, beat, short), time(BATON, beat, long)];
    if (run > 0) for (const [index, list] of times.entries()) list.push(round[index] ?? 0);
  }
  const [bare, few, many] = times.map(median) as [number, number, number];
  const shown = (ms: number) => `${ms.toFixed(0)} ms, ${(ms / bare).toFixed(2)}×`;
  return [
    { what: 'bare Node (`node -e 0`)', value: `${bare.toFixed(0)} ms` },
    { what: '`baton heartbeat`, a handful of facts', value: shown(few) },
    {
      what: `\`baton heartbeat\`, ${FACTS.toLocaleString('en')} facts`,
      value: shown(many),
      target: `≤ ${LIMIT}×`,
      met: many / bare <= LIMIT,
    },
  ];
}

/** A workspace in which T-1 is claimed after so many facts. It is made once and kept for the next time. */
async function workspaceOf(facts: number): Promise<string> {
  const dir = join(tmpdir(), `baton-bench-heartbeat-${facts}`);
  if (existsSync(dir)) return dir;
  const making = `${dir}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(join(making, '.baton'), { recursive: true });
  writeFileSync(join(making, 'packet.json'), JSON.stringify(packet('T-1')));
  await makeLongLog(logFileIn(join(making, '.baton', 'state')), facts);
  const baton = (...args: string[]) => execFileSync(BATON, args, { cwd: making, stdio: 'ignore' });
  baton('task', 'create', 'packet.json');
  baton('task', 'claim', 'T-1', '--owner', 'ann');
  renameSync(making, dir);
  return dir;
}
