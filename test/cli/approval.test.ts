// Approvals on the command line: asked for, shown, decided by a person, used once, whatever is killed in between.
import { chmodSync, existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ApprovalView } from '../../src/kernel/approval/state.ts';
import { agentIdOf } from '../../src/kernel/cast/rules.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { asBlock, reportOf } from '../reports.ts';
import {
  BATON,
  baton,
  CHECKOUT,
  flow,
  type How,
  injecting,
  isRunning,
  json,
  project,
  put,
  read,
  start,
  until,
  untilWritten,
} from './baton.ts';

const UNDONE = { rollback: 'none', verification: 'look' };

async function ask(dir: string, exact_content: string, more: JsonObject = {}, how: How = {}): Promise<string> {
  const input = JSON.stringify({
    operation: 'does it',
    exact_content,
    ...UNDONE,
    ...more,
  });
  const { details } = json<{ details: { approval: string } }>(
    await baton(dir, ['approvals', 'request', '-'], { ...how, input }),
  );
  return details.approval;
}

async function approved(dir: string, line: string, more: JsonObject = {}): Promise<string> {
  const id = await ask(dir, line, more);
  expect((await baton(dir, ['approve', id])).code).toBe(0);
  return id;
}

async function codeOf(dir: string, args: readonly string[], how: How = {}): Promise<unknown> {
  const done = await baton(dir, args, how);
  return done.stdout === '' ? done.code : json(done).code;
}

const open = async (dir: string) => json<readonly ApprovalView[]>(await baton(dir, ['approvals', '--json']));
const exec = (id: string, ...argv: string[]) => ['exec', '--json', '--approval', id, '--', ...argv];
const lines = (dir: string, name: string) => (existsSync(join(dir, name)) ? read(dir, name).trim().split('\n') : []);

const OTHER = `P-${'0'.repeat(32)}`;

/** Calls that are not understood run nothing and use nothing up; those that name an approval are in the log. */
async function misuse(dir: string, id: string): Promise<void> {
  const command = ['cp', 'a.txt', 'b c.txt'];
  const rows: [string[], string | null][] = [
    [['--approval', id, ...command, '--target', 'prod'], `"cp a.txt 'b c.txt' --target prod"`],
    [['--approval', id], 'nothing'],
    [['--approval', id, '--as', 'root', '--', ...command], '"--as root"'],
    [['--approval', id, '--', ''], `"''"`],
    [['--approval', OTHER, '--approval', id, '--', ...command], `"${OTHER} --approval"`],
    [['--target', 'prod', '--', ...command], null],
  ];
  for (const [args] of rows) {
    const { code, stdout } = await baton(dir, ['exec', '--json', ...args]);
    const said = { code: 'BAD_USAGE', reason: expect.stringContaining('baton exec --approval ID -- ARGV…') };
    expect([code, JSON.parse(stdout)]).toMatchObject([2, said]);
  }
  const facts = json<readonly JsonObject[]>(await baton(dir, ['log', '--json', '--after', '0']));
  const all = facts.filter(({ kind }) => kind === 'approval.refused');
  const refused = all.filter((fact) => fact.id === id);
  expect(all.filter((fact) => fact.id !== id)).toMatchObject([{ id: OTHER, code: 'UNKNOWN_APPROVAL' }]);
  const given = rows.flatMap(([, text]) => (text === null ? [] : [text]));
  const as = (text: string) => ({ id, code: 'APPROVAL_MISMATCH', differences: [{ part: 'line', given: text }] });
  expect(refused).toMatchObject(given.map(as));
  expect(await open(dir)).toMatchObject([{ id, status: 'approved' }]);
}

test('a person sees what is asked, exactly, and decides by a beginning of the id', async () => {
  const dir = project({ 'a.txt': 'a' });
  const id = await ask(dir, "cp a.txt 'b c.txt'", { scope: 'here', risk_level: 'high' });
  expect(id).toMatch(/^P-[0-9a-f]{32}$/);
  expect(await ask(dir, "cp a.txt 'b c.txt'")).toBe(id);
  const { stdout } = await baton(dir, ['approvals']);
  for (const part of ["cp a.txt 'b c.txt'", 'HIGH', 'here', 'user:', dir]) expect(stdout).toContain(part);
  expect(await open(dir)).toMatchObject([
    { id, status: 'pending', risk: 'HIGH', rollback: 'none', cast: null, stale: false },
  ]);
  expect(await codeOf(dir, ['approve', '--json', id.slice(0, 9)])).toBe('UNKNOWN_APPROVAL');
  expect(await codeOf(dir, ['approve', '--json', id.slice(0, 10)])).toBe('OK');
  expect(await codeOf(dir, ['approve', '--json', id])).toBe('NOT_ALLOWED_NOW');
  await misuse(dir, id);
  expect((await baton(dir, exec(id, 'cp', 'a.txt', 'b c.txt'))).code).toBe(0);
  expect(read(dir, 'b c.txt')).toBe('a');
  expect(await open(dir)).toEqual([]);
});

