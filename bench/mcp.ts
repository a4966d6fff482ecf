// A tool call over MCP: how long it takes, and how much memory many at once take. `BEFORE=DIR` measures another checkout of
// the program beside this one, in turns, so that both meet the same weather.
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../src/kernel/json.ts';
import { packet } from '../src/kernel/ledger/fixtures/book.ts';
import { scratch } from './casts.ts';
import { listConfig, listScript } from './flat.ts';
import { median, type Row } from './row.ts';

const HERE = fileURLToPath(new URL('..', import.meta.url));
const { BEFORE } = process.env;
const CALLS = process.env.QUICK ? 5 : 25;
const TASKS = 20;
const [FEW, MANY] = [10, 100];
const LOOK_MS = 5;

const TOOLS: readonly (readonly [tool: string, args: JsonObject])[] = [
  ['task_list', {}],
  ['cast_show', { cast: 'latest' }],
];

export async function toolCalls(): Promise<Row[]> {
  const dir = workspace();
  const times = await callTimes(dir);
  const peaks: { few: number; many: number }[] = [];
  for (let run = 0; run < 3; run++) peaks.push({ few: await peakMb(dir, FEW), many: await peakMb(dir, MANY) });
  rmSync(dir, { recursive: true, force: true });
  const [few, many] = [median(peaks.map((peak) => peak.few)), median(peaks.map((peak) => peak.many))];
  const ratio = median(peaks.map((peak) => peak.many / peak.few));
  return [
    ...times,
    {
      what: `peak memory of the server and its children, ${FEW} and ${MANY} calls at once`,
      value: `${few.toFixed(0)} and ${many.toFixed(0)} MB: ${ratio.toFixed(2)}×`,
      target: '≤ 1.2×',
      met: ratio <= 1.2,
    },
  ];
}

async function callTimes(dir: string): Promise<Row[]> {
  const servers = [await Server.start(HERE, dir), ...(BEFORE ? [await Server.start(BEFORE, dir)] : [])];
  const rows: Row[] = [];
  for (const [tool, args] of TOOLS) {
    const times = servers.map((): number[] => []);
    for (let run = 0; run <= CALLS; run++) {
      for (const [index, server] of servers.entries()) {
        const began = performance.now();
        await server.call(tool, args);
        if (run > 0) times[index]?.push(performance.now() - began);
      }
    }
    const [now = 0, before] = times.map(median);
    const value = `${now.toFixed(1)} ms`;
    if (before === undefined) rows.push({ what: `\`${tool}\`, one after the other`, value });
    else {
      const share = now / before;
      const both = `${value}, before ${before.toFixed(0)} ms: ${share.toFixed(3)}×`;
      rows.push({ what: `\`${tool}\`, one after the other`, value: both, target: '≤ 0.1×', met: share <= 0.1 });
    }
  }
  for (const server of servers) server.end();
  return rows;
}

/** The most memory that a new server and its children had while it answered so many calls at once. */
async function peakMb(dir: string, calls: number): Promise<number> {
  const server = await Server.start(HERE, dir);
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, treeMb(server.pid));
  }, LOOK_MS);
  const tools = Array.from({ length: calls }, (_, index) => TOOLS[index % TOOLS.length] ?? TOOLS[0]);
  await Promise.all(tools.map((tool) => tool && server.call(...tool)));
  peak = Math.max(peak, treeMb(server.pid));
  clearInterval(look);
  server.end();
  return peak;
}

function treeMb(pid: number): number {
  try {
    const [, kb = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
    return children.reduce((sum, child) => sum + treeMb(child), Number(kb) / 1024);
  } catch {
    return 0;
  }
}

/** A workspace with a few tasks and a cast that is over. */
function workspace(): string {
  const dir = scratch();
  const baton = (...args: string[]) =>
    execFileSync(join(BEFORE ?? HERE, 'bin', 'baton'), args, { cwd: dir, stdio: 'ignore' });
  mkdirSync(join(dir, '.baton'));
  writeFileSync(join(dir, '.baton', 'config.json'), JSON.stringify(listConfig(1)));
  const script: JsonObject = { ...listScript(5), Again: [{ satisfied: true }] };
  writeFileSync(join(dir, 'agents.json'), JSON.stringify(script));
  baton('cast', '--agents', 'agents.json', 'Measure');
  for (let index = 1; index <= TASKS; index++) {
    writeFileSync(join(dir, 'task.json'), JSON.stringify(packet(`T-${index}`, { lock_scope: [`src/${index}.ts`] })));
    baton('task', 'create', 'task.json');
  }
  return dir;
}

/** `baton mcp` of a checkout, on standard input and output. */
class Server {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (answer: JsonObject) => void>();
  #calls = 0;

  private constructor(checkout: string, cwd: string) {
    this.#child = spawn(join(checkout, 'bin', 'baton'), ['mcp'], { cwd });
    this.#child.stderr.resume();
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as JsonObject & { id?: number };
      if (answer.id !== undefined) this.#waiting.get(answer.id)?.(answer);
    });
  }

  static async start(checkout: string, cwd: string): Promise<Server> {
    const server = new Server(checkout, cwd);
    const clientInfo = { name: 'bench', version: '1' };
    await server.#ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    server.#write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return server;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async call(name: string, args: JsonObject): Promise<void> {
    const { error, result } = await this.#ask('tools/call', { name, arguments: args });
    const isError = error !== undefined || (result as JsonObject).isError === true;
    if (isError) throw new Error(`${name}: ${JSON.stringify(error ?? result)}`);
  }

  end(): void {
    this.#child.stdin.end();
  }

  #ask(method: string, params: JsonObject): Promise<JsonObject> {
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#write({ jsonrpc: '2.0', id, method, params });
    });
  }

  #write(message: JsonObject): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }
}
