// What must not grow: a turn with the length of its list, a command with the number of casts in the log or of open tasks in
// the ledger. Both ends are measured in one run and in turns, so that they meet the same weather.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dialects } from '../src/dialects/index.ts';
import type { Append } from '../src/engine/ports.ts';
import { decide } from '../src/kernel/decide.ts';
import type { Fact } from '../src/kernel/fact.ts';
import { resolve } from '../src/kernel/graph/resolve.ts';
import type { Request } from '../src/kernel/input.ts';
import type { JsonObject } from '../src/kernel/json.ts';
import { packet, RUN } from '../src/kernel/ledger/fixtures/book.ts';
import { MAIN_ROOT, rivalOf } from '../src/kernel/ledger/lock-tree.ts';
import { mayWriteNow } from '../src/kernel/ledger/scope.ts';
import { PRIORITIES } from '../src/kernel/ledger/state.ts';
import { pending } from '../src/kernel/pending.ts';
import { emptyState, type State } from '../src/kernel/state.ts';
import type { Verdict } from '../src/kernel/verdict.ts';
import { SqliteLog } from '../src/log/sqlite/log.ts';
import { logFileIn } from '../src/log/sqlite/open.ts';
import { scratch } from './casts.ts';
import { floorMicros } from './floor.ts';
import { median, type Row } from './row.ts';

const BATON = fileURLToPath(new URL('../bin/baton', import.meta.url));
const FEW = 20;
const MANY = process.env.QUICK ? 2_000 : 20_000;
const RUNS = 11;
const RATIO_MAX = 1.5;
const COMMIT_EVERY = 20_000;
/** Claims and searches of the commands take tasks away; so many are made beside those that stay. */
const SPARE = 4 * RUNS;

type Ends = readonly [few: number, many: number];

/** A row of both ends. The figure is the median; the ratio that of the pairs. */
function row(what: string, unit: 'µs' | 'ms', pairs: readonly Ends[]): Row {
  const [few, many] = [median(pairs.map(([value]) => value)), median(pairs.map(([, value]) => value))];
  const ratio = median(pairs.map(([small, large]) => large / small));
  const shown = (value: number) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
  const value = `${shown(few)} ${unit} with ${FEW}, ${shown(many)} ${unit} with ${MANY.toLocaleString('en')}: ${ratio.toFixed(2)}×`;
  return { what, value, target: `≤ ${RATIO_MAX}×`, met: ratio <= RATIO_MAX };
}

// A turn of a list.

const ROUND_TURNS = 400;
const CAST_MS_MAX = 12_000;

/** Plan a list, work on each item, and plan again while the budget of the edge lasts. */
export function listConfig(rounds: number): JsonObject {
  return {
    activeLoadout: 'List',
    // The edge back is budgeted, so that nothing else has to end the rounds.
    limits: { maxNoAdvanceCycles: 1_000_000 },
    materia: {
      Plan: { tools: 'none', prompt: 'Plan it.', generator: true },
      Work: { tools: 'none', prompt: 'Do {{item.title}}.' },
      Again: { tools: 'none', prompt: 'Is all done?' },
    },
    loadouts: {
      List: {
        entry: 'Socket-1',
        sockets: {
          'Socket-1': { materia: 'Plan', parse: 'json', edges: [{ when: 'always', to: 'Socket-2' }] },
          'Socket-2': {
            materia: 'Work',
            parse: 'json',
            advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
            edges: [{ when: 'always', to: 'Socket-2' }],
          },
          'Socket-3': {
            materia: 'Again',
            parse: 'json',
            edges: [{ when: 'not_satisfied', to: 'Socket-1', maxTraversals: Math.max(1, rounds - 1) }],
          },
        },
        loops: {
          work: {
            sockets: ['Socket-2'],
            consumes: { from: 'Socket-1', output: 'workItems' },
            exits: [
              { id: 'exit:Socket-2:satisfied', from: 'Socket-2', condition: 'satisfied', targetSocketId: 'Socket-3' },
            ],
          },
        },
      },
    },
  };
}

export function listScript(items: number): JsonObject {
  const workItems = Array.from({ length: items }, (_, index) => ({ title: `Item ${index + 1}`, context: 'as asked' }));
  return {
    Plan: [{ workItems }, '$repeat'],
    Work: [{ satisfied: true, context: 'done as asked' }, '$repeat'],
    Again: [{ satisfied: false }, '$repeat'],
  };
}

/** The rules alone, without disk and threads. */
export function decidedTurns(): Row[] {
  const lists = [FEW, MANY].map(openList);
  const rounds = Array.from({ length: RUNS + 1 }, () => lists.map((list) => list(ROUND_TURNS)) as unknown as Ends);
  return [row('deciding a turn of a list, by its items', 'µs', rounds.slice(1))];
}

