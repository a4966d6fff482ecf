// A decision needs a person: a token, or a terminal that is older than the agents of the cast. With the real program and
// real orphans, terminals and multiplexers.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HAS_PROC } from '../../src/agents/process/process-identity.ts';
import { endGroup, makeGroup } from '../../src/agents/process/process-tree.ts';
import { asBlock, reportOf } from '../reports.ts';
import {
  agent,
  BATON,
  batonProcess as baton,
  environment,
  flow,
  isRunning,
  json,
  personToken,
  project,
  put,
  read,
  untilWritten,
} from './baton.ts';
import { inNamespace, whyNot } from './namespaces.ts';
import { repository, row } from './repository.ts';

const has = (...programs: string[]) =>
  HAS_PROC && programs.every((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0);

const REQUEST = {
  ...{ operation: 'makes a file', exact_content: 'touch made', scope: 'here', risk_level: 'LOW' },
  ...{ rollback: 'rm made', verification: 'ls made' },
};

/** An agent that asks for permission, and first runs what the test lets it run. */
const AGENT = `
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { agentIdOf } from '${join(BATON, '../../src/kernel/cast/rules.ts')}';
const { asks, leaves } = JSON.parse(readFileSync('agent.json', 'utf8'));
spawnSync('sh', ['-c', leaves], { stdio: 'ignore' });
console.log(asks.replace('a0c0ffee', agentIdOf(process.env.BATON_CAST, 'Socket-1', null)));
`;

/** A project whose cast waits for an approval; `leaves` is a line of shell that its agent has run. Answers the approval. */
async function waitingCast(dir: string, leaves = 'true'): Promise<string> {
  const asks = asBlock(reportOf('APPROVAL_REQUEST', { more: { approval_request: REQUEST } }));
  const ops = { prompt: 'Do it.', tools: 'coding', runner: 'command', command: ['node', 'agent.mjs'] };
  const gaia = { materia: 'Ops', contract: 'gaia', parse: 'json', edges: [{ when: 'satisfied', to: 'end' }] };
  put(dir, {
    ...{ 'agent.mjs': AGENT, 'agent.json': { asks, leaves }, 'cast.json': flow({ Ops: ops }, { 'Socket-1': gaia }) },
  });
  const ran = await baton(dir, ['cast', '--file', 'cast.json', '--in-place', '--json', 'do it']);
  expect(json(ran)).toMatchObject({ status: 'waiting', code: 'APPROVAL_NEEDED' });
  return (await approvals(dir))[0]?.id ?? '';
}

const approvals = async (dir: string) =>
  json<readonly { id: string; status: string }[]>(await baton(dir, ['approvals', '--json']));

/** A line of shell that approves what is open and writes the answer to `out`. */
const APPROVE = `id=$(${BATON} approvals --json | sed 's/.*"id":"\\(P-[0-9a-f]*\\)".*/\\1/'); ${BATON} approve --json $id > said 2> why; mv said out`;

/** The same as a script, for a shell within a shell. */
function putScript(dir: string): string {
  put(dir, { 'approve.sh': `cd '${dir}'; ${APPROVE}\n` });
  return `sh ${join(dir, 'approve.sh')}`;
}

const kindsOf = async (dir: string) =>
  json<readonly { kind: string }[]>(await baton(dir, ['log', '--json', '--after', '0'])).map(({ kind }) => kind);

/** What only an agent with the rights of root can do: leave the control group in which its attempt is emptied. */
const ESCAPE =
  'for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/unified/cgroup.procs; do echo $$ > $f; done 2>/dev/null';
const ORPHAN_ENV = 'PATH="$PATH" HOME="$HOME" BATON_CONFIG="$BATON_CONFIG" TMPDIR="$TMPDIR"';

/** Writes another record of the first attempt, which lies where an agent can write. */
const LATER = `for f in .baton/state/first-attempts/*; do sed 's|/[0-9]*"|/99999999999"|' "$f" > later; mv later "$f"; done`;

test.runIf(has('setsid', 'script', 'tmux')).each([
  ['of its own session', 'RUN'],
  ['with a pseudo-terminal of its own', 'script -qec "RUN" /dev/null'],
  ['that says the agents are younger', `LATER; script -qec "RUN" /dev/null`],
  ['in a multiplexer of its own', 'tmux -S "$PWD/mux" -f /dev/null new-session -d "RUN"'],
])('an orphan of an attempt, %s, approves nothing after the attempt has ended', async (_, how) => {
  const dir = project();
  const run = how.replace('LATER', LATER).replace('RUN', putScript(dir));
  const waits = `${ESCAPE}; echo $$ > orphan; while [ ! -e go ]; do sleep 0.05; done; ${run}`;
  put(dir, { 'orphan.sh': waits });
  const leaves = `setsid env -i ${ORPHAN_ENV} sh orphan.sh </dev/null >/dev/null 2>&1 & while [ ! -s orphan ]; do sleep 0.05; done`;
  onTestFinished(() => void spawnSync('tmux', ['-S', join(dir, 'mux'), 'kill-server']));
  await waitingCast(dir, leaves);
  put(dir, { go: '1' });
  const said = JSON.parse(await untilWritten(dir, 'out'));
  expect(said).toMatchObject({ allow: false, code: 'APPROVER_IS_AGENT' });
  for (const way of ['BATON_TOKEN=$(', 'token create --role approver', 'ssh localhost', 'open before'])
    expect(said.reason).toContain(way);
  expect(await approvals(dir)).toMatchObject([{ status: 'pending' }]);
  expect(await kindsOf(dir)).toContain('approval.refused');
});

const trial = mkdtempSync(join(tmpdir(), 'baton-trial-'));
const group = makeGroup(trial);
if (group !== null) await endGroup(trial, group);
rmSync(trial, { recursive: true });

test.runIf(group !== null && has('setsid'))(
  'where a control group can be made, an orphan of an attempt is gone before the cast waits',
  async () => {
    const dir = project();
    const orphan = `setsid env -i sh -c 'echo $$ > orphan; exec sleep 60' </dev/null >/dev/null 2>&1 &`;
    await waitingCast(dir, `${orphan} while [ ! -s orphan ]; do sleep 0.05; done`);
    expect(isRunning(Number(read(dir, 'orphan')))).toBe(false);
  },
);

test.runIf(has('script'))('a terminal that was open before the cast decides', async () => {
  const dir = project();
  const shell = spawn('script', ['-qec', 'sh', '/dev/null'], { cwd: dir, env: environment(dir), stdio: 'pipe' });
  onTestFinished(() => void shell.kill('SIGKILL'));
  shell.stdin.write('echo $$ > open\n');
  await untilWritten(dir, 'open');
  await waitingCast(dir);
  shell.stdin.write(`${putScript(dir)}\n`);
  await untilWritten(dir, 'out');
  expect(await kindsOf(dir)).toContain('approval.approved');
});

/** A checker runs below the person's own `baton cast`, and what it runs the agent may have written. */
test.runIf(has('script'))('what a checker runs is no person, in the terminal of the person too', async () => {
  const dir = repository({ 'check.sh': 'true\n' });
  const turn = { output: '{}', write: { 'check.sh': `exec env -i ${ORPHAN_ENV} sh ${join(dir, 'plant.sh')}\n` } };
  put(dir, {
    'plant.sh': [
      `cd '${dir}'`,
      `script -qec "${BATON} token create --role approver --json" /dev/null > token`,
      `for words in "hold --reason x" "cast --dry-run --file cast.json x" "cast --file cast.json x"; do ${BATON} $words >> said 2>&1; echo "exit $?" >> said; done`,
      'mv said out',
    ].join('\n'),
    'agents.json': { W: [{ $turn: turn }] },
    'cast.json': row({ W: { ...agent, tools: 'coding' } }, ['W'], { checkers: { t: { command: ['sh', 'check.sh'] } } }),
  });
  expect((await baton(dir, ['trust'])).code).toBe(0);
  const shell = spawn('script', ['-qec', 'sh', '/dev/null'], { cwd: dir, env: environment(dir), stdio: 'pipe' });
  onTestFinished(() => void shell.kill('SIGKILL'));
  shell.stdin.write(`${BATON} cast --file cast.json --agents agents.json 'do it' > done.txt 2>&1; echo $? > ended\n`);
  expect((await untilWritten(dir, 'ended')).trim(), read(dir, 'done.txt')).toBe('0');
  expect(read(dir, 'token')).toContain('"code":"APPROVER_IS_AGENT"');
  const said = read(dir, 'out');
  expect(said.match(/exit \d/g)).toEqual(['exit 1', 'exit 0', 'exit 1']);
  expect(said).toContain('by a checker');
  expect(await kindsOf(dir)).not.toContain('ledger.held');
});

test.runIf(has('tmux'))('a new pane of a multiplexer that is older than the cast decides', async () => {
  const dir = project();
  const tmux = (...args: string[]) =>
    spawnSync('tmux', ['-S', join(dir, 'mux'), '-f', '/dev/null', ...args], { cwd: dir, env: environment(dir) });
  onTestFinished(() => void tmux('kill-server'));
  expect(tmux('new-session', '-d', 'sleep 600').status).toBe(0);
  await waitingCast(dir);
  expect(tmux('new-window', putScript(dir)).status).toBe(0);
  await untilWritten(dir, 'out');
  expect(await kindsOf(dir)).toContain('approval.approved');
});

test('without a terminal a token decides, in the name of the token, as long as it is good', async () => {
  const dir = project();
  const id = await waitingCast(dir);
  const approve = async (env: NodeJS.ProcessEnv) => json(await baton(dir, ['approve', '--json', id], { env }));
  const made = async (role: string) =>
    json<{ details: { token: string; name: string } }>(await baton(dir, ['token', 'create', '--role', role, '--json']))
      .details;
  expect(await approve({ BATON_TOKEN: '' })).toMatchObject({ code: 'APPROVER_IS_AGENT' });
  expect(await approve({ BATON_TOKEN: 'baton_made-up' })).toMatchObject({ code: 'TOKEN_UNKNOWN' });
  expect(await approve({ BATON_TOKEN: (await made('operator')).token })).toMatchObject({ code: 'ROLE_TOO_LOW' });
  const revoked = await made('approver');
  await baton(dir, ['token', 'revoke', revoked.name]);
  expect(await approve({ BATON_TOKEN: revoked.token })).toMatchObject({ code: 'TOKEN_REVOKED' });
  const good = await made('approver');
  expect(await approve({ BATON_TOKEN: good.token })).toMatchObject({ status: 'waiting' });
  const facts = json<readonly { kind: string; by: string }[]>(await baton(dir, ['log', '--json', '--after', '0']));
  expect(facts.filter(({ kind }) => kind === 'approval.approved').map(({ by }) => by)).toEqual([`token:${good.name}`]);
});

test('a token reaches no program that a command starts', async () => {
  const dir = project();
  const id = await waitingCast(dir, 'env > "seen-$(ls | grep -c seen)"');
  await baton(dir, ['approve', id], { env: { BATON_TOKEN: personToken() } });
  expect(existsSync(join(dir, 'seen-1'))).toBe(true);
  expect(read(dir, 'seen-1')).not.toContain('BATON_TOKEN');
  put(dir, {
    'u.mjs': `import { writeFileSync } from 'node:fs';\nwriteFileSync('u.json', JSON.stringify(process.env));\nconsole.log('{}');`,
    'u.json': '',
    'within.json': flow(
      { U: { type: 'utility', command: ['node', './u.mjs'], parse: 'json' } },
      { 'Socket-1': { materia: 'U' } },
    ),
  });
  await baton(dir, ['cast', '--in-place', '--file', 'within.json', '--json', 'x'], {
    env: { BATON_TOKEN: personToken() },
  });
  expect(JSON.parse(read(dir, 'u.json'))).not.toHaveProperty('BATON_TOKEN');
});

test.skipIf(whyNot('--pid', '--fork', '--mount-proc') !== null)(
  'a build server that gives its commands no session decides; a namespace made after the attempts does not',
  async () => {
    const dir = project({ 'say.mjs': `console.log('{"satisfied":true}')` });
    const says = { prompt: 'Do it.', tools: 'none', runner: 'command', command: ['node', 'say.mjs'] };
    put(dir, { 'cast.json': flow({ A: says }, { 'Socket-1': { materia: 'A', parse: 'json' } }) });
    const [unshare = '', ...apart] = inNamespace();
    const before = apart.slice(0, -1);
    const twice = `"$0" cast --file cast.json --in-place --json 'do it' >/dev/null && "$0" unhold --json`;
    const inside = await baton(dir, [], { program: [unshare, ...before, 'sh', '-c', twice, BATON] });
    expect(json(inside).code).not.toBe('APPROVER_IS_AGENT');
    expect(json(await baton(dir, ['unhold', '--json'], { program: inNamespace() })).code).toBe('APPROVER_IS_AGENT');
  },
);
