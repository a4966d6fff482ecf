// Rounds of real drivers: on hosts that get another name, in process namespaces of their own, and under a clock that is set
// while they run. Every round must end with its cast completed, once.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
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
      const offset = join(round.dir, 'offset');
      const code = `import { readFileSync } from 'node:fs'; const now = Date.now;
Date.now = () => { try { return now() + Number(readFileSync(${JSON.stringify(offset)}, 'utf8')); } catch { return now(); } };`;
      const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
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