test('what a person rejects is not run; what was approved can be taken back', async () => {
  const dir = project();
  const first = await ask(dir, 'touch a');
  expect(await codeOf(dir, ['reject', '--json', first])).toBe('OK');
  expect((await baton(dir, ['log', '--after', '0'])).stdout).toContain('a person rejected it');
  expect(await codeOf(dir, exec(first, 'touch', 'a'))).toBe('APPROVAL_REJECTED');
  const second = await approved(dir, 'touch a');
  expect(second).not.toBe(first);
  expect(await codeOf(dir, ['reject', '--json', second, '--reason', 'changed my mind'])).toBe('OK');
  expect(await codeOf(dir, exec(second, 'touch', 'a'))).toBe('APPROVAL_REJECTED');
  expect(existsSync(join(dir, 'a'))).toBe(false);
});

test('an agent approves and rejects nothing, and that it tried is in the log', async () => {
  const dir = project();
  const id = await ask(dir, 'touch a');
  const env = { BATON_CAST: 'c1', BATON_ATTEMPT: '1.1' };
  expect(await codeOf(dir, ['approve', '--json', id], { env })).toBe('APPROVER_IS_AGENT');
  expect(await codeOf(dir, ['reject', '--json', id, '--reason', 'x'], { env })).toBe('APPROVER_IS_AGENT');
  expect((await baton(dir, ['log', '--after', '0'])).stdout).toContain('APPROVER_IS_AGENT');
  expect(await open(dir)).toMatchObject([{ status: 'pending' }]);
});

test('a command that can never be approved is over as soon as it is asked for, and what nobody can undo is not asked', async () => {
  const dir = project({ '.baton/config.json': { materia: {}, loadouts: {}, approvals: { blocked: ['touch'] } } });
  const input = JSON.stringify({ exact_content: 'touch a', ...UNDONE });
  expect(await codeOf(dir, ['approvals', 'request', '-'], { input })).toBe('COMMAND_BLOCKED');
  const bare = await baton(dir, ['approvals', 'request', '-'], { input: '{"exact_content":"x","rollback":""}' });
  expect([bare.code, json(bare)]).toMatchObject([
    1,
    {
      code: 'CONTRACT_VIOLATION',
      details: { missing: ['APPROVAL_REQUEST_ROLLBACK', 'APPROVAL_REQUEST_VERIFICATION'] },
    },
  ]);
  expect(await open(dir)).toEqual([]);
});

test('a secret in a command is sealed and nowhere stored', async () => {
  const dir = project();
  const secret = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
  const id = await approved(dir, `sh -c 'echo done > out' --token ${secret}`);
  const state = readFileSync(join(dir, '.baton/state/log.sqlite'), 'latin1');
  expect(state).not.toContain(secret);
  expect((await open(dir))[0]?.commands[0]?.command).toContain('[secret:');
  const args = (token: string) => exec(id, 'sh', '-c', 'echo done > out', '--token', token);
  const other = await baton(dir, args(secret.replace('A1', 'Z9')));
  expect(json(other).code).toBe('APPROVAL_MISMATCH');
  expect(other.stderr).not.toContain('b2C3d4');
  expect((await baton(dir, args(secret))).code).toBe(0);
  expect(read(dir, 'out')).toBe('done\n');
});

test('it runs without a shell, and its exit code, output and signals are passed on', async () => {
  const dir = project();
  const literal = await approved(dir, "echo '$HOME; ls *'");
  expect(await baton(dir, ['exec', '--approval', literal, '--', 'echo', '$HOME; ls *'])).toMatchObject({
    code: 0,
    stdout: '$HOME; ls *\n',
  });
  const failing = await approved(dir, "sh -c 'cat; exit 7'");
  const failed = await baton(dir, ['exec', '--approval', failing, '--', 'sh', '-c', 'cat; exit 7'], { input: 'in' });
  // What would be fed to it was not approved.
  expect([failed.code, failed.stdout]).toEqual([7, '']);
  const line = 'trap "echo ended > end; exit 9" TERM; echo up > up; while :; do sleep 0.1; done';
  const trapped = await approved(dir, `sh -c '${line}'`);
  const running = start(dir, ['exec', '--approval', trapped, '--', 'sh', '-c', line]);
  await untilWritten(dir, 'up');
  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(9);
  expect(read(dir, 'end')).toBe('ended\n');
  const facts = (await baton(dir, ['log', '--after', '0'])).stdout;
  expect(facts).toContain('ended with 9');
});

