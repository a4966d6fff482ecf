// Events of a host from its words to the decision, in this process: locks, pauses, commands that wait for a person, and what
// a person approved.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { approvalsIn } from '../approvals/open-approvals.ts';
import { openSealKey, sealDecision } from '../approvals/seal.ts';
import { dialects } from '../dialects/index.ts';
import { Decider } from '../engine/decider.ts';
import { LocalStore } from '../engine/local-store.ts';
import type { Request } from '../kernel/input.ts';
import type { JsonObject } from '../kernel/json.ts';
import { packet } from '../kernel/ledger/fixtures/book.ts';
import { allow, deny } from '../kernel/verdict.ts';
import { MemoryLog } from '../log/memory.ts';
import { letThroughIn } from './guard-command.ts';
import { type HookContext, runHook } from './run-hook.ts';

type Told = { readonly word: string; readonly reason: string; readonly details: JsonObject };

async function session(config: JsonObject = {}, env: NodeJS.ProcessEnv = {}, more: Partial<HookContext> = {}) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-hook-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const folder of ['.baton/state', 'bin', 'src']) mkdirSync(join(dir, folder), { recursive: true });
  const put = (name: string, text: string) => writeFileSync(join(dir, name), text);
  put('.baton/config.json', JSON.stringify(config));
  put('deploy.sh', 'echo one\n');
  const program = join(dir, 'bin/baton');
  put('bin/baton', '#!/bin/sh\n');
  chmodSync(program, 0o755);
  const workspace = { dir, stateDir: join(dir, '.baton/state'), configFile: join(dir, '.baton/config.json') };
  const log = new MemoryLog();
  const store = new LocalStore(await Decider.open(log, dialects));
  const performed: [string, JsonObject][] = [];
  const fullEnv = { PATH: `${dir}/bin:/usr/bin:/bin`, HOME: join(dir, 'home'), BATON_CONFIG: join(dir, 'key'), ...env };
  const scene: HookContext = {
    ...{ workspace, isKept: true, env: fullEnv, now: () => Date.now(), program, isReportOnly: false },
    ledger: () => store.view('ledger'),
    beat: async (sign) => void (await store.lease('beat', sign)),
    store: () => store,
    actor: async () => ({ name: 'ann' }) as Awaited<ReturnType<HookContext['actor']>>,
    perform: async (name, given) => {
      performed.push([name, given]);
      return allow('done', {});
    },
    ...more,
  };
  const ask = (request: Request) => store.submit(request, { name: 'ann' });
  const hook = async (event: string, input: JsonObject): Promise<Told> => {
    const text = JSON.stringify({ session_id: 's-1', cwd: dir, ...input });
    const decision = await runHook(event, text, scene);
    if (decision.kind === 'allow') return { word: 'allow', reason: decision.context ?? '', details: {} };
    const { code, reason, details } = decision.verdict;
    return { word: `${decision.kind} ${code}`, reason, details: details as JsonObject };
  };
  const bash = (command: string, over: JsonObject = {}) =>
    hook('PreToolUse', { tool_name: 'Bash', tool_input: { command }, ...over });
  const write = (path: string, over: JsonObject = {}) =>
    hook('PreToolUse', { tool_name: 'Write', tool_input: { file_path: path }, ...over });
  /** A person decides the only approval that is open. */
  const decide = async (choice: 'approve' | 'reject' = 'approve') => {
    const [approval] = Object.values(await approvalsIn(log));
    const key = openSealKey(fullEnv);
    if (!approval || 'allow' in key) throw new Error('nothing is asked for');
    const sealing = sealDecision(approval, { choice }, { by: 'ann', now: Date.now(), key });
    if ('allow' in sealing) throw new Error(sealing.reason);
    return ask({ kind: 'approval.decide', id: approval.id, choice, reason: 'x', isAgent: false, ...sealing });
  };
  return { dir, put, scene, ask, hook, bash, write, decide, performed, log };
}