/** Answers with a function that plays so many turns on and says how many microseconds each took. */
function openList(items: number): (turns: number) => number {
  const config = listConfig(1_000_000);
  const script = listScript(items) as never;
  const state = emptyState();
  let at = 0;
  let cast = 0;
  const ask = (request: Request) => {
    at += 1;
    return decide(dialects, state, { ...request, at, by: 'bench' } as never);
  };
  const begin = () => {
    cast += 1;
    const rules = resolve(config, 'List');
    ask({ kind: 'cast.start', cast: `c${cast}`, request: 'bench', loadout: 'List', rules, script });
  };
  const step = () => {
    const effect = pending(state.casts[`c${cast}`] as never).find(({ kind }) => kind === 'dispatch');
    if (effect?.kind !== 'dispatch') throw new Error('nothing is owed');
    const { turn, attempt } = effect;
    const { socket } = state.casts[`c${cast}`]?.turns[turn] ?? {};
    const said = (script as JsonObject)[socket === 'Socket-1' ? 'Plan' : socket === 'Socket-2' ? 'Work' : 'Again'];
    const output = JSON.stringify((said as readonly unknown[])[0]);
    ask({ kind: 'attempt.output', cast: `c${cast}`, turn, attempt, output });
    return socket;
  };
  begin();
  step();
  return (turns) => {
    let [spent, done] = [0, 0];
    while (done < turns) {
      const began = performance.now();
      // The turns of the items count; a plan is as large as its list.
      if (step() !== 'Socket-2') continue;
      spent += performance.now() - began;
      done += 1;
    }
    return (spent * 1000) / done;
  };
}

/** The whole command, with its log, its threads and its progress, beside the floor. */
export async function listTurns(): Promise<Row[]> {
  const pairs: Ends[] = [];
  const floors: number[] = [];
  for (let run = 0; run < 3; run++) {
    floors.push(floorMicros(ROUND_TURNS));
    pairs.push([await castMicros(FEW), await castMicros(MANY)]);
  }
  const floor = median(floors);
  const ratio = median(pairs.map(([, many], index) => many / (floors[index] ?? many)));
  return [
    { what: 'two synced SQLite inserts with hashing (the floor)', value: `${floor.toFixed(0)} µs` },
    row('a turn of `baton cast`, by the items of its list', 'µs', pairs),
    {
      what: `a turn of \`baton cast\` with ${MANY.toLocaleString('en')} items ÷ floor`,
      value: ratio.toFixed(2),
      target: '≤ 2',
      met: ratio <= 2,
    },
  ];
}

/** Microseconds per turn of the command, from the times of the facts in its log, without its start and the first plan. */
async function castMicros(items: number): Promise<number> {
  const dir = scratch();
  const rounds = items === FEW ? Math.ceil((5 * ROUND_TURNS) / FEW) : 1;
  mkdirSync(join(dir, '.baton'));
  writeFileSync(join(dir, '.baton', 'config.json'), JSON.stringify(listConfig(rounds)));
  writeFileSync(join(dir, 'agents.json'), JSON.stringify(listScript(items)));
  const args = ['cast', '--agents', 'agents.json', 'Measure'];
  // A few thousand turns tell it; the rest of a long list is not waited for.
  spawnSync(BATON, args, { cwd: dir, stdio: 'ignore', timeout: CAST_MS_MAX, killSignal: 'SIGKILL' });
  const log = new SqliteLog(logFileIn(join(dir, '.baton', 'state')));
  const accepted = await log.read({ after: 0, kindPrefix: 'turn.accepted' });
  await log.close();
  rmSync(dir, { recursive: true, force: true });
  const times = accepted.slice(ROUND_TURNS).map(({ at }) => Date.parse(at));
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  if (times.length < ROUND_TURNS) throw new Error(`the cast of ${items} items ended after ${accepted.length} turns`);
  return ((last - first) * 1000) / (times.length - 1);
}

// The ledger.

type Ledgers = { readonly state: State; ask(request: Request): Verdict; readonly facts: Fact[] };

/** So many tasks in todo, of all priorities; T-1 is claimed under the fence 1. */
function openLedger(tasks: number): Ledgers {
  const state = emptyState();
  const facts: Fact[] = [];
  let at = 0;
  const ask = (request: Request) => {
    at += 1;
    const decision = decide(dialects, state, { ...request, at, by: 'bench' } as never);
    facts.push(...decision.facts);
    return decision.verdict;
  };
  for (let index = 1; index <= tasks; index++) {
    const priority = PRIORITIES[index % PRIORITIES.length] ?? 'normal';
    const lock_scope = [`src/p${index % 100}/${index}.ts`];
    ask({ kind: 'task.create', packet: packet(`T-${index}`, { priority, lock_scope, timeout_seconds: 100_000 }) });
  }
  allowed(ask({ kind: 'task.claim', task: 'T-1', owner: 'ann' }));
  return { state, ask, facts };
}