test('a line that needs a shell is sealed as that line for a shell', async () => {
  const dir = project({ 'a.txt': 'one\n' });
  const id = await approved(dir, 'cat a.txt | tr a-z A-Z > b.txt');
  expect((await open(dir))[0]?.commands[0]?.command).toBe("bash -c 'cat a.txt | tr a-z A-Z > b.txt'");
  put(dir, { 'a.txt': 'two\n' });
  expect(await codeOf(dir, exec(id, 'bash', '-c', 'cat a.txt | tr a-z A-Z > b.txt'))).toBe('APPROVAL_MISMATCH');
  put(dir, { 'a.txt': 'one\n' });
  expect((await baton(dir, exec(id, 'bash', '-c', 'cat a.txt | tr a-z A-Z > b.txt'))).code).toBe(0);
  expect(read(dir, 'b.txt')).toBe('ONE\n');
});

/** The file is exchanged when it is looked at for the second time: after the approval is used, before the command starts. */
const SWAPPING = injecting(`import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
  const own = fs.openSync;
  let looks = 0;
  fs.openSync = (file, ...rest) => {
    if (String(file).endsWith('/a.txt') && ++looks === 2) fs.writeFileSync(file, 'swapped');
    return own(file, ...rest);
  };
  syncBuiltinESMExports();`);

test('a file that is swapped between the use and the start is noticed: nothing runs, and the approval is used up', async () => {
  const dir = project({ 'a.txt': 'one' });
  const id = await approved(dir, 'cp a.txt b.txt');
  const done = await baton(dir, exec(id, 'cp', 'a.txt', 'b.txt'), SWAPPING);
  expect([done.code, json(done).code, read(dir, 'a.txt')]).toEqual([1, 'APPROVAL_MISMATCH', 'swapped']);
  expect(done.stderr).toContain('nothing was run, and the approval is used up');
  expect(existsSync(join(dir, 'b.txt'))).toBe(false);
  put(dir, { 'a.txt': 'one' });
  expect(await codeOf(dir, exec(id, 'cp', 'a.txt', 'b.txt'))).toBe('APPROVAL_USED');
});

const RUNS_NOW = 'runs at this moment';

test('killed while it runs, it is not run again until a person says so, and then once', async () => {
  const dir = project();
  // It ends when it has run twice. The name of the file is put together, because a file that is named would be bound.
  const line = 'echo x >> count; n=coun; while [ $(wc -l < "$n"t) -lt 2 ]; do sleep 0.1; done';
  const id = await approved(dir, `sh -c '${line}'`);
  const args = exec(id, 'sh', '-c', line);
  const first = start(dir, args);
  await untilWritten(dir, 'count');
  const meanwhile = await baton(dir, args);
  expect([json(meanwhile).code, meanwhile.stderr]).toEqual(['APPROVAL_USED', expect.stringContaining(RUNS_NOW)]);
  const input = JSON.stringify({ exact_content: `sh -c '${line}'`, ...UNDONE });
  expect(json(await baton(dir, ['approvals', 'request', '-'], { input }))).toMatchObject({
    ...{ code: 'APPROVAL_USED', reason: expect.stringContaining(RUNS_NOW) },
  });
  first.child.kill('SIGKILL');
  // What it started lives on, and holds its output open: nobody waits for that.
  await until('its end', () => !isRunning(first.child.pid ?? 0));
  const told = await baton(dir, args);
  expect(json(told).code).toBe('OUTCOME_UNKNOWN');
  expect(told.stderr).toContain('--again');
  expect(await codeOf(dir, ['approve', '--json', id])).toBe('OUTCOME_UNKNOWN');
  expect((await open(dir))[0]?.status).toBe('unknown');
  expect((await baton(dir, ['status'])).stdout).toContain(`${id} began, and its outcome is unknown`);
  expect(lines(dir, 'count')).toEqual(['x']);
  expect(await codeOf(dir, ['approve', '--json', '--again', id])).toBe('OK');
  expect((await baton(dir, args)).code).toBe(0);
  expect(await codeOf(dir, args)).toBe('APPROVAL_USED');
  expect(lines(dir, 'count')).toEqual(['x', 'x']);
});

test('killed at any moment, it runs at most once', async () => {
  const dir = project();
  for (const delayMs of [60, 150, 220, 280, 340]) {
    const name = `count-${delayMs}`;
    const line = `echo x >> ${name}`;
    const id = await approved(dir, `sh -c '${line}'`);
    const args = exec(id, 'sh', '-c', line);
    const first = start(dir, args);
    await sleep(delayMs);
    first.child.kill('SIGKILL');
    await first.ended.catch(() => undefined);
    const code = await codeOf(dir, args);
    await sleep(50);
    // Not yet used: it runs now. Used: it is over, or a person has to look.
    expect([0, 'APPROVAL_USED', 'OUTCOME_UNKNOWN']).toContain(code);
    expect(lines(dir, name).length).toBeLessThanOrEqual(1);
    if (code === 0) expect(lines(dir, name)).toEqual(['x']);
  }
});

