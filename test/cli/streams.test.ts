// Streams side by side on real processes and worktrees: one fails, the barrier decides, and a cast that is killed comes to the same.
import { expect, test, vi } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Fact } from '../../src/kernel/fact.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { always, exit, notSatisfied, satisfied, yes } from '../loadouts.ts';
import { baton, batonProcess, json, start, until } from './baton.ts';
import { git, repository } from './repository.ts';

vi.setConfig({ testTimeout: 240_000 });

const config = (barrier: 'all' | 'settled'): JsonObject => ({
  materia: {
    Split: { prompt: 'Split it.', tools: 'none', generator: true, parallel: true },
    Ready: { prompt: 'Get ready.', tools: 'coding', parallelSafe: true },
    Build: { prompt: 'Build it.', tools: 'coding' },
    Judge: { prompt: 'Judge it.', tools: 'readOnly' },
    Sum: { prompt: 'Sum up.', tools: 'none' },
  },
  loadouts: {
    Streams: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'Split', edges: [always('Socket-2')] },
        'Socket-2': { materia: 'Ready', edges: [always('Socket-3')] },
        'Socket-3': { materia: 'Build', edges: [always('Socket-4')] },
        'Socket-4': {
          materia: 'Judge',
          parse: 'json',
          advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
          edges: [satisfied('Socket-3'), notSatisfied('Socket-3', 1)],
        },
        'Socket-5': { materia: 'Sum' },
      },
      loops: {
        streams: {
          ...{ sockets: ['Socket-3', 'Socket-4'], consumes: { from: 'Socket-1' } },
          parallel: { maxConcurrency: 3, barrier },
          exits: [exit('Socket-4', 'always', 'Socket-5')],
        },
      },
    },
  },
});

const schedule = (...lists: readonly (readonly number[])[]): JsonObject => ({
  workItems: ['A', 'B', 'C', 'D'].map((title) => ({ title, context: `Do ${title}.` })),
  parallelSchedule: {
    version: 1,
    streams: lists.map((workItemIndexes, at) => ({ name: `s${at}`, workItemIndexes: [...workItemIndexes] })),
  },
});

const slow = (output: Json, file?: string): Json => ({
  $turn: { output, delayMs: 400, ...(file ? { write: { [file]: `${file}\n` } } : {}) },
});

const prepared = (barrier: 'all' | 'settled', agents: JsonObject) =>
  repository({ '.gitignore': '.baton/\n*.json\n', 'team.json': config(barrier), 'agents.json': agents });

const CAST = ['cast', '--file', 'team.json', '--agents', 'agents.json', '--json', 'do it'];

async function tasksOf(dir: string): Promise<readonly string[]> {
  const tasks = json<{ title: string; status: string }[]>(await baton(dir, ['task', 'list', '--json']));
  return tasks
    .filter(({ title }) => title.length === 1)
    .map(({ title, status }) => `${title} ${status}`)
    .toSorted();
}

const filesOf = (dir: string, { cast }: CastView) =>
  git(dir, 'diff', '--name-only', `main..baton/${cast}`).split('\n').filter(Boolean);

function branchesOf({ data }: CastView): readonly string[] {
  const { parallelFanIn } = data as { parallelFanIn: { orderedBranches: { name: string; status: string }[] } };
  return parallelFanIn.orderedBranches.map(({ name, status }) => `${name} ${status}`);
}

test('settled: the loop is left with what was done; killed three times and resumed it comes to the same', async () => {
  const agents = {
    Split: [schedule([0, 3], [1, 2])],
    Ready: [slow('ready'), slow('ready')],
    Build: [slow('A', 'a.txt'), slow('B', 'b.txt'), slow('D', 'd.txt')],
    Judge: [slow(yes), slow('no JSON'), slow('none again'), slow(yes)],
    Sum: [slow('Summed up.')],
  };
  const quiet = prepared('settled', agents);
  const ran = await baton(quiet, CAST);
  const told = json<CastView>(ran);
  expect([ran.code, told.status]).toEqual([0, 'completed']);
  const killed = prepared('settled', agents);
  for (const step of [/▸ Ready/, /▸ Build/, /▸ Judge/]) {
    const isFirst = step.source.endsWith('Ready');
    const run = start(killed, isFirst ? CAST.filter((word) => word !== '--json') : ['resume']);
    await until('the step', () => step.test(run.stderr()));
    run.child.kill('SIGKILL');
    await run.ended;
  }
  const end = await batonProcess(killed, ['resume', '--json']);
  const resumed = json<CastView>(end);
  expect([end.code, resumed.status, resumed.result.last?.text]).toEqual([0, 'completed', 'Summed up.']);
  for (const [dir, cast] of [
    [quiet, told],
    [killed, resumed],
  ] as const) {
    // Which stream meets the answer that is no JSON depends on which judge is ready first.
    expect(
      branchesOf(cast)
        .map((row) => row.slice(3))
        .toSorted(),
    ).toEqual(['accepted', 'failed']);
    expect((await tasksOf(dir)).map((row) => row.slice(2)).toSorted()).toEqual(['canceled', 'done', 'done', 'failed']);
    const facts = JSON.parse((await baton(dir, ['log', '--json', '--after', '0'])).stdout) as Fact[];
    const done = facts.flatMap((fact) => (fact.kind === 'task.moved' && fact.to === 'done' ? [fact.task] : []));
    expect([new Set(done).size, done.length, filesOf(dir, cast).length]).toEqual([2, 2, 2]);
  }
});

test('all: the others finish, the cast fails, and continue works on what failed only', async () => {
  const dir = prepared('all', {
    Split: [schedule([0, 3], [1, 2])],
    Ready: ['ready', '$repeat'],
    Build: [slow('1', '1.txt'), 'x', '$repeat'],
    Judge: ['no', 'no', yes, '$repeat'],
    Sum: ['Summed up.'],
  });
  const ran = await baton(dir, CAST);
  const failed = json<CastView>(ran);
  expect([ran.code, failed.status, failed.code]).toEqual([1, 'failed', 'CONTRACT_VIOLATION']);
  expect((await tasksOf(dir)).filter((row) => row.endsWith('done'))).toHaveLength(2);
  const before = failed.path.length;
  const went = await baton(dir, ['continue', '--json']);
  const cast = json<CastView>(went);
  expect([went.code, cast.status]).toEqual([0, 'completed']);
  expect(new Set(cast.path.slice(before).map(({ item }) => item)).size).toBe(2);
  expect((await tasksOf(dir)).every((row) => row.endsWith('done'))).toBe(true);
});

test('the picture tells what runs once for each stream, how many at a time, and what the barrier waits for', async () => {
  const dir = prepared('settled', {});
  const { stdout } = await baton(dir, ['graph', '--file', 'team.json']);
  expect(stdout).toMatch(/Ready +claude, edits \[Once per stream\]/);
  expect(stdout).toContain('for each item of Split, 3 at a time, until all are settled');
});
