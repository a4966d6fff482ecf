// What the recordings do not show: helpers of an agent, resumed conversations, and streams that end between two events.
import { expect, test } from 'vitest';
import type { Packet } from '../kernel/cast/packet.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Program } from './agent-call.ts';
import { outputResult } from './agent-result.ts';
import { anthropic } from './anthropic.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { openai } from './openai.ts';
import { pi } from './pi.ts';
import { reportFrom } from './program-runner.ts';
import { EMPTY_REPORT, soundUsage } from './report.ts';

const read = (program: Program, ...events: JsonObject[]) =>
  reportFrom(program, events.map((event) => JSON.stringify(event)).join('\n'));
const says = (text: string, more: JsonObject = {}) => ({
  type: 'assistant',
  message: { model: 'm', content: [{ type: 'text', text }] },
  ...more,
});

test('claude: what a helper says is not the answer', () => {
  expect(read(claude, says('mine'), says('the helper’s', { parent_tool_use_id: 'toolu_1' })).text).toBe('mine');
});

test('claude: an error of the provider is no model', () => {
  const error = { type: 'assistant', message: { model: '<synthetic>', content: [] } };
  expect(read(claude, says('x'), error).model).toBe('m');
});

test.each<[string, JsonObject, JsonObject]>([
  [
    'what was used since the last result',
    {
      model_usage_since_last_result: {
        a: { inputTokens: 10, cacheReadInputTokens: 5, cacheCreationInputTokens: 1, outputTokens: 3, costUSD: 0.1 },
        b: { inputTokens: 2, outputTokens: 1, costUSD: 0.2 },
      },
      total_cost_usd: 9,
      usage: { input_tokens: 99 },
    },
    { input: 18, output: 4, cost: expect.closeTo(0.3) as unknown as number },
  ],
  [
    'the totals of a version that does not tell it',
    { total_cost_usd: 9, usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 3 } },
    { input: 15, output: 3, cost: 9 },
  ],
])('claude: usage is %s', (_what, result, usage) => {
  const event = { type: 'result', subtype: 'success', is_error: false, result: 'done', ...result };
  expect(read(claude, event).usage).toEqual(usage);
});

const wrong = (tokens: Json) => ({
  claude: read(claude, {
    ...{ type: 'result', subtype: 'success', is_error: false, result: 'done' },
    usage: { input_tokens: tokens, output_tokens: 1 },
  }),
  codex: read(codex, { type: 'turn.completed', usage: { input_tokens: tokens, output_tokens: 1 } }),
  pi: read(pi, {
    type: 'message_end',
    message: { role: 'assistant', content: [], usage: { input: tokens, output: 1 } },
  }),
  anthropic: anthropic.fold(EMPTY_REPORT, {
    type: 'message_start',
    message: { usage: { input_tokens: tokens, output_tokens: 1 } },
  }),
  openai: openai.fold(EMPTY_REPORT, { choices: [], usage: { prompt_tokens: tokens, completion_tokens: 1 } }),
});

test.each<[Json]>([[-5_000], ['12']])('a count of %j tokens is seen to be none, whoever tells it', (tokens) => {
  for (const [name, { usage }] of Object.entries(wrong(tokens)))
    expect([name, soundUsage(usage).doubts.length, soundUsage(usage).usage]).toEqual([
      ...[name, 1],
      { input: 0, output: 1, cost: 0 },
    ]);
});

const spoken = (event: JsonObject, more: JsonObject = {}) => ({ type: 'stream_event', event, ...more });
const begins = (id: string, input_tokens: number, more: JsonObject = {}) =>
  spoken({ type: 'message_start', message: { id, usage: { input_tokens, output_tokens: 1 } } }, more);
const ends = (output_tokens: number, more: JsonObject = {}) =>
  spoken({ type: 'message_delta', usage: { output_tokens } }, more);