test('the key is made for its owner alone, and not used where others can read it', async () => {
  const dir = project();
  const env = { BATON_CONFIG: join(dir, 'user') };
  await ask(dir, 'touch a', {}, { env });
  const file = join(dir, 'user/approval-key');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  chmodSync(file, 0o644);
  const input = JSON.stringify({ exact_content: 'touch b', ...UNDONE });
  expect(await codeOf(dir, ['approvals', 'request', '-'], { env, input })).toBe('KEY_UNSAFE');
});

const gaia = { materia: 'Ops', contract: 'gaia', parse: 'json', edges: [{ when: 'satisfied', to: 'end' }] };
const wish = {
  operation: 'makes a file',
  exact_content: 'touch made',
  scope: 'here',
  risk_level: 'LOW',
  rollback: 'rm made',
  verification: 'ls made',
};

async function waiting(dir: string, then: readonly string[], tools = 'coding'): Promise<string> {
  put(dir, {
    'cast.json': flow({ Ops: { tools, prompt: 'Do it.' } }, { 'Socket-1': gaia }),
    'agents.json': { Ops: [asBlock(reportOf('APPROVAL_REQUEST', { more: { approval_request: wish } })), ...then] },
  });
  const args = ['cast', '--file', 'cast.json', '--agents', 'agents.json', '--in-place', '--json', 'do it'];
  const done = await baton(dir, args);
  expect([done.code, json(done).status, json(done).code]).toEqual([4, 'waiting', 'APPROVAL_NEEDED']);
  return (await open(dir))[0]?.id ?? '';
}

test('a cast waits for the decision, and goes on when it is made', async () => {
  const dir = project();
  const id = await waiting(dir, [asBlock(reportOf('COMPLETE'))]);
  expect(await open(dir)).toMatchObject([
    { id, turn: 1, commands: [{ command: 'touch made' }], verification: 'ls made' },
  ]);
  const done = await baton(dir, ['approve', '--json', id.slice(0, 12)]);
  expect([done.code, json(done).status]).toEqual([0, 'completed']);
});

test('a cast that waits shows what was sealed, and not what its agent calls it', async () => {
  const dir = project();
  const id = await waiting(dir, []);
  const { reason } = json<{ reason: string }>(await baton(dir, ['show', '--json', 'latest']));
  expect(reason).toContain(`asks for permission: touch made; look with: baton approvals, then: baton approve ${id}`);
});

test('a name that nobody proved decides nothing', async () => {
  const dir = project();
  const env = { BATON_CONFIG: `${dir}/user` };
  await baton(dir, ['token', 'create', '--role', 'approver', '--name', 'boss'], { env });
  const input = JSON.stringify({ exact_content: 'touch a', ...UNDONE });
  const { details } = json<{ details: JsonObject }>(
    await baton(dir, ['approvals', 'request', '-', '--json'], { env, input }),
  );
  const args = ['approve', '--json', String(details.approval)];
  expect(await codeOf(dir, args, { env: { ...env, BATON_ACTS_FOR: 'boss' } })).toBe('ROLE_TOO_LOW');
  expect(await codeOf(dir, args, { env })).toBe('OK');
});

test('a rejection goes back to the agent with its reason', async () => {
  const dir = project();
  const id = await waiting(dir, [asBlock(reportOf('COMPLETE'))]);
  const done = await baton(dir, ['reject', '--json', '--turns', id, '--reason', 'not on a Friday']);
  const { status, turns } = json<{ status: string; turns: readonly { brief: string }[] }>(done);
  expect(status).toBe('completed');
  expect(turns.at(-1)?.brief).toContain('not on a Friday');
});

/** For a process with this environment it is ten days later. */
const LATER = injecting('const now=Date.now;Date.now=()=>now()+864e6;');