const DENY = { approvals: { hook: 'deny' } };
const DEPLOY = 'bash deploy.sh';

test('a command that changes state waits for a person, and then runs exactly as it was', async () => {
  const { bash, decide, put } = await session(DENY);
  const first = await bash(DEPLOY);
  expect(first).toMatchObject({ word: 'deny APPROVAL_NEEDED', details: { status: 'pending' } });
  const { approval = '', run = '' } = first.details as Record<string, string>;
  expect(first.reason).toContain(`It waits for a person as ${approval}`);
  expect(run).toBe(`baton exec --approval ${approval} -- ${DEPLOY}`);
  expect((await bash(run)).word).toBe('deny APPROVAL_PENDING');
  expect((await decide()).code).toBe('OK');
  expect((await bash(run)).word).toBe('allow');
  // Looking at it uses nothing up.
  expect((await bash(run)).word).toBe('allow');
  const again = await bash(DEPLOY);
  expect(again).toMatchObject({ word: 'deny APPROVAL_NEEDED', details: { approval, status: 'approved' } });
  expect(again.reason).toContain(`It is approved as ${approval}: run exactly \`${run}\``);
  put('deploy.sh', 'echo two\n');
  expect((await bash(run)).word).toBe('deny APPROVAL_MISMATCH');
});

test.each<[string, (run: string, dir: string) => string, string, string]>([
  ['with a command after it', (run) => `${run}; ls`, 'deny APPROVAL_MISMATCH', 'after'],
  ['with a command before it', (run) => `ls && ${run}`, 'deny APPROVAL_MISMATCH', 'before'],
  ['with another argument', (run) => `${run} now`, 'deny APPROVAL_MISMATCH', 'now'],
  ['by another program of that name', (run) => `src/${run}`, 'deny APPROVAL_MISMATCH', 'src/baton'],
  ['without its id', () => `baton exec --approval -- ${DEPLOY}; ls`, 'deny APPROVAL_MISMATCH', 'runs alone'],
  ['under an id that nobody has', () => `baton exec --approval P-0123456789 -- ${DEPLOY}`, 'deny UNKNOWN_APPROVAL', ''],
  ['under too short an id', () => `baton exec --approval P-01 -- ${DEPLOY}`, 'deny UNKNOWN_APPROVAL', 'at least 8'],
])('what was approved does not run %s', async (_, changed, word, reason) => {
  const { bash, decide, dir } = await session(DENY);
  const { run = '' } = (await bash(DEPLOY)).details as Record<string, string>;
  await decide();
  const told = await bash(changed(run, dir));
  expect(told.word).toBe(word);
  expect(told.reason).toContain(reason);
});

test('the beginning of an id is enough, and a rejected command does not run', async () => {
  const { bash, decide } = await session(DENY);
  const { approval = '' } = (await bash(DEPLOY)).details as Record<string, string>;
  await decide();
  expect((await bash(`baton exec --approval ${approval.slice(0, 10)} -- ${DEPLOY}`)).word).toBe('allow');
  const other = await session(DENY);
  const { run = '' } = (await other.bash(DEPLOY)).details as Record<string, string>;
  await other.decide('reject');
  expect((await other.bash(run)).word).toMatch(/^deny (?:APPROVAL_REJECTED|UNKNOWN_APPROVAL)$/);
});

