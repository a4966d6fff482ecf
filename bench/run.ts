// `npm run bench`: all measurements of one run, as the tables of docs/benchmarks.md.
// `npm run bench -- turns` runs one group; `QUICK=1` uses a tenth of the long cast.
import { cpus, totalmem } from 'node:os';
import { print } from './row.ts';
import { startTimes } from './start.ts';
import { fiftyCasts, growth, turnAgainstFloor } from './turns.ts';

const LONG = process.env.QUICK ? 10_000 : 100_000;
const [only] = process.argv.slice(2);

const GROUPS: Record<string, () => Promise<void>> = {
  async turns() {
    print('A durable turn', await turnAgainstFloor());
  },
  async many() {
    print('Fifty casts at once', await fiftyCasts());
  },
  async growth() {
    print('A long cast', await growth(LONG));
  },
  async reads() {
    const { hostileTexts, readRates } = await import('./reads.ts');
    print('Reading a payload in full, one core', readRates());
    print('Hostile text', hostileTexts());
  },
  async locks() {
    const { lockRates } = await import('./locks.ts');
    print('Locks', lockRates());
  },
  async heartbeat() {
    const { heartbeatTimes } = await import('./heartbeat.ts');
    print('A heartbeat', await heartbeatTimes());
  },
  async audit() {
    const { auditTimes } = await import('./audit.ts');
    print('Proving the history', await auditTimes(process.env.QUICK ? 100_000 : 1_000_000));
  },
  async attest() {
    const { attestTimes } = await import('./attest.ts');
    print('Trust per dispatch, without the disk', attestTimes());
  },
  async flat() {
    const { castCommands, decidedClaims, decidedTurns, listTurns, taskCommands } = await import('./flat.ts');
    print('Flat: the rules alone', [...decidedTurns(), ...decidedClaims()]);
    print('Flat: a turn of a long list', await listTurns());
    print('Flat: commands by open tasks', await taskCommands());
    print('Flat: commands by casts in the log', await castCommands());
  },
  async mcp() {
    const { toolCalls } = await import('./mcp.ts');
    print('A tool call over MCP', await toolCalls());
  },
  async web() {
    const { webTimes } = await import('./web.ts');
    print('The page and its server', await webTimes());
  },
  async start() {
    print('Starting a short command', startTimes());
  },
};

const [cpu] = cpus();
console.log(
  `${new Date().toISOString().slice(0, 10)} · Node ${process.version} · ${process.platform} ${process.arch} · ${cpus().length} × ${cpu?.model} · ${Math.round(totalmem() / 2 ** 30)} GiB`,
);
for (const [name, run] of Object.entries(GROUPS)) if (only === undefined || only === name) await run();