test('a permission that nobody gave in time is told by all who look, and noted by whoever carries on', async () => {
  const dir = project();
  const id = await waiting(dir, [asBlock(reportOf('COMPLETE'))]);
  const how = LATER;
  const head = async () => json<readonly JsonObject[]>(await baton(dir, ['log', '--json', '--after', '0'])).length;
  const before = await head();
  for (const args of [
    ['show', '--json', 'latest'],
    ['watch', '--json', 'latest'],
    ['why', '--json', 'latest'],
  ]) {
    expect([args[0], await codeOf(dir, args, how)]).toEqual([args[0], 'APPROVAL_EXPIRED']);
  }
  const { open: casts } = json<{ open: readonly JsonObject[] }>(await baton(dir, ['status', '--json'], how));
  expect(casts).toMatchObject([{ code: 'APPROVAL_EXPIRED', reason: expect.stringContaining('expired at') }]);
  expect((await baton(dir, ['status'], how)).stdout).toContain('no decision came in time');
  const listed = await baton(dir, ['approvals', '--json'], how);
  expect(json(listed)).toMatchObject([{ id, status: 'expired', commands: [{ status: 'expired' }] }]);
  expect((await baton(dir, ['approvals'], how)).stdout).toMatch(/it has expired: .*continue .* tells the agent/);
  expect(await head()).toBe(before);
  expect(await open(dir)).toMatchObject([{ id, status: 'pending' }]);

  const done = await baton(dir, ['resume', '--json', '--turns', 'latest'], how);
  const { status, turns } = json<{ status: string; turns: readonly { brief: string }[] }>(done);
  expect([status, done.code]).toEqual(['completed', 0]);
  expect(turns.at(-1)?.brief).toContain(`${id} expired before it was used`);
  expect(await open(dir)).toEqual([]);
});

test.each([
  ['approve', (id: string) => ['approve', id], 'APPROVAL_EXPIRED'],
  ['reject', (id: string) => ['reject', id], 'APPROVAL_EXPIRED'],
  ['answer', () => ['answer', 'latest', 'go on'], 'APPROVAL_EXPIRED'],
  ['decide', () => ['decide', 'latest:1', 'accept'], 'APPROVAL_EXPIRED'],
])('%s comes too late: the person is told, and the agent goes on to the end', async (_name, words, code) => {
  const dir = project();
  const id = await waiting(dir, [asBlock(reportOf('COMPLETE'))]);
  const done = await baton(dir, [...words(id), '--json', '--turns'], LATER);
  const { status, turns, refused } = json<{
    status: string;
    turns: readonly { brief: string }[];
    refused: JsonObject;
  }>(done);
  expect([done.code, status, turns.length]).toEqual([1, 'completed', 2]);
  expect(refused).toMatchObject({ allow: false, code, reason: expect.any(String) });
  expect(turns.at(-1)?.brief).toContain(`${id} expired before it was used`);
  expect(done.stderr).toContain('refused: ');
});

test('whoever carries on one cast leaves another that waits as it stands', async () => {
  const dir = project();
  const other = await waiting(dir, [asBlock(reportOf('COMPLETE'))], 'none');
  await waiting(dir, [asBlock(reportOf('COMPLETE'))], 'none');
  const how = LATER;
  expect((await baton(dir, ['continue', 'latest', '--json'], how)).code).toBe(0);
  const { open: casts } = json<{ open: readonly JsonObject[] }>(await baton(dir, ['status', '--json'], how));
  expect(casts).toMatchObject([{ status: 'waiting', code: 'APPROVAL_EXPIRED' }]);
  expect(await open(dir)).toMatchObject([{ id: other, status: 'pending' }]);
  expect(json(await baton(dir, ['approve', other, '--json'], how)).status).toBe('completed');
});

const bash = (command: string): JsonObject => ({ tool_name: 'Bash', tool_input: { command } });
const hook = (dir: string, command: string, env: NodeJS.ProcessEnv = {}, ...more: string[]) =>
  baton(dir, ['hook', 'PreToolUse', ...more], { env, input: JSON.stringify({ cwd: dir, ...bash(command) }) });
const withHook = (mode: string) => ({ '.baton/config.json': { materia: {}, loadouts: {}, approvals: { hook: mode } } });