const whole = (id: string, input_tokens: number, more: JsonObject = {}) => ({
  ...says('x', more),
  message: { id, model: 'm', content: [], usage: { input_tokens, output_tokens: 1, cache_read_input_tokens: 4 } },
});
const helper = { parent_tool_use_id: 'toolu_1' };

test.each<[string, JsonObject[], JsonObject]>([
  ['a message that has only begun', [begins('a', 10)], { input: 10, output: 1, cost: 0 }],
  [
    'a message counts once, however often it is told',
    [begins('a', 10), ends(3), ends(7)],
    { input: 10, output: 7, cost: 0 },
  ],
  [
    'one message after the other',
    [begins('a', 10), ends(7), begins('b', 20), ends(5)],
    { input: 30, output: 12, cost: 0 },
  ],
  [
    'what is told of a message as a whole is not told beside it',
    [begins('a', 10), whole('a', 6), ends(7), whole('a', 6)],
    { input: 10, output: 7, cost: 0, cached: 4 },
  ],
  [
    'a helper who speaks in between, and tells no pieces',
    [begins('a', 10), whole('h', 26, helper), ends(7), whole('h', 26, helper), whole('i', 1, helper)],
    { input: 45, output: 9, cost: 0, cached: 8 },
  ],
  [
    'what the result says counts instead',
    [begins('a', 10), ends(7), { type: 'result', usage: { input_tokens: 12, output_tokens: 9 }, total_cost_usd: 0.5 }],
    { input: 12, output: 9, cost: 0.5 },
  ],
  [
    'a result that tells nothing takes nothing back',
    [begins('a', 10), ends(7), { type: 'result', subtype: 'error_during_execution' }],
    { input: 10, output: 7, cost: 0 },
  ],
])('claude: what was used is known before the end: %s', (_what, events, usage) => {
  expect(read(claude, ...events).usage).toEqual(usage);
});

test('claude: however many helpers speak, each message counts', () => {
  const events = Array.from({ length: 300 }, (_, index) => begins(`m${index}`, 1, { parent_tool_use_id: `t${index}` }));
  const { usage, underway } = read(claude, ...events);
  expect(usage).toEqual({ input: 300, output: 300, cost: 0 });
  expect(Object.keys(underway)).toHaveLength(100);
});

test('pi: what a message that is not over has told counts, and not once more at its end', () => {
  const usage = (input: number, output: number) => ({ input, output, cacheRead: 0, cost: { total: 0.1 } });
  const grows = (output: number) => ({ type: 'message_update', usage: usage(10, output) });
  const over = { type: 'message_end', message: { role: 'assistant', content: [], usage: usage(10, 8) } };
  expect(read(pi, grows(1), grows(5)).usage).toEqual({ input: 10, output: 5, cost: 0.1 });
  expect(read(pi, grows(1), grows(5), over).usage).toEqual({ input: 10, output: 8, cost: 0.1 });
  expect(read(pi, grows(5), over, grows(2)).usage).toEqual({ input: 20, output: 10, cost: 0.2 });
});

test.each<[string, JsonObject, string]>([
  ['an error with its text', { subtype: 'success', is_error: true, result: 'Overloaded' }, 'Overloaded'],
  ['an error with a list', { subtype: 'error_during_execution', errors: ['one', 'two'] }, 'one; two'],
  ['an error with nothing', { subtype: 'error_max_turns' }, 'error_max_turns'],
])('claude: %s', (_what, result, message) => {
  const report = read(claude, says('half'), { type: 'result', ...result });
  expect(report).toMatchObject({ text: '', isFinished: false, error: { message } });
});

test('claude: the wait that a provider asked for is kept until the error comes', () => {
  const retry = { type: 'system', subtype: 'api_retry', error_status: 429, error: 'rate_limit', retry_delay_ms: 700 };
  const result = { type: 'result', subtype: 'success', is_error: true, api_error_status: 429, result: 'slow down' };
  expect(read(claude, retry, result).error).toEqual({ message: 'slow down', status: 429, retryAfterMs: 700 });
});

