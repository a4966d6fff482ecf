// The storage under stress: copies of logs on a read-only medium, and logs that are deleted at random moments of a cast.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const BATON = join(CHECKOUT, 'bin/baton');
const READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"';
const LOOKS = [['casts', '--json'], ['status', '--json'], ['show', 'latest'], ['log'], ['audit', 'verify']];
const CAST = ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'x'];
const TURNS = 12;

function project(): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-soak-'));
  const sockets = Object.fromEntries(
    Array.from({ length: TURNS }, (_, index) => {
      const next = index + 1 < TURNS ? { edges: [{ when: 'always', to: `Socket-${index + 2}` }] } : {};
      return [`Socket-${index + 1}`, { materia: 'a', parse: 'text', ...next }];
    }),
  );
  const config = {
    materia: { a: { tools: 'none', prompt: 'Do it.' } },
    loadouts: { L: { entry: 'Socket-1', sockets } },
  };
  mkdirSync(join(dir, '.baton'));
  writeFileSync(join(dir, 'cast.json'), JSON.stringify(config));
  const turn = { $turn: { output: 'done', delayMs: 60 } };
  writeFileSync(join(dir, 'agents.json'), JSON.stringify({ a: [turn, '$repeat'] }));
  return dir;
}

function environment(dir: string): NodeJS.ProcessEnv {
  return { ...process.env, BATON_CONFIG: join(dir, 'user'), BATON_CHECKPOINTS: join(dir, 'outside') };
}

/** Answers what went wrong: empty where every look at every copy, and both verifiers, said what they say of the original. */
export function readOnlyCopies(count: number): readonly string[] {
  const faults: string[] = [];
  const dir = project();
  try {
    const env = environment(dir);
    for (let round = 1; round <= count; round++) {
      spawnSync(BATON, CAST, { cwd: dir, env });
      const copy = `${dir}-copy`;
      cpSync(dir, copy, { recursive: true });
      const verifier = [process.execPath, join(CHECKOUT, 'verifier/verify.mjs'), '--log', '.baton/state/log.sqlite'];
      for (const command of [...LOOKS.map((look) => [BATON, ...look]), verifier]) {
        const there = spawnSync('unshare', ['-m', 'sh', '-c', READ_ONLY, copy, ...command], { env, encoding: 'utf8' });
        const [program = '', ...args] = command;
        const here = spawnSync(program, args, { cwd: copy, env, encoding: 'utf8' });
        const isSame = there.status === 0 && here.status === 0 && there.stdout === here.stdout;
        if (!isSame)
          faults.push(`copy ${round}: ${command.join(' ')}: exit ${there.status} ${there.stderr}${there.stdout}`);
      }
      rmSync(copy, { recursive: true, force: true });
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return faults;
}

export type Deletes = { readonly noticed: number; readonly late: number; readonly faults: readonly string[] };

/** `late` are casts that were over before their log was deleted. */
export async function deletedLogs(count: number, seed: number): Promise<Deletes> {
  let [noticed, late, state] = [0, 0, seed];
  const faults: string[] = [];
  for (let round = 1; round <= count; round++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const dir = project();
    try {
      const child = spawn(BATON, CAST, { cwd: dir, env: environment(dir) });
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
      const log = join(dir, '.baton/state/log.sqlite');
      for (const deadline = Date.now() + 30_000; !said.includes('Socket-1') && Date.now() < deadline; ) await sleep(10);
      await sleep(state % 900);
      const isOver = child.exitCode !== null;
      for (const name of ['', '-wal', '-shm']) rmSync(`${log}${name}`, { force: true });
      const before = accepted(said);
      const code = await ended;
      // What was on its way to the screen may still be told; no further turn may be.
      if (isOver || code === 0) late += 1;
      else if (code === 3 && said.includes('deleted or replaced') && accepted(said) <= before + 1) noticed += 1;
      else
        faults.push(
          `round ${round} (seed ${seed}): exit ${code}, ${accepted(said) - before} accepted after: ${said.slice(-300)}`,
        );
      if (!isOver && code !== 0 && existsSync(log))
        faults.push(`round ${round}: the log is back: ${readFileSync(log).length} bytes`);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }
  return { noticed, late, faults };
}

function accepted(said: string): number {
  return said.split('accepted Socket-').length - 1;
}