/** The rules of the ledger alone. */
export function decidedClaims(): Row[] {
  const ledgers = [FEW, MANY].map(openLedger);
  const measured = (once: (ledger: Ledgers) => number) => {
    const round = () =>
      ledgers.map((ledger) => median(Array.from({ length: 50 }, () => once(ledger)))) as unknown as Ends;
    return Array.from({ length: RUNS + 1 }, round).slice(1);
  };
  const timed = (work: () => Verdict) => {
    const began = performance.now();
    const verdict = work();
    const micros = (performance.now() - began) * 1000;
    allowed(verdict);
    return { verdict, micros };
  };
  const giveBack = ({ ask }: Ledgers, task: string) => {
    allowed(ask({ kind: 'task.move', task, to: 'blocked', reason: 'given back' }));
    allowed(ask({ kind: 'task.move', task, to: 'todo', reason: 'again' }));
  };
  const claim = (ledger: Ledgers) => {
    const { micros } = timed(() => ledger.ask({ kind: 'task.claim', task: 'T-9', owner: 'ann' }));
    giveBack(ledger, 'T-9');
    return micros;
  };
  const next = (ledger: Ledgers) => {
    const { verdict, micros } = timed(() => ledger.ask({ kind: 'task.next', owner: 'ann' }));
    giveBack(ledger, String(verdict.details.task));
    return micros;
  };
  const beat = ({ ask }: Ledgers) =>
    timed(() => ask({ kind: 'task.heartbeat', task: 'T-1', owner: 'ann', fence: 1 })).micros;
  const mayWriteThere = ({ state }: Ledgers) => timed(() => mayWriteNow(state.ledger, 1, ['src/p1/1.ts'])).micros;
  const whoIsThere = ({ state: { ledger } }: Ledgers) => {
    const began = performance.now();
    rivalOf(ledger.locks, { root: MAIN_ROOT, path: 'src/p1', mode: 'write', task: '' });
    return (performance.now() - began) * 1000;
  };
  return [
    row('deciding `task claim`, by open tasks', 'µs', measured(claim)),
    row('deciding `task next`, by open tasks', 'µs', measured(next)),
    row('deciding `heartbeat`, by open tasks', 'µs', measured(beat)),
    row('deciding `lock check --fence`, by open tasks', 'µs', measured(mayWriteThere)),
    row('finding a lock in the way, by open tasks', 'µs', measured(whoIsThere)),
  ];
}

function allowed({ allow, reason }: Verdict): void {
  if (!allow) throw new Error(reason);
}

// The commands.

type Command = { readonly what: string; args(run: number): readonly string[] };

const TASK_COMMANDS: readonly Command[] = [
  // The least urgent ones are left by `next`.
  {
    what: 'task claim',
    args: (run) => ['task', 'claim', `T-${(run + 1) * PRIORITIES.length}`, '--owner', 'ann', '--run', RUN],
  },
  { what: 'task next', args: () => ['task', 'next', '--owner', 'ann'] },
  { what: 'heartbeat', args: () => ['heartbeat', 'T-1', '--owner', 'ann', '--fence', '1'] },
  { what: 'lock check', args: () => ['lock', 'check', 'docs/readme.md'] },
  { what: 'lock check --fence', args: () => ['lock', 'check', 'src/p1/1.ts', '--fence', '1'] },
];

const CAST_COMMANDS: readonly Command[] = [
  ['show', 'latest'],
  ['casts', '--limit', '20'],
  ['status'],
  ['why', 'latest'],
].map((args) => ({ what: args.join(' '), args: () => args }));

/** The commands of the ledger in a workspace with so many open tasks. */
export async function taskCommands(): Promise<Row[]> {
  const ends = [await taskWorkspace(FEW), await taskWorkspace(MANY)] as const;
  const rows = await commandRows(TASK_COMMANDS, 'open tasks', ends);
  for (const dir of ends) rmSync(dir, { recursive: true, force: true });
  return rows;
}

/** The commands that look at casts, in a log of so many. */
export async function castCommands(): Promise<Row[]> {
  return commandRows(CAST_COMMANDS, 'casts in the log', [await castWorkspace(FEW), await castWorkspace(MANY)]);
}

