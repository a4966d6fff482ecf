// `baton why`: whatever it tells to be typed can be typed, and casts that really stand somewhere are told truly.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Why, whyOf } from '../../src/app/views/why/why.ts';
import { callOf } from '../../src/cli/main.ts';
import { asBlock, reportOf } from '../reports.ts';
import { SITUATIONS } from '../situations.ts';
import { agent, always, BATON, baton, flow, json, project, put, script, start, untilWritten } from './baton.ts';

/** The words of a command line, as a shell takes them. */
function wordsOf(line: string): string[] {
  return Array.from(line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g), ([, one, two, bare]) => one ?? two ?? bare ?? '');
}

test.each(SITUATIONS)('$what: every command is one that there is, with the words it takes', async ({ situation }) => {
  const { commands } = await whyOf({ ...situation, baton: 'baton' });
  expect(commands.length).toBeGreaterThan(0);
  for (const { command } of commands) {
    const [program, ...argv] = wordsOf(command);
    expect(program).toBe('baton');
    const { command: found } = await callOf(argv);
    expect(argv).toContain(found.name);
  }
});

const gaia = flow(
  { Spec: agent },
  { 'Socket-1': { materia: 'Spec', parse: 'json', contract: 'gaia', edges: [always('end')] } },
);

async function asking(dir: string): Promise<void> {
  const turns = [asBlock(reportOf('NEEDS_INPUT', { next_action: 'tabs or spaces?' })), asBlock(reportOf('COMPLETE'))];
  put(dir, { 'cast.json': gaia, 'agents.json': { Spec: turns } });
  expect((await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it'])).code).toBe(4);
}

test('a question is told with the command that answers it, and the command works as it was told', async () => {
  const dir = project();
  await asking(dir);
  const said = await baton(dir, ['why']);
  expect(said).toMatchObject({ code: 0, stderr: '' });
  expect(said.stdout).toMatch(/has been waiting for a person \(ANSWER_NEEDED\) since .*\)\./);
  expect(said.stdout).toContain('asks since');
  expect(said.stdout).toContain('ANSWER_NEEDED means: ');
  const line = said.stdout.split('\n').find((each) => each.includes(' answer ')) ?? '';
  const [program = '', ...args] = wordsOf(line);
  const answered = await baton(dir, args, { program: [program], input: 'tabs' });
  expect(answered.code).toBe(0);
  const why = json<Why>(await baton(dir, ['why', 'latest', '--json']));
  expect(why).toMatchObject({ status: 'completed', code: null, driver: null });
});

test('called with a folder, it tells commands with that folder', async () => {
  const dir = project();
  const inner = join(dir, 'my project');
  mkdirSync(join(inner, '.baton'), { recursive: true });
  await asking(inner);
  const { commands } = json<Why>(await baton(dir, ['-C', inner, 'why', '--json']));
  for (const { command } of commands) expect(command).toContain(`${BATON} -C '${inner}' `);
});

test('a cast whose process was killed is told to be resumed, and who drives one is told while he does', async () => {
  const dir = project({
    'slow.js': 'require("fs").writeFileSync("began", "x"); setTimeout(() => console.log("{}"), 60000)',
  });
  put(dir, {
    'cast.json': flow({ Slow: script('slow.js') }, { 'Socket-1': { materia: 'Slow', edges: [always('end')] } }),
  });
  const running = start(dir, ['cast', '--file', 'cast.json', '--in-place', 'do it']);
  await untilWritten(dir, 'began');
  const driven = json<Why>(await baton(dir, ['why', '--json']));
  expect(driven).toMatchObject({ status: 'running', code: null, driver: { pid: expect.any(Number) } });
  expect(driven.sentences.join(' ')).toContain('has been at work on attempt 1 since');
  process.kill(Number(driven.driver?.pid), 'SIGKILL');
  await running.ended;
  const alone = json<Why>(await baton(dir, ['why', '--json']));
  expect(alone).toMatchObject({ status: 'running', driver: null });
  expect(alone.commands[0]?.command).toContain(' resume ');
});

test('a failure is told with its issues and with the way to look at the turn', async () => {
  const dir = project();
  put(dir, { 'cast.json': gaia, 'agents.json': { Spec: ['no block', 'again none'] } });
  await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'do it']);
  const { stdout } = await baton(dir, ['why']);
  expect(stdout).toContain('failed (CONTRACT_VIOLATION) at');
  expect(stdout).toMatch(/ show \S+ --turn 1\n/);
  expect(stdout).toMatch(/ recast \S+\n/);
});

test('without a cast it says so', async () => {
  const ran = await baton(project(), ['why', '--json']);
  expect([ran.code, json(ran).code]).toEqual([2, 'UNKNOWN_CAST']);
});