test('codex: a second turn costs what it added, and the conversation remembers all of it', () => {
  const turn = (input_tokens: number, output_tokens: number) => ({
    type: 'turn.completed',
    usage: { input_tokens, output_tokens },
  });
  const said = { type: 'item.completed', item: { type: 'agent_message', text: 'done' } };
  const report = read(codex, { type: 'thread.started', thread_id: 't' }, said, turn(250, 30));
  const session = { runner: 'codex', id: 't', usage: { input: 100, output: 10, cost: 0 } };
  const packet = { maxOutputBytes: 100, session, materia: { runner: 'codex' } } as unknown as Packet;
  expect(outputResult({ packet, report, warnings: [] })).toEqual({
    kind: 'output',
    output: 'done',
    usage: { input: 150, output: 20, cost: 0 },
    agent: {
      runner: 'codex',
      unpriced: true,
      session: { runner: 'codex', id: 't', usage: { input: 250, output: 30, cost: 0 } },
      commands: [],
    },
  });
});

test('codex: an error that it got over leaves no trace, one that it did not is the reason', () => {
  const error = { type: 'error', message: 'Reconnecting... 1/5 (unexpected status 401 Unauthorized: no)' };
  const said = { type: 'item.completed', item: { type: 'agent_message', text: 'done' } };
  expect(read(codex, error, said, { type: 'turn.completed' })).toMatchObject({ error: null, isFinished: true });
  expect(read(codex, said, error)).toMatchObject({ error: { status: 401 }, isFinished: false });
});

test('codex: a call that was declined is a refusal', () => {
  const item = { type: 'mcp_tool_call', tool: 'submit', status: 'declined' };
  const report = read(codex, { type: 'item.started', item }, { type: 'item.completed', item });
  expect([report.toolCalls, report.denials]).toEqual([['submit'], ['submit']]);
});

test('pi: a message that calls a tool is not the end', () => {
  const message = { role: 'assistant', content: [{ type: 'text', text: 'I look.' }, { type: 'toolCall' }] };
  expect(read(pi, { type: 'message_end', message })).toMatchObject({ isFinished: false });
  const last = { role: 'assistant', content: [{ type: 'text', text: 'done' }], stopReason: 'stop' };
  expect(read(pi, { type: 'message_end', message }, { type: 'message_end', message: last })).toMatchObject({
    isFinished: true,
    text: 'done',
  });
});

const bash = (command: string) => ({ type: 'tool_use', id: `of ${command}`, name: 'Bash', input: { command } });
const used = (command: string, more: JsonObject = {}) => ({
  type: 'assistant',
  message: { model: 'm', content: [bash(command)] },
  ...more,
});
const resultOf = (command: string, content: string, more: JsonObject = {}) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', is_error: true, tool_use_id: `of ${command}`, content }] },
  ...more,
});
const piBash = (command: string, text: string, isError: boolean) => [
  { type: 'tool_execution_start', toolCallId: command, toolName: 'bash', args: { command } },
  {
    type: 'tool_execution_end',
    toolCallId: command,
    toolName: 'bash',
    isError,
    result: { content: [{ type: 'text', text }] },
  },
];
const ran = (command: string, status: string) => ({
  type: 'item.completed',
  item: { type: 'command_execution', command, status },
});

