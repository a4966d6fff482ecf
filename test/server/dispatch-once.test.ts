// What a person says to a cast that waits starts exactly one attempt, by the process that drives the cast: through a server, at the command
// line, and where another process drives the cast already.
import { expect, test, vi } from 'vitest';
import type { Fact } from '../../src/kernel/fact.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent, baton, batonProcess, flow, project, read, start, until } from '../cli/baton.ts';
import { served } from './serving.ts';

vi.setConfig({ testTimeout: 120_000 });

/** It notes that it was started, and speaks after a while. */
const AGENT = `import { appendFileSync } from 'node:fs';
let brief = '';
for await (const chunk of process.stdin) brief += chunk;
appendFileSync(new URL('./.baton/state/starts', import.meta.url), 'started\\n');
setTimeout(() => console.log('What else?'), brief.includes('the slow one') ? 6_000 : 200);
`;
const talking = { ...agent, multiTurn: true };
const config = (materia: JsonObject) => flow({ A: materia }, { 'Socket-1': { materia: 'A', parse: 'text' } });
const AGENTS: readonly [string, JsonObject, readonly string[]][] = [
  [
    'a program',
    { '.baton/config.json': config({ ...talking, runner: 'command', command: ['node', 'agent.mjs'] }) },
    [],
  ],
  ['a script', { '.baton/config.json': config(talking) }, ['--agents', 'agents.json']],
  [
    'a script that must not run twice',
    { '.baton/config.json': config({ ...talking, onCrash: 'wait' }) },
    ['--agents', 'agents.json'],
  ],
];
const SCRIPT = { A: ['One?', 'Two?', 'Three?', 'Four?', 'Five?', 'agreed'] };

async function factsOf(dir: string): Promise<readonly Fact[]> {
  return JSON.parse((await baton(dir, ['log', '--json', '--after', '0'])).stdout) as Fact[];
}

const startsIn = (facts: readonly Fact[]) => facts.filter(({ kind }) => kind === 'attempt.started').length;
const ALLOWED = { allow: true, code: 'OK' };
const KINDS_OF_LOSS = ['attempt.lost', 'turn.unknown', 'cast.recovered'];

test.each(AGENTS)('%s: talk, answer and continue start one attempt each', async (_, files, how) => {
  const dir = project({ ...files, 'agent.mjs': AGENT, 'agents.json': SCRIPT });
  expect((await baton(dir, ['cast', '--in-place', ...how, 'talk'])).code).toBe(4);
  const { ask } = await served(dir);
  const steps: readonly (() => Promise<unknown>)[] = [
    () => ask('cast.talk', { cast: 'latest', text: 'by the server' }),
    async () => expect(await ask('cast.answer', { cast: 'latest', answer: 'as an answer' })).toMatchObject(ALLOWED),
    async () => expect(await batonProcess(dir, ['talk', 'latest', '--detach', 'behind'])).toMatchObject({ code: 4 }),
    async () => expect(await batonProcess(dir, ['talk', 'latest', 'here'])).toMatchObject({ code: 4 }),
    () => ask('cast.continue', { cast: 'latest' }),
  ];
  for (const [at, step] of steps.entries()) {
    await step();
    const isLast = at === steps.length - 1;
    const facts = await until(`the end of step ${at + 1}`, async () => {
      const all = await factsOf(dir);
      return all.at(-1)?.kind === (isLast ? 'cast.completed' : 'cast.waiting') && startsIn(all) >= at + 2 && all;
    });
    expect(startsIn(facts)).toBe(at + 2);
    expect(facts.filter(({ kind }) => KINDS_OF_LOSS.includes(kind))).toEqual([]);
  }
  const said = (await factsOf(dir)).flatMap((fact) => (fact.kind === 'turn.answered' ? [[fact.from, fact.text]] : []));
  const words = ['by the server', 'as an answer', 'behind', 'here'].map((text) => ['person', text]);
  expect(said.slice(0, words.length)).toEqual(words);
  if (how.length === 0) expect(read(dir, '.baton/state/starts')).toBe('started\n'.repeat(6));
});

test('where a process drives the cast, it starts the turn that was answered, once', async () => {
  const runs = (file: string) => ({ ...agent, runner: 'command', command: ['node', file] });
  const sockets = {
    'Socket-1': {
      materia: 'Plan',
      parse: 'json',
      assign: { workItems: '$.workItems' },
      edges: [{ when: 'always', to: 'Socket-2' }],
    },
    'Socket-2': {
      materia: 'A',
      parse: 'text',
      advance: { cursor: 'workItemIndex', items: 'state.workItems' },
      edges: [{ when: 'always', to: 'Socket-2' }],
    },
  };
  const each = {
    sockets: ['Socket-2'],
    consumes: { from: 'Socket-1', output: 'workItems' },
    parallel: { maxConcurrency: 2 },
  };
  const dir = project({
    '.baton/config.json': {
      materia: { Plan: { ...runs('plan.mjs'), generator: true }, A: { ...runs('agent.mjs'), multiTurn: true } },
      loadouts: { parts: { entry: 'Socket-1', sockets, loops: { each } } },
    },
    'plan.mjs': `console.log(JSON.stringify({ workItems: [
      { title: 'the quick one', context: 'a' }, { title: 'the slow one', context: 'b' } ] }));\n`,
    'agent.mjs': AGENT,
  });
  const driver = start(dir, ['cast', '--in-place', '-l', 'parts', 'talk']);
  const { ask, workspace } = await served(dir);
  const asks = await until('the quick one to ask', async () =>
    (await factsOf(dir)).find((fact) => fact.kind === 'turn.reported'),
  );
  const { turn = 0 } = asks as { turn?: number };
  const [{ cast } = { cast: '' }] = await workspace.castStore().view('casts', {});
  const before = await workspace.castStore().view('driver', cast);
  await ask('cast.talk', { cast, turn, text: 'go on' });
  const ran = await driver.ended;
  expect([ran.code, before?.pid]).toEqual([4, driver.child.pid]);
  const facts = await factsOf(dir);
  const attempts = facts.filter((fact) => fact.kind === 'attempt.started' && fact.turn === turn);
  expect(attempts).toHaveLength(2);
  expect(facts.filter(({ kind }) => KINDS_OF_LOSS.includes(kind))).toEqual([]);
  expect(read(dir, '.baton/state/starts')).toBe('started\n'.repeat(3));
});