test('the hook holds a command back, says how it can run, and lets exactly that through', async () => {
  const dir = project(withHook('deny'));
  expect((await hook(dir, 'ls && git status')).code).toBe(0);
  const held = await hook(dir, 'ln -s a b');
  const [, id = ''] = /(P-[0-9a-f]{32})/.exec(held.stderr) ?? [];
  expect([held.code, held.stderr]).toEqual([2, expect.stringContaining('APPROVAL_REQUEST')]);
  expect((await hook(dir, 'ln -s a b')).stderr).toContain(id);
  const [, line = ''] = /run exactly `([^`]+)`/.exec(held.stderr) ?? [];
  expect((await hook(dir, line)).stderr).toContain('APPROVAL_PENDING');
  await baton(dir, ['approve', id]);
  expect((await hook(dir, 'ln -s a b')).stderr).toContain('is approved');
  expect((await hook(dir, line)).code).toBe(0);
  expect((await baton(dir, ['exec', '--approval', id, '--', 'ln', '-s', 'a', 'b'])).code).toBe(0);
  expect((await hook(dir, line)).stderr).toContain('APPROVAL_USED');
});

test('the hook says of a command that runs that it runs', async () => {
  const dir = project({ ...withHook('deny'), 'slow.sh': 'echo x > up; exec sleep 60\n' });
  const line = 'sh slow.sh';
  const id = await approved(dir, line);
  const running = start(dir, ['exec', '--approval', id, '--', 'sh', 'slow.sh']);
  await untilWritten(dir, 'up');
  const held = await hook(dir, line);
  running.child.kill('SIGTERM');
  expect([held.code, held.stderr]).toEqual([2, expect.stringMatching(`APPROVAL_USED: ${id} ${RUNS_NOW}`)]);
  // It was told to end before it was done: nobody knows how far it came.
  expect((await running.ended).stderr).toContain('a person has to settle it');
  expect((await open(dir))[0]?.status).toBe('unknown');
});

test('of a line that names thousands of approvals those that are open are written down first, and few in all', async () => {
  const dir = project(withHook('deny'));
  const id = await approved(dir, 'ln -s a b');
  const names = Array.from({ length: 3_000 }, (_, index) => `--approval=${index}`).join(' ');
  const held = await hook(
    dir,
    `ls; ${BATON} exec ${names} --approval=${id} --approval=${id.slice(0, 12)} -- ln -s a b`,
  );
  expect([held.code, held.stderr]).toEqual([2, expect.stringContaining(`not what was approved as ${id}`)]);
  const facts = json<readonly JsonObject[]>(await baton(dir, ['log', '--json', '--after', '0']));
  const refused = facts.filter(({ kind }) => kind === 'approval.refused');
  expect(refused.map((fact) => fact.id)).toEqual([id, '0', '1', '2', '3', '4', '5', '6']);
});

test.each([
  ['off', {}, 0, ''],
  ['ask', {}, 0, '"permissionDecision":"ask"'],
])('a hook that is set to %s leaves it to others', async (mode, env, code, said) => {
  const dir = project(withHook(mode));
  const done = await hook(dir, 'ln -s a b', env);
  expect([done.code, done.stdout]).toEqual([code, said === '' ? '' : expect.stringContaining(said)]);
  expect(await open(dir)).toEqual([]);
});

test.each([
  ['deny', 'src/a.ts', 0],
  ['deny', '.git/config', 2],
  ['deny', 'sub/.git/config', 2],
  ['deny', '.claude/settings.json', 2],
  ['deny', '/etc/x', 2],
  ['off', '.git/config', 0],
])('with a hook that is set to %s a tool writes %s: %i', async (mode, path, code) => {
  const dir = project(withHook(mode));
  const call = { cwd: dir, tool_name: 'Write', tool_input: { file_path: path, content: '' } };
  expect((await baton(dir, ['hook', 'PreToolUse'], { input: JSON.stringify(call) })).code).toBe(code);
});

test('without a word in the configuration the hook asks for no approvals, and only reports where it only reports', async () => {
  const dir = project();
  expect((await hook(dir, 'ln -s a b')).code).toBe(0);
  put(dir, withHook('deny'));
  expect((await hook(dir, 'ln -s a b', {}, '--report-only')).code).toBe(0);
  expect(read(dir, '.baton/state/hooks.jsonl')).toContain('APPROVAL_NEEDED');
  expect(await open(dir)).toEqual([]);
  put(dir, { '.baton/config.json': { approvals: { hook: 'maybe' } } });
  expect((await hook(dir, 'ls')).stderr).toContain('INVALID_CONFIG');
});

test('within a turn that can report it, the hook asks; and the report is tied to what it sealed', async () => {
  const dir = project();
  put(dir, {
    'agent.sh': `#!/bin/sh\necho $BATON_ATTEMPT_KEY > key\nwhile [ ! -f answer ]; do sleep 0.05; done; cat answer key\n`,
  });
  const command = { Ops: { prompt: 'Do it.', tools: 'coding', runner: 'command', command: ['sh', 'agent.sh'] } };
  put(dir, { 'cast.json': flow(command, { 'Socket-1': gaia }) });
  const cast = start(dir, ['cast', '--file', 'cast.json', '--in-place', '--json', 'do it']);
  const [claim = ''] = await until('an attempt', () => {
    const found = globSync(join(dir, '.baton/state/attempts/*-1.1/claim'));
    return found.length > 0 && found;
  });
  const name = basename(dirname(claim)).replace('-1.1', '');
  const key = (await untilWritten(dir, 'key')).trim();
  const env = { BATON_CAST: name, BATON_ATTEMPT: '1.1', BATON_ATTEMPT_KEY: key };
  const held = await hook(dir, 'touch /etc/made-by-nobody', env);
  const [, id = ''] = /(P-[0-9a-f]{32})/.exec(held.stderr) ?? [];
  expect([held.code, id]).toEqual([2, expect.stringMatching(/^P-/)]);
  const approval_request = { rollback: 'rm it', verification: 'ls it', approval_id: id };
  const agent_id = agentIdOf(name, 'Socket-1', null);
  put(dir, { answer: asBlock(reportOf('APPROVAL_REQUEST', { agent_id, more: { approval_request } })) });
  expect(json(await cast.ended)).toMatchObject({ status: 'waiting', code: 'APPROVAL_NEEDED' });
  expect(await open(dir)).toMatchObject([{ id, cast: name, turn: 1, rollback: 'rm it', verification: 'ls it' }]);
  const seen = await Promise.all([
    baton(dir, ['log', '--json', '--after', '0']),
    baton(dir, ['show', '--turn', '1', 'latest']),
  ]);
  for (const { stdout } of seen) expect(stdout).not.toContain(key);
});

