// A command that changes state waits for a person also with the real programs, and nobody has to install anything for that: the
// cast brings its own hook. Once it is approved the agent runs exactly that command, once, by the word that it was told.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { type Answer, type ModelRequest, modelServer } from '../../src/testing/index.ts';
import { batonProcess as baton, json, put } from '../cli/baton.ts';
import { commit, git, repository } from '../cli/repository.ts';
import { asBlock, type PlanStatus, reportOf } from '../reports.ts';
import { assertInstalled, CLI, homeFolder, scratchFolder } from './contenders.ts';
import { REAL, type RealProgram } from './real-cast.ts';

beforeAll(assertInstalled);

const COMMAND = 'node count.mjs';

/** Tries the command, asks for what it was refused, and once that is approved runs it as it was told to. */
function model({ name, shell }: RealProgram): (request: ModelRequest) => Answer {
  // The shell of codex is sandboxed, and its instructions say what to do then.
  const run = (approval: string) =>
    name === 'codex'
      ? { name: 'run_approved', namespace: 'mcp__baton', input: { approval, argv: COMMAND.split(' ') } }
      : shell(`baton exec --approval ${approval} -- ${COMMAND}`);
  return ({ system, messages }) => {
    const said = [system, ...messages.map(({ text }) => text)].join('\n');
    const done = messages.filter(({ role }) => role === 'tool').length;
    const agent_id = /agent_id: exactly "(a[0-9a-f]+)"/.exec(said)?.[1] ?? 'a000000';
    const report = (status: PlanStatus, more: JsonObject = {}) =>
      asBlock(reportOf(status, { agent_id, key_outputs: ['counted'], more }));
    const [, approved] = /(P-\w+) is approved\. Run exactly/.exec(said) ?? [];
    if (approved === undefined) {
      const [, id] = /approval_request\.approval_id \\?"(P-\w+)/.exec(said) ?? [];
      if (id === undefined) return { toolCalls: [shell(COMMAND)] };
      const request = { operation: 'counts', exact_content: COMMAND, scope: 'here', risk_level: 'LOW' };
      const more = { ...request, rollback: 'none', verification: 'runs.txt', approval_id: id };
      return report('APPROVAL_REQUEST', { approval_request: more });
    }
    return done > 1 ? report('COMPLETE') : { toolCalls: [run(approved)] };
  };
}

/** A repository with one agent, and baton not among the programs that can be found. */
async function place(program: RealProgram, answers: (request: ModelRequest) => Answer, more: JsonObject = {}) {
  const dir = repository();
  const home = homeFolder();
  const server = await modelServer({ answers });
  onTestFinished(async () => {
    await server.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });
  const { materia, env } = program.setUp(server.url, home);
  const socket = { materia: 'Work', contract: 'gaia', parse: 'json', edges: [{ when: 'always', to: 'end' }] };
  put(dir, {
    'count.mjs': `import { appendFileSync } from 'node:fs';\nappendFileSync('runs.txt', 'ran\\n');\n`,
    '.baton/config.json': {
      activeLoadout: 'One',
      materia: { Work: { runner: program.name, tools: 'coding', prompt: 'Count.', ...materia, ...more } },
      loadouts: { One: { entry: 'Socket-1', sockets: { 'Socket-1': socket } } },
    },
  });
  commit(dir, 'it can be counted');
  const PATH = `${join(CLI, 'node_modules', '.bin')}:${process.env.PATH}`;
  const how = { env: { ...env, HOME: home, PATH, TMPDIR: scratchFolder() } as NodeJS.ProcessEnv };
  const run = (...args: string[]) => baton(dir, args, how);
  const counted = (view: JsonObject) => git(dir, 'show', `${String(view.branch)}:runs.txt`);
  return { run, counted };
}

test.each(REAL)('$name: a command waits for a person, and runs once when it is approved', async (program) => {
  const { run, counted } = await place(program, model(program));
  expect(json(await run('cast', 'count', '--json'))).toMatchObject({ status: 'waiting', code: 'APPROVAL_NEEDED' });
  const [wanted] = json<readonly JsonObject[]>(await run('approvals', '--json'));
  const done = json<JsonObject>(await run('approve', String(wanted?.id), '--json'));
  expect(done).toMatchObject({ status: 'completed' });
  expect(counted(done)).toBe('ran');
  const facts = json<readonly (JsonObject & { kind: string })[]>(await run('log', '--json', '--after', '0'));
  const of = (kind: string) => facts.filter((fact) => fact.kind === `approval.${kind}`);
  expect([of('requested'), of('used'), of('refused')].map(({ length }) => length)).toEqual([1, 1, 0]);
  expect(of('finished')).toMatchObject([{ exit: 0 }]);
  // What was held back did not run, and what ran was approved.
  expect(JSON.stringify(facts)).not.toContain('ran without approval');
});

test('claude without hooks is not held back, and what it ran is told', async () => {
  const program = REAL.find(({ name }) => name === 'claude') as RealProgram;
  const answers = ({ system, messages }: ModelRequest): Answer => {
    const said = [system, ...messages.map(({ text }) => text)].join('\n');
    const agent_id = /agent_id: exactly "(a[0-9a-f]+)"/.exec(said)?.[1] ?? 'a000000';
    const isDone = messages.some(({ role }) => role === 'tool');
    return isDone ? asBlock(reportOf('COMPLETE', { agent_id })) : { toolCalls: [program.shell(COMMAND)] };
  };
  const { run } = await place(program, answers, { args: ['--bare'] });
  const cast = await run('cast', 'count');
  expect(cast.code).toBe(0);
  expect(cast.stdout).toContain(`Work, turn 1, ran without approval: ${COMMAND}`);
  expect((await run('show', '--turn', '1')).stdout).toContain(`! ran without approval: ${COMMAND}`);
});