async function commandRows(commands: readonly Command[], by: string, dirs: readonly [string, string]): Promise<Row[]> {
  const times = commands.map(() => [] as Ends[]);
  const peaks = commands.map(() => [] as Ends[]);
  for (let run = 0; run <= RUNS; run++) {
    for (const [index, command] of commands.entries()) {
      const few = await timeCommand(command.args(run), dirs[0]);
      const many = await timeCommand(command.args(run), dirs[1]);
      if (run === 0) continue; // The first run fills the caches.
      times[index]?.push([few.ms, many.ms]);
      peaks[index]?.push([few.peakMb, many.peakMb]);
    }
  }
  return commands.flatMap(({ what }, index) => {
    const [few, many] = [0, 1].map((end) => median((peaks[index] ?? []).map((pair) => pair[end] ?? 0)));
    const its = row(`\`baton ${what}\`, by ${by}`, 'ms', times[index] ?? []);
    return [{ ...its, value: `${its.value} (${few?.toFixed(0)} and ${many?.toFixed(0)} MB)` }];
  });
}

/** How long a command takes, and the most memory it had, as far as it was seen. */
async function timeCommand(args: readonly string[], cwd: string): Promise<{ ms: number; peakMb: number }> {
  const began = performance.now();
  const child = spawn(BATON, args, { cwd, stdio: 'ignore' });
  let peakMb = 0;
  const look = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(child.pid));
  }, 5);
  const code = await new Promise<number | null>((done) => child.on('exit', done));
  clearInterval(look);
  const ms = performance.now() - began;
  if (code !== 0) throw new Error(`baton ${args.join(' ')} ended with ${code} in ${cwd}`);
  return { ms, peakMb };
}

function peakOf(pid: number | undefined): number {
  try {
    const [, kb = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kb) / 1024;
  } catch {
    return 0;
  }
}

async function taskWorkspace(tasks: number): Promise<string> {
  const { facts } = openLedger(tasks + SPARE);
  return workspaceWith(scratch(), facts.slice(0, -1), (dir) =>
    execFileSync(BATON, ['task', 'claim', 'T-1', '--owner', 'ann'], { cwd: dir, stdio: 'ignore' }),
  );
}

/** It takes a while to make, so it is kept for the next time. */
async function castWorkspace(casts: number): Promise<string> {
  const dir = join(tmpdir(), `baton-bench-flat-${casts}`);
  if (existsSync(dir)) return dir;
  const making = `${dir}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making);
  const { facts } = oneCast();
  const all = Array.from({ length: casts }, (_, index) => facts.map((fact) => ofCast(fact, `cast-${index + 1}`)));
  // A command that decides something leaves a snapshot, as in every log of this length.
  const decideOnce = (at: string) => execFileSync(BATON, ['hold', '--reason', 'bench'], { cwd: at, stdio: 'ignore' });
  await workspaceWith(making, all.flat(), decideOnce);
  renameSync(making, dir);
  return dir;
}

function ofCast(fact: Fact, cast: string): Fact {
  return JSON.parse(JSON.stringify(fact).replaceAll('"c1"', JSON.stringify(cast))) as Fact;
}

/** A cast of a plan, two items and a last word, completed. */
function oneCast(): { readonly facts: readonly Fact[] } {
  const state = emptyState();
  const facts: Fact[] = [];
  const ask = (request: Request) =>
    facts.push(...decide(dialects, state, { ...request, at: 0, by: 'bench' } as never).facts);
  const script: JsonObject = { ...listScript(2), Again: [{ satisfied: true }] };
  const rules = resolve(listConfig(1), 'List');
  ask({ kind: 'cast.start', cast: 'c1', request: 'bench', loadout: 'List', rules, script: script as never });
  for (const said of [script.Plan, script.Work, script.Work, script.Again]) {
    const { turn, attempt } = facts.findLast(({ kind }) => kind === 'attempt.started') as never;
    const output = JSON.stringify((said as readonly unknown[])[0]);
    ask({ kind: 'attempt.output', cast: 'c1', turn, attempt, output });
  }
  if (state.casts.c1?.status !== 'completed') throw new Error('the cast does not end');
  return { facts };
}

/** A workspace whose log holds these facts. `after` is done before the time it takes is anybody's. */
async function workspaceWith(dir: string, facts: readonly Fact[], after?: (dir: string) => void): Promise<string> {
  execFileSync(BATON, ['init'], { cwd: dir, stdio: 'ignore' });
  const log = new SqliteLog(logFileIn(join(dir, '.baton', 'state')));
  const { seq } = await log.head();
  for (let from = 0; from < facts.length; from += COMMIT_EVERY) {
    const appends = facts
      .slice(from, from + COMMIT_EVERY)
      .map((fact): Append => ({ fact, by: 'bench', at: Date.now() }));
    await log.commit(seq + from, { decide: () => appends });
  }
  await log.close();
  after?.(dir);
  return dir;
}
