// A queue that several processes drive while they are killed at random moments. Every quest must be done once, by one cast, and in
// the order of the queue: the next one starts when the one before is over.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Fact } from '../../src/kernel/fact.ts';
import { generator } from '../crash/kill.ts';
import type { Soaked } from './drivers.ts';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));
const DRIVERS = 3;
const PATIENCE_MS = 900_000;

const CONFIG = {
  activeLoadout: 'Two',
  materia: {
    First: { type: 'agent', tools: 'none', prompt: 'Do {{request}}.' },
    Second: { type: 'agent', tools: 'none', prompt: 'Check it.' },
  },
  loadouts: {
    Two: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'First', edges: [{ when: 'always', to: 'Socket-2' }] },
        'Socket-2': { materia: 'Second' },
      },
    },
  },
};
const slow = (output: string) => [{ $turn: { output, delayMs: 60 } }, '$repeat'];

type Round = { readonly quests: number; readonly kills: number; readonly seed: number };

export async function killedQueue({ quests, kills, seed }: Round): Promise<Soaked> {
  const dir = mkdtempSync(join(tmpdir(), 'baton-quests-'));
  const running = new Set<ChildProcess>();
  try {
    mkdirSync(join(dir, '.baton'));
    writeFileSync(join(dir, '.baton', 'config.json'), JSON.stringify(CONFIG));
    writeFileSync(join(dir, 'agents.json'), JSON.stringify({ First: slow('done'), Second: slow('good') }));
    for (let number = 1; number <= quests; number++)
      await run(dir, ['quest', 'add', `part ${number}`, ...(number % 5 === 0 ? ['--after', String(number - 1)] : [])]);
    const random = generator(seed);
    const deadline = Date.now() + PATIENCE_MS;
    let killed = 0;
    let faults: string[] = [];
    while (await isOpen(dir)) {
      if (Date.now() > deadline) faults = ['the queue was not done in time'];
      if (faults.length > 0) break;
      while (running.size < DRIVERS) drive(dir, running);
      await sleep(200 + random() * 1_200);
      const [victim] = [...running].sort(() => random() - 0.5);
      if (!victim || killed >= kills) continue;
      victim.kill('SIGKILL');
      killed += 1;
    }
    faults.push(...faultsIn(await factsOf(dir), quests));
    return { rounds: 1, faults, said: `${quests} quests, ${DRIVERS} processes, ${killed} SIGKILLs, seed ${seed}` };
  } finally {
    for (const child of running) child.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

function drive(dir: string, running: Set<ChildProcess>): void {
  const child = spawn(BATON, ['quest', 'run', '--agents', 'agents.json'], { cwd: dir, stdio: 'ignore' });
  running.add(child);
  child.once('exit', () => running.delete(child));
}

function faultsIn(facts: readonly Fact[], count: number): string[] {
  const faults: string[] = [];
  const wanted = Array.from({ length: count }, (_, index) => `Q-${index + 1}`);
  const seen = facts.flatMap((fact) => {
    if (fact.kind === 'quest.started') return [`${fact.quest} starts`];
    return fact.kind === 'quest.ended' ? [`${fact.quest} ${fact.status}`] : [];
  });
  const expected = wanted.flatMap((quest) => [`${quest} starts`, `${quest} succeeded`]);
  if (seen.join() !== expected.join()) faults.push(`the quests went: ${seen.join(', ')}`);
  const casts = facts.flatMap((fact) => (fact.kind === 'cast.started' ? [fact.quest] : []));
  if (casts.join() !== wanted.join()) faults.push(`the casts were for: ${casts.join(', ')}`);
  const accepted = facts.filter(({ kind }) => kind === 'turn.accepted').length;
  if (accepted !== 2 * count) faults.push(`${accepted} handoffs of ${2 * count} were accepted`);
  return faults;
}

async function isOpen(dir: string): Promise<boolean> {
  const { quests } = JSON.parse(await run(dir, ['quest', 'list', '--json'])) as { readonly quests: readonly unknown[] };
  return quests.length > 0;
}

async function factsOf(dir: string): Promise<readonly Fact[]> {
  const entries = JSON.parse(await run(dir, ['log', '--after', '0', '--json'])) as readonly { fact?: Fact }[];
  return entries.map((entry) => entry.fact ?? (entry as unknown as Fact));
}

function run(dir: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(BATON, args, { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${args.join(' ')} ended with ${code}`)),
    );
  });
}