test.each<[string, JsonObject, NodeJS.ProcessEnv, Partial<HookContext>, string, number]>([
  ['no policy', {}, {}, {}, 'allow', 0],
  ['approvals off', { approvals: { hook: 'off' } }, {}, {}, 'allow', 0],
  ['a host that asks its user', { approvals: { hook: 'ask' } }, {}, {}, 'ask APPROVAL_NEEDED', 0],
  ['a report alone', DENY, {}, { isReportOnly: true }, 'deny APPROVAL_NEEDED', 0],
  ['a person who waits', DENY, {}, {}, 'deny APPROVAL_NEEDED', 1],
  ['a cast that names no turn', {}, { BATON_CAST: 'c' }, {}, 'allow', 0],
  ['a turn that it cannot show', {}, { BATON_CAST: 'c', BATON_ATTEMPT: '1.1' }, {}, 'deny APPROVAL_NEEDED', 1],
  [
    'a host that asks its user, in such a turn',
    { approvals: { hook: 'ask' } },
    { BATON_CAST: 'c', BATON_ATTEMPT: '1.1' },
    {},
    'deny APPROVAL_NEEDED',
    1,
  ],
])('with %s a command that changes state: %s', async (_, config, env, more, word, open) => {
  const { bash, log } = await session(config, env, more);
  expect((await bash(DEPLOY)).word).toBe(word);
  expect(Object.keys(await approvalsIn(log))).toHaveLength(open);
});

test('a key that others can read seals nothing', async () => {
  const { bash, dir } = await session(DENY);
  const { run = '' } = (await bash(DEPLOY)).details as Record<string, string>;
  chmodSync(join(dir, 'key/approval-key'), 0o644);
  expect([(await bash('bash other.sh')).word, (await bash(run)).word]).toEqual(['deny KEY_UNSAFE', 'deny KEY_UNSAFE']);
});

test.each<[string, string, string]>([
  ['a command that can never be approved', 'rm -rf / ; bash x', 'deny COMMAND_REFUSED'],
  ['a fork bomb behind a command', 'bash deploy.sh; :(){ :|:& };:', 'deny COMMAND_'],
])('%s is refused for good', async (_, line, word) => {
  const { bash, log } = await session(DENY);
  expect((await bash(line)).word).toContain(word);
  expect(Object.keys(await approvalsIn(log))).toHaveLength(0);
});

/** Two tasks in progress: T-1 of ann, T-2 of this session. */
async function claimed(config: JsonObject = {}, env: NodeJS.ProcessEnv = {}, more: Partial<HookContext> = {}) {
  const found = await session(config, env, more);
  for (const [task, owner] of [
    ['T-1', 'ann'],
    ['T-2', 's-1'],
  ] as const) {
    await found.ask({ kind: 'task.create', packet: packet(task) });
    expect((await found.ask({ kind: 'task.claim', task, owner })).code).toBe('OK');
  }
  return found;
}

test.each<[string, string, JsonObject, NodeJS.ProcessEnv, string]>([
  ['inside its own lock', 'work/T-2/a', {}, {}, 'allow'],
  ['inside the lock of another', 'work/T-1/a', {}, {}, 'deny LOCK_CONFLICT'],
  ['outside its own lock', 'free/a', {}, {}, 'deny SCOPE_VIOLATION'],
  ['outside, without a task', 'free/a', { session_id: 's-9' }, {}, 'allow'],
  ['by a subagent under its own name', 'work/T-1/a', { session_id: 's-9', agent_id: 'ann' }, {}, 'allow'],
  ['by the owner that the environment names', 'work/T-1/a', { session_id: 's-9' }, { BATON_OWNER: 'ann' }, 'allow'],
  ['by the fence of the task', 'work/T-1/a', { session_id: 's-9' }, { BATON_FENCE: '1' }, 'allow'],
  ['by a fence that is over', 'free/a', {}, { BATON_FENCE: '9' }, 'deny CONCURRENCY_CONFLICT'],
  ['by a fence that is none', 'free/a', {}, { BATON_FENCE: '1x' }, 'deny CONCURRENCY_CONFLICT'],
  ['of what governs', '.baton/config.json', { session_id: 's-9' }, {}, 'deny SCOPE_VIOLATION'],
  ['of what agents obey, under a task', '.mcp.json', {}, {}, 'deny SCOPE_VIOLATION'],
  ['of what agents obey, in a cast', '.mcp.json', { session_id: 's-9' }, { BATON_CAST: 'c' }, 'deny SCOPE_VIOLATION'],
  ['of what agents obey, by a person', '.mcp.json', { session_id: 's-9' }, {}, 'allow'],
])('a write %s', async (_, path, over, env, word) => {
  const { write, bash } = await claimed({ approvals: { hook: 'off' } }, env);
  expect((await write(path, over)).word).toBe(word);
  expect((await bash(`echo x > ${path}`, over)).word).toBe(word);
});

