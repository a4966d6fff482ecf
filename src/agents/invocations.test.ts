// The exact commands and requests that a call becomes. Nothing here runs anything.
import { hash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { AgentCall, AgentSettings } from './agent-call.ts';
import { anthropic } from './anthropic.ts';
import { retryAfterMs } from './api-runner.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { command } from './command.ts';
import { gemini } from './gemini.ts';
import { GEMINI_VARIABLE } from './gemini-home.ts';
import { openai } from './openai.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';

const PLAIN: AgentCall = {
  ...{ prompt: 'Do it.', system: null, model: null, thinking: null, tools: 'none', session: null },
  turnName: 'c-1',
  retriesMax: 4,
};
const call = (more: Partial<AgentCall> = {}): AgentCall => ({ ...PLAIN, ...more });
const PROGRAMS = [claude, codex, pi, gemini, opencode];
const EXTENSION = fileURLToPath(new URL('./pi-extension.ts', import.meta.url));

test.each(PROGRAMS)('$name: the prompt goes in on standard input and stands in no argument', (program) => {
  const { argv, stdin } = program.invoke(call({ prompt: '--help; rm -rf $HOME' }), {});
  expect(stdin).toBe('--help; rm -rf $HOME');
  expect(argv.join(' ')).not.toContain('rm -rf');
  expect(argv[0]).toBe(program.name);
});

/** Two arguments that stand side by side. */
const has = (argv: readonly string[], ...pair: string[]) =>
  argv.some((_, index) => pair.every((text, offset) => argv[index + offset] === text));

test.each<[string, Partial<AgentCall>, AgentSettings, (readonly string[])[]]>([
  ['no tools', {}, {}, [['--tools', '']]],
  [
    'tools to read',
    { tools: 'readOnly' },
    {},
    [
      ['--tools', 'Read,Grep,Glob'],
      ['--allowedTools', 'Read,Grep,Glob'],
    ],
  ],
  [
    'a rule for a tool',
    { tools: { type: 'custom', tools: ['Bash(git *)'] } },
    {},
    [
      ['--tools', 'Bash'],
      ['--allowedTools', 'Bash(git *)'],
    ],
  ],
  ['a model', { model: 'opus' }, {}, [['--model', 'opus']]],
  ['thinking', { thinking: 'minimal' }, {}, [['--effort', 'low']]],
  ['a system prompt without tools', { system: 'S' }, {}, [['--system-prompt', 'S']]],
  ['a system prompt with tools', { system: 'S', tools: 'coding' }, {}, [['--append-system-prompt', 'S']]],
  ['a conversation', { session: { runner: 'r', id: 'abc' } }, {}, [['--resume', 'abc']]],
  [
    'a server',
    {},
    { mcp: { baton: { command: 'baton', args: ['mcp'] } } },
    [
      ['--mcp-config', '{"mcpServers":{"baton":{"command":"baton","args":["mcp"],"env":{}}}}'],
      ['--allowedTools', 'mcp__baton'],
      ['--permission-prompts', 'none', '--strict-mcp-config'],
    ],
  ],
  [
    'some tools of a server',
    { tools: 'readOnly' },
    { mcp: { s: { command: 'x', tools: ['a', 'b'] } } },
    [['--allowedTools', 'Read,Grep,Glob,mcp__s__a,mcp__s__b']],
  ],
])('claude: %s', (_what, more, settings, pairs) => {
  const { argv } = claude.invoke(call(more), settings);
  for (const pair of pairs) expect(argv, pair.join(' ')).toSatisfy((all: string[]) => has(all, ...pair));
});

test('claude: thinking switched off, and a model elsewhere, are variables', () => {
  const { env, argv } = claude.invoke(call({ thinking: 'off' }), { baseUrl: 'http://x' });
  expect(env).toMatchObject({ MAX_THINKING_TOKENS: '0', ANTHROPIC_BASE_URL: 'http://x', CLAUDE_CODE_MAX_RETRIES: '4' });
  expect(argv).not.toContain('--effort');
});

test.each<[string, Partial<AgentCall>, AgentSettings, (readonly string[])[]]>([
  [
    'no tools',
    {},
    {},
    [
      ['-c', 'sandbox_mode="read-only"'],
      ['--disable', 'shell_tool'],
    ],
  ],
  [
    'coding tools',
    { tools: 'coding' },
    {},
    [
      ['-c', 'sandbox_mode="workspace-write"'],
      ['-c', 'approval_policy="never"'],
    ],
  ],
  ['a model', { model: 'gpt' }, {}, [['-m', 'gpt']]],
  ['thinking', { thinking: 'max' }, {}, [['-c', 'model_reasoning_effort="xhigh"']]],
  ['a system prompt', { system: 'Say "x"\n' }, {}, [['-c', 'developer_instructions="Say \\"x\\"\\n"']]],
  ['a conversation', { session: { runner: 'r', id: 'abc' } }, {}, [['resume', 'abc']]],
  ['a model elsewhere', {}, { baseUrl: 'http://x/v1' }, [['-c', 'model_providers.baton.base_url="http://x/v1"']]],
  [
    'a server',
    {},
    { mcp: { baton: { command: 'baton', args: ['mcp', '-v'], env: { A: 'b' } } } },
    [
      ['-c', 'mcp_servers.baton.command="baton"'],
      ['-c', 'mcp_servers.baton.args=["mcp","-v"]'],
      ['-c', 'mcp_servers.baton.default_tools_approval_mode="approve"'],
      ['-c', 'mcp_optional_startup_grace_ms=0'],
      ['-c', 'mcp_servers.baton.startup_timeout_sec=30'],
      ['-c', 'mcp_servers.baton.env.A="b"'],
    ],
  ],
  [
    'some tools of a server',
    {},
    { mcp: { s: { command: 'x', tools: ['a', 'b'] } } },
    [['-c', 'mcp_servers.s.enabled_tools=["a","b"]']],
  ],
])('codex: %s', (_what, more, settings, pairs) => {
  const { argv } = codex.invoke(call(more), settings);
  for (const pair of pairs) expect(argv, pair.join(' ')).toSatisfy((all: string[]) => has(all, ...pair));
  expect(argv.at(-1)).toBe('-');
});

test.each<[string, Partial<AgentCall>, AgentSettings, (readonly string[])[], number]>([
  ['no tools', {}, {}, [['--no-tools']], 0],
  ['tools to read', { tools: 'readOnly' }, {}, [['--tools', 'read,grep,find,ls']], 0],
  ['a model', { model: 'openai/gpt' }, {}, [['--model', 'openai/gpt']], 0],
  ['thinking', { thinking: 'max' }, {}, [['--thinking', 'max']], 0],
  ['a system prompt without tools', { system: 'S' }, {}, [['--system-prompt', 'S']], 0],
  ['a system prompt with tools', { system: 'S', tools: 'coding' }, {}, [['--append-system-prompt', 'S']], 0],
  ['a conversation', { session: { runner: 'r', id: 'abc' } }, {}, [['--session', 'abc']], 0],
  ['a server', {}, { mcp: { s: { command: 'x', tools: ['a'] } } }, [['--tools', 'a', '--extension', EXTENSION]], 0],
  [
    'a server beside its own tools',
    { tools: 'readOnly' },
    { mcp: { s: { command: 'x', tools: ['a'] } } },
    [['--tools', 'read,grep,find,ls,a']],
    0,
  ],
  ['what it cannot do', {}, { baseUrl: 'http://x', mcp: { a: { command: 'a' } } }, [], 2],
])('pi: %s', (_what, more, settings, pairs, warnings) => {
  const made = pi.invoke(call(more), settings);
  for (const pair of pairs) expect(made.argv, pair.join(' ')).toSatisfy((all: string[]) => has(all, ...pair));
  expect(made.warnings).toHaveLength(warnings);
});

test('pi: the servers are told to its extension by a variable', () => {
  const mcp = { s: { command: 'x', args: ['-v'], tools: ['a'] } };
  expect(JSON.parse(pi.invoke(call(), { mcp }).env.BATON_PI_SERVERS ?? '')).toEqual(mcp);
  expect(pi.invoke(call(), {}).env).not.toHaveProperty('BATON_PI_SERVERS');
});

test.each<[string, Parameters<typeof command>[0], Partial<AgentCall>, string[], string]>([
  ['a prompt on standard input', ['ask', '--now'], {}, ['ask', '--now'], 'Do it.'],
  ['a prompt as an argument', ['ask', '{{prompt}}'], {}, ['ask', 'Do it.'], ''],
  ['a slot within a word', ['ask', '--model={{model}}'], { model: 'm' }, ['ask', '--model=m'], 'Do it.'],
  ['a slot without a value beside others', ['ask', 'P={{prompt}} M={{model}}'], {}, ['ask', 'P=Do it. M='], ''],
  ['an argument that is a slot without a value', ['ask', '{{system}}', 'x'], {}, ['ask', '', 'x'], 'Do it.'],
  ['a group without its value', ['ask', ['-m', '{{model}}']], {}, ['ask'], 'Do it.'],
  ['a group with its value', ['ask', ['-m', '{{ model }}']], { model: 'm' }, ['ask', '-m', 'm'], 'Do it.'],
  [
    'what is filled in is not read again',
    ['ask', '{{prompt}}'],
    { prompt: '{{model}} $(id)' },
    ['ask', '{{model}} $(id)'],
    '',
  ],
])('command: %s', (_what, template, more, argv, stdin) => {
  const made = command(template).invoke(call(more), {});
  expect([made.argv, made.stdin]).toEqual([argv, stdin]);
});

test('command: a conversation has one name in every attempt of a turn, and only where the template asks for it', () => {
  const template = ['ask', ['--session', '{{session}}']];
  const first = command(template).invoke(call(), {});
  const { sessionId: id = '' } = first;
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(first.argv).toEqual(['ask', '--session', id]);
  expect(command(template).invoke(call({ session: { runner: 'command', id } }), {}).argv).toEqual(first.argv);
  expect(command(template).invoke(call({ turnName: 'c-2' }), {}).sessionId).not.toBe(id);
  expect(command(['ask']).invoke(call(), {})).not.toHaveProperty('sessionId');
});

test('command: what it has no slot for is said', () => {
  const { warnings } = command(['ask']).invoke(call({ model: 'm', system: 'S', tools: 'coding' }), {});
  expect(warnings).toEqual([expect.stringContaining('{{system}}'), expect.stringContaining('{{model}}')]);
});

test('anthropic: the request', () => {
  const { url, headers, body } = anthropic.request(call({ model: 'm', system: 'S', thinking: 'low' }), {}, 'key');
  expect(url).toBe('https://api.anthropic.com/v1/messages');
  expect(headers).toMatchObject({ 'x-api-key': 'key', 'anthropic-version': '2023-06-01' });
  expect(body).toMatchObject({ model: 'm', system: 'S', stream: true, thinking: { budget_tokens: 2_048 } });
  expect(body.max_tokens).toBe(18_432);
});

test.each([
  [{}, 'https://api.openai.com/v1/responses', { instructions: 'S', reasoning: { effort: 'low' }, store: false }],
  [{ baseUrl: 'http://x/v1/' }, 'http://x/v1/chat/completions', { reasoning_effort: 'low' }],
  [{ baseUrl: 'http://x/v1', wire: 'responses' }, 'http://x/v1/responses', { instructions: 'S' }],
] as const)('openai: with %j', (settings, url, body) => {
  const made = openai.request(call({ model: 'm', system: 'S', thinking: 'low' }), settings, null);
  expect(made.url).toBe(url);
  expect(made.body).toMatchObject({ model: 'm', stream: true, ...body });
  expect(made.headers).not.toHaveProperty('authorization');
});

test.each<[string | null, number | undefined]>([
  [null, undefined],
  ['2', 2_000],
  ['0.5', 500],
  ['-1', 0],
  ['1e300', 366 * 86_400_000],
  ['Thu, 01 Jan 1970 00:00:11 GMT', 1_000],
  ['soon', undefined],
  ['', undefined],
])('retry-after: %s', (header, waitMs) => {
  expect(retryAfterMs(header, 10_000)).toBe(waitMs);
});

const GUARD = {
  program: '/opt/baton',
  args: ['-C', '/w', 'hook', 'PreToolUse'],
  group: { matcher: 'Bash|Edit', hooks: [{ type: 'command', command: '/opt/baton hook || exit 2', timeout: 15 }] },
};

test('claude: who is asked before a tool stands in settings of this run', () => {
  const { argv } = claude.invoke(call({ tools: 'coding' }), { guard: GUARD });
  const settings = `{"disableAllHooks":false,"hooks":{"PreToolUse":[${JSON.stringify(GUARD.group)}]}}`;
  expect(argv.slice(-2)).toEqual(['--settings', settings]);
  const others = claude.invoke(call(), { guard: GUARD, args: ['--settings=x.json'] });
  expect([others.argv.at(-1), others.warnings.length]).toEqual([settings, 1]);
  expect(claude.invoke(call({ tools: 'coding' }), {}).argv).not.toContain('--settings');
});

test('codex: who is asked before a tool is said by -c, and vouched for with the digest that it computes itself', () => {
  const { argv } = codex.invoke(call({ tools: 'coding' }), { guard: GUARD });
  const handler = '{type="command",command="/opt/baton hook || exit 2",timeout=15}';
  expect(argv).toContain(`hooks.PreToolUse=[{matcher="Bash|Edit",hooks=[${handler}]}]`);
  const digest = hash(
    'sha256',
    '{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"/opt/baton hook || exit 2","timeout":15,"type":"command"}],"matcher":"Bash|Edit"}',
  );
  expect(argv).toContain(
    `hooks.state={"/<session-flags>/config.toml:pre_tool_use:0:0"={trusted_hash="sha256:${digest}"}}`,
  );
  expect(argv.join(' ')).not.toContain('bypass');
  expect(codex.invoke(call({ tools: 'coding' }), {}).argv.join(' ')).not.toContain('hooks');
});

test('codex: it is told how it runs what was approved, where it has the tool for that', () => {
  const mcp = { baton: { command: 'b', tools: ['run_approved'] } };
  const { argv } = codex.invoke(call({ system: 'S' }), { guard: GUARD, mcp, variables: ['MINE'] });
  expect(argv).toContainEqual(
    expect.stringMatching(/^developer_instructions="S\\n\\nYour shell is sandboxed.*run_approved/),
  );
  expect(argv).toContainEqual(expect.stringMatching(/^mcp_servers\.baton\.env_vars=\["PATH","HOME",.*"MINE"\]$/));
  for (const without of [{ guard: GUARD }, { mcp }]) {
    expect(codex.invoke(call({ system: 'S' }), without).argv).toContain('developer_instructions="S"');
  }
});

test('pi: who is asked before a tool is named to the extension', () => {
  const { argv, env } = pi.invoke(call({ tools: 'coding' }), { guard: GUARD });
  expect(has(argv, '--extension', EXTENSION)).toBe(true);
  expect(env.BATON_PI_GUARD).toBe('{"program":"/opt/baton","args":["-C","/w","hook","PreToolUse"]}');
  expect(env).not.toHaveProperty('BATON_PI_SERVERS');
  expect(pi.invoke(call({ tools: 'coding' }), {}).env).not.toHaveProperty('BATON_PI_GUARD');
});

const MCP = { baton: { command: '/bin/baton', args: ['mcp'], env: { A: '1' }, tools: ['submit_handoff'] } };

const homeOf = (more: Partial<AgentCall>, settings: AgentSettings = {}) =>
  JSON.parse(gemini.invoke(call(more), settings).env[GEMINI_VARIABLE] ?? '');

test('gemini: it is started in a home of its own where it is known, and by its name where it is not', () => {
  const { argv } = gemini.invoke(call({ model: 'm', session: { runner: 'gemini', id: 'abc' } }), {
    ...{ program: '/bin/gemini', args: ['--debug'] },
  });
  expect(argv.slice(2)).toEqual(['/bin/gemini', '-o', 'stream-json', '--model', 'm', '--resume', 'abc', '--debug']);
  expect(argv[1]).toMatch(/gemini-home\.ts$/);
  expect(gemini.invoke(call(), {}).argv[0]).toBe('gemini');
});

test.each<[AgentCall['tools'], string[], number]>([
  ['none', [], 0],
  ['readOnly', ['read_file', 'grep_search', 'glob', 'list_directory'], 0],
  ['readAndRun', ['read_file', 'grep_search', 'glob', 'list_directory', 'run_shell_command'], 0],
  [{ type: 'custom', tools: ['Read', 'web_fetch', 'Bash(git *)', 'teleport'] }, ['read_file', 'web_fetch'], 2],
])('gemini: tools %j are allowed by a rule, and all others are denied', (tools, names, warnings) => {
  const { policy } = homeOf({ tools });
  const allow = `[[rule]]\ntoolName = ${JSON.stringify(names)}\ndecision = "allow"\npriority = 999\nallowRedirection = true\n\n`;
  const deny = '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 998\n';
  expect(policy).toBe(names.length > 0 ? `${allow}${deny}` : deny);
  expect(gemini.invoke(call({ tools }), {}).warnings).toHaveLength(warnings);
});

test('gemini: the servers of a turn, its tries, another address and the guard are settings', () => {
  const { settings, policy, guard, system } = homeOf(
    { system: 'You plan.', retriesMax: 2 },
    { mcp: MCP, baseUrl: 'http://m', guard: GUARD },
  );
  expect(settings).toMatchObject({
    general: { maxAttempts: 3 },
    security: { auth: { selectedType: 'gemini-api-key' } },
    mcpServers: { baton: { command: '/bin/baton', args: ['mcp'], env: { A: '1' } } },
    hooksConfig: { enabled: true },
  });
  expect(policy).toContain('mcpName = "baton"\ntoolName = ["submit_handoff"]\ndecision = "allow"');
  expect([guard, system]).toEqual([{ program: GUARD.program, args: GUARD.args }, 'You plan.']);
  expect(homeOf({}).settings.security).toEqual({ folderTrust: { enabled: false } });
  const { env, warnings } = gemini.invoke(call({ thinking: 'high' }), { baseUrl: 'http://m' });
  expect([env.GOOGLE_GEMINI_BASE_URL, warnings]).toEqual([
    ...['http://m', ['gemini takes no level of thinking; it uses its own']],
  ]);
});

const configOf = (more: Partial<AgentCall>, settings: AgentSettings = {}) =>
  JSON.parse(opencode.invoke(call(more), settings).env.OPENCODE_CONFIG_CONTENT ?? '');

test('opencode: model, thinking, conversation and a title, so that it asks no model for one', () => {
  const session = { runner: 'opencode', id: 'ses_1' };
  const { argv } = opencode.invoke(call({ model: 'anthropic/m', thinking: 'high', session }), {
    args: ['--print-logs'],
  });
  expect(argv).toEqual([
    ...['opencode', 'run', '--format', 'json', '--agent', 'baton', '--title', 'c-1', '--model', 'anthropic/m'],
    ...['--variant', 'high', '--session', 'ses_1', '--print-logs'],
  ]);
});

test.each<[AgentCall['tools'], object, number]>([
  ['none', { '*': 'deny' }, 0],
  ['readOnly', { '*': 'deny', read: 'allow', grep: 'allow', glob: 'allow', list: 'allow' }, 0],
  [{ type: 'custom', tools: ['write', 'teleport'] }, { '*': 'deny', write: 'allow', edit: 'allow' }, 1],
])('opencode: tools %j are allowed, and all others are denied first', (tools, permission, warnings) => {
  const made = configOf({ tools }).agent.baton.permission;
  expect(made).toEqual(permission);
  expect(Object.keys(made)[0]).toBe('*');
  expect(opencode.invoke(call({ tools }), {}).warnings).toHaveLength(warnings);
});

test('opencode: the servers of a turn, the system prompt, another address and the guard', () => {
  const made = configOf({ model: 'm', system: 'You plan.' }, { mcp: MCP, baseUrl: 'http://m/v1', guard: GUARD });
  expect(made.mcp.baton).toMatchObject({ command: ['/bin/baton', 'mcp'], environment: { A: '1' }, enabled: true });
  expect(made.agent.baton).toMatchObject({ prompt: 'You plan.', permission: { baton_submit_handoff: 'allow' } });
  expect(made.provider.baton).toMatchObject({
    ...{ options: { baseURL: 'http://m/v1', apiKey: '{env:OPENAI_API_KEY}' }, models: { m: {} } },
  });
  const { argv, env } = opencode.invoke(call({ model: 'm' }), { baseUrl: 'http://m/v1', guard: GUARD });
  expect(argv).toContain('baton/m');
  expect(JSON.parse(env.BATON_OPENCODE_GUARD ?? '')).toEqual({ program: GUARD.program, args: GUARD.args });
  expect(opencode.invoke(call(), { baseUrl: 'http://m/v1' }).warnings).toHaveLength(1);
});
