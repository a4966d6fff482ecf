// The whole bundled team on the real programs, with a model that plays an honest evaluator: it sees the diff, runs the
// project's checks, rejects what is broken and approves what works.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { type Answer, type ModelRequest, modelServer } from '../../src/testing/index.ts';
import { batonProcess as baton, CHECKOUT, json, project, put, start } from '../cli/baton.ts';
import { worktreesOf } from '../cli/repository.ts';
import { assertInstalled, CLI, homeFolder, scratchFolder, showsAll } from './contenders.ts';
import { REAL, type RealProgram } from './real-cast.ts';

const BUNDLED = join(CHECKOUT, 'src', 'bundled');
/** How the prompt of each role begins. */
const ROLES = {
  plan: 'You are the planner of a software team',
  build: 'You are the builder of a software team',
  evaluate: 'You are the judge of a software team',
  maintain: 'You keep the project tidy',
  narrate: 'You write the closing words',
};
type Role = keyof typeof ROLES;

const CHECK = `for name in greet bye; do
  if [ -e $name.txt ] && [ "$(cat $name.txt)" != "$name well" ]; then echo "FAIL: $name.txt is wrong"; exit 1; fi
done
echo PASS`;
const ITEMS = ['greet', 'bye'].map((name) => ({ title: `Write ${name}`, context: `${name}.txt says: ${name} well` }));

function roleOf({ body }: ModelRequest): Role {
  const text = JSON.stringify(body);
  const found = Object.entries(ROLES).map(([role, words]) => [role, text.lastIndexOf(words)] as const);
  return (found.sort(([, one], [, other]) => other - one)[0]?.[0] ?? 'plan') as Role;
}

function resultsIn({ messages }: ModelRequest): readonly string[] {
  return messages.filter(({ role }) => role === 'tool').map(({ text }) => text);
}

/** How many briefs the conversation has: rework goes on in the agent's own, and each round calls one tool. */
function roundsIn({ messages }: ModelRequest): number {
  const briefs = messages.map(({ role, text }) => (role === 'tool' ? 0 : text.split('## Your answer').length - 1));
  return Math.max(
    1,
    briefs.reduce((sum, count) => sum + count, 0),
  );
}

function isBye({ messages }: ModelRequest): boolean {
  return messages.some(({ text }) => /Current item[^\n]*Write bye/.test(text));
}

/** The first greeting is wrong; what is sent back is corrected. */
function answerTo(program: RealProgram, folder: () => string) {
  let greetings = 0;
  return (request: ModelRequest): Answer => {
    const results = resultsIn(request);
    const isDone = results.length >= roundsIn(request);
    switch (roleOf(request)) {
      case 'plan':
        return JSON.stringify({ workItems: ITEMS });
      case 'build': {
        if (isDone) return 'It is written.';
        if (isBye(request)) return { toolCalls: [program.write(folder(), 'bye.txt', 'bye well')] };
        greetings += 1;
        return { toolCalls: [program.write(folder(), 'greet.txt', greetings === 1 ? 'greet badly' : 'greet well')] };
      }
      case 'evaluate': {
        if (!isDone) return { toolCalls: [program.shell('sh check.sh')] };
        const isGood = results.at(-1)?.includes('PASS') === true;
        return JSON.stringify(isGood ? { satisfied: true } : { satisfied: false, context: 'check.sh fails' });
      }
      case 'maintain':
        return '{"satisfied":true}';
      default:
        return 'Both files are there.';
    }
  };
}

function configFor(program: RealProgram, own: JsonObject): JsonObject {
  const config = JSON.parse(readFileSync(join(BUNDLED, 'config.json'), 'utf8'));
  for (const materia of Object.values<JsonObject & { identity?: string; promptFile?: string }>(config.materia)) {
    if (materia.promptFile === undefined) continue;
    const prompt = readFileSync(join(BUNDLED, materia.promptFile), 'utf8');
    delete materia.promptFile;
    delete materia.identity;
    Object.assign(materia, own, { prompt, runner: program.name });
  }
  const { $schema: _, ...rest } = config;
  return { ...rest, checkers: { test: { command: ['sh', 'check.sh'] } } };
}

type Answers = (request: ModelRequest, results: readonly string[], folder: string) => Answer | null;

/**
 * Casts the bundled team; `answers` says what differs from a team that does its work. At each of the `kills` the driver is killed, and
 * the cast resumed.
 */
async function castTeam(program: RealProgram, answers: Answers = () => null, kills: readonly RegExp[] = []) {
  const home = homeFolder();
  const dir = project({ 'README.md': '# Words\n', 'check.sh': CHECK, '.gitignore': '*.log\n' });
  const folder = () => worktreesOf(dir)[0] ?? '';
  const usual = answerTo(program, folder);
  const server = await modelServer({
    answers: (request) => answers(request, resultsIn(request), folder()) ?? usual(request),
  });
  onTestFinished(() => server.close());
  const { materia, env } = program.setUp(server.url, home);
  const config = configFor(program, materia);
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'begin'],
  ]) {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
    execFileSync('git', ['-C', dir, ...who, ...args], { stdio: 'ignore' });
  }
  put(dir, { '.baton/config.json': config });
  const PATH = `${join(CLI, 'node_modules', '.bin')}:${process.env.PATH}`;
  const around = { env: { ...env, HOME: home, PATH, TMPDIR: scratchFolder() } };
  const cast = ['cast', 'write the words'];
  for (const [at, step] of kills.entries()) {
    const run = start(dir, at === 0 ? cast : ['resume'], around);
    for (let waited = 0; !step.test(run.stderr()) && waited < 240_000; waited += 50) await sleep(50);
    expect(run.stderr()).toMatch(step);
    run.child.kill('SIGKILL');
    await run.ended;
  }
  const [verb = '', ...words] = kills.length === 0 ? cast : ['resume'];
  const ran = await baton(dir, [verb, '--json', '--turns', ...words], around);
  const view = json<CastView>(ran);
  const path = view.path.map(({ socket, item }) => `${socket.replace('Socket-', '')}${item ? `:${item}` : ''}`);
  const turnsOf = (id: string) => (view.turns ?? []).filter(({ socket }) => socket === id);
  return { dir, home, view, path: path.join(' '), turnsOf };
}