/** An agent that asks first, and runs what was approved when it is sent on; its report says how that went. */
const agent = `
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { agentIdOf } from '${CHECKOUT}/src/kernel/cast/rules.ts';
const brief = readFileSync(0, 'utf8');
const { asks, done } = JSON.parse(readFileSync('reports.json', 'utf8'));
const [id] = /P-[0-9a-f]{32}/.exec(brief) ?? [];
const ran = id ? spawnSync('${BATON}', ['exec', '--approval', id, '--', ...process.argv.slice(2)], { encoding: 'utf8' }) : null;
const report = (ran ? done : asks).replace('a0c0ffee', agentIdOf(process.env.BATON_CAST, 'Socket-1', null));
console.log(ran ? report.replace('how it went', 'exit ' + ran.status + ' ' + ran.stderr.replace(/[^A-Za-z0-9_ :.-]/g, ' ')) : report);
`;

async function sentOn(dir: string, ...argv: string[]) {
  const reports = {
    asks: asBlock(reportOf('APPROVAL_REQUEST', { more: { approval_request: wish } })),
    done: asBlock(reportOf('COMPLETE', { key_outputs: ['how it went'] })),
  };
  const ops = { prompt: 'Do it.', tools: 'coding', runner: 'command', command: ['node', 'agent.mjs', ...argv] };
  put(dir, { 'agent.mjs': agent, 'reports.json': reports, 'cast.json': flow({ Ops: ops }, { 'Socket-1': gaia }) });
  const first = await baton(dir, ['cast', '--file', 'cast.json', '--in-place', '--json', 'do it']);
  expect(json(first)).toMatchObject({ status: 'waiting', code: 'APPROVAL_NEEDED' });
  const [approval] = await open(dir);
  const done = await baton(dir, ['approve', '--json', '--turns', approval?.id ?? '']);
  return json<{ status: string; turns: readonly { output: string }[] }>(done);
}

test('the agent of a turn runs what was approved in its report, from within its attempt', async () => {
  const dir = project();
  const { status, turns } = await sentOn(dir, 'touch', 'made');
  expect([status, turns.at(-1)?.output]).toEqual(['completed', expect.stringContaining('exit 0')]);
  expect(existsSync(join(dir, 'made'))).toBe(true);
});

test('and nothing else', async () => {
  const dir = project();
  const { turns } = await sentOn(dir, 'touch', 'other');
  expect(turns.at(-1)?.output).toContain('APPROVAL_MISMATCH');
  expect(existsSync(join(dir, 'other'))).toBe(false);
});

/** It asks, runs what was approved, and asks again where that did not go well; killed by what it runs, `baton exec` tells nothing. */
const persistent = `
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { agentIdOf } from '${CHECKOUT}/src/kernel/cast/rules.ts';
const { asks, done, names } = JSON.parse(readFileSync('reports.json', 'utf8'));
const [id] = /P-[0-9a-f]{32}/.exec(readFileSync(0, 'utf8')) ?? [];
const ran = id ? spawnSync('${BATON}', ['exec', '--approval', id, '--', 'sh', 'once.sh']) : null;
const report = ran?.status === 0 ? done : asks.replace('"sh once.sh"', '"sh once.sh"' + (id && names ? ', "approval_id": "' + id + '"' : ''));
console.log(report.replace('a0c0ffee', agentIdOf(process.env.BATON_CAST, 'Socket-1', null)));
`;

