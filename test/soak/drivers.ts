// Rounds of real drivers: on hosts that get another name, in process namespaces of their own, and under a clock that is set
// while they run. Every round must end with its cast completed, once.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { packet } from '../../src/kernel/ledger/fixtures/book.ts';
import { modelServer } from '../../src/testing/index.ts';
import { inNamespace, onHost } from '../cli/namespaces.ts';

export type Soaked = { readonly rounds: number; readonly faults: readonly string[]; readonly said: string };

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const BATON = join(CHECKOUT, 'bin/baton');
/** The program without `bin/baton`, which keeps modules of others out of it. */
const BARE = [
  join(CHECKOUT, 'node_modules/.bin/node'),
  '--disable-warning=ExperimentalWarning',
  join(CHECKOUT, 'bin/main.cjs'),
];
const PATIENCE_MS = 120_000;
const DAY_MS = 86_400_000;

/** Notes every run, then waits until all runs, or this one by its number, are told to go on. */
const WORK = `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
appendFileSync('runs.txt', 'run\\n');
const number = readFileSync('runs.txt', 'utf8').split('\\n').length - 1;
while (!existsSync('go') && !existsSync('go-' + number)) await new Promise((resolve) => setTimeout(resolve, 20));
console.log('{"satisfied":true}');`;

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** A project folder with a cast of so many turns. */
class Round {
  readonly dir = mkdtempSync(join(tmpdir(), 'baton-drivers-'));
  readonly #children: ChildProcess[] = [];

  constructor(turns: number, maxDurationMs: number) {
    const names = Array.from({ length: turns }, (_, index) => `Socket-${index + 1}`);
    const sockets = Object.fromEntries(
      names.map((name, index) => [
        name,
        { materia: 'Work', edges: [{ when: 'always', to: names[index + 1] ?? 'end' }] },
      ]),
    );
    const materia = { Work: { type: 'utility', command: ['node', './work.mjs'], parse: 'json', timeoutMs: 600_000 } };
    mkdirSync(join(this.dir, '.baton'));
    this.put(
      'c.json',
      JSON.stringify({ materia, loadouts: { L: { entry: names[0], sockets } }, budget: { maxDurationMs } }),
    );
    this.put('work.mjs', WORK);
  }

  put(name: string, text: string): void {
    writeFileSync(join(this.dir, name), text);
  }

  runs(): number {
    const file = join(this.dir, 'runs.txt');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
  }

  start(args: readonly string[], program: readonly string[] = [BATON], env: NodeJS.ProcessEnv = {}) {
    const [command = BATON, ...before] = program;
    const own = { BATON_CONFIG: join(this.dir, 'user'), BATON_CHECKPOINTS: join(this.dir, 'checkpoints') };
    const { PATH, HOME } = process.env;
    const child = spawn(command, [...before, ...args], {
      ...{ cwd: this.dir, env: { PATH, HOME, ...own, ...env } },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    // What never ends is a fault, and not the end of the whole run.
    setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS).unref();
    const [out, err]: [string[], string[]] = [[], []];
    child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => err.push(text));
    const ended = new Promise<Ended>((resolve) =>
      child.once('close', (code) => resolve({ code, stdout: out.join(''), stderr: err.join('') })),
    );
    return { child, ended };
  }

  kinds(kind: string): number {
    return this.#log((db) => db.prepare('SELECT seq FROM facts WHERE kind = ?').all(kind).length);
  }

  /** The time between the first entry and the last one, by their dates. */
  span(): number {
    const dates = "SELECT min(json_extract(line, '$.at')) AS first, max(json_extract(line, '$.at')) AS last FROM facts";
    const { first, last } = this.#log((db) => db.prepare(dates).get()) ?? {};
    return Date.parse(String(last)) - Date.parse(String(first));
  }

  /** Lets the lease of the cast end now. */
  endLease(): void {
    this.#log((db) => {
      db.prepare("UPDATE leases SET value = json_set(value, '$.until', 0) WHERE name LIKE 'cast:%'").run();
    });
  }

  cast(): string {
    return this.#log((db) =>
      String(db.prepare("SELECT cast_id FROM facts WHERE kind = 'cast.started'").get()?.cast_id),
    );
  }

  close(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 10 });
  }

  #log<T>(look: (db: DatabaseSync) => T): T {
    const db = new DatabaseSync(join(this.dir, '.baton', 'state', 'log.sqlite'), { timeout: 10_000 });
    try {
      return look(db);
    } finally {
      db.close();
    }
  }
}

/** A cast is killed on a host, and resumed at once on the same machine under another name. */
export async function renameHosts(rounds: number): Promise<Soaked> {
  let slowestMs = 0;
  const faults = await each(rounds, async (round, number) => {
    const first = round.start(['cast', '--file', 'c.json', 'x'], onHost(`before-${number}`));
    await until(() => round.runs() === 1);
    first.child.kill('SIGKILL');
    await first.ended;
    round.put('go', '');
    const began = performance.now();
    const { code, stderr } = await round.start(['resume', '--json'], onHost(`after-${number}`)).ended;
    slowestMs = Math.max(slowestMs, performance.now() - began);
    return [...(code === 0 ? [] : [`resume ended with ${code}: ${stderr}`]), ...acceptedOnce(round, 1)];
  });
  return { rounds, faults, said: `the slowest resume took ${(slowestMs / 1000).toFixed(1)} s` };
}

