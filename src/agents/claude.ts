// Claude Code as an agent: `claude -p` with its stream of JSON events. The prompt goes in on standard input, because a
// brief may be longer than an argument and arguments can be seen by others.
import type { LiveEvent } from '../engine/ports.ts';
import type { Usage } from '../kernel/cast/state.ts';
import { type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import type { AgentCall, AgentSettings, Program, ProgramCall } from './agent-call.ts';
import { detailOf, reportReader, toolEvent } from './event-streams.ts';
import {
  type AgentReport,
  addName,
  addUsage,
  amount,
  figure,
  objectsIn,
  ofWhichCached,
  textIn,
  withCommand,
  withMessageUsage,
  withOutcome,
  withoutCommand,
} from './report.ts';
import { claudeTools, nearestLevel } from './tool-scope.ts';

export const claude: Program = {
  name: 'claude',
  variables: [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CONFIG_DIR',
  ],
  invoke,
  reader: reportReader(fold, live),
};

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];

function invoke(call: AgentCall, settings: AgentSettings): ProgramCall {
  const scope = claudeTools(call.tools);
  const isOff = call.thinking === 'off';
  const thinking = nearestLevel('claude', isOff ? null : call.thinking, EFFORTS);
  const argv = [
    settings.program ?? 'claude',
    ...['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
    // No person can answer, so a tool that is not allowed is refused at once. Servers of the user would widen the scope.
    ...['--permission-prompts', 'none', '--strict-mcp-config'],
    ...[
      '--tools',
      scope.tools
        .filter((name) => !name.startsWith('mcp__'))
        .map(bareName)
        .join(','),
    ],
    ...(allowed(scope.tools, settings).length > 0 ? ['--allowedTools', allowed(scope.tools, settings).join(',')] : []),
    ...(call.model === null ? [] : ['--model', call.model]),
    ...(thinking.level === null ? [] : ['--effort', thinking.level]),
    ...systemFlags(call),
    ...(settings.mcp ? ['--mcp-config', JSON.stringify({ mcpServers: serversOf(settings.mcp) })] : []),
    ...(call.session === null ? [] : ['--resume', call.session.id]),
    ...(settings.args ?? []),
    ...hookFlags(settings),
  ];
  const env = {
    // Its own ten take minutes.
    CLAUDE_CODE_MAX_RETRIES: String(call.retriesMax),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...(isOff ? { MAX_THINKING_TOKENS: '0' } : {}),
    ...(settings.baseUrl === undefined ? {} : { ANTHROPIC_BASE_URL: settings.baseUrl }),
  };
  return {
    argv,
    stdin: call.prompt,
    env,
    warnings: [...scope.warnings, ...thinking.warnings, ...hookWarnings(settings)],
  };
}

/** The user's hooks stay in force as well. Settings in the work folder must not switch them off. */
function hookFlags({ guard }: AgentSettings): string[] {
  if (!guard?.group) return [];
  return ['--settings', JSON.stringify({ disableAllHooks: false, hooks: { PreToolUse: [guard.group] } })];
}

/** It takes settings from one place only, and the last that is named counts. */
function hookWarnings({ guard, args = [] }: AgentSettings): string[] {
  const isNamed = args.some((arg) => arg === '--settings' || arg.startsWith('--settings='));
  return guard?.group && isNamed
    ? ['--settings among the arguments was left out: claude takes one, and the hook needs it']
    : [];
}

/** A rule such as `Bash(git *)` offers the tool and allows only what the brackets say. */
function bareName(rule: string): string {
  return rule.split('(')[0] ?? rule;
}

function allowed(tools: readonly string[], { mcp = {} }: AgentSettings): string[] {
  return [
    ...tools,
    ...Object.entries(mcp).flatMap(
      ([name, { tools: own }]) => own?.map((tool) => `mcp__${name}__${tool}`) ?? `mcp__${name}`,
    ),
  ];
}

/** As the program's own file of servers has them. */
function serversOf(mcp: NonNullable<AgentSettings['mcp']>): JsonObject {
  return Object.fromEntries(
    Object.entries(mcp).map(([name, { command, args = [], env = {} }]) => [
      name,
      { command, args: [...args], env: { ...env } },
    ]),
  );
}

/** With tools the program's own instructions for them stay in place; without any it is just a model. */
function systemFlags({ system, tools }: AgentCall): string[] {
  if (system === null) return [];
  return [tools === 'none' ? '--system-prompt' : '--append-system-prompt', system];
}

function fold(report: AgentReport, event: JsonObject): AgentReport {
  const sessionId = stringAt(event, 'session_id') ?? report.sessionId;
  const known = sessionId === report.sessionId ? report : { ...report, sessionId };
  switch (event.type) {
    case 'system':
      return foldSystem(known, event);
    case 'stream_event':
      return foldStream(known, event, objectAt(event, 'event'));
    case 'assistant':
      return foldAssistant(withUsed(known, event, objectAt(event, 'message')), event);
    case 'user':
      return foldUser(known, event);
    case 'result':
      return foldResult(known, event);
    default:
      return known;
  }
}

function foldSystem(report: AgentReport, event: JsonObject): AgentReport {
  switch (event.subtype) {
    case 'init':
      return { ...report, model: stringAt(event, 'model') };
    case 'permission_denied':
      return { ...report, denials: addName(report.denials, stringAt(event, 'tool_name') ?? '') };
    case 'api_retry': {
      const status = amount(event.error_status);
      return { ...report, error: { message: retryReason(event), status, retryAfterMs: amount(event.retry_delay_ms) } };
    }
    default:
      return report;
  }
}

/** A message reports its usage at its start and end, long before the result has the sum. */
function foldStream(report: AgentReport, event: JsonObject, inner: JsonObject): AgentReport {
  if (inner.type === 'message_start') return withUsed(report, event, objectAt(inner, 'message'));
  return inner.type === 'message_delta' ? withUsed(report, event, inner) : report;
}

/** Each subagent reports its own messages. A message without a name is the current one. */
function withUsed(report: AgentReport, event: JsonObject, message: JsonObject): AgentReport {
  const used = objectAt(message, 'usage');
  if (Object.keys(used).length === 0) return report;
  const speaker = stringAt(event, 'parent_tool_use_id') ?? '';
  const id = stringAt(message, 'id') ?? stringAt(event, 'api_message_id') ?? report.underway[speaker]?.message ?? '';
  const read = figure(used.cache_read_input_tokens);
  return withMessageUsage(report, speaker, id, { ...ofTokens(used), cost: 0, ...ofWhichCached(read) });
}

function foldAssistant(report: AgentReport, event: JsonObject): AgentReport {
  const message = objectAt(event, 'message');
  const calls = objectsIn(message.content).filter(({ type }) => type === 'tool_use');
  const toolCalls = calls.reduce((names, call) => addName(names, stringAt(call, 'name') ?? ''), report.toolCalls);
  // What its own helpers say has a parent and is not the answer.
  const shell = calls.filter(({ name }) => name === 'Bash');
  const withOutcomes = shell.reduce<AgentReport>(
    (sum, call) => withCommand(sum, objectAt(call, 'input').command, stringAt(call, 'id')),
    { ...report, toolCalls, openCalls: report.openCalls + calls.length },
  );
  if (typeof event.parent_tool_use_id === 'string') return withOutcomes;
  const model = stringAt(message, 'model');
  return {
    ...withOutcomes,
    // Errors of the provider come as a message of a model that does not exist; they are no part of an answer.
    text: (model === '<synthetic>' ? '' : textIn(message.content)) || report.text,
    model: model === null || model === '<synthetic>' ? report.model : model,
    error: null,
  };
}

/** Only the text of its result says that a tool was not offered. A tool that ran is not reported as refused. */
function foldUser(report: AgentReport, event: JsonObject): AgentReport {
  const kept = objectsIn(event.tool_result_meta).filter((meta) => stringAt(meta, 'non_execution_kind') !== null);
  const results = objectsIn(objectAt(event, 'message').content).filter(({ type }) => type === 'tool_result');
  return results.reduce<AgentReport>(
    (sum, part) => {
      const call = stringAt(part, 'tool_use_id');
      const name = part.is_error === true ? NOT_OFFERED.exec(stringAt(part, 'content') ?? '')?.[1] : undefined;
      if (name !== undefined) return { ...withoutCommand(sum, call), denials: addName(sum.denials, name) };
      return kept.some(({ id }) => id === call) ? withoutCommand(sum, call) : withOutcome(sum, call);
    },
    { ...report, openCalls: Math.max(0, report.openCalls - results.length) },
  );
}

/** The beginning of its own words; a command that prints them was run. */
const NOT_OFFERED = /^(?:<tool_use_error>)?(?:Error: )?No such tool available: ([\w-]{1,200})/;

function foldResult(report: AgentReport, event: JsonObject): AgentReport {
  const all = usageOf(event);
  // The result has the sum of the earlier reports. A result without usage keeps that sum.
  const usage = all.input + all.output === 0 ? (report.usage ?? all) : all;
  const denied = objectsIn(event.permission_denials).map((denial) => stringAt(denial, 'tool_name') ?? '');
  // Most were reported when they happened.
  const denials = denied.filter((name) => !report.denials.includes(name)).reduce(addName, report.denials);
  const common = { ...withoutRefused(report, event), usage, denials };
  const text = stringAt(event, 'result') ?? '';
  if (event.is_error === true || event.subtype !== 'success') {
    const errors = Array.isArray(event.errors) ? event.errors.filter((one) => typeof one === 'string') : [];
    const message = text || errors.join('; ') || String(event.subtype ?? 'error');
    // It has asked several times by then, and asking once more would end in the same way.
    if (/exceeded the \d{1,9} output token maximum/.test(message))
      return { ...common, isFinished: true, isCut: true, error: null };
    const status = amount(event.api_error_status);
    const wait = report.error?.retryAfterMs;
    const error = { message, ...(status > 0 ? { status } : {}), ...(wait ? { retryAfterMs: wait } : {}) };
    return { ...common, text: '', isFinished: false, error };
  }
  return { ...common, text, isFinished: true, isCut: event.stop_reason === 'max_tokens', error: null };
}

/** The refused commands that were not reported when they happened. */
function withoutRefused(report: AgentReport, event: JsonObject): AgentReport {
  return objectsIn(event.permission_denials)
    .map((denial) => stringAt(denial, 'tool_use_id'))
    .reduce(withoutCommand, report);
}

/** The usage of this turn. The totals cover a resumed conversation from its beginning. */
function usageOf(event: JsonObject): Usage {
  const since = Object.values(objectAt(event, 'model_usage_since_last_result'));
  if (since.length > 0) return objectsIn(since).map(ofModel).reduce(addUsage);
  return { ...ofTokens(objectAt(event, 'usage')), cost: figure(event.total_cost_usd) };
}

function ofModel(used: JsonObject): Usage {
  const cached = figure(used.cacheReadInputTokens) + figure(used.cacheCreationInputTokens);
  return { input: figure(used.inputTokens) + cached, output: figure(used.outputTokens), cost: figure(used.costUSD) };
}

function ofTokens(used: JsonObject): { input: number; output: number } {
  const cached = figure(used.cache_creation_input_tokens) + figure(used.cache_read_input_tokens);
  return { input: figure(used.input_tokens) + cached, output: figure(used.output_tokens) };
}

function live(event: JsonObject): readonly LiveEvent[] {
  if (event.type === 'stream_event') {
    const delta = objectAt(objectAt(event, 'event'), 'delta');
    return delta.type === 'text_delta' ? [{ kind: 'text', text: stringAt(delta, 'text') ?? '' }] : [];
  }
  if (event.type === 'assistant') {
    return objectsIn(objectAt(event, 'message').content)
      .filter(({ type }) => type === 'tool_use')
      .map((call) => toolEvent(stringAt(call, 'name') ?? '', detailOf(objectAt(call, 'input'))));
  }
  if (event.subtype === 'permission_denied') return [{ kind: 'denied', name: stringAt(event, 'tool_name') ?? '' }];
  if (event.subtype !== 'api_retry') return [];
  return [{ kind: 'waiting', forMs: amount(event.retry_delay_ms), reason: retryReason(event) }];
}

/** By its own words for a failed request, what happened, for people. */
const RETRY_REASONS: Readonly<Record<string, string>> = {
  authentication_failed: 'the sign-in or key was refused',
  billing_error: 'the account has no credit',
  invalid_request: 'invalid_request: the request was refused',
  overloaded: 'the provider is overloaded',
  rate_limit: 'rate limit',
  server_error: 'server error at the provider',
  unknown: 'connection reset, or no connection',
};

/** `unknown` with a status is an answer that it has no word for; without one there was no answer. */
function retryReason(event: JsonObject): string {
  const word = stringAt(event, 'error') ?? 'unknown';
  const status = amount(event.error_status);
  return word === 'unknown' && status > 0 ? 'error at the provider' : (RETRY_REASONS[word] ?? word);
}