test.each([
  [true, ['approve', '--again'], ['x', 'x']],
  [false, ['approve', '--again'], ['x', 'x']],
  [true, ['reject', '--reason', 'it did its work'], ['x']],
] as const)(
  'cut off within a cast (named again: %s), a person decides with %j, and the cast goes on',
  async (names, words, ran) => {
    const dir = project();
    const approval_request = { ...wish, exact_content: 'sh once.sh' };
    const reports = {
      asks: asBlock(reportOf('APPROVAL_REQUEST', { more: { approval_request } })),
      done: asBlock(reportOf('COMPLETE')),
      names,
    };
    const ops = { prompt: 'Do it.', tools: 'coding', runner: 'command', command: ['node', 'agent.mjs'] };
    put(dir, {
      ...{ 'agent.mjs': persistent, 'reports.json': reports, 'cast.json': flow({ Ops: ops }, { 'Socket-1': gaia }) },
      'once.sh': 'echo x >> count\n[ "$(wc -l < count)" -gt 1 ] || kill -9 $PPID\n',
    });
    await baton(dir, ['cast', '--file', 'cast.json', '--in-place', '--json', 'do it']);
    const [asked] = await open(dir);
    const id = asked?.id ?? '';
    const cut = json<{ status: string; code: string; reason: string }>(await baton(dir, ['approve', '--json', id]));
    expect([cut.status, cut.code]).toEqual(['waiting', 'OUTCOME_UNKNOWN']);
    expect(cut.reason).toContain(`baton approve ${id} --again or baton reject ${id}`);
    expect(await open(dir)).toMatchObject([{ id, status: 'unknown' }]);
    expect(await codeOf(dir, ['approve', '--json', id])).toBe('OUTCOME_UNKNOWN');
    expect((await baton(dir, ['why', 'latest'])).stdout).toContain(`approve ${id} --again`);
    const [verb, ...how] = words;
    const done = json(await baton(dir, [verb, '--json', id, ...how]));
    expect(lines(dir, 'count')).toEqual(ran);
    if (verb === 'approve') expect(done.status).toBe('completed');
    // What was left is settled: asked for again, it is a wish of its own.
    else expect([done.code, (await open(dir)).some((one) => one.id === id)]).toEqual(['APPROVAL_NEEDED', false]);
  },
);

test('a cast that ends without what was approved, or after a no, says so wherever it is looked at', async () => {
  for (const [verb, words] of [
    ['approve', 'approved and not run: touch made'],
    ['reject', 'refused: touch made'],
  ] as const) {
    const dir = project();
    const id = await waiting(dir, [asBlock(reportOf('COMPLETE'))]);
    const done = await baton(dir, [verb, id]);
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining(`${words} (${id})`)]);
    expect((await baton(dir, ['show', 'latest'])).stdout).toContain(`${words} (${id})`);
    expect((await baton(dir, ['why', 'latest'])).stdout).toContain(`${id} is ${words}`);
    expect(json(await baton(dir, ['show', '--json', 'latest'])).notRun).toMatchObject([{ approval: id }]);
  }
});

test('a report that names as run what never ran is refused', async () => {
  const dir = project();
  const lies = asBlock(reportOf('COMPLETE', { commands_run: ['touch made'] }));
  const id = await waiting(dir, [lies, asBlock(reportOf('COMPLETE'))]);
  expect(json(await baton(dir, ['approve', '--json', id])).status).toBe('completed');
  const log = (await baton(dir, ['log', '--after', '0'])).stdout;
  expect(log).toContain('APPROVAL_NOT_RUN');
  expect(log).toContain(`${id} is approved and not run`);
});

test('a later agent that names as run what was refused is refused, too', async () => {
  const dir = project();
  const [asks, lies, honest] = [
    asBlock(reportOf('APPROVAL_REQUEST', { more: { approval_request: wish } })),
    asBlock(reportOf('COMPLETE', { commands_run: ['touch made -> ok'] })),
    asBlock(reportOf('COMPLETE')),
  ];
  const checks = { ...gaia, materia: 'Check' };
  const sockets = { 'Socket-1': { ...gaia, edges: [{ when: 'satisfied', to: 'Socket-2' }] }, 'Socket-2': checks };
  const materia = { Ops: { tools: 'coding', prompt: 'Do it.' }, Check: { tools: 'none', prompt: 'Check it.' } };
  put(dir, { 'cast.json': flow(materia, sockets), 'agents.json': { Ops: [asks, honest], Check: [lies, honest] } });
  await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', '--in-place', '--json', 'do it']);
  const id = (await open(dir))[0]?.id ?? '';
  const done = await baton(dir, ['reject', id, '--reason', 'no']);
  expect(done.stderr).toContain(
    `✗ Check · refused, one repair turn: commands_run names touch made, which did not run: ${id}`,
  );
  expect(done.stdout).toContain(`refused: touch made (${id})`);
});
