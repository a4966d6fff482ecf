// Codex as an agent: `codex exec --json`. Every changed setting is passed by `-c`, so the user's configuration and sign-in stay
// in force otherwise.
import { hash } from 'node:crypto';
import type { LiveEvent } from '../engine/ports.ts';
import { type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import { type AgentCall, type AgentSettings, OFFERED_AS, type Program, type ProgramCall } from './agent-call.ts';
import { USUAL } from './environment.ts';
import { detailOf, reportReader, toolEvent } from './event-streams.ts';
import { type AgentReport, addName, figure, ofWhichCached, withCommand } from './report.ts';
import { codexSandbox, nearestLevel } from './tool-scope.ts';

export const codex: Program = {
  name: 'codex',
  variables: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'CODEX_HOME'],
  invoke,
  reader: reportReader(fold, live),
};

/** A server that does not start by then is not used. */
const SERVER_START_S = 30;
/** An approved command may take long. */
const TOOL_S = 900;

const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh'];

function invoke(call: AgentCall, settings: AgentSettings): ProgramCall {
  const sandbox = codexSandbox(call.tools);
  const thinking = nearestLevel('codex', call.thinking, EFFORTS);
  const config: (readonly [string, string])[] = [
    // A resumed conversation accepts no --sandbox, so it is always set here. No person can approve anything.
    ['sandbox_mode', toml(sandbox.mode)],
    ['approval_policy', toml('never')],
    ['web_search', toml('disabled')],
    ...(thinking.level === null ? [] : [['model_reasoning_effort', toml(thinking.level)] as const]),
    ...instructionsOf(call, settings),
    ...providerOf(call, settings),
    ...serversOf(settings),
    ...hooksOf(settings),
  ];
  const argv = [
    ...[settings.program ?? 'codex', 'exec', '--json', '--skip-git-repo-check'],
    ...config.flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    ...(sandbox.shell ? [] : ['--disable', 'shell_tool']),
    // Its own agents would work outside of the cast.
    ...['--disable', 'multi_agent', '--disable', 'goals'],
    ...(call.session === null ? [] : ['resume', call.session.id]),
    ...(call.model === null ? [] : ['-m', call.model]),
    ...(settings.args ?? []),
    '-',
  ];
  return { argv, stdin: call.prompt, env: {}, warnings: [...sandbox.warnings, ...thinking.warnings] };
}

/** Its sandbox hides its identity and forbids writing, so `baton exec` cannot work in its shell. */
const SANDBOXED =
  'Your shell is sandboxed: what a person approved you run with the tool `run_approved` of the server `baton`, and not with `baton exec`.';

function instructionsOf({ system }: AgentCall, { guard, mcp }: AgentSettings): (readonly [string, string])[] {
  const own = guard && mcp?.[OFFERED_AS] ? [SANDBOXED] : [];
  const all = [...(system === null ? [] : [system]), ...own].join('\n\n');
  return all === '' ? [] : [['developer_instructions', toml(all)]];
}

// It ignores OPENAI_BASE_URL, so another address needs its own provider entry.
function providerOf({ retriesMax }: AgentCall, { baseUrl }: AgentSettings): (readonly [string, string])[] {
  if (baseUrl === undefined) return [];
  const at = 'model_providers.baton';
  return [
    ['model_provider', toml('baton')],
    [`${at}.name`, toml('baton')],
    [`${at}.base_url`, toml(baseUrl)],
    [`${at}.env_key`, toml('OPENAI_API_KEY')],
    [`${at}.wire_api`, toml('responses')],
    // It has two layers of its own: requests within a stream, and streams. Only a provider that we define has limits.
    [`${at}.request_max_retries`, '0'],
    [`${at}.stream_max_retries`, String(retriesMax)],
  ];
}

function serversOf({ mcp = {}, variables = [] }: AgentSettings): (readonly [string, string])[] {
  const servers = Object.entries(mcp);
  // By default it starts without the tools after one second. With 0 it waits as long as a server may take.
  const patience = servers.length === 0 ? [] : [['mcp_optional_startup_grace_ms', '0'] as const];
  const each = servers.flatMap(([name, { command, args = [], env = {}, tools }]) => [
    [`mcp_servers.${name}.command`, toml(command)] as const,
    [`mcp_servers.${name}.args`, `[${args.map(toml).join(',')}]`] as const,
    // A configured server is approved. Without this every call of it is refused.
    [`mcp_servers.${name}.default_tools_approval_mode`, toml('approve')] as const,
    [`mcp_servers.${name}.startup_timeout_sec`, String(SERVER_START_S)] as const,
    [`mcp_servers.${name}.tool_timeout_sec`, String(TOOL_S)] as const,
    // By default it passes only a few on, and an approval is bound to the variables of the agent.
    [`mcp_servers.${name}.env_vars`, `[${[...USUAL, ...variables].map(toml).join(',')}]`] as const,
    ...(tools ? [[`mcp_servers.${name}.enabled_tools`, `[${tools.map(toml).join(',')}]`] as const] : []),
    ...Object.entries(env).map(([key, value]) => [`mcp_servers.${name}.env.${key}`, toml(value)] as const),
  ]);
  return [...patience, ...each];
}