test('in a folder that is no workspace everything is allowed', async () => {
  const { write, hook } = await claimed({}, {}, { isKept: false });
  expect((await write('work/T-1/a')).word).toBe('allow');
  expect(await hook('SessionStart', {})).toMatchObject({ word: 'allow', reason: '' });
  expect((await hook('Nonsense', {})).word).toBe('deny BAD_USAGE');
});

test('without a log, what agents obey is still kept from the agents of a cast', async () => {
  const none = { ledger: async () => null } satisfies Partial<HookContext>;
  const inCast = await session({ approvals: { hook: 'off' } }, { BATON_CAST: 'c' }, none);
  expect([(await inCast.write('.mcp.json')).word, (await inCast.write('a')).word]).toEqual([
    'deny SCOPE_VIOLATION',
    'allow',
  ]);
  expect((await (await session({}, {}, none)).write('.mcp.json')).word).toBe('allow');
});

test.each<[string, JsonObject, string]>([
  ['a tool that says not where it writes', { tool_name: 'Write', tool_input: {} }, 'deny BAD_USAGE'],
  ['a patch without a file', { tool_name: 'apply_patch', tool_input: { patch: 'x' } }, 'deny BAD_USAGE'],
  ['a command that is none', { tool_name: 'Bash', tool_input: { command: 7 } }, 'deny BAD_USAGE'],
  ['another tool', { tool_name: 'Read', tool_input: { file_path: '.baton/config.json' } }, 'allow'],
])('%s', async (_, input, word) => {
  const { hook } = await claimed();
  expect((await hook('PreToolUse', input)).word).toBe(word);
});

test('settings that cannot be understood let nothing through', async () => {
  const { bash, hook } = await claimed({ hooks: { contract: 'gaja' } });
  expect((await bash('ls')).word).toBe('deny INVALID_CONFIG');
  expect((await hook('Stop', {})).word).toBe('deny INVALID_CONFIG');
  expect((await hook('PostToolUse', { tool_name: 'Read', tool_input: {} })).word).toBe('deny INVALID_CONFIG');
});

const SUBAGENT = { tool_name: 'Task', tool_input: { subagent_type: 'x', prompt: 'y' } };

test('a paused workspace starts no subagent and says so with each prompt; a cast has its own checks', async () => {
  const { hook, ask } = await claimed();
  expect((await hook('PreToolUse', SUBAGENT)).word).toBe('allow');
  expect(await hook('UserPromptSubmit', {})).toMatchObject({ word: 'allow', reason: expect.stringContaining('T-2') });
  expect((await hook('UserPromptSubmit', { session_id: 's-9' })).reason).toBe('');
  await ask({ kind: 'ledger.hold', reason: 'a release' });
  expect(await hook('PreToolUse', SUBAGENT)).toMatchObject({
    word: 'deny NOT_ALLOWED_NOW',
    reason: expect.stringContaining('ann paused the workspace'),
  });
  expect((await hook('UserPromptSubmit', { session_id: 's-9' })).reason).toContain('a release');
});

test.each(['UserPromptSubmit', 'SessionStart', 'SubagentStart', 'Stop', 'SubagentStop'])(
  'in a cast %s is silent',
  async (event) => {
    const { hook, performed } = await claimed({ hooks: { contract: 'gaia' } }, { BATON_CAST: 'c' });
    expect(await hook(event, { last_assistant_message: 'x' })).toEqual({ word: 'allow', reason: '', details: {} });
    expect(performed).toEqual([]);
  },
);

