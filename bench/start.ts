// How long a short command takes to start, against bare Node, in turns.
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, type Row } from './row.ts';

const BATON = fileURLToPath(new URL('../bin/baton', import.meta.url));
const RUNS = 15;

export function startTimes(commands: readonly (readonly string[])[]): Row[] {
  const cwd = mkdtempSync(join(tmpdir(), 'baton-bench-'));
  execFileSync(BATON, ['init'], { cwd, stdio: 'ignore' });
  const time = (file: string, args: readonly string[]) => {
    const began = performance.now();
    execFileSync(file, args, { cwd, stdio: 'ignore', input: '' });
    return performance.now() - began;
  };
  const bare: number[] = [];
  const own = commands.map(() => [] as number[]);
  for (let run = 0; run <= RUNS; run++) {
    const times = [time(process.execPath, ['-e', '0']), ...commands.map((args) => time(BATON, args))];
    if (run === 0) continue; // The first run fills the caches.
    bare.push(times[0] ?? 0);
    for (const [index, list] of own.entries()) list.push(times[index + 1] ?? 0);
  }
  const base = median(bare);
  return [
    { what: 'bare Node (`node -e 0`)', value: `${base.toFixed(0)} ms` },
    ...commands.map((args, index): Row => {
      const ms = median(own[index] ?? []);
      return {
        what: `\`baton ${args.join(' ')}\``,
        value: `${ms.toFixed(0)} ms, ${(ms / base).toFixed(2)}×`,
        target: '≤ 3×',
        met: ms / base <= 3,
      };
    }),
  ];
}