/** The name by which it knows the first hook of its own arguments, before a tool. */
const OUR_HOOK = '/<session-flags>/config.toml:pre_tool_use:0:0';

/** The user's hooks stay in force as well. Codex runs only trusted hooks; only this one is trusted here. */
function hooksOf({ guard }: AgentSettings): (readonly [string, string])[] {
  const [hook] = guard?.group?.hooks ?? [];
  if (!hook) return [];
  const matcher = guard?.group?.matcher ?? '';
  const { command, timeout } = hook;
  const handler = `{type="command",command=${toml(command)},timeout=${timeout}}`;
  return [
    ['features.hooks', 'true'],
    ['hooks.PreToolUse', `[{matcher=${toml(matcher)},hooks=[${handler}]}]`],
    ['hooks.state', `{${toml(OUR_HOOK)}={trusted_hash=${toml(trustedHash(matcher, command, timeout))}}}`],
  ];
}

/** Codex compares a hook by the digest of its JSON without spaces and with sorted members. */
function trustedHash(matcher: string, command: string, timeout: number): string {
  const handler = { async: false, command, timeout, type: 'command' };
  return `sha256:${hash('sha256', JSON.stringify({ event_name: 'pre_tool_use', hooks: [handler], matcher }), 'hex')}`;
}

/** A TOML string: like JSON's, except that the delete character must be escaped too. */
function toml(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\x7f', '\\u007f');
}

function fold(report: AgentReport, event: JsonObject): AgentReport {
  switch (event.type) {
    case 'thread.started':
      return { ...report, sessionId: stringAt(event, 'thread_id') };
    case 'item.started':
    case 'item.completed':
      return foldItem(report, objectAt(event, 'item'), event.type === 'item.completed');
    case 'turn.completed': {
      const used = objectAt(event, 'usage');
      // Cached tokens are part of its input tokens already, and reasoning part of its output.
      const usage = {
        ...{ input: figure(used.input_tokens), output: figure(used.output_tokens), cost: 0 },
        ...ofWhichCached(figure(used.cached_input_tokens)),
      };
      return { ...report, usage, usageIsOfSession: true, isFinished: true, error: null };
    }
    case 'turn.failed':
      return ended(report, stringAt(objectAt(event, 'error'), 'message'));
    case 'error':
      return failed(report, stringAt(event, 'message'));
    default:
      return report;
  }
}

function foldItem(report: AgentReport, item: JsonObject, isDone: boolean): AgentReport {
  const type = stringAt(item, 'type') ?? '';
  // A warning at the start has the type of an error and does not stop anything.
  if (type === 'error' || type === 'reasoning' || type === 'todo_list') return report;
  if (type === 'agent_message') {
    return isDone ? { ...report, text: stringAt(item, 'text') ?? '', error: null } : report;
  }
  const name = toolOf(item);
  const denials = isDone && item.status === 'declined' ? addName(report.denials, name) : report.denials;
  // Some items are reported only when complete, and some twice, so a call counts at its end.
  if (!isDone) return { ...report, openCalls: report.openCalls + 1 };
  const isCommand = type === 'command_execution' && item.status !== 'declined';
  const { commands } = withCommand(report, isCommand ? item.command : undefined);
  const openCalls = Math.max(0, report.openCalls - 1);
  return { ...report, denials, commands, openCalls, toolCalls: addName(report.toolCalls, name) };
}

function toolOf(item: JsonObject): string {
  return stringAt(item, 'tool') ?? stringAt(item, 'type') ?? '';
}

/** The model reached its output limit. A repetition would do the same. */
function ended(report: AgentReport, message: string | null): AgentReport {
  if (/incomplete response returned, reason: /i.test(message ?? ''))
    return { ...report, isFinished: true, isCut: true, error: null };
  return failed(report, message);
}

/** The status is in the text, if anywhere. A plain refusal is the provider's unchanged body. */
function failed(report: AgentReport, message: string | null): AgentReport {
  const text = withoutCount(message ?? 'codex failed without saying why');
  const status = Number(/status:? (\d{3})\b/.exec(text)?.[1] ?? 0);
  return { ...report, isFinished: false, error: { message: text, ...(status > 0 ? { status } : {}) } };
}

/** The reason of a retry, without the number of retries left. */
function withoutCount(message: string): string {
  return /^reconnecting\W{0,5}\d+\/\d+ \(([\s\S]*)\)$/i.exec(message)?.[1] ?? message;
}

function live(event: JsonObject): readonly LiveEvent[] {
  const item = objectAt(event, 'item');
  if (event.type === 'item.completed' && item.type === 'agent_message') {
    return [{ kind: 'text', text: stringAt(item, 'text') ?? '' }];
  }
  if (event.type === 'item.started' && item.type !== 'agent_message') return [toolEvent(toolOf(item), detailOf(item))];
  const message = stringAt(event, 'message') ?? '';
  const isRetry = event.type === 'error' && /^reconnecting/i.test(message);
  return isRetry ? [{ kind: 'waiting', forMs: 0, reason: withoutCount(message) }] : [];
}