test('a session is told its name and its tasks', async () => {
  const { hook } = await claimed();
  expect((await hook('SessionStart', {})).reason).toMatch(/--owner s-1\n.*T-2 \(fence 2, may write "work\/T-2"\)/);
  expect((await hook('SessionStart', { session_id: 's-9' })).reason).toContain('You hold no task.');
  expect((await hook('SessionStart', { session_id: '' })).reason).toContain('a name of your own');
});

test('a tool call is a sign of life, and an entry of the worklog where that is set', async () => {
  const call = { tool_name: 'Write', tool_input: { file_path: 'work/T-2/a' } };
  const quiet = await claimed();
  expect((await quiet.hook('PostToolUse', call)).word).toBe('allow');
  expect(quiet.performed).toEqual([]);
  const { hook, performed } = await claimed({ hooks: { worklog: true } });
  expect((await hook('PostToolUse', call)).word).toBe('allow');
  expect(performed).toMatchObject([
    ['worklog.add', { task: 'T-2', fence: 2, entry: { action: 'used Write', files_touched: ['work/T-2/a'] } }],
  ]);
  expect((await hook('PostToolUse', { ...call, session_id: 's-9' })).word).toBe('allow');
  expect(performed).toHaveLength(1);
  const refusing = await claimed(
    { hooks: { worklog: true } },
    {},
    {
      perform: async () => deny('SCHEMA_INVALID', 'no'),
    },
  );
  expect((await refusing.hook('PostToolUse', call)).word).toBe('deny SCHEMA_INVALID');
});

test('who stops with a task in progress is held back once', async () => {
  const refusing = { perform: async () => deny('MISSING_REQUIRED_INPUT', 'no report') } as Partial<HookContext>;
  const { hook } = await claimed({}, {}, refusing);
  expect((await hook('Stop', {})).word).toBe('deny MISSING_REQUIRED_INPUT');
  expect((await hook('Stop', { stop_hook_active: true })).word).toBe('end MISSING_REQUIRED_INPUT');
  expect((await hook('Stop', { session_id: 's-9' })).word).toBe('allow');
  // The session's claims are not those of a subagent that ends.
  expect((await hook('SubagentStop', {})).word).toBe('allow');
  expect((await hook('SubagentStop', { agent_id: 's-1' })).word).toBe('deny MISSING_REQUIRED_INPUT');
  const passing = await claimed();
  expect((await passing.hook('Stop', {})).word).toBe('allow');
  expect(passing.performed).toMatchObject([['gate', { name: 'stop', payload: { task_id: 'T-2', owner: 's-1' } }]]);
});

test.each<[string, JsonObject, string, string]>([
  ['at each stop', { contract: 'gaia' }, 'deny ', 'deny '],
  ['at the stop of a subagent', { contract: 'gaia', contractAt: ['SubagentStop'] }, 'allow', 'deny '],
  ['nowhere', {}, 'allow', 'allow'],
])('a contract is asked for %s', async (_, hooks, stop, subagent) => {
  const { hook } = await session({ hooks });
  const last = { last_assistant_message: 'no report at all' };
  expect((await hook('Stop', last)).word).toContain(stop);
  expect((await hook('SubagentStop', last)).word).toContain(subagent);
});

test('what the hook lets through in an attempt is noted there, and nowhere else', async () => {
  const { bash, dir } = await session({ approvals: { hook: 'off' } }, { BATON_CAST: 'c', BATON_ATTEMPT: '1.1' });
  expect((await bash('ls')).word).toBe('allow');
  const attempt = join(dir, '.baton/state/attempts/c-1.1');
  expect(existsSync(attempt)).toBe(false);
  mkdirSync(attempt, { recursive: true });
  expect([(await bash('ls')).word, (await bash('git reset --hard')).word]).toEqual(['allow', 'deny COMMAND_REFUSED']);
  const wasAsked = letThroughIn(attempt);
  expect([wasAsked('ls'), wasAsked('git reset --hard')]).toEqual([true, false]);
});
