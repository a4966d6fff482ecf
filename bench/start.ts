// How long a short command takes to start, against bare Node, in turns. It runs in a workspace as `init` makes it, with a
// registry, in which one cast has ended.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KINDS } from '../src/kernel/capabilities.ts';
import { median, type Row } from './row.ts';

const BATON = fileURLToPath(new URL('../bin/baton', import.meta.url));
const TEAM = fileURLToPath(new URL('../src/bundled/config.json', import.meta.url));
const AGENTS = fileURLToPath(new URL('../src/bundled/demo-agents.json', import.meta.url));
const RUNS = 15;

const COMMANDS: readonly (readonly string[])[] = [
  ...[['check'], ['casts'], ['status'], ['show', 'latest'], ['why', 'latest'], ['log'], ['approvals']],
  ...[
    ['task', 'list'],
    ['lock', 'list'],
    ['hook', 'PreToolUse'],
  ],
  ...KINDS.map((kind) => ['validate', kind, ...(kind.startsWith('governed/') ? ['--registry', '.baton'] : [])]),
];

/** A write, for the hook; any payload does for the others. */
const INPUT = '{"session_id":"s","tool_name":"Write","tool_input":{"file_path":"a.txt"}}';

export function startTimes(): Row[] {
  const cwd = mkdtempSync(join(tmpdir(), 'baton-bench-'));
  execFileSync(BATON, ['init'], { cwd, stdio: 'ignore' });
  // The script speaks for the team that ships.
  execFileSync(BATON, ['cast', '--file', TEAM, '--agents', AGENTS, 'Greet'], { cwd, stdio: 'ignore' });
  const time = (file: string, args: readonly string[]) => {
    const began = performance.now();
    // A payload that is refused is answered too.
    const { status } = spawnSync(file, args, { cwd, stdio: ['pipe', 'ignore', 'ignore'], input: INPUT });
    if (status !== 0 && status !== 1) throw new Error(`${args.join(' ')} ended with ${status}`);
    return performance.now() - began;
  };
  // Bare Node is timed beside every command, so that a busy moment of the machine is a busy moment for both.
  const pairs = COMMANDS.map(() => [] as { bare: number; own: number }[]);
  for (let run = 0; run <= RUNS; run++) {
    for (const [index, args] of COMMANDS.entries()) {
      const pair = { bare: time(process.execPath, ['-e', '0']), own: time(BATON, args) };
      if (run > 0) pairs[index]?.push(pair); // The first run fills the caches.
    }
  }
  const base = median(pairs.flat().map(({ bare }) => bare));
  return [
    { what: 'bare Node (`node -e 0`)', value: `${base.toFixed(0)} ms` },
    ...COMMANDS.map((args, index): Row => {
      const own = median((pairs[index] ?? []).map((pair) => pair.own));
      const ratio = own / median((pairs[index] ?? []).map(({ bare }) => bare));
      return {
        what: `\`baton ${args.join(' ')}\``,
        value: `${own.toFixed(0)} ms, ${ratio.toFixed(2)}×`,
        target: '≤ 3×',
        met: ratio <= 3,
      };
    }),
  ];
}