/** A cast is killed in a namespace; four drivers in namespaces of their own want it, half of them without a /proc of theirs. */
export async function splitNamespaces(
  rounds: number,
  { patientEvery }: { readonly patientEvery: number },
): Promise<Soaked> {
  let waited = 0;
  const faults = await each(rounds, async (round, number) => {
    const first = round.start(['cast', '--file', 'c.json', 'x'], inNamespace());
    await until(() => round.runs() === 1);
    first.child.kill('SIGKILL');
    await first.ended;
    // Mostly the lease has ended already; now and then the drivers wait for its end.
    if (number % patientEvery === 0) waited++;
    else round.endLease();
    const cast = round.cast();
    const racers = [true, false, true, false].map((hasOwnProc) =>
      round.start(['resume', cast, '--json'], inNamespace(hasOwnProc)),
    );
    await until(() => round.runs() >= 2);
    round.put('go', '');
    const ends = await Promise.all(racers.map(({ ended }) => ended));
    return [
      ...ends.flatMap(({ stderr }) => (/EEXIST|INTERNAL|SQLITE/.test(stderr) ? [stderr] : [])),
      ...(ends.some(({ code }) => code === 0) ? [] : ['no driver completed the cast']),
      ...ends.flatMap(({ code, stderr }) => (code === 0 || code === 1 ? [] : [`exit ${code}: ${stderr}`])),
      ...(round.runs() === 2 ? [] : [`${round.runs()} runs instead of 2`]),
      ...acceptedOnce(round, 1),
    ];
  });
  return { rounds, faults, said: `${waited} of them waited for the end of a lease` };
}

/** The clock of a driver is set forward or back while each of its turns runs. A round is shorter than the renewal of a lease. */
export async function jumpClocks(rounds: number): Promise<Soaked> {
  let jumps = 0;
  const turns = 3;
  const faults = await each(
    rounds,
    async (round, number) => {
      const env = settable(round);
      const began = performance.now();
      const driver = round.start(['cast', '--file', 'c.json', '--json', 'x'], BARE, env);
      for (let turn = 1; turn <= turns; turn++) {
        await until(() => round.runs() === turn);
        // Forward in one turn, back in the next, by an hour to a day.
        const sign = (turn + number) % 2 === 0 ? 1 : -1;
        round.put('offset', String(sign * (DAY_MS / (1 + ((number * 7 + turn) % 24)))));
        jumps++;
        await sleep(100);
        round.put(`go-${turn}`, '');
      }
      const { code: exit, stdout, stderr } = await driver.ended;
      const view = exit === 0 ? (JSON.parse(stdout) as { elapsedMs: number }) : null;
      const tookMs = performance.now() - began;
      return [
        ...(exit === 0 ? [] : [`exit ${exit}: ${stdout} ${stderr}`]),
        // Each round goes forward by an hour at least; without that nothing would be shown.
        ...(round.span() > tookMs + HOUR_MS / 2 ? [] : [`the clock was not set: ${round.span()} ms`]),
        ...(view && view.elapsedMs > tookMs ? [`it ran for ${view.elapsedMs} ms within ${tookMs} ms`] : []),
        ...acceptedOnce(round, turns),
      ];
    },
    turns,
  );
  return { rounds, faults, said: `${jumps} jumps` };
}

