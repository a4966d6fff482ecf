// The queue from outside: what a run answers, a process that stays and adds what a schedule says, and waits that survive a kill.
import { expect, test } from 'vitest';
import { Workspace } from '../../src/app/workspace.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { locate } from '../../src/workspace/locate.ts';
import { agent, always, asProcesses, baton, environment, flow, json, project, put, start, until } from './baton.ts';

const ONE = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text' } });
const RUN = ['quest', 'run', '--agents', 'agents.json'];
type Listed = { readonly quests: readonly JsonObject[]; readonly schedules: readonly JsonObject[] };

function queue(config: JsonObject = ONE): string {
  return project({ '.baton/config.json': config, 'agents.json': { A: ['done', '$repeat'] }, 'none.json': {} });
}

async function listed(dir: string, ...more: string[]): Promise<Listed> {
  return json<Listed>(await baton(dir, ['quest', 'list', '--json', ...more]));
}

test('a failed quest ends a run with its code, and the others are done all the same', async () => {
  const dir = queue();
  for (const args of [['one'], ['two', '--after', '1'], ['three']]) await baton(dir, ['quest', 'add', ...args]);
  await baton(dir, ['quest', 'runonce', '--agents', 'none.json']);
  const ran = await baton(dir, [...RUN, '--json']);
  expect(json(ran)).toMatchObject({
    allow: true,
    details: { done: [{ quest: 'Q-3', status: 'completed' }], pending: 1 },
  });
  expect((await listed(dir)).quests).toMatchObject([
    { id: 'Q-2', status: 'pending', waitsFor: 'Q-1, which failed (AGENT_FAILED)' },
    { id: 'Q-1', status: 'failed', code: 'AGENT_FAILED' },
  ]);
  const [cast] = json<JsonObject[]>(await baton(dir, ['casts', '--json']));
  expect(cast).toMatchObject({ quest: 'Q-3' });
  const shown = await baton(dir, ['show', 'latest']);
  expect(shown.stdout).toContain('for quest Q-3');
});

test.each([
  ['a loadout that is not there', ['quest', 'add', 'x', '--loadout', 'Nope'], 'Nope'],
  ['a time zone that is none', ['quest', 'add', 'x', '--cron', '@daily', '--zone', 'Mars/Base'], 'Europe/Berlin'],
  ['a line that is no cron', ['quest', 'add', 'x', '--cron', 'often'], 'five fields'],
  ['a zone without a line', ['quest', 'add', 'x', '--zone', 'UTC'], '--cron'],
  ['two places', ['quest', 'reorder', '1', '--first', '--last'], 'one place'],
])('%s is refused with what to say instead', async (_what, args, words) => {
  const dir = queue();
  const { code, stdout, stderr } = await baton(dir, args);
  expect([code === 0, `${stdout}${stderr}`]).toEqual([false, expect.stringContaining(words)]);
});

test('a quest that cannot start stays pending, and the run says why', async () => {
  const dir = queue();
  await baton(dir, ['quest', 'add', 'one']);
  put(dir, { '.baton/config.json': '{ broken' });
  const ran = await baton(dir, RUN);
  expect([ran.code === 0, `${ran.stdout}${ran.stderr}`]).toEqual([false, expect.stringContaining('config.json')]);
  put(dir, { '.baton/config.json': ONE });
  expect((await listed(dir)).quests).toMatchObject([{ id: 'Q-1', status: 'pending', attempts: 0 }]);
});

test('a process that stays adds what a schedule says, does it, and ends when the queue is stopped', async () => {
  const dir = queue();
  const env = environment(dir);
  const located = locate(dir, env, dir);
  if (!located) throw new Error('there is no workspace');
  const workspace = new Workspace(located, { env });
  const every = { cron: '0 3 * * *', zone: 'UTC', dueAt: Date.now() };
  const errand = { title: 'nightly', request: 'nightly', loadout: null, priority: 'normal' } as const;
  const added = await workspace
    .ledgerStore({ begins: true })
    .submit({ kind: 'quest.add', ...errand, every }, { name: 'user:ada' });
  await workspace.close();
  expect(added.code).toBe('OK');
  const { ended } = start(dir, [...RUN, '--follow']);
  await until('the quest of the schedule', async () => (await listed(dir, '--status', 'succeeded')).quests.length > 0);
  const [schedule] = (await listed(dir)).schedules;
  expect([schedule?.last, Date.parse(String(schedule?.dueAt)) > Date.now()]).toEqual(['Q-1', true]);
  await baton(dir, ['quest', 'stop']);
  expect((await ended).code).toBe(0);
});

