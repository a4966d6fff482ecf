// A person talks with a planning agent: five turns, then the plan. The same where the process is killed in each turn.
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent, always, baton, flow, json, project, start } from './baton.ts';

const PLAN = { workItems: [{ title: 'Greet', context: 'greet.txt says hello' }] };
const config = flow(
  { Plan: { ...agent, generator: true, multiTurn: true, prompt: 'Plan it.' }, Tell: agent },
  { 'Socket-1': { materia: 'Plan', ...always('Socket-2') }, 'Socket-2': { materia: 'Tell', parse: 'text' } },
);
const slowly = (output: string) => ({ $turn: { output, delayMs: 400 } });
const ASKED = [1, 2, 3, 4, 5].map((turn) => `Question ${turn}?`);
const agents = { Plan: [...ASKED.map(slowly), slowly('Agreed.'), JSON.stringify(PLAN)], Tell: ['It is planned.'] };

type Talk = JsonObject & {
  readonly isAsked: boolean;
  readonly lines: readonly { readonly from: string; readonly text: string }[];
};

const begin = () => project({ '.baton/config.json': config, 'agents.json': agents });
const words = (dir: string) => baton(dir, ['talk', 'latest', '--json']).then((ran) => json<Talk>(ran));

/** Starts a command and kills it as soon as the agent is at work. */
async function killed(dir: string, args: readonly string[]): Promise<void> {
  const run = start(dir, args);
  await expect.poll(() => run.stderr(), { timeout: 60_000, interval: 5 }).toMatch(/▸ Plan/);
  run.child.kill('SIGKILL');
  await run.ended;
}

/** What the conversation and the cast came to, without times and ids. */
async function outcome(dir: string, lines: Talk['lines']) {
  const { status, path, data, turns } = json<CastView>(await baton(dir, ['show', 'latest', '--json', '--turns']));
  const said = lines.map(({ from, text }) => `${from}: ${text}`);
  const accepted = turns
    ?.filter(({ verdict }) => (verdict as { allow?: boolean } | null)?.allow)
    .map(({ socket, output }) => [socket, output]);
  return { status, path, data, said, accepted };
}

async function quiet() {
  const dir = begin();
  const first = await baton(dir, ['cast', '--agents', 'agents.json', '--json', 'plan it']);
  expect([first.code, json<CastView>(first).code]).toEqual([4, 'ANSWER_NEEDED']);
  for (const turn of [1, 2, 3, 4, 5]) {
    const ran = await baton(dir, ['talk', 'latest', `answer ${turn}`, '--json']);
    expect([ran.code, json<CastView>(ran).status]).toEqual([4, 'waiting']);
  }
  const { lines } = await words(dir);
  const end = await baton(dir, ['continue', 'latest', '--json']);
  expect([end.code, json<CastView>(end).status]).toEqual([0, 'completed']);
  return outcome(dir, lines);
}

test('a conversation of five turns that is killed in each comes to the same as the quiet one', {
  timeout: 600_000,
}, async () => {
  const expected = await quiet();
  expect(expected.data).toMatchObject(PLAN);
  expect(expected.said).toHaveLength(11);
  const dir = begin();
  await killed(dir, ['cast', '--agents', 'agents.json', 'plan it']);
  for (const turn of [1, 2, 3, 4, 5]) {
    // What was pending is answered; nothing is ended by that.
    const back = await baton(dir, ['continue', 'latest', '--json']);
    expect([back.code, json<CastView>(back).status, back.stderr]).toEqual([
      ...[4, 'waiting', expect.stringContaining('continue again to end the conversation')],
    ]);
    expect((await words(dir)).isAsked).toBe(true);
    await killed(dir, ['talk', 'latest', `answer ${turn}`]);
  }
  expect((await baton(dir, ['continue', 'latest'])).code).toBe(4);
  const { lines } = await words(dir);
  const end = await baton(dir, ['continue', 'latest', '--json']);
  expect([end.code, end.stderr]).toEqual([0, expect.stringContaining('is over: its final answer is asked for')]);
  expect(await outcome(dir, lines)).toEqual(expected);
});

test('while its agent is at work a conversation cannot be ended, and what is said to the cast is kept', {
  timeout: 300_000,
}, async () => {
  const dir = project({
    '.baton/config.json': config,
    'agents.json': { Plan: ['What colour?', { $turn: { output: 'Red.', delayMs: 60_000 } }] },
  });
  await baton(dir, ['cast', '--agents', 'agents.json', 'plan it']);
  const talking = start(dir, ['talk', 'latest', 'red']);
  await expect.poll(() => talking.stderr(), { timeout: 60_000 }).toMatch(/▸ Plan/);
  const early = await baton(dir, ['continue', 'latest', '--json']);
  expect([early.code, json(early).code, json(early).reason]).toEqual([
    ...[1, 'NOT_ALLOWED_NOW', expect.stringContaining('has not answered yet')],
  ]);
  const said = await baton(dir, ['say', 'latest', 'use', 'tabs']);
  expect([said.code, said.stdout]).toEqual([0, expect.stringMatching(/^Plan .*is at work: its next brief has it/)]);
  await baton(dir, ['abort', 'latest']);
  await talking.ended;
  const over = await baton(dir, ['say', 'latest', 'too late', '--json']);
  expect([over.code, json(over).code]).toEqual([1, 'NOT_ALLOWED_NOW']);
});

test('with --interrupt what is said reaches the agent at work at once; what it used counts, and nothing is lost', {
  timeout: 300_000,
}, async () => {
  const dir = project({
    '.baton/config.json': flow({ Tell: agent }, { 'Socket-1': { materia: 'Tell', parse: 'text' } }),
    'agents.json': { Tell: [{ $turn: { output: 'Spaces.', delayMs: 600_000 } }, 'Tabs.'] },
  });
  const run = start(dir, ['cast', '--agents', 'agents.json', '--json', 'tell it']);
  await expect.poll(() => run.stderr(), { timeout: 60_000 }).toMatch(/▸ Tell/);
  const said = await baton(dir, ['say', 'latest', '--interrupt', 'use', 'tabs']);
  expect([said.code, said.stdout]).toEqual([0, 'Tell is interrupted and goes on with it\n']);
  const { code, stderr, stdout } = await run.ended;
  expect([code, stderr]).toEqual([0, expect.stringContaining('interrupted, goes on with what you said')]);
  const [first, second] = (JSON.parse(stdout) as CastView & { turns?: unknown }).path;
  expect([first?.socket, second]).toEqual(['Socket-1', undefined]);
  const { turns } = json<CastView>(await baton(dir, ['show', 'latest', '--json', '--turns']));
  expect(turns?.map(({ attempt, brief, output }) => [attempt, output, brief.includes('use tabs')])).toEqual([
    [1, null, false],
    [2, 'Tabs.', true],
  ]);
  const log = await baton(dir, ['log']);
  expect(log.stdout).toContain('at once: use tabs');
  expect(log.stdout).toContain('was interrupted by a person and goes on');
});

test('a cast that is over says where its conversation is to be read', async () => {
  const dir = project({
    '.baton/config.json': config,
    'agents.json': { Plan: ['What colour?', '$continue', PLAN], Tell: ['Done.'] },
  });
  expect((await baton(dir, ['cast', '--agents', 'agents.json', 'plan it'])).code).toBe(0);
  const read = await baton(dir, ['talk', 'latest', '--json']);
  expect([read.code, json(read).reason]).toEqual([
    1,
    expect.stringMatching(/has completed; .* --turns` has what was said/),
  ]);
});
