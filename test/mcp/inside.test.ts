// An agent within its attempt: what it is offered, how its handoff is judged, and what it may not do.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { submittedHandoff } from '../../src/agents/handoff-file.ts';
import { ownIdentity } from '../../src/agents/process/process-identity.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent, always, BATON, baton, flow, json, project, until } from '../cli/baton.ts';
import { type Connected, overProgram } from './client.ts';

const config = flow(
  { A: { ...agent, prompt: 'Judge it.' } },
  {
    'Socket-1': {
      materia: 'A',
      parse: 'json',
      edges: [{ when: 'satisfied', to: 'end' }, always('end')],
      limits: { maxOutputBytes: 2_000 },
    },
  },
);

const coding = (checkers: JsonObject): JsonObject => ({
  ...flow({ A: { tools: 'coding', prompt: 'Build it.' } }, { 'Socket-1': { materia: 'A' } }),
  checkers,
});

type Attempt = Connected & { readonly dir: string; readonly cast: string; readonly folder: string };

/** A cast whose only turn is under way, and the server that its agent has started. */
async function attempt(
  env: Readonly<Record<string, string>> = {},
  claim: JsonObject = {},
  loadout: JsonObject = config,
  writes: JsonObject = {},
  program?: readonly string[],
): Promise<Attempt> {
  const agents: JsonObject = { A: [{ $turn: { output: '{"satisfied":true}', delayMs: 120_000, ...writes } }] };
  const dir = project({ '.baton/config.json': loadout, 'agents.json': agents });
  if (loadout !== config) await baton(dir, ['trust']);
  const view = json(await baton(dir, ['cast', '--detach', '--json', '--agents', 'agents.json', 'do it']));
  const cast = String(view.cast);
  const folder = join(dir, '.baton/state/attempts', `${cast}-1.1`);
  mkdirSync(folder, { recursive: true });
  // This test stands for the supervisor: it is a process above the server.
  writeFileSync(join(folder, 'claim'), JSON.stringify({ by: 'supervisor', ...ownIdentity(), ...claim }));
  const known = { BATON_CAST: cast, BATON_ATTEMPT: '1.1', BATON_HOME: join(dir, '.baton/state'), ...env };
  return { ...(await overProgram(dir, known, program)), dir, cast, folder };
}

test.each<[string, readonly string[] | undefined]>([
  ['of the server', undefined],
  ['of the program above it', ['sh', '-c', 'env -u DEPLOY_TOKEN "$0" mcp; exit $?', BATON]],
])('what an agent submits is kept without the secrets in the environment %s', async (_, program) => {
  const secret = 'correct-horse-battery';
  const loadout = flow({ A: { ...agent, env: ['DEPLOY_TOKEN'] } }, { 'Socket-1': { materia: 'A', parse: 'text' } });
  const { ask, folder } = await attempt({ DEPLOY_TOKEN: secret }, {}, loadout, {}, program);
  expect(await ask('submit_handoff', { handoff: `deployed with ${secret}` })).toMatchObject({ allow: true });
  const kept = readFileSync(join(folder, 'handoff.json'), 'utf8');
  expect(kept).toContain('deployed with [secret:env]');
  expect(kept).not.toContain(secret);
});

test('a broken handoff is given back with what to mend, and the mended one is kept for the engine', async () => {
  const { ask, cast, folder } = await attempt();
  const broken = await ask('submit_handoff', { handoff: 'I am done!' });
  expect(broken).toMatchObject({ allow: false, code: 'NOT_JSON' });
  expect(broken.details.repair).toContain('JSON');
  expect(await ask('submit_handoff', { handoff: { context: 'fine' } })).toMatchObject({ code: 'CONTRACT_VIOLATION' });
  expect(await ask('submit_handoff', { handoff: { satisfied: true, context: 'x'.repeat(3_000) } })).toMatchObject({
    code: 'CONTRACT_VIOLATION',
    details: { issues: [{ path: '$' }] },
  });
  const here = { cast, turn: 1, attempt: 1 };
  expect(await submittedHandoff(folder, here)).toBe(null);
  const first = await ask('submit_handoff', { handoff: { satisfied: false } });
  expect(first).toMatchObject({ allow: true, details: { satisfied: false } });
  expect(await ask('submit_handoff', { handoff: '{"satisfied": true}' })).toMatchObject({ allow: true });
  expect(await submittedHandoff(folder, here)).toBe('{"satisfied": true}');
  expect(await ask('submit_handoff', { handoff: 'no' })).toMatchObject({ allow: false });
  expect(await submittedHandoff(folder, here)).toBe('{"satisfied": true}');
  expect(await submittedHandoff(folder, { ...here, attempt: 2 })).toBe(null);
});

