// Kills the program at seeded random moments of a cast and lets `baton resume` carry on. The disturbed run must end
// exactly as the quiet one: same path, same data, same number of accepted handoffs, none lost and none twice.
import { type ChildProcess, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { layOut } from './workflow.ts';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));

export type Outcome = {
  readonly path: unknown;
  readonly data: unknown;
  readonly accepted: number;
  readonly usage: unknown;
  readonly stamps: string;
};
export type Quiet = { readonly outcome: Outcome; readonly ms: number };

/** The undisturbed run, and how long it takes on this machine. */
export async function quietRun(): Promise<Quiet> {
  const dir = newWorkspace();
  const began = performance.now();
  const outcome = await finish(dir, castArgs(dir));
  const ms = performance.now() - began;
  rmSync(dir, { recursive: true, force: true });
  return { outcome, ms };
}

/** One disturbed run: one to three kills, of the program alone or with everything it started. */
export async function disturbedRun(
  seed: number,
  { ms }: Quiet,
): Promise<{ outcome: Outcome; kills: number; facts: readonly { kind: string }[] }> {
  const random = generator(seed);
  const dir = newWorkspace();
  let kills = 0;
  let args = castArgs(dir);
  const wanted = 1 + Math.floor(random() * 3);
  while (kills < wanted) {
    const child = start(dir, args);
    const survived = await killAfter(child, random() * ms, random() < 0.3);
    if (survived) {
      args = ['-C', dir, 'show', 'latest', '--json'];
      break;
    }
    kills++;
    if (await hasCast(dir)) args = ['-C', dir, 'resume', '--json'];
  }
  const outcome = await finish(
    dir,
    args[2] === 'cast' || (await isOpen(dir)) ? args : ['-C', dir, 'show', 'latest', '--json'],
  );
  const facts = JSON.parse(await run(dir, ['-C', dir, 'log', '--after', '0', '--json'])) as { kind: string }[];
  rmSync(dir, { recursive: true, force: true });
  return { outcome, kills, facts };
}

function newWorkspace(): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-kill-'));
  layOut(dir);
  return dir;
}

function castArgs(dir: string): string[] {
  return ['-C', dir, 'cast', '--json', '--agents', join(dir, 'agents.json'), 'make twelve parts'];
}

/** A process group of its own, so that everything it starts in that group can be killed with it. */
function start(dir: string, args: readonly string[]): ChildProcess {
  return spawn(BATON, args, { cwd: dir, detached: true, stdio: 'ignore' });
}

async function killAfter(child: ChildProcess, ms: number, andSupervisors: boolean): Promise<boolean> {
  const ended = new Promise<boolean>((resolve) => child.on('exit', (_code, signal) => resolve(signal !== 'SIGKILL')));
  const timer = setTimeout(() => {
    child.kill('SIGKILL');
    if (andSupervisors) killSupervisors(child.spawnargs);
  }, ms);
  const survived = await ended;
  clearTimeout(timer);
  return survived;
}

/** As if the machine had gone down: the supervisors of this workspace die with the program. */
function killSupervisors(args: readonly string[]): void {
  const dir = args[args.indexOf('-C') + 1] ?? '';
  for (const pid of processesOf(dir)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself in the meantime.
    }
  }
}

function processesOf(dir: string): number[] {
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${dir}/.baton/state/attempts/`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function hasCast(dir: string): Promise<boolean> {
  return JSON.parse(await run(dir, ['-C', dir, 'casts', '--json'])).length > 0;
}

async function isOpen(dir: string): Promise<boolean> {
  return JSON.parse(await run(dir, ['-C', dir, 'casts', '--json']))[0]?.status === 'running';
}

async function finish(dir: string, args: readonly string[]): Promise<Outcome> {
  const { status, path, data, accepted, usage, reason } = JSON.parse(await run(dir, args));
  if (status !== 'completed') throw new Error(`${args.slice(2).join(' ')} ended ${status}: ${reason}`);
  const names = fs.readdirSync(dir).filter((name) => name.endsWith('.stamp'));
  const stamps = names
    .sort()
    .map((name) => readFileSync(join(dir, name), 'utf8'))
    .join('');
  return { path, data, accepted, usage, stamps };
}

function run(dir: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(BATON, args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (err += chunk));
    child.on('close', (code) =>
      out === '' ? reject(new Error(`${args.slice(2).join(' ')}: exit ${code}: ${err}`)) : resolve(out),
    );
  });
}

/** mulberry32: small, seeded, good enough to choose moments. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