test('a wait survives the kill of its process, keeps its moment, and is met by the one that takes over', async () => {
  const wait = { wait: { command: ['test', '-e', 'green'], everyMs: 1_000 } };
  const sockets = {
    'Socket-1': { materia: 'W', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'A', parse: 'text' },
  };
  const dir = queue(flow({ A: agent, W: wait }, sockets));
  const { child, ended } = start(dir, ['cast', '--agents', 'agents.json', 'go']);
  const waits = async () => (await baton(dir, ['why', 'latest'])).stdout;
  await until('the wait', async () => (await waits()).includes('The last look found'));
  const before = json<{ waits: unknown }>(await baton(dir, ['show', 'latest', '--json']));
  child.kill('SIGKILL');
  await ended;
  put(dir, { green: '' });
  const resumed = json(await asProcesses(() => baton(dir, ['resume', 'latest', '--json'])));
  expect(resumed).toMatchObject({ status: 'completed' });
  expect(before.waits).toMatchObject([{ for: '`test -e green` succeeds', found: 'test: exit code 1 instead of 0' }]);
  const facts = json<JsonObject[]>(await baton(dir, ['log', '--after', '0', '--json']));
  expect(facts.filter(({ kind }) => kind === 'wait.begun')).toHaveLength(1);
});

const DECLARED = {
  materia: { A: { ...agent, prompt: 'Work on what is {{inputs.severity}}.' }, B: agent },
  loadouts: {
    L: {
      ...{ entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'A', parse: 'text' } } },
      inputs: { severity: { enum: ['low', 'high'] } },
    },
  },
};

test('a quest keeps what its cast is started with: inputs, a key of the configuration, and a materia alone', async () => {
  const dir = queue(DECLARED);
  put(dir, { 'agents.json': { A: ['done', '$repeat'], B: ['built', '$repeat'] } });
  await baton(dir, ['quest', 'add', 'one', '--input', 'severity=high', '--set', 'budget.maxTokens=777']);
  await baton(dir, ['quest', 'add', 'two', '--materia', 'B']);
  expect((await baton(dir, [...RUN])).code).toBe(0);
  const casts = json<{ cast: string; quest: string }[]>(await baton(dir, ['casts', '--json']));
  const shown = await Promise.all(
    ['Q-1', 'Q-2'].map(async (quest) => {
      const { cast } = casts.find((each) => each.quest === quest) ?? { cast: '' };
      return json<JsonObject>(await baton(dir, ['show', cast, '--json', '--turns']));
    }),
  );
  expect(shown).toMatchObject([
    { data: { inputs: { severity: 'high' } }, turns: [{ brief: expect.stringContaining('what is high') }] },
    { turns: [{ output: 'built' }] },
  ]);
  const log = await baton(dir, ['log', '--json', '--after', '0']);
  expect(log.stdout).toContain('"maxTokens":777');
});

test.each([
  ['an input that does not fit', ['--input', 'severity=huge'], 'INPUT_INVALID'],
  ['an input that is missing', [], 'INPUT_INVALID'],
  ['a runner that is not there', ['--input', 'severity=low', '--runner', 'cladue'], 'cladue'],
  ['a loadout and a materia', ['--loadout', 'L', '--materia', 'B'], 'not several'],
  ['an earlier cast that is not there', ['--input', 'severity=low', '--from', 'nope'], 'UNKNOWN_CAST'],
])('%s is refused when the quest is added', async (_what, args, words) => {
  const dir = queue(DECLARED);
  const { code, stdout, stderr } = await baton(dir, ['quest', 'add', 'x', ...args, '--json']);
  expect([code === 0, `${stdout}${stderr}`]).toEqual([false, expect.stringContaining(words)]);
  expect((await listed(dir)).quests).toEqual([]);
});