const FULL_PATH = '1 2 3 4:WI-1 5:WI-1 4:WI-1 5:WI-1 6:WI-1 4:WI-2 5:WI-2 6:WI-2 7';
const GOOD_PATH = '1 2 3 4:WI-1 5:WI-1 6:WI-1 4:WI-2 5:WI-2 6:WI-2 7';

describe.each(REAL.map((program) => [program.name, program] as const))('%s', (_name, program) => {
  beforeAll(assertInstalled);

  test('the default team rejects what is broken and approves what works', {
    timeout: 300_000 * program.slowness,
  }, async () => {
    const { dir, home, view, path, turnsOf } = await castTeam(program);
    expect([view.status, view.code, view.items]).toMatchObject(['completed', null, { total: 2, done: 2 }]);
    expect(path).toBe(FULL_PATH);
    const judged = turnsOf('Socket-5');
    expect(judged).toHaveLength(3);
    // The brief holds the diff and what the checks found; the checks ran as well in the evaluator's own shell.
    expect(judged[0]?.brief).toContain('greet badly');
    expect(judged[0]?.brief).toContain('FAIL: greet.txt is wrong');
    expect(judged[1]?.brief).toContain('greet well');
    expect(turnsOf('Socket-7')[0]?.brief).toContain('Write bye');
    expect((await baton(dir, ['merge', view.cast ?? 'latest'], { env: { HOME: home } })).code).toBe(0);
    expect([readFileSync(join(dir, 'greet.txt'), 'utf8'), readFileSync(join(dir, 'bye.txt'), 'utf8')]).toEqual([
      'greet well',
      'bye well',
    ]);
  });

  test('killed while it builds and while it judges, the default team comes to the same', {
    timeout: 400_000 * program.slowness,
  }, async () => {
    const { dir, home, view, path } = await castTeam(program, undefined, [/▸ Build · 1\/2/, /▸ Auto-Eval · 2\/2/]);
    expect([view.status, view.code, view.items]).toMatchObject(['completed', null, { total: 2, done: 2 }]);
    // A builder that was cut off may have been answered already: then its next try is the good one.
    expect([FULL_PATH, GOOD_PATH]).toContain(path);
    expect((await baton(dir, ['merge', view.cast ?? 'latest'], { env: { HOME: home } })).code).toBe(0);
    expect(readFileSync(join(dir, 'bye.txt'), 'utf8')).toBe('bye well');
  });

  if (!showsAll(program)) return;

  test('a red check goes back to the builder in its own session, and a pass is not run again', {
    timeout: 300_000 * program.slowness,
  }, async () => {
    const handIn = { toolCalls: [program.submit('It is written.')] };
    const told: string[] = [];
    const { view, path, turnsOf } = await castTeam(program, (request, results, folder) => {
      if (roleOf(request) !== 'build' || isBye(request) || results.length === 0) return null;
      if (results.length === 2) told.push(results.at(-1) ?? '');
      const corrects = { toolCalls: [program.write(folder, 'greet.txt', 'greet well')] };
      return [handIn, corrects, handIn, 'It is written.'][results.length - 1] ?? null;
    });
    expect(view.status).toBe('completed');
    expect(told[0]).toContain('FAIL: greet.txt is wrong');
    // One attempt, no repair and no rework for the first item.
    expect(path).toBe('1 2 3 4:WI-1 5:WI-1 6:WI-1 4:WI-2 5:WI-2 6:WI-2 7');
    expect(turnsOf('Socket-4').map(({ attempt }) => attempt)).toEqual([1, 1]);
    expect(turnsOf('Socket-5')[0]?.brief).toContain('test: passed (passed before on the same files)');
  });

  test('an evaluator that edits is refused, its change is put back, and it judges again', {
    timeout: 300_000 * program.slowness,
  }, async () => {
    let edits = 0;
    const { view, turnsOf, dir } = await castTeam(program, (request, results) => {
      if (roleOf(request) !== 'evaluate' || !isBye(request) || edits > 0 || results.length > 0) return null;
      edits += 1;
      return { toolCalls: [program.shell('echo worse > bye.txt; echo cached > cache.log; echo PASS')] };
    });
    expect(view.status).toBe('completed');
    const last = turnsOf('Socket-5').slice(-2);
    expect(last[0]?.verdict).toMatchObject({ code: 'SCOPE_VIOLATION' });
    expect(last[1]?.verdict).toMatchObject({ allow: true });
    const branch = `baton/${view.cast}:bye.txt`;
    expect(execFileSync('git', ['-C', dir, 'show', branch], { encoding: 'utf8' })).toBe('bye well');
  });
});