/** The clock of a program with these variables goes by as many milliseconds as the file `offset` says at that moment. */
function settable(round: Round): NodeJS.ProcessEnv {
  const code = `import { readFileSync } from 'node:fs'; const now = Date.now;
Date.now = () => { try { return now() + Number(readFileSync(${JSON.stringify(join(round.dir, 'offset'))}, 'utf8')); } catch { return now(); } };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

/**
 * The clock is set by a day while a turn waits because its provider asked for patience, and while a claim lives on its
 * heartbeats under a watchdog. The turn goes on, and the claim is kept.
 */
export async function jumpWaits(rounds: number): Promise<Soaked> {
  let jumps = 0;
  const faults = await each(rounds, async (round, number) => {
    // Longer than the attempt may take, so that the engine waits and not the attempt.
    const model = await modelServer({ answers: [{ status: 429, retryAfterSeconds: 4 }, 'done'] });
    try {
      const agent = {
        prompt: 'Do it.',
        tools: 'none',
        runner: 'anthropic',
        model: 'm',
        baseUrl: model.url,
        timeoutMs: 3_000,
      };
      const sockets = { 'Socket-1': { materia: 'Ask', parse: 'text' } };
      round.put('c.json', JSON.stringify({ materia: { Ask: agent }, loadouts: { L: { entry: 'Socket-1', sockets } } }));
      round.put('task.json', JSON.stringify(packet('T-1')));
      const env = { ...settable(round), ANTHROPIC_API_KEY: 'key' };
      const run = (...args: string[]) => round.start(args, BARE, env);
      await run('task', 'create', 'task.json').ended;
      const claimed = await run('task', 'claim', 'T-1', '--owner', 'ann', '--json').ended;
      const { fence } = JSON.parse(claimed.stdout).details;
      const watchdog = run('watchdog', '--follow', '--json');
      const driver = run('cast', '--file', 'c.json', '--json', 'x');
      await until(() => round.kinds('attempt.failed') > 0);
      const beats: Ended[] = [];
      for (const sign of number % 2 === 0 ? [1, -1] : [-1, 1]) {
        // The last jump is the one that the waiting turn has to live with.
        round.put('offset', String(sign * DAY_MS));
        jumps++;
        const beat = ['heartbeat', 'T-1', '--owner', 'ann', '--fence', String(fence), '--json'];
        beats.push(await run(...beat).ended, await run('watchdog', '--json').ended);
      }
      const { code, stdout, stderr } = await driver.ended;
      watchdog.child.kill('SIGTERM');
      const watched = await watchdog.ended;
      return [
        ...(code === 0 ? [] : [`exit ${code}: ${stdout} ${stderr}`]),
        ...(model.requests.length === 2 ? [] : [`${model.requests.length} requests instead of 2`]),
        ...beats.flatMap((end) => (end.code === 0 ? [] : [`heartbeat or watchdog: ${end.stdout} ${end.stderr}`])),
        ...(watched.stdout.includes('"allow":false') ? [`the watchdog said ${watched.stdout}`] : []),
        ...acceptedOnce(round, 1),
      ];
    } finally {
      await model.close();
    }
  });
  return { rounds, faults, said: `${jumps} jumps` };
}

/**
 * The clock of the whole machine is set by a day while a driver in a process namespace of its own has the cast, and another
 * one wants it. Forward ends the lease: the other one gets the cast. Back makes the lease look endless: a driver that lives
 * keeps the cast, and one that was killed loses it after the time of a lease.
 */
export async function jumpLeases(rounds: number, { patientEvery }: { readonly patientEvery: number }): Promise<Soaked> {
  const waits = { killed: 0 };
  const faults = await each(rounds, async (round, number) => {
    const env = settable(round);
    const [isForward, isPatient] = [number % 2 === 1, number % patientEvery === 0];
    const isKilled = isPatient || number % 4 === 1;
    const program = [...inNamespace().slice(0, -1), ...BARE];
    const first = round.start(['cast', '--file', 'c.json', 'x'], program, env);
    await until(() => round.runs() === 1);
    if (isKilled) {
      first.child.kill('SIGKILL');
      await first.ended;
    }
    if (isKilled && !isForward) waits.killed++;
    round.put('offset', String(isForward ? DAY_MS : -DAY_MS));
    const takesOver = isForward || isKilled;
    const second = round.start(['resume', round.cast(), '--json'], BARE, env);
    if (takesOver) await until(() => round.runs() === 2);
    else await second.ended;
    // A driver that lives finds out at its next renewal.
    const lost = takesOver && !isKilled ? await first.ended : null;
    round.put('go', '');
    const [one, two] = [await first.ended, await second.ended];
    const winner = takesOver ? two : one;
    return [
      ...(winner.code === 0 ? [] : [`the driver of the cast ended with ${winner.code}: ${winner.stderr}`]),
      ...(takesOver || two.code === 1 ? [] : [`a driver that lives was not refused to another one: ${two.stdout}`]),
      ...(lost && !lost.stderr.includes('took over cast') ? [`the loser said: ${lost.stderr}`] : []),
      ...acceptedOnce(round, 1),
    ];
  });
  return { rounds, faults, said: `${waits.killed} of them waited for the time of a lease` };
}

function acceptedOnce(round: Round, turns: number): readonly string[] {
  const found = [round.kinds('turn.accepted'), round.kinds('cast.completed')];
  return found[0] === turns && found[1] === 1 ? [] : [`${found[0]} turns were accepted, ${found[1]} casts completed`];
}

const HOUR_MS = 3_600_000;

async function each(
  rounds: number,
  play: (round: Round, number: number) => Promise<readonly string[]>,
  turns = 1,
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (let number = 1; number <= rounds; number++) {
    const round = new Round(turns, HOUR_MS);
    try {
      for (const fault of await play(round, number)) faults.push(`round ${number}: ${fault}`);
    } catch (error) {
      faults.push(`round ${number}: ${(error as Error).message}`);
    } finally {
      round.close();
    }
  }
  return faults;
}

async function until(look: () => boolean): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; !look(); ) {
    if (performance.now() > deadline) throw new Error(`waited in vain: ${look}`);
    await sleep(20);
  }
}