test('a red check goes back to the agent in its session, once for the same work, and a pass is not run again', async () => {
  const run = "const fs = require('node:fs'); fs.appendFileSync('.baton/state/count', 'x'); ";
  const look =
    "if (fs.readFileSync('work.txt', 'utf8') !== 'good') { console.log('work.txt is bad'); process.exit(1); }";
  const loadout = coding({
    look: { command: ['node', '-e', run + look] },
    whole: { command: ['false'], when: 'merge' },
  });
  const { ask, cast, dir, folder } = await attempt({ BATON_FENCE: '1' }, {}, loadout, { write: { 'later.txt': 'x' } });
  const here = { cast, turn: 1, attempt: 1 };
  const submit = () => ask('submit_handoff', { handoff: 'done' });
  await until('the turn began', () => existsSync(join(dir, '.baton/state/turns', `${cast}-1.json`)));
  while ((await ask('read_context')).code === 'STALE_ATTEMPT') await pause(50);
  writeFileSync(join(dir, 'work.txt'), 'bad');
  const red = await submit();
  expect(red).toMatchObject({ allow: false, code: 'CHECKS_FAILED' });
  expect(red.details.checks).toMatchObject([{ name: 'look', ok: false, output: 'work.txt is bad' }]);
  expect(await submittedHandoff(folder, here)).toBe(null);
  // Submitted again without a change it is taken as it is.
  expect(await submit()).toMatchObject({ allow: true });
  expect(await submittedHandoff(folder, here)).toBe('done');
  writeFileSync(join(dir, 'work.txt'), 'worse');
  expect(await submit()).toMatchObject({ code: 'CHECKS_FAILED' });
  writeFileSync(join(dir, 'work.txt'), 'good');
  const count = () => readFileSync(join(dir, '.baton/state/count'), 'utf8').length;
  expect([await submit(), count()]).toMatchObject([{ allow: true }, 4]);
  expect([await submit(), count()]).toMatchObject([{ allow: true }, 4]);
});

test('only its own tools are offered, and those that steer are refused', async () => {
  const { ask, names, dir, cast } = await attempt();
  const offered = await names();
  expect(offered).toContain('submit_handoff');
  expect(offered.filter((name) => name.startsWith('cast_'))).toEqual([]);
  for (const [name, args] of [
    ['cast_start', { request: 'more of me' }],
    ['cast_wait', { cast }],
    ['cast_answer', { cast, answer: 'yes' }],
    ['cast_show', { cast }],
    ['cast_list', {}],
  ] as const) {
    expect(await ask(name, args)).toMatchObject({ allow: false, code: 'APPROVER_IS_AGENT' });
  }
  expect(json<readonly JsonObject[]>(await baton(dir, ['casts', '--json']))).toHaveLength(1);
  expect(await ask('request_approval', { operation: 'rm', reason: 'space' })).toMatchObject({ code: 'BAD_USAGE' });
});

test('it reads what it was asked, and what it must return', async () => {
  const { ask, cast } = await attempt();
  const { details } = await ask('read_context');
  expect(details).toMatchObject({ cast, turn: 1, attempt: 1, socket: 'Socket-1', request: 'do it', item: null });
  expect(details.returns).toMatchObject({ contract: 'materia', instructions: expect.stringContaining('satisfied') });
  expect(await ask('read_context', { path: 'nothing.here' })).toMatchObject({ code: 'MISSING_REQUIRED_INPUT' });
  expect(await ask('read_context', { path: '__proto__' })).toMatchObject({ code: 'MISSING_REQUIRED_INPUT' });
  expect(await ask('heartbeat')).toMatchObject({ code: 'NOT_ALLOWED_NOW' });
});

test.each([
  ['an attempt that is over', { BATON_ATTEMPT: '1.2' }, 'STALE_ATTEMPT'],
  ['a turn that never was', { BATON_ATTEMPT: '9.1' }, 'STALE_ATTEMPT'],
  ['another claim', { BATON_FENCE: '7' }, 'STALE_ATTEMPT'],
  ['a cast that never was', { BATON_CAST: 'nobody' }, 'UNKNOWN_CAST'],
  ['a name that leads elsewhere', { BATON_CAST: '../../x' }, 'NOT_ALLOWED_NOW'],
])('%s cannot be submitted for', async (_, env, code) => {
  const { ask, folder } = await attempt(env);
  expect(await ask('submit_handoff', { handoff: { satisfied: true } })).toMatchObject({ allow: false, code });
  expect(await ask('cast_list')).toMatchObject({ code: 'APPROVER_IS_AGENT' });
  expect(readdirSync(folder)).toEqual(['claim']);
});

test.each<[string, JsonObject]>([
  ['another process', { pid: 1 }],
  ['a process that had the same number', { startTime: 'then' }],
  ['nobody but an engine', { by: 'engine' }],
])('an attempt of %s cannot be submitted for, whatever the environment says', async (_, claim) => {
  const { ask, folder } = await attempt({}, claim);
  expect(await ask('submit_handoff', { handoff: { satisfied: true } })).toMatchObject({ code: 'NOT_ALLOWED_NOW' });
  expect(readdirSync(folder)).toEqual(['claim']);
});
