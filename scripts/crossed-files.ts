// `npm run crossed [-- --list]`: how many files of `src` a handoff goes through. Counted are files with a function that is
// entered; a file that is only loaded does not count.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dialects } from '../src/dialects/index.ts';
import { Decider } from '../src/engine/decider.ts';
import { LocalStore } from '../src/engine/local-store.ts';
import { SqliteLog } from '../src/log/sqlite/log.ts';
import { logFileIn } from '../src/log/sqlite/open.ts';
import { startOf } from '../test/conformance/round.ts';

/** The part of V8's coverage that is read here. */
type Coverage = readonly {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}[];

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The files of `src` in which a function was entered. The first function of a module is its own text, run when it is loaded. */
function enteredIn(coverage: Coverage): string[] {
  const entered = coverage.filter(({ functions }) =>
    functions.some(({ functionName, ranges: [range] }) => {
      const isModule = functionName === '' && range?.startOffset === 0;
      return !isModule && (range?.count ?? 0) > 0;
    }),
  );
  const files = entered.flatMap(({ url }) => (url.startsWith('file:') ? [relative(ROOT, fileURLToPath(url))] : []));
  return files.filter((file) => file.startsWith('src/'));
}

/** From the submission of an answer to the commit that starts the next attempt, in this process. */
async function crossedByHandoff(folder: string): Promise<string[]> {
  const store = new LocalStore(await Decider.open(new SqliteLog(logFileIn(folder)), dialects));
  const session = new Session();
  session.connect();
  try {
    await store.submit(startOf('cast'), { name: 'person' });
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    const answer = { kind: 'attempt.output', cast: 'cast', turn: 1, attempt: 1, output: 'Built.' } as const;
    const verdict = await store.submit(answer, { name: 'person' });
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const started = (await store.read({ after: 0 })).filter(({ fact }) => fact.kind === 'attempt.started');
    if (started.length !== 2) throw new Error(`the answer did not start the next attempt: ${JSON.stringify(verdict)}`);
    return enteredIn(result);
  } finally {
    session.disconnect();
    await store.close();
  }
}

/** A cast of two turns by the command line, with all threads and processes that it starts. */
function crossedByCast(folder: string): string[] {
  const materia = { Build: { tools: 'none', prompt: 'Build it.' }, Look: { tools: 'none', prompt: 'Look at it.' } };
  const sockets = {
    'Socket-1': { materia: 'Build', parse: 'text', edges: [{ when: 'always', to: 'Socket-2' }] },
    'Socket-2': { materia: 'Look', parse: 'json', edges: [{ when: 'satisfied', to: 'end' }] },
  };
  const config = { materia, loadouts: { Row: { entry: 'Socket-1', sockets } }, activeLoadout: 'Row' };
  mkdirSync(join(folder, '.baton'));
  writeFileSync(join(folder, '.baton/config.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'agents.json'), JSON.stringify({ Build: ['Built.'], Look: [{ satisfied: true }] }));
  const own = { BATON_CONFIG: join(folder, 'user'), BATON_CHECKPOINTS: join(folder, 'checkpoints') };
  const env = { ...process.env, ...own, NODE_V8_COVERAGE: join(folder, 'coverage') };
  const argv = ['-C', folder, 'cast', '--agents', 'agents.json', 'Build it'];
  execFileSync(join(ROOT, 'bin/baton'), argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const reports = readdirSync(env.NODE_V8_COVERAGE).map((name) => join(env.NODE_V8_COVERAGE, name));
  return reports.flatMap((file) => enteredIn((JSON.parse(readFileSync(file, 'utf8')) as { result: Coverage }).result));
}

const folder = mkdtempSync(join(tmpdir(), 'baton-crossed-'));
try {
  const [handoff, cast] = ['handoff', 'cast'].map((name) => join(folder, name)) as [string, string];
  for (const each of [handoff, cast]) mkdirSync(each);
  const counted = [
    ['one handoff, from the answer to the next attempt', await crossedByHandoff(handoff)],
    ['a cast of two turns by the command line', crossedByCast(cast)],
  ] as const;
  for (const [what, found] of counted) {
    const files = [...new Set(found)].sort();
    console.log(`${files.length} files: ${what}`);
    if (process.argv.includes('--list')) for (const file of files) console.log(`  ${file}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