test.each<[string, Program, JsonObject[], string[]]>([
  ['claude: those of a helper too', claude, [used('ls'), used('pwd', { parent_tool_use_id: 't' })], ['ls', 'pwd']],
  [
    'claude: not those it was refused',
    claude,
    [
      used('ls'),
      used('rm x'),
      {
        type: 'result',
        subtype: 'success',
        permission_denials: [{ tool_name: 'Bash', tool_use_id: 'of rm x', tool_input: { command: 'rm x' } }],
      },
    ],
    ['ls'],
  ],
  [
    'claude: not what a hook kept from it',
    claude,
    [
      used('rm x'),
      resultOf('rm x', 'PreToolUse:Bash hook error: no', {
        tool_result_meta: [{ id: 'of rm x', non_execution_kind: 'permission-rule' }],
      }),
      used('ls'),
      used('rm x'),
      resultOf('rm x', 'rm: no such file'),
    ],
    ['ls', 'rm x'],
  ],
  [
    'claude: not with a tool that it was not offered',
    claude,
    [
      used('ls'),
      resultOf('ls', '<tool_use_error>Error: No such tool available: Bash. It is disabled.</tool_use_error>'),
    ],
    [],
  ],
  [
    'claude: what prints such words was run',
    claude,
    [used('cat log'), resultOf('cat log', 'Exit code 1\nError: No such tool available: Bash')],
    ['cat log'],
  ],
  ['claude: other tools run none', claude, [says('x')], []],
  [
    'codex: not those it was refused',
    codex,
    [ran("bash -lc 'ls'", 'completed'), ran('rm x', 'declined')],
    ["bash -lc 'ls'"],
  ],
  ['codex: one that failed was run', codex, [ran('false', 'failed')], ['false']],
  [
    'pi: those of its shell',
    pi,
    [
      { type: 'tool_execution_start', toolName: 'bash', args: { command: 'ls' } },
      { type: 'tool_execution_start', toolName: 'write', args: { command: 'no' } },
      { type: 'tool_execution_end', toolName: 'bash' },
    ],
    ['ls'],
  ],
  [
    'pi: not what was kept from it',
    pi,
    [...piBash('a', 'no', true), ...piBash('b', 'x\n\nCommand exited with code 1', true), ...piBash('c', 'no', false)],
    ['b', 'c'],
  ],
])('the commands that were run: %s', (_what, program, events, commands) => {
  expect(read(program, ...events).commands).toEqual(commands);
});

test('a program that tells nothing of its commands is not said to have run none', () => {
  const packet = { maxOutputBytes: 100, session: null, materia: { runner: 'command' } } as unknown as Packet;
  const report = { ...read(pi), commands: null };
  expect(outputResult({ packet, report, warnings: [] })).toMatchObject({
    agent: expect.not.objectContaining({ commands: [] }),
  });
  expect(outputResult({ packet, report: read(pi), warnings: [] })).toMatchObject({ agent: { commands: [] } });
});

const cut = {
  subtype: 'success',
  is_error: true,
  result: 'API Error: the response exceeded the 32000 output token maximum.',
};

test.each<[string, Program, JsonObject[], string]>([
  ['claude, after its own tries', claude, [says('half'), { type: 'result', ...cut }], 'half'],
  [
    'claude, with an answer',
    claude,
    [{ type: 'result', subtype: 'success', result: 'half', stop_reason: 'max_tokens' }],
    'half',
  ],
  [
    'codex',
    codex,
    [
      {
        type: 'turn.failed',
        error: { message: 'stream disconnected: Incomplete response returned, reason: max_output_tokens' },
      },
    ],
    '',
  ],
  [
    'pi',
    pi,
    [
      {
        type: 'message_end',
        message: { role: 'assistant', stopReason: 'length', content: [{ type: 'text', text: 'half' }] },
      },
    ],
    'half',
  ],
])('an answer that the provider cut short is told as such and is no fault: %s', (_who, program, events, text) => {
  const report = read(program, ...events);
  expect(report).toMatchObject({ text, isFinished: true, isCut: true, error: null });
  const packet = { maxOutputBytes: 100, materia: { runner: program.name }, session: null } as unknown as Packet;
  expect(outputResult({ packet, report, warnings: [] })).toMatchObject({ output: text, cutShort: true });
});

test('an answer that is whole is not told to be cut', () => {
  const event = { type: 'result', subtype: 'success', result: 'whole', stop_reason: 'end_turn' };
  const packet = { maxOutputBytes: 100, materia: { runner: 'claude' }, session: null } as unknown as Packet;
  expect(outputResult({ packet, report: read(claude, event), warnings: [] })).not.toHaveProperty('cutShort');
});
